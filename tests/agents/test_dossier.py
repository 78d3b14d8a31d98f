"""The dossier: what is read of the people and things named, however much there is of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from brain.agents import stated
from brain.agents.dossier import Entity, find_named, read_claims, read_commitments, read_entities
from brain.agents.reading import Query, Reading
from brain.gate.gate import reader_session
from brain.times import Timestamp, milliseconds, timestamp
from tests.agents.space import NOW, TestSpace


class Watched(Reading):
    """A reading that notes what it sent."""

    sent: list[Query]

    def try_all(self, queries: Sequence[Query]) -> list[dict[str, Any]]:
        self.sent.extend(queries)
        return super().try_all(queries)


@pytest.fixture
def reading(space: TestSpace) -> Watched:
    watched = Watched(space.engine, reader_session("agent:recall"))
    object.__setattr__(watched, "sent", [])
    return watched


def person(space: TestSpace, name: str) -> Entity:
    text = 'UPSERT CONCEPT ?p { MATCH {type: "Person", key: :key} SET FIELDS {name: :name} }'
    made = space.write(text, key=name.lower(), name=name)["handles"]["p"]
    return Entity(made, "Person", name, name.lower(), ())


def minutes(number: int) -> Timestamp:
    return timestamp(milliseconds("2026-01-01T00:00:00.000Z") + 60_000 * number)


def say_words(space: TestSpace, who: Entity, numbers: range) -> None:
    """One claim per number, each said a minute after the one before."""
    for start in range(numbers.start, numbers.stop, 100):
        these = range(start, min(start + 100, numbers.stop))
        clauses = " ".join(f'ASSERT (:who, "speaks", :v{n}) {{by: :who, mode: "stated", at: :t{n}}}' for n in these)
        values = {f"v{n}": f"word {n}" for n in these} | {f"t{n}": minutes(n) for n in these}
        space.write(f"MUTATE {{ {clauses} }}", who={"id": who.id}, **values)


@pytest.mark.parametrize(
    "text, mentioned, alike",
    [
        ("Ana Ruiz says good morning.", ["Ana Ruiz"], ["Ana Lopez"]),
        ("Ana says good morning.", ["Ana Ruiz", "Ana Lopez"], []),
        ("Ana Ruiz met the other Ana.", ["Ana Ruiz", "Ana Lopez"], []),
        ("Ana Ruiz and Ana Lopez met.", ["Ana Ruiz", "Ana Lopez"], []),
        ("Ana's friend met Ana Lopez.", ["Ana Ruiz", "Ana Lopez"], []),
    ],
)
def test_who_is_called_in_full_does_not_bring_namesakes(
    space: TestSpace, reading: Watched, text: str, mentioned: list[str], alike: list[str]
) -> None:
    for name in ("Ana Ruiz", "Ana Lopez"):
        person(space, name)
    named = find_named([text], reading)
    assert sorted(one.name for one in named.mentioned) == sorted(mentioned)
    assert sorted(one.name for one in named.alike) == sorted(alike)


def test_who_is_named_comes_in_the_order_of_the_search_best_first(space: TestSpace, reading: Watched) -> None:
    for name in ("Ana Ruiz", "Ana Lopez", "Tom Baker", "Ana Tom Ruiz"):
        person(space, name)
    named = find_named(["Ana and Tom Ruiz, and Tom Baker"], reading)
    best = [hit["element"]["name"] for hit in reading.ask("SEARCH CONCEPT :text", text="ana tom ruiz baker")["hits"]]
    assert [one.name for one in named.mentioned] == best
    assert best != sorted(best, key=("Ana Ruiz", "Ana Lopez", "Tom Baker", "Ana Tom Ruiz").index)  # as they were stored


@pytest.mark.requirement("BR-FORM-019")
def test_of_much_the_last_said_is_told(space: TestSpace, reading: Watched) -> None:
    alice = person(space, "Alice")
    say_words(space, alice, range(150))
    told = [claim.object.name for claim in read_claims([alice], NOW, reading)[alice.id]]
    assert told == [f"word {n}" for n in range(149, 29, -1)]


def test_one_person_does_not_crowd_out_another(
    space: TestSpace, reading: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stated, "MOST_ABOUT", 10)
    bob, alice, carol = (person(space, name) for name in ("Bob", "Alice", "Carol"))
    say_words(space, bob, range(4))
    say_words(space, alice, range(100, 220))
    say_words(space, carol, range(4, 6))
    told = read_claims([bob, alice, carol], NOW, reading)
    assert [claim.object.name for claim in told[bob.id]] == ["word 3", "word 2", "word 1", "word 0"]
    assert [claim.object.name for claim in told[carol.id]] == ["word 5", "word 4"]
    assert [claim.object.name for claim in told[alice.id]] == [f"word {n}" for n in range(219, 209, -1)]


def test_many_people_are_read_like_one(space: TestSpace, reading: Watched) -> None:
    people = [person(space, f"Person{n}") for n in range(8)]
    for who, friend in pairwise(people):
        space.write('ASSERT (:a, "knows", :b) {by: :a, mode: "stated"}', a={"id": who.id}, b={"id": friend.id})
    of_one = read_claims(people[:1], NOW, reading)
    cost = len(reading.sent)
    reading.sent.clear()
    of_all = read_claims(people, NOW, reading)
    assert len(reading.sent) <= cost
    assert of_all[people[0].id] == of_one[people[0].id]
    told = {(claim.subject.name, claim.object.name) for claim in of_all[people[3].id]}
    assert told == {("Person3", "Person4"), ("Person2", "Person3")}


def test_entities_come_in_the_order_asked_for_and_only_those_there_are(space: TestSpace, reading: Watched) -> None:
    alice, bob = person(space, "Alice"), person(space, "Bob")
    space.write('TRANSITION :t TO "archived"', t=bob.id)
    assert list(read_entities([bob.id, "C-999999", alice.id, bob.id], reading)) == [bob.id, alice.id]
    assert read_entities([], reading) == {}
    assert read_claims([], NOW, reading) == {}
    assert read_commitments([], reading) == ()
    assert len(reading.sent) == 1


def test_claims_are_told_of_the_one_a_person_was_merged_into(space: TestSpace, reading: Watched) -> None:
    alice, ally = person(space, "Alice"), person(space, "Ally")
    say_words(space, ally, range(2))
    space.write("MERGE CONCEPT :source INTO :target", source=ally.id, target=alice.id)
    assert [claim.object.name for claim in read_claims([alice], NOW, reading)[alice.id]] == ["word 1", "word 0"]
