"""A vocabulary that moves while a request runs, and one that is no longer kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest

from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.kip.schema import Environment
from brain.kip.schema.package import complete, load
from brain.store.base import Commit, Document, Snapshot, SpaceStore, Transaction
from tests.kip.conftest import Space
from tests.kip.schema.conftest import package

requirement = pytest.mark.requirement
TOOLS = package("t/tools", concept_types={"Tool": {"description": "what one works with"}})
CREATE = 'CREATE CONCEPT ?c {TYPE "Person"}'
FIND = "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"


def request(mode: str, *commands: str) -> dict[str, Any]:
    operations = [{"command": command} for command in commands]
    return {"kip": "2.0", "operations": operations, "execution": {"mode": mode}}


class HeldUp:
    """A store whose second visitor is held up at the door until somebody else is done."""

    def __init__(self, inner: SpaceStore, act: Callable[[], None]) -> None:
        self._inner = inner
        self._act = act
        self.visits = -1

    def transaction(self, **options: Any) -> AbstractContextManager[Transaction]:
        self._arrive()
        return self._inner.transaction(**options)

    def snapshot(self, *seq: Any, **options: Any) -> AbstractContextManager[Snapshot]:
        self._arrive()
        return self._inner.snapshot(*seq, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _arrive(self) -> None:
        if self.visits >= 0:
            self.visits += 1
            if self.visits == 2:
                self._act()


def held_up(space: Space) -> None:
    """From now on a package is activated while the second operation of a request waits for its turn."""
    library = PackageLibrary()
    plain = space.store
    tools = library.install(TOOLS)

    def activate() -> None:
        put(plain, Engine(plain, library, clock=space.clock), lambda now: now.with_package(tools).to_document())

    store = HeldUp(plain, activate)
    space.engine = Engine(store, library, clock=space.clock)
    store.visits = 0


def put(store: SpaceStore, engine: Engine, document_of: Callable[[Environment], Document]) -> None:
    """Commit another vocabulary, as a host with `manage_schema` does."""
    with store.transaction() as tx:
        tx.put_control("schema", document_of(engine.environment(tx)))
        seq = tx.seq + 1
        tx.record(Commit(seq, f"kip:space:default#{seq}", "2026-09-20T00:00:00.000Z", {}, {"space_seq": seq}))


@requirement("KI-ERR-020")
@pytest.mark.parametrize("following", [CREATE, FIND])
def test_a_sequence_goes_on_in_no_other_vocabulary_than_it_began_in(space: Space, following: str) -> None:
    held_up(space)
    response = space.execute(request("sequence", CREATE, following, CREATE))
    assert [entry["status"] for entry in response["results"]] == ["succeeded", "failed", "skipped"]
    error = response["results"][1]["error"]
    assert (error["code"], error["retry"]["class"]) == ("SchemaEnvironmentChanged", "requires_refresh")
    assert error["details"] == {"expected": 1, "found": 2}
    assert space.write(FIND) == [1]


@requirement("KI-ERR-020")
def test_operations_that_do_not_build_on_each_other_do_not_mind(
    space: Space,
) -> None:
    held_up(space)
    response = space.execute(request("independent", CREATE, CREATE))
    assert [entry["status"] for entry in response["results"]] == ["succeeded", "succeeded"]


@requirement("KI-ERR-020")
def test_a_sequence_may_add_to_the_vocabulary_itself(space: Space) -> None:
    define = 'DEFINE CONCEPT TYPE "Hat" {description: "Something worn."}'
    response = space.execute(request("sequence", CREATE, define, 'CREATE CONCEPT ?h {TYPE "Hat"}', FIND))
    assert [entry["status"] for entry in response["results"]] == ["succeeded"] * 4
    keyed = {**request("sequence", CREATE, FIND), "preconditions": {}}
    keyed["operations"][0]["idempotency_key"] = "one"
    first = space.execute(keyed)
    space.write('DEFINE CONCEPT TYPE "Glove" {description: "Something worn, too."}')
    again = space.execute(keyed)
    assert [entry["status"] for entry in again["results"]] == [entry["status"] for entry in first["results"]]


@requirement("KI-ERR-021")
def test_a_past_whose_packages_are_gone_says_so(space: Space) -> None:
    """A product brought a package along and no longer does; of such a one a Space keeps the digest alone."""
    space.write(CREATE)
    before = space.seq
    with space.store.snapshot() as snapshot:
        at_first = space.engine.environment(snapshot)
    brought = replace(load(complete(TOOLS)), is_bundled=True)
    put(space.store, space.engine, lambda now: now.with_package(brought).to_document())
    during = space.seq
    put_back = {**at_first.to_document(), "version": 3}
    with space.store.transaction() as tx:
        tx.put_control("schema", put_back)
        seq = tx.seq + 1
        tx.record(Commit(seq, f"kip:space:default#{seq}", "2026-09-20T00:00:00.000Z", {}, {"space_seq": seq}))
    assert space.write(FIND) == [1]
    assert space.write(f"{FIND} AS OF SEQ {before}") == [1]
    for command in (f"{FIND} AS OF SEQ {during}", f"DESCRIBE SCHEMA ENVIRONMENT AS OF SEQ {during}"):
        error = space.error(command)
        assert (error["code"], error["retry"]["class"]) == ("HistoricalSchemaUnavailable", "non_retryable")
        assert error["details"]["seq"] == during
