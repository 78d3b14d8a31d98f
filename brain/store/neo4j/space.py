"""One open Space: its head, its gate and its writer lock.

Neo4j shows a reader whatever is committed when it looks, so a commit could be met half applied. Three rules keep that
from showing. A reader reads as of a sequence, and what a commit changes shows from its own sequence on alone. A writer
holds the lock of the Space's node from its first statement until its commit is applied. And a head that this process
has not met before is believed only after the gate was passed, which a writer keeps shut while its commit is applied.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from threading import Lock
from typing import Any

import orjson

from brain import errors
from brain.store.base import Overtaken, SpaceMissing, StoreFormatError
from brain.store.dump import Row, SpaceRow
from brain.store.neo4j import connection, dumping
from brain.store.neo4j.ahead import AheadSnapshot
from brain.store.neo4j.connection import Database, Turn
from brain.store.neo4j.failures import DriverError, Neo4jError, code_of, translated
from brain.store.neo4j.head import SPACE, Head, Remembered, Start
from brain.store.neo4j.snapshot import Neo4jSnapshot
from brain.store.neo4j.transaction import Neo4jTransaction
from brain.store.search import ANALYSIS
from brain.times import Clock, Seq

_OF_HEAD = "s.head, s.totals, s.controls_seq, s.merges_seq"
_HEAD = f"{SPACE} RETURN {_OF_HEAD}"
# Setting what is set already takes the lock and writes nothing.
_PASS_GATE = (
    "MATCH (g:Gate) USING INDEX g:Gate(space) WHERE g.space = $space SET g.open = true"
    f" WITH g {SPACE} RETURN {_OF_HEAD}"
)
_LOCK = (
    f"{SPACE} SET s.open = true WITH s"
    " OPTIONAL MATCH (l:Lease) USING INDEX l:Lease(space, name) WHERE l.space = $space AND l.name IS NOT NULL"
    f" WITH s, collect([l.name, l.holder, l.token, l.expires_ms]) AS leases"
    f" RETURN {_OF_HEAD}, properties(s), leases"
)
_OUTCOME = (
    f"{SPACE} SET s.open = true WITH s"
    " OPTIONAL MATCH (c:Commit) USING INDEX c:Commit(space, seq) WHERE c.space = $space AND c.seq = $seq"
    " RETURN s.token, c.token"
)
# A statement that was sent and never answered may still wait for the lock: it will not find the token it expects.
_OUTCOME_FENCED = (
    f"{SPACE} SET s.open = true WITH s, s.token AS token"
    " SET s.token = CASE WHEN token = $expected THEN $fence ELSE token END WITH s, token"
    " OPTIONAL MATCH (c:Commit) USING INDEX c:Commit(space, seq) WHERE c.space = $space AND c.seq = $seq"
    " RETURN token, c.token"
)
_TOKEN = f"{SPACE} RETURN s.token"

_CREATED = f"{SPACE} RETURN s.created_ms"

_LONGEST_TURN_S = 600.0
"""After this the database ends a transaction whose writer has gone silent."""

_WARY_S = 1.0
"""For so long after another process came in between, nothing is assumed of the Space."""

ASK_AGAIN_S = (0.05, 0.2, 0.5, 1.0, 2.0)
"""Pauses between questions for the outcome of a commit whose answer was lost."""


class Neo4jSpace:
    """See `brain.store.base.SpaceStore`."""

    def __init__(self, database: Database, deployment: str, space_id: str, instance_id: str, clock: Clock) -> None:
        self._deployment = deployment
        self.space_id = space_id
        self.instance_id = instance_id
        self._database = database
        self._clock = clock
        self._space_key = space_key(space_id, instance_id)
        self._writer_lock = Lock()
        self._head: Head | None = None
        self._start: Start | None = None
        self._wary_until = 0.0
        self._remembered = Remembered()
        self._is_closed = False

    def head(self) -> Seq:
        return self.newest(None).seq

    @contextmanager
    def snapshot(
        self, seq: Seq | None = None, *, timeout_ms: int | None = None, assumed: bool = False
    ) -> Iterator[Neo4jSnapshot]:
        head = self._head if assumed and seq is None else None
        is_certain = head is None
        if head is None:
            head = self.newest(timeout_ms)
        if seq is not None and not 0 <= seq <= head.seq:
            raise errors.HistoricalSnapshotUnavailable(details={"seq": seq, "head": head.seq})
        snapshot = AheadSnapshot(
            self._database,
            space_id=self.space_id,
            space_key=self._space_key,
            seq=seq,
            head=head,
            remembered=self._remembered,
            clock=self._clock,
            timeout_ms=timeout_ms,
            doubt=None if is_certain else self,
        )
        try:
            yield snapshot
        except Overtaken:
            raise
        except Exception:
            # What was found wrong may be wrong no longer.
            snapshot.make_certain()
            raise
        else:
            snapshot.make_certain()
        finally:
            snapshot.end()

    @contextmanager
    def transaction(
        self,
        *,
        timeout_ms: int | None = None,
        durable: bool = True,  # noqa: ARG002
        assumed: bool = False,
    ) -> Iterator[Neo4jTransaction]:
        """Every commit of Neo4j waits for the disk: `durable` makes no difference."""
        started = time.monotonic()
        patience_ms = self._database.lock_wait_ms if timeout_ms is None else timeout_ms
        if not self._writer_lock.acquire(timeout=patience_ms / 1000):
            raise errors.SerializationConflict("Other writers kept the Space busy for too long.")
        try:
            waited_ms = round((time.monotonic() - started) * 1000)
            left_ms = None if timeout_ms is None else max(1, timeout_ms - waited_ms)
            start = self._start if assumed and started >= self._wary_until else None
            turn = None
            if start is None:
                turn, start = self._lock(left_ms)
                self._start = start
            transaction = Neo4jTransaction(
                self._database,
                turn,
                start,
                begin=partial(self._lock, left_ms),
                space_id=self.space_id,
                space_key=self._space_key,
                remembered=self._remembered,
                clock=self._clock,
                timeout_ms=left_ms,
            )
            token = uuid.uuid4().hex
            try:
                try:
                    yield transaction
                    if not transaction.is_complete:
                        raise errors.InternalError("The graph was changed without a commit record.")
                    head = transaction.finish(self.names, token)
                finally:
                    transaction.end()
            except BaseException as error:
                if transaction.turn is not None:
                    transaction.turn.roll_back()
                elif isinstance(error, Exception) and not isinstance(error, Overtaken):
                    self._check_start(start)
                raise
            if transaction.at_once is not None:
                self._send_at_once(transaction, token)
            elif transaction.turn is not None:
                self._commit(transaction.turn, transaction, token)
            else:
                self._check_start(start)
            if head is not None:
                self._believe(head)
            self._start = transaction.left(head, token)
        except Overtaken:
            self._start, self._wary_until = None, time.monotonic() + _WARY_S
            raise
        finally:
            self._writer_lock.release()

    @contextmanager
    def dump(self) -> Iterator[Iterator[Row]]:
        """Writers wait while what has no history is set aside."""
        turn, start = self._lock(None)
        try:
            [(created_ms,)] = turn.run(_CREATED, self.names)
            aside = dumping.set_aside(turn.run, self._space_key, start.last_numbers)
        except (Neo4jError, DriverError, OSError) as error:
            raise translated(error) from error
        finally:
            turn.roll_back()
        first = SpaceRow(self.space_id, self.instance_id, created_ms, start.head.seq)
        with closing(aside):
            yield dumping.rows_of(self._database.read, self._space_key, first, dumping.from_aside(aside))

    def flush(self) -> None:
        """Every commit is: the database flushes its log before it answers."""

    def close(self) -> None:
        self._is_closed = True

    # --- how ----------------------------------------------------------------------------------------------------------

    @property
    def names(self) -> dict[str, Any]:
        if self._is_closed:
            raise SpaceMissing(f"{self.space_id} is closed here")
        return {
            "deployment": self._deployment,
            "id": self.space_id,
            "instance": self.instance_id,
            "space": self._space_key,
        }

    def newest(self, timeout_ms: int | None) -> Head:
        """The last commit that is applied as a whole."""
        timeout_s = None if timeout_ms is None else timeout_ms / 1000
        rows = self._database.read(_HEAD, self.names, timeout_s)
        if not rows:
            raise SpaceMissing(self.space_id)
        known = self._head
        if known is not None and rows[0][0] == known.seq:
            return known
        rows = self._database.run(_PASS_GATE, self.names, timeout_s)
        if not rows:
            raise SpaceMissing(self.space_id)
        return self._believe(_head(rows[0]))

    def _believe(self, head: Head) -> Head:
        """Heads only grow; a slower thread may come with an older one."""
        known = self._head
        if known is None or known.seq < head.seq:
            self._head = known = head
        return known

    def _lock(self, timeout_ms: int | None) -> tuple[Turn, Start]:
        timeout_s = _LONGEST_TURN_S if timeout_ms is None else timeout_ms / 1000
        try:
            turn, rows = self._database.begin(_LOCK, self.names, timeout_s)
        except errors.ExecutionTimeout as error:
            raise errors.SerializationConflict("Other writers kept the Space busy for too long.") from error
        except errors.InternalError as error:
            if code_of(error.__cause__ or error) == "EntityNotFound":
                raise SpaceMissing(self.space_id) from error
            raise
        if not rows:
            turn.roll_back()
            raise SpaceMissing(self.space_id)
        *of_head, properties, leases = rows[0]
        if properties["analysis"] != ANALYSIS:
            # Another release makes the words anew, or has: what this one wrote would not be found.
            turn.roll_back()
            raise StoreFormatError(f"the texts of {self.space_id!r} are analysed by another release")
        last = {name.removeprefix("last_"): value for name, value in properties.items() if name.startswith("last_")}
        held = {name: (holder, token, until) for name, holder, token, until in leases if name is not None}
        return turn, Start(_head(of_head), properties["token"], last, held)

    def _check_start(self, start: Start) -> None:
        """Overtaken when a transaction that wrote nothing did not start from what is there."""
        if self._database.read(_TOKEN, self.names) != [(start.token,)]:
            raise Overtaken

    def _send_at_once(self, transaction: Neo4jTransaction, token: str) -> None:
        """Commit in one statement, if nobody was there in between."""
        assert transaction.at_once is not None  # noqa: S101 - as the caller saw
        statement, parameters = transaction.at_once
        given_ms = transaction.timeout_ms
        timeout_s = _LONGEST_TURN_S if given_ms is None else given_ms / 1000
        try:
            rows = self._database.run_once_raw(statement, parameters, timeout_s)
        except (Neo4jError, DriverError, OSError) as error:
            if not self._took_place(transaction, token):
                raise translated(error) from error
        else:
            if not rows and not self._took_place(transaction, token):
                raise Overtaken

    def _commit(self, turn: Turn, transaction: Neo4jTransaction, token: str) -> None:
        try:
            turn.commit()
        except (Neo4jError, DriverError, OSError) as error:
            # Some answers of a server that is in trouble do not say either whether it has committed.
            if not self._took_place(transaction, token):
                raise translated(error) from error

    def _took_place(self, transaction: Neo4jTransaction, token: str) -> bool:
        """Whether a commit whose answer was lost is there; OutcomeUnknown when nobody can say."""
        start, fence = transaction.start_token, uuid.uuid4().hex
        parameters = self.names | {"seq": transaction.seq + 1, "expected": start, "fence": fence}
        statement = _OUTCOME if transaction.at_once is None else _OUTCOME_FENCED
        for pause in ASK_AGAIN_S:
            time.sleep(pause)
            try:
                rows = self._database.run(statement, parameters, 5.0)
            except errors.KipError:
                continue
            if not rows:
                break
            found_token, of_commit = rows[0]
            if found_token == token:
                return True
            if transaction.recorded is not None:
                return bool(of_commit == token)
            if not transaction.has_sent:
                return True
            if found_token in (start, fence):
                return False
            break
        raise errors.OutcomeUnknown


def space_key(space_id: str, instance_id: str) -> str:
    """What every node of a Space carries: its id for people, and which one of that id."""
    return f"{space_id}.{instance_id[:12]}"


def _head(row: connection.Row | list[Any]) -> Head:
    seq, totals, controls_seq, merges_seq = row
    return Head(seq, orjson.loads(totals), controls_seq, merges_seq)
