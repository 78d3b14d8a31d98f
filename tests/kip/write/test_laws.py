"""Laws of writing: sugar, repetition, concurrency, atomicity (KIP 2.0 §12.4, §32, §55.1)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brain.store.base import Element, Kind, Scan, Transaction
from brain.times import FixedClock
from tests.kip.conftest import OWNER, Space, fresh
from tests.kip.write.people import People, cast

requirement = pytest.mark.requirement

NOW = 1_789_862_400_000
LAW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

TIMES = st.integers(0, 10_000).map(lambda day: f"20{day // 365 + 10:02d}-0{day % 9 + 1}-1{day % 10}T00:00:00.000Z")
ENDS = TIMES | st.none() | st.builds(lambda time: {"latest": time}, TIMES)


@st.composite
def members(draw: st.DrawFn) -> dict[str, Any]:
    """Optional members of ASSERT as parameters, named as ASSERT names them."""
    optional = {
        "stance": st.sampled_from(["support", "reject", "uncertain"]),
        "confidence": st.floats(0, 1) | st.none(),
        "at": TIMES,
        "valid": ENDS.map(lambda end: {"from": end}),
        "context": st.lists(st.sampled_from(["C-1", "C-2"]), max_size=2),
        "evidence": st.lists(st.just("E-1"), min_size=1, max_size=2),
        "key": st.text(min_size=1, max_size=8),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(optional))))
    return {"by": "C-1", "mode": draw(st.sampled_from(["stated", "observed", "inferred"]))} | {
        name: draw(optional[name]) for name in sorted(chosen)
    }


FIELDS = {
    "at": "asserted_at",
    "by": "asserted_by",
    "confidence": "confidence",
    "context": "context_refs",
    "mode": "mode",
    "stance": "stance",
    "valid": "valid_time",
}


def sugar(said: Mapping[str, Any]) -> str:
    return 'ASSERT ?c ("C-1", "lives_in", "C-3") {' + ", ".join(f"{name}: :{name}" for name in said) + "}"


def long_form(said: Mapping[str, Any]) -> str:
    fields = ", ".join(f"{FIELDS[name]}: :{name}" for name in said if name in FIELDS)
    stance = "" if "stance" in said else ', stance: "support"'
    cited = "".join(f' ("evidence", "{e}") {{role: "support"}}' for e in said.get("evidence", []))
    return (
        'MUTATE { ENSURE PROPOSITION ?p ("C-1", "lives_in", "C-3") CREATE ASSERTION ?c {'
        + (" CLIENT KEY :key" if "key" in said else "")
        + f" SET FIELDS {{proposition: ?p, {fields}{stance}}}"
        + (f" SET STRUCTURAL {{{cited}}}" if cited else "")
        + " } }"
    )


@contextmanager
def peopled() -> Iterator[Space]:
    with TemporaryDirectory() as folder, fresh(Path(folder), FixedClock(NOW)) as space:
        cast(space)
        yield space


@requirement("KI-KML-015")
@LAW
@given(members())
def test_assert_equals_its_long_form(said: dict[str, Any]) -> None:
    with peopled() as short, peopled() as long:
        made, expected = short.write(sugar(said), **said), long.write(long_form(said), **said)
        assert made["changes"] == expected["changes"]
        assert short.commit(2).envelope == long.commit(2).envelope
        for entry in made["changes"]:
            assert short.element(entry["id"]) == long.element(entry["id"])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-1, 1) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@requirement("KI-KML-012", "KI-TX-008")
@LAW
@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, min_size=1))
def test_an_upsert_said_twice_has_no_effect_the_second_time(said: dict[str, Any]) -> None:
    attributes = ", ".join(f"{name}: :{name}" for name in said)
    text = f'UPSERT CONCEPT ?x {{ MATCH {{type: "Person", key: "k"}} SET ATTRIBUTES {{{attributes}}} }}'
    with TemporaryDirectory() as folder, fresh(Path(folder), FixedClock(NOW)) as space:
        made = space.handles(text, **said)
        before = space.element(made["x"])
        assert space.answer(text, **said)["status"] == "no_effect"
        assert space.element(made["x"]) == before
        assert space.seq == 1


@requirement("KI-PROP-004", "KI-TX-005")
def test_sixteen_threads_ensuring_one_tuple_make_one_proposition(space: Space, people: People) -> None:
    text = 'ENSURE PROPOSITION ?p (:a, "knows", :b)'
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda _: space.handles(text, a=people.alice, b=people.bob)["p"], range(16)))
    assert set(made) == {"P-1"}
    assert space.seq == 2


@requirement("KI-TX-005", "KI-TX-023")
def test_no_increment_is_lost_between_writers(space: Space, people: People) -> None:
    text = 'UPDATE ?c SET ATTRIBUTES {age: ADD(?c.attributes.age, 1)} WHERE { ?c {key: "alice"} } EXPECT VERSION :v'

    def increment(_: int) -> None:
        while True:
            version = space.element(people.alice)["_system"]["version"]
            if "error" not in space.answer(text, v=version):
                return

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(increment, range(12)))
    assert space.element(people.alice)["attributes"]["age"] == 41 + 12


class Broken(Exception):
    """A store that breaks off."""


BLOCK = """MUTATE {
  CREATE CONCEPT ?n { TYPE "Person" NAME "New" CLIENT KEY "n" }
  ASSERT (?n, "lives_in", :o) { by: ?n, mode: "stated", evidence: :m }
  UPDATE :a SET ATTRIBUTES {age: 1}
  PURGE :b CONFIRM "PURGE"
}"""


@requirement("KI-TX-001", "KI-TX-012", "KI-ERR-082")
@pytest.mark.parametrize("step", ["new_ids", "put", "erase", "record", "set"])
def test_a_store_that_breaks_off_anywhere_leaves_nothing(
    space: Space, people: People, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    before = everything(space)
    with space.store.transaction() as tx:
        kind = type(tx)

    def fail(*_: Any, **__: Any) -> None:
        raise Broken(step)

    monkeypatch.setattr(kind, step, fail)
    envelope = {"execution": {"mode": "independent", "idempotency_key": "k"}}
    values = {"a": people.alice, "b": people.bob, "o": people.oslo, "m": people.message}
    error = space.error(BLOCK, envelope=envelope, **values)
    assert error["code"] == "InternalError"
    assert step not in str(error)
    monkeypatch.undo()
    assert everything(space) == before
    assert space.answer(BLOCK, envelope=envelope, **values)["status"] == "succeeded"


def everything(space: Space) -> tuple[int, list[Element]]:
    """The Space's sequence and every element in it."""
    with space.store.snapshot() as snapshot:
        return snapshot.seq, [element for kind in Kind for element in snapshot.scan(Scan(kind, states=None))]


@requirement("KI-TX-002")
def test_nobody_sees_a_write_before_it_commits(space: Space, people: People) -> None:
    seen: list[int] = []
    holding, go = threading.Event(), threading.Event()

    def review(_: Any, tx: Transaction) -> None:
        holding.set()
        go.wait(5)

    session = replace(OWNER, review=review)
    text = "UPDATE :a SET ATTRIBUTES {age: 1}"
    writer = threading.Thread(target=lambda: space.write(text, session=session, a=people.alice))
    writer.start()
    assert holding.wait(5)
    seen.append(space.element(people.alice)["attributes"]["age"])
    go.set()
    writer.join()
    seen.append(space.element(people.alice)["attributes"]["age"])
    assert seen == [41, 1]
