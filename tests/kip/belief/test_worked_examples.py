"""The worked examples of belief, each as the table it was written down as."""

from __future__ import annotations

import pytest

from brain.kip.belief import GroundTriple
from tests.kip.belief.world import World

BASELINE, STRUCTURAL, DEFAULT = "kip:policy:baseline", "kip:policy:structural", "kip:memory-default"


@pytest.mark.requirement("KI-BELIEF-003", "KI-BELIEF-021", "KI-BELIEF-022", "KI-BELIEF-025")
def test_independent_voices_are_counted_by_root_and_actor(world: World) -> None:
    alice, bob, eve, acme, payroll = (world.concept() for _ in range(5))
    said, told, measured = world.evidence(), world.evidence(), world.evidence("measurement")
    summarized = world.evidence("derived_result", generated_by={"id": world.activity("summarization", [said])})

    def read() -> tuple[int, int, str, str]:
        found = world.belief(alice, "works_for", acme, policy=STRUCTURAL)
        groups = [len(found[side]["root_groups"]) for side in ("support", "opposition")]
        return groups[0], groups[1], found["status"], found["leading"]

    world.claim(alice, "works_for", acme, by=alice, evidence=[said])
    assert read() == (1, 0, "accepted", "support")
    world.claim(alice, "works_for", acme, by=alice, evidence=[said])
    world.claim(alice, "works_for", acme, by=eve, evidence=[summarized])
    assert read() == (1, 0, "accepted", "support")
    denied = world.claim(alice, "works_for", acme, by=bob, stance="reject", evidence=[told])
    assert read() == (1, 1, "contested", "none")
    world.claim(alice, "works_for", acme, by=payroll, mode="observed", evidence=[measured])
    assert read() == (2, 1, "contested", "support")
    world.retract(denied)
    assert read() == (2, 0, "accepted", "support")
    world.change(said, payload={"status": "purged"})
    assert read() == (2, 0, "accepted", "support")


@pytest.mark.requirement("KI-BELIEF-008", "KI-BELIEF-010", "KI-BELIEF-028", "KI-BELIEF-029")
def test_a_single_belief_sees_its_rivals_in_every_form(world: World) -> None:
    ada = world.concept()
    home, office = (
        world.get(world.claim(ada, "position", place, by=ada)).body["proposition"]["id"] for place in ("home", "office")
    )
    expected = ("contested", "accepted", "contested", ["functional_value"], "none")
    by_triple, by_id, other = world.project([GroundTriple(ada, world.predicate("position"), "home"), home, office])
    for found in (by_triple.wire, by_id.wire, other.wire):
        members = ("status", "candidate_status", "slot_status", "conflict_reasons", "leading")
        assert tuple(found[member] for member in members) == expected
    assert by_id.wire["conflict_refs"] == [office]
    assert world.project([home])[0].wire["status"] == "contested"
    slot = world.slot(ada, "position")
    assert (slot["status"], slot["accepted_values"]) == ("contested", [])


@pytest.mark.requirement("KI-BELIEF-041", "KI-BELIEF-042", "KI-BELIEF-045", "KI-BELIEF-046", "KI-BELIEF-053")
@pytest.mark.parametrize("policy", [BASELINE, STRUCTURAL, DEFAULT])
@pytest.mark.parametrize(
    ("at", "beijing", "shanghai", "slot"),
    [
        ("2026-01-05", "uncertain", "insufficient", "uncertain"),
        ("2026-01-10", "accepted", "insufficient", "accepted"),
        ("2026-06-01", "accepted", "insufficient", "accepted"),
        ("2026-09-01", "insufficient", "accepted", "accepted"),
        ("2999-01-01", "insufficient", "accepted", "accepted"),
    ],
)
def test_a_claim_without_a_start_had_begun_when_it_was_made(
    world: World, policy: str, at: str, beijing: str, shanghai: str, slot: str
) -> None:
    alice, there, here = world.concept(), world.concept("Place"), world.concept("Place")
    world.claim(alice, "lives_in", there, by=alice, at="2026-01-10")
    world.claim(alice, "lives_in", here, by=alice, at="2026-09-10", valid={"from": "2026-09-01"})
    assert world.statuses(alice, "lives_in", [there, here], at=at, policy=policy) == [beijing, shanghai]
    found = world.slot(alice, "lives_in", at=at, policy=policy)
    accepted = {"accepted": [{"id": there if beijing == "accepted" else here}]}
    assert (found["status"], found["accepted_values"]) == (slot, accepted.get(slot, []))
    first = world.belief(alice, "lives_in", there, at=at, policy=policy)
    if at == "2026-01-05":
        assert first["uncertainty"]["reasons"] == ["temporal_indeterminate"]
    if at == "2026-06-01":
        assert first["basis"]["next_invalid_at"] == "2026-09-01T00:00:00.000Z"


