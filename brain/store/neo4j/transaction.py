"""The one writer of a Space: what it writes stands here until a read needs it or the transaction ends, and is then sent
in one statement."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from brain import errors
from brain.store.base import (
    Commit,
    Document,
    Element,
    ElementId,
    Kind,
    Lookups,
    Overtaken,
    Passage,
    Scan,
    TupleScan,
)
from brain.store.neo4j import erasure, flush, passages, vectors, versions
from brain.store.neo4j.changes import Changes
from brain.store.neo4j.connection import Database, Row, Turn
from brain.store.neo4j.failures import DriverError, Neo4jError, translated
from brain.store.neo4j.head import Head, Remembered, Start
from brain.store.neo4j.keys import kind_of
from brain.store.neo4j.lookups import LOOKUPS, Gathered, parameters_of
from brain.store.neo4j.pending import Pending
from brain.store.neo4j.snapshot import ELEMENTS, Neo4jSnapshot
from brain.store.neo4j.state import json_text, parsed
from brain.store.neo4j.writing_state import StateWriter
from brain.store.search import ANALYSIS
from brain.times import Clock, Seq

if TYPE_CHECKING:
    from brain.kip.algebra import Step
    from brain.store.neo4j import plans

_SWEEPING = 1 / 8
"""How many of the transactions that add what expires sweep what has."""


class Neo4jTransaction(StateWriter, Neo4jSnapshot):
    """See `brain.store.base.Transaction`. Its reads are those of the commit it is about to make.

    turn     its transaction in the database, with the writer lock; None as long as it only assumes that nobody has
             written since it knew `start`
    begin    takes the lock
    at_once  what is left to be sent when it never took the lock: one statement, which writes nothing unless all is as
             assumed
    """

    def __init__(
        self,
        database: Database,
        turn: Turn | None,
        start: Start,
        *,
        begin: Callable[[], tuple[Turn, Start]],
        space_id: str,
        space_key: str,
        remembered: Remembered,
        clock: Clock,
        timeout_ms: int | None,
    ) -> None:
        super().__init__(
            database,
            space_id=space_id,
            space_key=space_key,
            seq=start.head.seq,
            head=start.head,
            remembered=remembered,
            clock=clock,
            timeout_ms=timeout_ms,
        )
        self._start_state(start.last_numbers["work"], dict(start.leases))
        self._begin = begin
        self.turn = turn
        self.at_once: tuple[str, dict[str, Any]] | None = None
        self._start = start
        self._last = dict(start.last_numbers)
        self._elements = Pending(start.head.totals)
        self._controls: dict[str, str] = {}
        self._client_keys: list[dict[str, Any]] = []
        self._commit: Commit | None = None
        self._has_changed = False
        self._gathered = Gathered()
        self._unsent_controls: set[str] = set()
        self.has_sent = False

    @property
    def is_complete(self) -> bool:
        """Whether it may commit: what it changed in the graph has its record."""
        return self._commit is not None or not self._has_changed

    @property
    def recorded(self) -> Commit | None:
        return self._commit

    @property
    def start_token(self) -> str:
        return self._start.token

    # --- reads --------------------------------------------------------------------------------------------------------

    @property
    def _at(self) -> Seq:
        """Without the lock nothing of its own is there to be read, and what is may be of another's commit."""
        return self.seq if self.turn is None else self._next

    @property
    def _next(self) -> Seq:
        """The commit it is about to make."""
        return self.seq + 1

    def _ask(self, statement: str, parameters: Mapping[str, Any], timeout_s: float | None) -> list[Row]:
        """The transaction's own time limit, given at its start, bounds each of its statements."""
        if self.turn is None:
            return self._database.read(statement, parameters, timeout_s)
        return self._run(statement, parameters)

    def _rows(self, statement: str, **parameters: Any) -> list[Row]:
        self._send_graph()
        return super()._rows(statement, **parameters)

    def _value(self, statement: str, **parameters: Any) -> Any:
        self._send_graph()
        return super()._value(statement, **parameters)

    def _compiled(self, plan: Step) -> plans.Statement | None:
        """A statement that fails would end the transaction in the database."""
        statement = super()._compiled(plan)
        return None if statement is None or statement.may_fail else statement

    def _run(self, statement: str, parameters: Mapping[str, Any]) -> list[Row]:
        turn = self._locked()
        try:
            return turn.run(statement, parameters)
        except (Neo4jError, DriverError, OSError) as error:
            raise translated(error) from error

    def _learn(self, ids: Collection[ElementId]) -> None:
        """Read the versions that are not known yet; what this transaction wrote is, so nothing need be sent for it."""
        unknown = self._elements.unknown(ids)
        if unknown:
            asked = {"space": self._space_key, "ids": unknown, "at": self.seq}
            [(found,)] = self._ask(ELEMENTS, asked, self._time_left())
            self._elements.learn(unknown, ((since, versions.element_of(body)) for since, body in found))

    def _locked(self) -> Turn:
        """Its transaction in the database; Overtaken when somebody has written meanwhile."""
        if self.turn is None:
            turn, start = self._begin()
            if start.token != self._start.token:
                turn.roll_back()
                raise Overtaken
            self.turn = turn
        return self.turn

    def elements(self, ids: Collection[ElementId]) -> dict[ElementId, Element]:
        self._time_left()
        self._learn(ids)
        found = {}
        for element_id in ids:
            element = self._elements.present(element_id)
            if element is not None:
                found[element_id] = element
        return found

    def look_ahead(self, lookups: Callable[[], Lookups]) -> None:
        self._time_left()
        if self._has_changed:
            return
        wanted = lookups()
        if wanted.keys or wanted.tuples:
            unknown = self._elements.unknown(wanted.ids)
            asked = {"space": self._space_key, "at": self.seq, **parameters_of(wanted, unknown)}
            [(named, holders, propositions)] = self._ask(LOOKUPS, asked, self._time_left())
            self._elements.learn(unknown, ((since, versions.element_of(body)) for since, body in named))
            self._elements.learn((), self._gathered.keep(wanted, holders, propositions))

    def scan(self, query: Scan) -> Iterator[Element]:
        found = self._gathered.concepts(query)
        return super().scan(query) if found is None else iter(found)

    def tuples(self, query: TupleScan) -> list[Element]:
        found = self._gathered.propositions(query)
        return super().tuples(query) if found is None else found

    def control(self, name: str) -> Document | None:
        self._time_left()
        if name in self._controls:
            return parsed(self._controls[name])
        return super().control(name)

    def counts(self) -> Mapping[Kind, int]:
        self._time_left()
        return {kind: self._elements.totals.get("active", {}).get(kind.letter, 0) for kind in Kind}

    def merges(self) -> Mapping[ElementId, ElementId]:
        if self._elements.has_merged:
            return self._read_merges()
        return super().merges()

    @property
    def _totals(self) -> Mapping[str, Mapping[str, int]]:
        return self._elements.totals

    # --- writes -------------------------------------------------------------------------------------------------------

    def new_ids(self, kind: Kind, count: int) -> list[ElementId]:
        self._time_left()
        last = self._last.get(kind.letter, 0)
        made = [f"{kind.letter}-{number}" for number in range(last + 1, last + max(count, 0) + 1)]
        self._last[kind.letter] = last + len(made)
        self._elements.learn(made)
        return made

    def put(self, elements: Sequence[Element], *, client_keys: Mapping[ElementId, str] | None = None) -> None:
        self._time_left()
        self._has_changed, self._gathered = True, Gathered()
        self._learn([element.id for element in elements])
        for element in elements:
            if self._elements.put(element):
                # Ids that came from elsewhere are used up too.
                letter, number = element.id[0], int(element.id[2:])
                self._last[letter] = max(self._last.get(letter, 0), number)
        for element_id, client_key in (client_keys or {}).items():
            kind = kind_of(element_id)
            self._client_keys.append(passages.client_key(self._space_key, element_id, client_key, kind))

    def erase(self, stubs: Sequence[Element]) -> None:
        self.put(stubs)
        self._send_graph()
        erasure.erase(self._run, self._space_key, stubs)

    def index(self, embedder: str, vectors_: Sequence[tuple[Passage, Sequence[float] | None]]) -> None:
        self._locked()
        self._send_graph()
        self.has_sent = True
        vectors.index(self._rows, embedder, vectors_)

    def put_control(self, name: str, document: Document) -> None:
        self._time_left()
        self._has_changed = True
        self._controls[name] = json_text(document)
        self._unsent_controls.add(name)

    def record(self, commit: Commit) -> None:
        self._time_left()
        if self._commit is not None or commit.seq != self.seq + 1:
            raise errors.InternalError(f"A commit record for {commit.seq} does not follow {self.seq}.")
        self._commit = commit

    # --- what is sent -------------------------------------------------------------------------------------------------

    def finish(self, names: Mapping[str, Any], token: str) -> Head | None:
        """Send the last of it; the head the commit will make, None when it makes none."""
        changed: dict[str, Any] = {"token": token, **self._numbers()}
        if self._commit is None:
            self._send_work()
            documents = self._kept_documents()
            if documents or self.has_sent or self._numbers() != self._start.numbers:
                self._send_last(flush.LAST_OF_STATE, names, documents=documents, changed=changed)
            return None
        head = Head(
            self._next,
            self._elements.totals,
            self._next if self._controls else self._head.controls_seq,
            self._next if self._elements.has_merged else self._head.merges_seq,
        )
        changed |= {
            "head": head.seq,
            "totals": json_text(head.totals),
            "controls_seq": head.controls_seq,
            "merges_seq": head.merges_seq,
        }
        lists = self._new_in_graph()
        lists["nodes"].append({"labels": ["Commit"], "properties": {**self._stored(self._commit), "token": token}})
        self._send_work()
        self._send_last(flush.LAST_OF_GRAPH, names, **lists, documents=self._kept_documents(), changed=changed)
        return head

    def left(self, head: Head | None, token: str) -> Start:
        """What the next transaction starts from, once this one has committed."""
        return Start(
            head or self._start.head, token if self.has_sent else self._start.token, self._numbers_given(), self._leases
        )

    def _send_last(self, statement: str, names: Mapping[str, Any], **lists: Any) -> None:
        """Send the rest, or have it ready to be sent at once with the commit."""
        if self.turn is not None:
            self._send(statement, **names, **lists)
            return
        self.has_sent = True
        known = {"expected": self._start.token, "analysis": ANALYSIS, "seq": self._next}
        self.at_once = flush.at_once(statement), {**names, **known, **lists}

    def _send(self, statement: str, **lists: Any) -> list[Row]:
        """Run one statement of `flush`."""
        self.has_sent = True
        return self._run(statement, {"space": self._space_key, "seq": self._next, **lists})

    def _send_graph(self) -> None:
        """Send what a read of the graph has to see."""
        if self._elements.has_unsent or self._unsent_controls or self._client_keys:
            self._send(flush.NEW, **self._new_in_graph())

    def _send_state(self) -> None:
        """Send what a read of state has to see."""
        self._send_work()
        documents = self._kept_documents()
        if documents:
            self._send(flush.DOCUMENTS, documents=documents)

    def _send_work(self) -> None:
        if dropped := self._dropped_documents():
            self._send(flush.DROPPED_DOCUMENTS, dropped_documents=dropped)
        if work := self._work_to_send():
            self._send(flush.WORK, **work)

    def _kept_documents(self) -> list[dict[str, Any]]:
        documents = self._documents_to_send()
        if any(row["expires_ms"] is not None for row in documents) and random.random() < _SWEEPING:  # noqa: S311
            self._send(flush.SWEEP, now=self._clock.now_ms())
        return documents

    def _numbers(self) -> dict[str, int]:
        """The last numbers given out, as properties of the Space."""
        return {f"last_{name}": last for name, last in self._numbers_given().items()}

    def _numbers_given(self) -> dict[str, int]:
        return self._last | {"work": self._last_work}

    def _new_in_graph(self) -> dict[str, list[Any]]:
        """What is new in the graph, as lists of `flush.NEW`; what it takes the place of is ended at once."""
        changes = Changes(self._space_key, self._next)
        self._elements.send(changes)
        lists = changes.new
        lists["nodes"] += self._client_keys
        if any(changes.ends.values()):
            self._send(flush.ENDS, **changes.ends)
        if any(changes.texts.values()):
            self._send(flush.ENDS_OF_TEXTS, **changes.texts)
        if changes.replaced:
            self._send(flush.REPLACED, replaced=changes.replaced)
        if self._unsent_controls:
            controls = [{"name": name, "body": self._controls[name]} for name in sorted(self._unsent_controls)]
            self._send(flush.CONTROLS, controls=controls)
        self._client_keys, self._unsent_controls = [], set()
        return lists

    def _stored(self, commit: Commit) -> dict[str, Any]:
        return {
            "space": self._space_key,
            "seq": commit.seq,
            "tx_id": commit.tx_id,
            "committed_at": commit.committed_at,
            "record": json_text(commit.record),
            "envelope": json_text(commit.envelope),
        }
