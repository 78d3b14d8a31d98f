"""Watches and due Commitments are raised once each, by commits that do nothing else (Profile §5.11, §17)."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Barrier, Thread
from typing import Any

import pytest

from brain.kip.context import Session
from brain.kip.governance.control import Governor
from brain.store.base import Kind
from brain.times import milliseconds, timestamp
from brain.upkeep import due, watches
from brain.upkeep.parts import Work
from tests.agents.space import NOW, TestSpace

requirement = pytest.mark.requirement

DUE = "2026-06-01T13:00:00.000Z"
NOTHING = {"fired": 0, "conflicted": 0, "disarmed": 0, "deferred": 0}
FIRES = "FIND(?x) WHERE { ?x ACTIVITY {activity_class: :c} } ORDER BY ?x.id"


def watch(space: TestSpace, condition: Any, *, watch_class: str = "delta", **attributes: Any) -> str:
    """An armed Watch."""
    values = {"summary": "s", "watch_class": watch_class, "status": "armed", "condition": condition, **attributes}
    members = ", ".join(f"{name}: :{name}" for name in values)
    made = space.write(f'CREATE CONCEPT ?w {{TYPE "Watch" SET ATTRIBUTES {{{members}}}}}', **values)
    return str(made["handles"]["w"])


def commitment(space: TestSpace, due_at: str = "2026-05-08T00:00:00.000Z", status: str = "pending") -> str:
    made = space.write(
        'CREATE CONCEPT ?c {TYPE "Commitment" SET ATTRIBUTES {summary: "slides", status: :status, due_at: :due}}',
        status=status,
        due=due_at,
    )
    return str(made["handles"]["c"])


def change(space: TestSpace, element: str) -> int:
    """Change a Concept; the commit's number."""
    space.write("UPDATE :c SET ATTRIBUTES {note: :n}", c=element, n=f"note {space.head()}")
    return space.head()


def work_of(space: TestSpace) -> Work:
    now_ms = space.clock.now_ms()
    return Work.begin(space, space.lease(), now_ms, timestamp(now_ms))


def advance(space: TestSpace) -> dict[str, int]:
    """One round; only what is not nothing."""
    return {name: count for name, count in watches.advance(work_of(space)).items() if count}


def status(space: TestSpace, element: str) -> Any:
    (found,) = space.rows("FIND(?w.attributes.status) WHERE { ?w {id: :w} }", w=element)
    return found


def fires(space: TestSpace, activity_class: str = "watch_fire") -> Any:
    return space.rows(FIRES, c=activity_class)


def key_of(space: TestSpace, key: str) -> str | None:
    """The Activity made under a client key."""
    with space.snapshot() as now:
        found = now.by_client_key(Kind.ACTIVITY, key)
    return found.id if found else None


def go_to(space: TestSpace, instant: str) -> None:
    space.clock.advance(milliseconds(instant) - space.clock.now_ms())


@requirement("KI-PROFILE-035", "KI-CAP-017", "BR-SETTLE-009")
def test_a_change_fires_a_watch_in_one_commit_under_the_key_of_that_change(space: TestSpace) -> None:
    task = commitment(space, due_at="2027-01-01T00:00:00.000Z")
    waiting = watch(space, {"element": task})
    assert advance(space) == {}
    seq = change(space, task)
    change(space, task)
    before = space.head()
    assert advance(space) == {"fired": 1}
    assert space.head() == before + 1
    (fired,) = fires(space)
    assert fired["id"] == key_of(space, f"watch_fire:{waiting}:1:{seq}")
    assert (fired["status"], {ref["id"] for ref in fired["inputs"]}) == ("completed", {waiting, task})
    with space.snapshot() as now:
        found = now.commit(space.head())
    assert found is not None
    entries = {entry["id"]: entry for entry in found.envelope["changes"]}
    assert entries.keys() == {fired["id"], waiting}
    assert entries[waiting]["touched"] == ["attributes.fired_at", "attributes.status"]
    assert advance(space) == {}