@pytest.mark.requirement("KI-BELIEF-047", "KI-BELIEF-056", "KI-BELIEF-059", "KI-BELIEF-061")
@pytest.mark.parametrize(
    ("at", "scoped", "policy", "expected"),
    [
        ("2026-09-01", False, BASELINE, "insufficient insufficient contested contested"),
        ("2026-09-01", False, DEFAULT, "insufficient insufficient uncertain accepted"),
        ("2026-09-01", True, BASELINE, "insufficient contested contested contested"),
        ("2026-09-01", True, DEFAULT, "insufficient accepted uncertain uncertain"),
        ("2026-06-15", False, BASELINE, "uncertain insufficient accepted uncertain"),
        ("2026-06-15", False, DEFAULT, "uncertain insufficient accepted uncertain"),
        ("2026-05-15", False, BASELINE, "uncertain insufficient uncertain uncertain"),
        ("2026-05-15", False, DEFAULT, "uncertain insufficient uncertain uncertain"),
    ],
)
def test_lines_of_succession_are_per_actor_and_context(
    world: World, at: str, scoped: bool, policy: str, expected: str
) -> None:
    alice, bob, travel = world.concept(), world.concept(), world.concept("Event")
    world.claim(alice, "timezone", "+08:00", by=alice, at="2026-01-10")
    world.claim(alice, "timezone", "+01:00", by=alice, at="2026-05-01", context=[travel])
    world.claim(alice, "timezone", "+02:00", by=bob, at="2026-06-01")
    world.claim(alice, "timezone", "+09:00", by=alice, at="2026-07-01")
    values = ["+08:00", "+01:00", "+02:00", "+09:00"]
    context = [travel] if scoped else []
    assert world.statuses(alice, "timezone", values, at=at, policy=policy, context_refs=context) == expected.split()


@pytest.mark.requirement("KI-BELIEF-050", "KI-BELIEF-052")
@pytest.mark.parametrize(
    ("made", "at", "expected"),
    [
        ("2025-12-01", "2026-09-20", "insufficient insufficient accepted"),
        ("2025-12-01", "2026-10-02", "insufficient insufficient accepted"),
        ("2025-12-01", "2025-12-15", "uncertain uncertain insufficient"),
        ("2026-10-01", "2026-09-20", "uncertain insufficient uncertain"),
        ("2026-10-01", "2026-10-02", "accepted insufficient insufficient"),
        ("2026-10-01", "2025-12-15", "insufficient uncertain insufficient"),
    ],
)
def test_late_history_keeps_its_place(world: World, made: str, at: str, expected: str) -> None:
    alice, nanjing, beijing, shanghai = world.concept(), *(world.concept("Place") for _ in range(3))
    world.claim(alice, "lives_in", beijing, by=alice, at="2026-01-10")
    world.claim(alice, "lives_in", shanghai, by=alice, at="2026-09-10", valid={"from": "2026-09-01"})
    world.claim(alice, "lives_in", nanjing, by=alice, at=made)
    assert world.statuses(alice, "lives_in", [nanjing, beijing, shanghai], at=at) == expected.split()


