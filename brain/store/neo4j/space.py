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
from threading import Lock
from typing import Any

import orjson

from brain import errors
from brain.store.base import SpaceMissing, StoreFormatError
from brain.store.dump import Row, SpaceRow
from brain.store.neo4j import connection, dumping
from brain.store.neo4j.ahead import AheadSnapshot
from brain.store.neo4j.connection import Database, Turn
from brain.store.neo4j.failures import DriverError, Neo4jError, code_of, translated
from brain.store.neo4j.snapshot import Head, Neo4jSnapshot, Remembered
from brain.store.neo4j.transaction import Neo4jTransaction, Start
from brain.store.search import ANALYSIS
from brain.times import Clock, Seq

_SPACE = (
    "MATCH (s:Space) USING INDEX s:Space(deployment, id)"
    " WHERE s.deployment = $deployment AND s.id = $id AND s.instance = $instance"
)
_OF_HEAD = "s.head, s.totals, s.controls_seq, s.merges_seq"
_HEAD = f"{_SPACE} RETURN {_OF_HEAD}"
# Setting what is set already takes the lock and writes nothing.
_PASS_GATE = (
    "MATCH (g:Gate) USING INDEX g:Gate(space) WHERE g.space = $space SET g.open = true"
    f" WITH g {_SPACE} RETURN {_OF_HEAD}"
)
_LOCK = (
    f"{_SPACE} SET s.open = true WITH s"
    " OPTIONAL MATCH (l:Lease) USING INDEX l:Lease(space, name) WHERE l.space = $space AND l.name IS NOT NULL"
    f" WITH s, collect([l.name, l.holder, l.token, l.expires_ms]) AS leases"
    f" RETURN {_OF_HEAD}, properties(s), leases"
)
_OUTCOME = (
    f"{_SPACE} SET s.open = true WITH s"
    " OPTIONAL MATCH (c:Commit) USING INDEX c:Commit(space, seq) WHERE c.space = $space AND c.seq = $seq"
    " RETURN s.token, s.head, c.tx_id"
)

_CREATED = f"{_SPACE} RETURN s.created_ms"

_LONGEST_TURN_S = 600.0
"""After this the database ends a transaction whose writer has gone silent."""

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
        self._remembered = Remembered()
        self._is_closed = False

    def head(self) -> Seq:
        return self._newest(None).seq

    @contextmanager
    def snapshot(self, seq: Seq | None = None, *, timeout_ms: int | None = None) -> Iterator[Neo4jSnapshot]:
        head = self._newest(timeout_ms)
        if seq is not None and not 0 <= seq <= head.seq:
            raise errors.HistoricalSnapshotUnavailable(details={"seq": seq, "head": head.seq})
        snapshot = AheadSnapshot(
            self._database,
            space_id=self.space_id,
            space_key=self._space_key,
            seq=head.seq if seq is None else seq,
            head=head,
            remembered=self._remembered,
            clock=self._clock,
            timeout_ms=timeout_ms,
        )
        try:
            yield snapshot
        finally:
            snapshot.end()

    @contextmanager
    def transaction(self, *, timeout_ms: int | None = None, durable: bool = True) -> Iterator[Neo4jTransaction]:  # noqa: ARG002
        """Every commit of Neo4j waits for the disk: `durable` makes no difference."""
        started = time.monotonic()
        patience_ms = self._database.lock_wait_ms if timeout_ms is None else timeout_ms
        if not self._writer_lock.acquire(timeout=patience_ms / 1000):
            raise errors.SerializationConflict("Other writers kept the Space busy for too long.")
        try:
            waited_ms = round((time.monotonic() - started) * 1000)
            left_ms = None if timeout_ms is None else max(1, timeout_ms - waited_ms)
            turn, start = self._lock(left_ms)
            try:
                transaction = Neo4jTransaction(
                    self._database,
                    turn,
                    start,
                    space_id=self.space_id,
                    space_key=self._space_key,
                    remembered=self._remembered,
                    clock=self._clock,
                    timeout_ms=left_ms,
                )
                try:
                    yield transaction
                    if not transaction.is_complete:
                        raise errors.InternalError("The graph was changed without a commit record.")
                    token = uuid.uuid4().hex
                    head = transaction.finish(self._names, token)
                finally:
                    transaction.end()
            except BaseException:
                turn.roll_back()
                raise
            self._commit(turn, transaction, token)
            if head is not None:
                self._believe(head)
        finally:
            self._writer_lock.release()

    @contextmanager
    def dump(self) -> Iterator[Iterator[Row]]:
        """Writers wait while what has no history is set aside."""
        turn, start = self._lock(None)
        try:
            [(created_ms,)] = turn.run(_CREATED, self._names)
            aside = dumping.set_aside(turn.run, self._space_key, start.last_numbers)
        except (Neo4jError, DriverError, OSError) as error:
            raise translated(error) from error
        finally:
            turn.roll_back()
        first = SpaceRow(self.space_id, self.instance_id, created_ms, start.head.seq)
        with closing(aside):
            yield dumping.rows_of(self._database.read, self._space_key, first, dumping.from_aside(aside))

    def close(self) -> None:
        self._is_closed = True

    # --- how ----------------------------------------------------------------------------------------------------------

    @property
    def _names(self) -> dict[str, Any]:
        if self._is_closed:
            raise SpaceMissing(f"{self.space_id} is closed here")
        return {
            "deployment": self._deployment,
            "id": self.space_id,
            "instance": self.instance_id,
            "space": self._space_key,
        }

    def _newest(self, timeout_ms: int | None) -> Head:
        """The last commit that is applied as a whole."""
        timeout_s = None if timeout_ms is None else timeout_ms / 1000
        rows = self._database.read(_HEAD, self._names, timeout_s)
        if not rows:
            raise SpaceMissing(self.space_id)
        known = self._head
        if known is not None and rows[0][0] == known.seq:
            return known
        rows = self._database.run(_PASS_GATE, self._names, timeout_s)
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
            turn, rows = self._database.begin(_LOCK, self._names, timeout_s)
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

    def _commit(self, turn: Turn, transaction: Neo4jTransaction, token: str) -> None:
        try:
            turn.commit()
        except (Neo4jError, DriverError, OSError) as error:
            # Some answers of a server that is in trouble do not say either whether it has committed.
            if not self._took_place(transaction, token):
                raise translated(error) from error

    def _took_place(self, transaction: Neo4jTransaction, token: str) -> bool:
        """Whether a commit whose answer was lost is there; OutcomeUnknown when nobody can say."""
        for pause in ASK_AGAIN_S:
            time.sleep(pause)
            try:
                rows = self._database.run(_OUTCOME, self._names | {"seq": transaction.seq + 1}, 5.0)
            except errors.KipError:
                continue
            if not rows:
                break
            found_token, head, tx_id = rows[0]
            if found_token == token:
                return True
            if transaction.recorded is not None:
                return bool(head > transaction.seq and tx_id == transaction.recorded.tx_id)
            if not transaction.has_sent:
                return True
            if found_token == transaction.start_token:
                return False
            break
        raise errors.OutcomeUnknown


def space_key(space_id: str, instance_id: str) -> str:
    """What every node of a Space carries: its id for people, and which one of that id."""
    return f"{space_id}.{instance_id[:12]}"


def _head(row: connection.Row | list[Any]) -> Head:
    seq, totals, controls_seq, merges_seq = row
    return Head(seq, orjson.loads(totals), controls_seq, merges_seq)