@requirement("KI-PROFILE-037")
def test_a_firing_draws_attention_and_does_nothing_else(space: TestSpace) -> None:
    task = commitment(space)
    waiting = watch(space, {"element": task})
    space.write('UPDATE :w SET STRUCTURAL {("watches", :c)}', w=waiting, c=task)
    change(space, task)
    (before,) = space.rows("FIND(?c) WHERE { ?c {id: :c} }", c=task)
    kinds = "FIND(?x.id) WHERE { ?x {} UNION { ?x EVIDENCE {} } UNION { ?x ASSERTION {} } }"
    known = space.rows(kinds)
    assert advance(space) == {"fired": 1}
    assert status(space, waiting) == "fired"
    assert space.rows("FIND(?c) WHERE { ?c {id: :c} }", c=task) == [before]
    assert space.rows(kinds) == known
    (fired,) = fires(space)
    assert fired["outputs"] == []


@requirement("KI-PROFILE-035")
def test_two_evaluators_that_see_one_change_fire_once(space: TestSpace) -> None:
    task = commitment(space, due_at="2027-01-01T00:00:00.000Z")
    waiting = watch(space, {"element": task})
    change(space, task)
    together, counted = Barrier(2), list[Mapping[str, int]]()
    evaluators = [work_of(space), work_of(space)]

    def evaluate(work: Work) -> None:
        run = work.space.engine.run

        class Paused:
            """The engine, at which both have arrived before either writes."""

            def __getattr__(self, name: str) -> Any:
                return getattr(space.engine, name)

            def run(self, command: str, *args: Any, **named: Any) -> Any:
                if "watch_fire" in command:
                    together.wait(timeout=10)
                return run(command, *args, **named)

        class Open:
            engine = Paused()
            snapshot, transaction = space.snapshot, space.transaction

        work.space = Open()  # type: ignore[assignment]
        counted.append(watches.advance(work))

    threads = [Thread(target=evaluate, args=(work,)) for work in evaluators]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((found["fired"], found["conflicted"]) for found in counted) == [(0, 1), (1, 0)]
    assert (len(fires(space)), status(space, waiting)) == (1, "fired")


@requirement("KI-PROFILE-035", "KI-PROFILE-056")
def test_an_armed_again_watch_fires_for_what_comes_after(space: TestSpace) -> None:
    task = commitment(space, due_at="2027-01-01T00:00:00.000Z")
    waiting = watch(space, {"element": task})
    first = change(space, task)
    assert advance(space) == {"fired": 1}
    space.write('UPDATE :w SET ATTRIBUTES {status: "armed"}', w=waiting)
    assert advance(space) == {}
    second = change(space, task)
    assert advance(space) == {"fired": 1}
    assert all(key_of(space, f"watch_fire:{waiting}:{key}") for key in (f"1:{first}", f"2:{second}"))


@requirement("KI-PROFILE-036", "KI-PROFILE-035", "BR-SETTLE-010")
def test_silence_fires_once_its_time_has_passed_without_a_change(space: TestSpace) -> None:
    task, other = commitment(space), commitment(space)
    waiting = watch(space, {"element": task}, watch_class="silence", due_at=DUE)
    change(space, other)
    assert advance(space) == {}
    go_to(space, DUE)
    space.clock.advance(1)
    change(space, task)
    assert advance(space) == {"fired": 1}
    assert key_of(space, f"watch_fire:{waiting}:1:silence:{DUE}") == fires(space)[0]["id"]
    assert [ref["id"] for ref in fires(space)[0]["inputs"]] == [waiting]
    assert advance(space) == {}


@requirement("KI-PROFILE-036", "BR-SETTLE-010")
def test_a_change_in_time_ends_a_wait_for_silence(space: TestSpace) -> None:
    task = commitment(space)
    waiting = watch(space, {"element": task}, watch_class="silence", due_at=DUE)
    change(space, task)
    go_to(space, "2026-06-02T00:00:00.000Z")
    assert advance(space) == {"disarmed": 1}
    assert (status(space, waiting), fires(space)) == ("expired", [])


@requirement("KI-PROFILE-036")
def test_the_clock_alone_proves_no_silence(space: TestSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "_CHANGES", 2)
    task, other = commitment(space), commitment(space)
    waiting = watch(space, {"element": task}, watch_class="silence", due_at=DUE)
    for _ in range(4):
        change(space, other)
    change(space, task)
    go_to(space, "2026-06-02T00:00:00.000Z")
    assert [advance(space) for _ in range(3)] == [{}, {}, {"disarmed": 1}]
    assert (status(space, waiting), fires(space)) == ("expired", [])


