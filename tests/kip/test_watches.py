"""What a Watch waits for, and since when (Cognitive Memory Profile §5.11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain import errors
from brain.kip.schema import Environment
from brain.kip.watches import Arming, Match, arming, condition_of, fire_key, first_match, silence_key
from brain.store.base import Commit, Snapshot
from brain.times import FixedClock
from tests.kip.conftest import Space, fresh

requirement = pytest.mark.requirement

SETTING = """MUTATE {
  CREATE CONCEPT ?ann {TYPE "Person" NAME "Ann"}
  CREATE CONCEPT ?ben {TYPE "Person" NAME "Ben"}
  CREATE CONCEPT ?task {TYPE "Commitment" SET ATTRIBUTES {summary: "slides", status: "pending"}}
  ASSERT ?zone (?ann, "timezone", "+01:00") {by: ?ann, mode: "stated"}
}"""
DONE = 'UPDATE :task SET ATTRIBUTES {status: "fulfilled"}'
MOVED = 'ASSERT (:ann, "timezone", "+02:00") {by: :ann, mode: "stated"}'
OTHERS = 'ASSERT (:ben, "timezone", "+02:00") {by: :ben, mode: "stated"}'
NEW_TASK = 'CREATE CONCEPT ?c {TYPE "Commitment" SET ATTRIBUTES {summary: "s", status: "pending"}}'
NEW_PERSON = 'CREATE CONCEPT ?c {TYPE "Person" NAME "Cy"}'
BEFRIENDED = 'ASSERT (:ann, "knows", :ben) {by: :ann, mode: "stated"}'
RETRACTED = 'TRANSITION :zone TO "retracted"'


class World:
    def __init__(self, space: Space) -> None:
        self.space = space
        made = space.handles(SETTING)
        self.ids = {name: made[name] for name in ("ann", "ben", "task", "zone")}

    def matches(self, condition: Any, command: str) -> bool:
        """Whether what a command commits is what a condition waits for."""
        before = self.space.seq
        named: dict[str, Any] = {name: found for name, found in self.ids.items() if f":{name}" in command}
        self.space.write(command, **named)
        with self.space.store.snapshot() as now:
            wanted = condition_of(condition, self.space.engine.environment(now))
            assert wanted is not None
            return first_match(wanted, now.commits(after=before), now) is not None

    def named(self, condition: dict[str, Any]) -> dict[str, Any]:
        """A condition with ids in place of names."""
        named = {**condition}
        if "element" in named:
            named["element"] = self.ids[named["element"]]
        if "slot" in named:
            named["slot"] = {**named["slot"], "subject": self.ids[named["slot"]["subject"]]}
        return named


ZONE = {"slot": {"subject": "ann", "predicate": "timezone"}}


@requirement("KI-PROFILE-034", "KI-CAP-017")
@pytest.mark.parametrize(
    ("condition", "command", "holds"),
    [
        ({"element": "task"}, DONE, True),
        ({"element": "ann"}, DONE, False),
        ({"type": "Commitment"}, DONE, True),
        ({"type": "Person"}, DONE, False),
        ({"type": "Person"}, MOVED, False),
        (ZONE, MOVED, True),
        (ZONE, OTHERS, False),
        (ZONE, BEFRIENDED, False),
        (ZONE, RETRACTED, True),
        (ZONE | {"ops": ["create"]}, RETRACTED, False),
        (ZONE | {"ops": ["create", "lifecycle"]}, RETRACTED, True),
        (ZONE | {"ops": "lifecycle"}, MOVED, False),
        (ZONE | {"ops": []}, MOVED, False),
        (ZONE | {"element": "zone"}, RETRACTED, True),
        (ZONE | {"element": "zone"}, MOVED, False),
        (ZONE | {"type": "Commitment"}, MOVED, False),
        ({"type": "Commitment", "touched": ["attributes.status"]}, DONE, True),
        ({"type": "Commitment", "touched": ["attributes.due_at", "attributes.status"]}, DONE, True),
        ({"type": "Commitment", "touched": ["attributes.summary"]}, DONE, False),
        ({"type": "Commitment", "touched": ["attributes.status"], "ops": ["create"]}, DONE, False),
        ({"element": "task", "type": "Commitment", "ops": ["update"], "text": "the slides"}, DONE, True),
        ({"type": "Commitment"}, NEW_TASK, True),
        ({"type": "Commitment", "touched": ["attributes.status"]}, NEW_PERSON, False),
    ],
)
def test_everything_a_condition_names_has_to_hold_of_one_change(
    space: Space, condition: dict[str, Any], command: str, *, holds: bool
) -> None:
    world = World(space)
    assert world.matches(world.named(condition), command) is holds


@requirement("KI-PROFILE-034")
@pytest.mark.parametrize(
    "text", ["any reply from Ann", {"text": "any reply from Ann"}, {"text": "t", "ops": ["create"]}]
)
def test_what_only_a_text_states_is_left_to_a_reader(space: Space, text: Any) -> None:
    with space.store.snapshot() as now:
        assert condition_of(text, space.engine.environment(now)) is None


@requirement("KI-PROFILE-034")
@pytest.mark.parametrize(
    "condition",
    [
        {},
        {"ops": ["create"]},
        {"touched": ["name"]},
        {"element": "Ann"},
        {"element": "C-1", "colour": "red"},
        {"element": "C-1", "ops": ["born"]},
        {"element": "C-1", "ops": 7},
        {"slot": {"subject": "C-1"}},
        {"slot": {"subject": "Ann", "predicate": "knows"}},
        {"slot": {"subject": "C-1", "predicate": "no_such_thing"}},
        {"type": "NoSuchThing"},
        7,
    ],
)
def test_what_is_no_condition_is_never_taken_for_one(space: Space, condition: Any) -> None:
    with space.store.snapshot() as now, pytest.raises(errors.KipError):
        condition_of(condition, space.engine.environment(now))


@requirement("KI-PROFILE-034")
def test_a_merge_takes_the_watched_along(space: Space) -> None:
    world = World(space)
    space.write("MERGE CONCEPT :ben INTO :ann", ann=world.ids["ann"], ben=world.ids["ben"])
    by_ben = {"slot": {"subject": world.ids["ben"], "predicate": "timezone"}}
    assert world.matches(by_ben, MOVED)
    assert world.matches({"element": world.ids["ben"]}, 'UPDATE :ann SET FIELDS {name: "Anna"}')


@pytest.fixture(scope="module")
def watching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Snapshot, Environment]]:
    folder, clock = tmp_path_factory.mktemp("watching"), FixedClock(1_789_862_400_000)
    with fresh(folder, clock) as space, space.store.snapshot() as now:
        yield now, space.engine.environment(now)


entries = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["create", "update", "lifecycle"]),
        "kind": st.just("concept"),
        "id": st.sampled_from(["C-1", "C-2"]),
        "schema_ref": st.sampled_from(
            [f"kip://profiles/cognitive-memory@2.0.0/{name}" for name in ("Commitment", "Person")]
        ),
        "touched": st.lists(st.sampled_from(["name", "state"]), unique=True),
    }
)
conditions = st.fixed_dictionaries(
    {"element": st.sampled_from(["C-1", "C-2"])},
    optional={
        "type": st.sampled_from(["Commitment", "Person"]),
        "ops": st.lists(st.sampled_from(["create", "update", "lifecycle"])),
        "touched": st.lists(st.sampled_from(["name", "state"])),
    },
)


@requirement("KI-PROFILE-034")
@given(condition=conditions, entry=entries)
def test_one_member_more_never_matches_more(
    condition: dict[str, Any], entry: dict[str, Any], watching: tuple[Snapshot, Environment]
) -> None:
    snapshot, environment = watching
    commit = Commit(1, "t", "2026-01-01T00:00:00.000Z", {}, {"changes": [entry]})

    def matches(wanted: dict[str, Any]) -> bool:
        found = condition_of(wanted, environment)
        assert found is not None
        return first_match(found, [commit], snapshot) == Match(1, entry["id"])

    alone = {"element": condition["element"]}
    parts = [alone | {name: condition[name]} for name in condition]
    assert matches(condition) is all(map(matches, parts))
    assert not matches(condition) or matches(alone)


@requirement("KI-PROFILE-035", "KI-PROFILE-056")
def test_arming_again_and_changing_what_is_waited_for_begin_anew(space: Space) -> None:
    watch = space.handles(
        'CREATE CONCEPT ?w {TYPE "Watch" SET ATTRIBUTES '
        '{summary: "s", watch_class: "delta", status: "disarmed", condition: {element: "C-9"}}}'
    )["w"]

    def now() -> Arming | None:
        with space.store.snapshot() as snapshot:
            return arming(snapshot.versions(watch))

    def change(attributes: str) -> Arming | None:
        space.write(f"UPDATE :w SET ATTRIBUTES {{{attributes}}}", w=watch)
        return now()

    assert now() is None
    assert change('status: "armed"') == Arming(1, 2)
    assert change('summary: "another word for it"') == Arming(1, 2)
    assert change('condition: {element: "C-8"}') == Arming(2, 4)
    assert change('due_at: "2027-01-01T00:00:00.000Z"') == Arming(3, 5)
    assert change('status: "disarmed"') is None
    assert change('status: "armed"') == Arming(4, 7)
    space.write('TRANSITION :w TO "archived"', w=watch)
    assert now() is None


@requirement("KI-PROFILE-035")
def test_a_key_names_the_arming_and_what_was_seen() -> None:
    assert fire_key("C-7", 2, seq=41) == "watch_fire:C-7:2:41"
    due = "2026-10-01T00:00:00.000Z"
    assert silence_key("C-7", 2, due_at=due) == f"watch_fire:C-7:2:silence:{due}"
