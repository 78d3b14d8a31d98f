"""A real Space for agent tests: SQLite, the real engine and gate, a clock that stands still, a scripted model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from brain.agents.formation import form
from brain.agents.jobs import FormationJob, MaintenanceJob, Place, RecallJob, RecallResult, RunResult, Said
from brain.agents.maintenance import maintain
from brain.agents.model import Model, ModelAnswer, ScriptedModel, ScriptedStep, Usage, call, say
from brain.agents.recall import recall
from brain.gate.facts import Attribution
from brain.kip.context import WriteSet
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.base import ElementId, Lease, Snapshot, SpaceStore, Transaction
from brain.store.sqlite import SqliteStore
from brain.times import FixedClock, Timestamp, milliseconds, timestamp
from brain.upkeep.settle import settle

NOW = "2026-06-01T12:00:00.000Z"
MONDAY = "2026-05-04T09:00:00.000Z"


@dataclass
class TestSpace:
    """One Space and what a test does with it."""

    __test__ = False

    store: SpaceStore
    engine: Engine
    clock: FixedClock
    self_id: ElementId
    attribution: Attribution = "speaker"
    conversations: int = 0
    transcripts: list[Sequence[Mapping[str, Any]]] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)
    last_model: Any = None

    def place(self, model: Model) -> Place:
        def keep(messages: Sequence[Mapping[str, Any]], usage: Usage) -> None:
            self.transcripts.append(messages)

        return Place("test", self.engine, self.self_id, model, self.clock, self.attribution, keep)

    def job(self, *said: Said, **context: Any) -> FormationJob:
        self.conversations += 1
        number = context.pop("conversation", self.conversations)

        def review(written: WriteSet, tx: Transaction) -> None:
            if not written.is_empty:
                self.commits.append(tx.seq + 1)

        given = {"counterparty": None, "agent": None, "source": None, "topic": None} | context
        return FormationJob(
            conversation=number,
            messages=said,
            accepted_at=timestamp(self.clock.now_ms()),
            commit_review=given.pop("commit_review", review),
            **given,
        )

    def form(self, model: Model | Sequence[ScriptedStep], *said: Said, **context: Any) -> RunResult:
        """Run Formation on these messages; a list of steps becomes a scripted model."""
        scripted = ScriptedModel(list(model)) if isinstance(model, Sequence) else model
        self.last_model = scripted
        return anyio.run(form, self.place(scripted), self.job(*said, **context))

    def recall(self, steps: Sequence[ScriptedStep], query: str, **job: Any) -> RecallResult:
        """Ask a question, answered by these steps."""
        self.last_model = ScriptedModel(list(steps))
        return anyio.run(recall, self.place(self.last_model), RecallJob(query, **job))

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        return self.store.snapshot()

    def transaction(self) -> AbstractContextManager[Transaction]:
        return self.store.transaction()

    def lease(self, holder: str = "test") -> Lease:
        """The lease of a pass."""
        with self.store.transaction() as tx:
            lease = tx.acquire_lease("pass", holder, ttl_ms=60_000, now_ms=self.clock.now_ms())
        assert lease is not None
        return lease

    def settle(self, scope: str = "full", **parameters: Any) -> dict[str, Any]:
        return dict(settle(self, scope, parameters, self.lease()))

    def maintain(self, steps: Sequence[ScriptedStep], scope: Any = "full", **settlement: Any) -> RunResult:
        """Run a cycle on what settlement finds, with these members over it."""
        self.last_model = ScriptedModel(list(steps))
        found = {**self.settle(scope), **settlement}
        job = MaintenanceJob(scope, "on_demand", self.conversations, found, lambda _written, _tx: None)
        return anyio.run(maintain, self.place(self.last_model), job)

    def rows(self, command: str, **parameters: Any) -> Any:
        """The rows of a read by the owner."""
        response = self.engine.run(command, parameters).response
        assert response["results"], response
        assert response["results"][0]["status"] in ("succeeded", "no_effect"), response["results"][0]
        return response["results"][0]["result"]

    def write(self, command: str, **parameters: Any) -> Any:
        return self.rows(command, **parameters)

    def head(self) -> int:
        return self.store.head()

    def tool_text(self) -> str:
        """Everything tools answered in the last run."""
        return json.dumps(self.transcripts[-1], ensure_ascii=False)


def said(text: str, name: str | None = None, *, at: Timestamp = MONDAY, role: Any = "user", plus_ms: int = 0) -> Said:
    return Said(role, text, name, timestamp(milliseconds(at) + plus_ms))


def remember(done: bool = True, **lists: Any) -> ModelAnswer:
    """A call of the remember tool."""
    return call("remember", json.dumps({**lists, "done": done, "summary": "kept"}))


def kip(command: str, **parameters: Any) -> ModelAnswer:
    """A call of execute_kip."""
    return call("execute_kip", json.dumps({"command": command, "parameters": parameters}))


DONE = say("done")


@contextmanager
def open_space(
    folder: Path, *, packages: tuple[str, ...] = ("general", "everyday"), attribution: Attribution = "speaker"
) -> Iterator[TestSpace]:
    clock = FixedClock(milliseconds(NOW))
    library = PackageLibrary.bundled()
    stores = SqliteStore(folder, clock=clock, durability="normal")
    store = stores.create("test", now_ms=clock.now_ms(), controls=Engine.birth_controls(library, packages))
    engine = Engine(store, library, clock=clock)
    made = engine.run('UPSERT CONCEPT ?s { MATCH {type: "Person", key: "$self"} SET FIELDS {name: "Brain"} }').response
    yield TestSpace(store, engine, clock, made["results"][0]["result"]["handles"]["s"], attribution)
    stores.close()