@requirement("KI-PROFILE-036")
def test_a_change_still_on_its_way_when_time_is_up_is_no_silence(
    space: TestSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = commitment(space)
    waiting = watch(space, {"element": task}, watch_class="silence", due_at=DUE)
    go_to(space, "2026-06-01T14:00:00.000Z")
    run = space.engine.run

    def overtaken(command: str, *args: Any, **named: Any) -> Any:
        if "watch_fire" in command:
            monkeypatch.undo()
            go_to(space, NOW)
            change(space, task)
            go_to(space, "2026-06-01T14:00:00.000Z")
        return run(command, *args, **named)

    monkeypatch.setattr(space.engine, "run", overtaken)
    assert advance(space) == {"conflicted": 1}
    assert (status(space, waiting), fires(space)) == ("armed", [])
    assert advance(space) == {"disarmed": 1}


@requirement("KI-PROFILE-034", "KI-CAP-017")
@pytest.mark.parametrize(
    ("condition", "attributes"),
    [
        ("any reply from Ann", {}),
        ({"text": "any reply from Ann"}, {}),
        ({"type": "NoSuchThing"}, {}),
        ({"ops": ["create"]}, {}),
        ({"type": "Commitment"}, {"watch_class": "silence"}),
    ],
)
def test_what_cannot_be_decided_here_is_put_off_and_said(
    space: TestSpace, condition: Any, attributes: Mapping[str, Any]
) -> None:
    waiting = watch(space, condition, **attributes)
    commitment(space)
    assert advance(space) == {"deferred": 1}
    assert status(space, waiting) == "armed"
    assert space.settle("quick")["watches"] == NOTHING | {"deferred": 1}


@requirement("KI-PROFILE-057")
def test_a_watch_that_was_armed_under_another_view_does_not_fire(space: TestSpace) -> None:
    task = commitment(space)
    waiting = watch(space, {"element": task})
    change(space, commitment(space))
    assert advance(space) == {}
    owner = Session("owner", "test")
    Governor(space.engine).grant(owner, "brain:host", ["read_audit"])
    change(space, task)
    assert advance(space) == {"deferred": 1}
    space.write('UPDATE :w SET ATTRIBUTES {status: "disarmed"}', w=waiting)
    space.write('UPDATE :w SET ATTRIBUTES {status: "armed"}', w=waiting)
    change(space, task)
    assert advance(space) == {"fired": 1}


@requirement("BR-SETTLE-002")
def test_many_watches_take_turns(space: TestSpace) -> None:
    task = commitment(space, due_at="2027-01-01T00:00:00.000Z")
    for _ in range(25):
        watch(space, "a text")
    last = watch(space, {"element": task})
    change(space, task)
    assert advance(space) == {"deferred": 20}
    assert advance(space) == {"deferred": 19, "fired": 1}
    assert status(space, last) == "fired"


@requirement("KI-PROFILE-033")
def test_reviews_of_one_due_time_raise_a_commitment_once(space: TestSpace) -> None:
    task = commitment(space)
    counted: list[int] = []
    works = [work_of(space) for _ in range(4)]
    threads = [Thread(target=lambda w=work: counted.append(due.raise_commitments(w)[0]["raised"])) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(counted) == [0, 0, 0, 1]
    (review,) = fires(space, "commitment_review")
    assert review["id"] == key_of(space, f"commitment_review:{task}:2026-05-08T00:00:00.000Z")
    assert ([ref["id"] for ref in review["inputs"]], status(space, task)) == ([task], "pending")


@requirement("KI-PROFILE-033", "KI-PROFILE-032")
def test_another_due_time_may_raise_it_again_and_only_what_is_open_is_raised(space: TestSpace) -> None:
    task = commitment(space)
    for closed in ("fulfilled", "cancelled", "expired"):
        commitment(space, status=closed)
    commitment(space, due_at="2027-01-01T00:00:00.000Z")
    waited_for = commitment(space)
    waiting = watch(space, {"element": waited_for})
    space.write('UPDATE :w SET STRUCTURAL {("watches", :c)}', w=waiting, c=waited_for)
    commitment(space, status="blocked")
    assert due.raise_commitments(work_of(space))[0] == {"due": 2, "raised": 2}
    space.write("UPDATE :c SET ATTRIBUTES {due_at: :due}", c=task, due="2026-05-09T00:00:00.000Z")
    assert due.raise_commitments(work_of(space))[0] == {"due": 2, "raised": 1}
    assert due.raise_commitments(work_of(space))[0] == {"due": 2, "raised": 0}
    assert len(fires(space, "commitment_review")) == 3
