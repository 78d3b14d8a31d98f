"""History is reconstructible: AS OF SEQ answers what was answered when that commit was the last (§36, §48.1)."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st

from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.times import FixedClock
from tests.kip.conftest import OWNER, Space, fresh
from tests.laws import law

NOW = 1_789_862_400_000
PEOPLE = 4

QUESTIONS = (
    'FIND(?c) WHERE { ?c {type: "Person"} } @',
    "FIND(?c.id, ?c.name, ?c._system.version) WHERE { ?c CONCEPT {} } @ ORDER BY ?c.name DESC LIMIT 50",
    'FIND(?c.attributes.n, COUNT(?c)) WHERE { ?c {type: "Person"} } @',
    'FIND(?c.id) WHERE { ?c {type: "Person"} FILTER(?c.attributes.n > 2) } @',
    'FIND(?x.id, ?y.id) WHERE { (?x, "knows", ?y) } @',
    'FIND(?x.id, ?y.id) WHERE { (?x, "knows"{1,3}, ?y) } @',
    'FIND(?p) WHERE { ?p (?x, "knows", ?y) } @',
    "FIND(?a) WHERE { ?a ASSERTION {} } @",
    'FIND(?a.id, ?e.id) WHERE { ?a ASSERTION {} STRUCTURAL (?a, "evidence", ?e) } @',
    'FIND(?x.id) WHERE { ?x {type: "Person"} NOT { ?a ASSERTION {asserted_by: ?x} } } @',
    'FIND(?x.id, ?a.id) WHERE { ?x {type: "Person"} OPTIONAL { ?a ASSERTION {asserted_by: ?x} } } @',
    "FIND(?e) WHERE { ?e EVIDENCE {} } @",
    'FIND(?x.id, ?b.accepted_values) WHERE { ?x {type: "Person"} ?b BELIEF SLOT (?x, "timezone") } @ FOR TIME :t',
    'FIND(?x.id, ?y.id, ?b.status) WHERE { ?p (?x, "knows", ?y) ?b BELIEF (?p) } @ FOR TIME :t',
    'SEARCH CONCEPT "Ada Bob" @ LIMIT 20',
    'SEARCH EVIDENCE "word" @ LIMIT 20',
    "DESCRIBE SCHEMA ENVIRONMENT @",
)
"""`@` stands where AS OF SEQ goes, `:t` for one instant of world time."""

person = st.integers(0, PEOPLE - 1)
number = st.integers(0, 3)
any_of = st.integers(0, 9)
zone = st.sampled_from(["+01:00", "+02:00", "Z"])
day = st.integers(1, 8).map(lambda month: f"2026-0{month}-01T00:00:00.000Z")
Write = tuple[str, Mapping[str, Any]]

KNOWS = 'ASSERT (:x, "knows", :y) {by: :z, mode: "stated", at: :at, stance: :stance}'
ZONE = 'ASSERT (:x, "timezone", :zone) {by: :x, mode: "stated", at: :at, evidence: :e}'
SUPERSEDE = 'ASSERT (:x, "timezone", :zone) {by: :x, mode: "stated", at: :at, evidence: :e} SUPERSEDING :a'


def sent(text: str, /, **values: st.SearchStrategy[Any]) -> st.SearchStrategy[Write]:
    return st.tuples(st.just(text), st.fixed_dictionaries(values))


stances = st.sampled_from(["support", "reject", "uncertain"])
WRITES = st.one_of(
    sent(
        'CREATE CONCEPT ?c {TYPE "Person" NAME :name SET ATTRIBUTES {n: :n}}',
        name=st.sampled_from(["Ada", "Bob"]),
        n=number,
    ),
    sent(
        'CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: :text}}',
        text=st.sampled_from(["a word", "b"]),
    ),
    sent("UPDATE :x SET ATTRIBUTES {n: :n}", x=person, n=number),
    sent("UPDATE :x SET FIELDS {name: :name}", x=person, name=st.sampled_from(["Ada", "Ada Bob", "Cy"])),
    sent(
        "UPDATE ?c SET ATTRIBUTES {n: ADD(?c.attributes.n, 1)} WHERE { ?c CONCEPT {} FILTER(?c.attributes.n >= :n) }",
        n=number,
    ),
    sent(KNOWS, x=person, y=person, z=person, at=day, stance=stances),
    sent(ZONE, x=person, zone=zone, at=day, e=any_of),
    sent(SUPERSEDE, x=person, zone=zone, at=day, e=any_of, a=any_of),
    sent('TRANSITION :a TO "retracted"', a=any_of),
    sent('TRANSITION :x TO "archived"', x=person),
    sent('TRANSITION :e TO "tombstoned"', e=any_of),
    sent("MERGE CONCEPT :x INTO :y", x=person, y=person),
    sent('DEFINE PREDICATE :name {description: "Something."}', name=st.sampled_from(["likes_a", "likes_b"])),
)
ELEMENTS = {"a": "A", "e": "E", "x": "C", "y": "C", "z": "C"}


def bound(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers that stand for elements as their ids."""
    return {name: f"{ELEMENTS[name]}-{value + 1}" if name in ELEMENTS else value for name, value in values.items()}


def answers(engine: Engine, seq: int | None) -> list[Any]:
    """What every question is answered, now or as of a sequence."""
    when = "" if seq is None else f"AS OF SEQ {seq}"
    return [told(engine, question.replace("@", when)) for question in QUESTIONS]


def told(engine: Engine, text: str) -> Any:
    [answer] = engine.run(text, {"t": "2026-09-01T00:00:00.000Z"}, session=OWNER).response["results"]
    assert "error" not in answer, (text, answer)
    result = answer["result"]
    if text.startswith("SEARCH"):
        # What a search says of the present is no part of what it found then.
        del result["search_context"]["current_space_seq"]
    return result


def played(space: Space, writes: list[Write]) -> dict[int, list[Any]]:
    """The answers after each commit, by its sequence."""
    seen = {space.seq: answers(space.engine, None)}
    for name in ("Ada", "Bob", "Ada Bob", "Cy"):
        space.write('CREATE CONCEPT ?c {TYPE "Person" NAME :n SET ATTRIBUTES {n: 1}}', n=name)
        seen[space.seq] = answers(space.engine, None)
    for text, values in writes:
        answer = space.answer(text, **bound(values))
        outcome = answer.get("error", {}).get("code", answer["status"])
        note(f"{text} {bound(values)}: {outcome}")
        event(f"{text.split()[0]} {outcome}")
        space.clock.advance(1_000)
        seen[space.seq] = answers(space.engine, None)
    return seen


@pytest.mark.requirement("KI-KQL-062", "KI-CAP-006", "KI-CAP-007", "KI-TX-008")
@law(8, by_night=2_000)
@given(writes=st.lists(WRITES, min_size=4, max_size=16))
def test_every_sequence_is_answered_as_it_was_when_it_was_the_last(writes: list[Write]) -> None:
    with tempfile.TemporaryDirectory() as folder, fresh(Path(folder), FixedClock(NOW)) as space:
        seen = played(space, writes)
        assert sorted(seen) == list(range(space.seq + 1))
        other = Engine(space.store, PackageLibrary.bundled(), clock=space.clock)
        for seq, then in seen.items():
            for question, expected, found in zip(QUESTIONS, then, answers(other, seq), strict=True):
                assert found == expected, (seq, question)