@pytest.mark.requirement("KI-BELIEF-055", "KI-BELIEF-076")
@pytest.mark.parametrize(
    ("austin_from", "dallas_from", "policy", "expected"),
    [
        (None, None, BASELINE, "contested contested"),
        (None, None, DEFAULT, "uncertain accepted"),
        (None, "2026-05-01", BASELINE, "contested contested"),
        (None, "2026-05-01", DEFAULT, "uncertain accepted"),
        ("2026-02-01", "2026-05-01", BASELINE, "insufficient accepted"),
        ("2026-02-01", "2026-05-01", DEFAULT, "insufficient accepted"),
    ],
)
def test_inferences_do_not_make_world_changes(
    world: World, austin_from: str | None, dallas_from: str | None, policy: str, expected: str
) -> None:
    brain, campus, austin, dallas = world.concept(), *(world.concept("Place") for _ in range(3))
    for city, at, start in ((austin, "2026-03-01", austin_from), (dallas, "2026-06-01", dallas_from)):
        source = world.evidence("document")
        valid = {"from": start} if start else None
        derived = world.claim(
            campus, "lives_in", city, by=brain, mode="inferred", at=at, valid=valid, evidence=[source]
        )
        world.inference(derived, world.all_of(source))
    assert world.statuses(campus, "lives_in", [austin, dallas], policy=policy) == expected.split()
    if expected == "uncertain accepted":
        assert world.belief(campus, "lives_in", austin, policy=policy)["precedence"]["rule"] == "recency"


@pytest.mark.requirement("KI-BELIEF-062", "KI-BELIEF-063", "KI-BELIEF-064", "KI-BELIEF-065", "KI-BELIEF-066")
@pytest.mark.parametrize(
    ("eve_mode", "both_contexts", "expected", "rule"),
    [
        ("stated", True, "uncertain uncertain accepted", "first_person_testimony"),
        ("observed", True, "uncertain accepted uncertain", "recency"),
        ("stated", False, "accepted insufficient uncertain", "context_specificity"),
    ],
)
def test_a_rule_must_beat_every_rival(
    world: World, eve_mode: str, both_contexts: bool, expected: str, rule: str
) -> None:
    alice, bob, eve = (world.concept() for _ in range(3))
    work, travel = world.concept("Event"), world.concept("Event")
    world.claim(alice, "timezone", "+01:00", by=bob, at="2026-05-01", context=[work])
    world.claim(alice, "timezone", "+02:00", by=eve, at="2026-06-01", context=[travel], mode=eve_mode)
    world.claim(alice, "timezone", "+08:00", by=alice, at="2026-01-10")
    request = {"policy": DEFAULT, "context_refs": [work, travel] if both_contexts else [work]}
    found = [world.belief(alice, "timezone", value, **request) for value in ("+01:00", "+02:00", "+08:00")]
    assert [wire["status"] for wire in found] == expected.split()
    winner = next(wire for wire in found if wire["status"] == "accepted")
    losers = [wire for wire in found if wire["status"] == "uncertain"]
    assert winner["precedence"]["rule"] == rule
    assert set(winner["precedence"]["prevailed_over"]) == {wire["proposition_id"] for wire in losers}
    for loser in losers:
        assert loser["precedence"] == {"rule": rule, "outranked_by": winner["proposition_id"]}
        assert loser["uncertainty"]["reasons"] == ["outranked"]
        assert loser["candidate_status"] == "accepted"


@pytest.mark.requirement("KI-BELIEF-065")
def test_hearsay_of_equal_age_stays_contested(world: World) -> None:
    alice, bob, eve = (world.concept() for _ in range(3))
    world.claim(alice, "timezone", "+01:00", by=bob)
    world.claim(alice, "timezone", "+02:00", by=eve)
    assert world.statuses(alice, "timezone", ["+01:00", "+02:00"], policy=DEFAULT) == ["contested", "contested"]
