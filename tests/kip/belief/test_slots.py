"""Candidates against each other: functional slots, partitions, exclusion, merges."""

from __future__ import annotations

import pytest

from brain.kip.belief import GroundTriple
from tests.kip.belief.world import World

STRUCTURAL, DEFAULT = "kip:policy:structural", "kip:memory-default"


@pytest.mark.requirement("KI-BELIEF-032", "KI-BELIEF-030")
def test_an_empty_slot_is_one_insufficient_row(world: World) -> None:
    ann = world.concept()
    found = world.slot(ann, "lives_in")
    assert (found["status"], found["accepted_values"], found["candidate_projections"]) == ("insufficient", [], [])
    assert found["subject"] == {"id": ann}
    assert found["predicate_ref"] == "kip://tests/opinions@1.0.0/lives_in"
    assert world.slot("C-404", "lives_in")["status"] == "insufficient"


@pytest.mark.requirement("KI-BELIEF-011", "KI-BELIEF-006")
def test_what_nobody_stored_is_one_insufficient_row_and_stays_unstored(world: World) -> None:
    ann, oslo = world.concept(), world.concept("Place")
    with world.run() as run:
        before = run.snapshot.seq
    missing, unknown, other_kind = world.project(
        [GroundTriple(ann, world.predicate("lives_in"), {"id": oslo}), "P-404", ann]
    )
    for found in (missing, unknown, other_kind):
        assert (found.wire["status"], found.wire["proposition_id"]) == ("insufficient", None)
        assert found.rests_on == frozenset()
    with world.run() as run:
        assert run.snapshot.seq == before
        assert run.snapshot.elements(["P-1"]) == {}


@pytest.mark.requirement("KI-BELIEF-033", "KI-BELIEF-031")
def test_values_of_a_plain_predicate_leave_each_other_alone(world: World) -> None:
    ann, bob = world.concept(), world.concept()
    world.claim(ann, "likes", "tea", by=ann)
    world.claim(ann, "likes", "coffee", by=ann)
    world.claim(ann, "likes", "coffee", by=bob, stance="reject")
    assert world.statuses(ann, "likes", ["tea", "coffee"]) == ["accepted", "contested"]
    found = world.slot(ann, "likes")
    assert (found["status"], found["accepted_values"]) == ("contested", ["tea"])


@pytest.mark.requirement("KI-BELIEF-031", "KI-BELIEF-002")
def test_a_slot_of_rejected_values_is_insufficient(world: World) -> None:
    ann, acme = world.concept(), world.concept()
    world.claim(ann, "works_for", acme, by=ann)
    world.claim(ann, "works_for", acme, by=ann, stance="reject", at="2026-06-01")
    found = world.slot(ann, "works_for")
    assert found["status"] == "insufficient"
    assert [p["status"] for p in found["candidate_projections"]] == ["rejected"]
    assert found["candidate_projections"][0]["slot_status"] == "insufficient"


@pytest.mark.requirement("KI-BELIEF-030")
def test_accepted_values_are_the_values_themselves(world: World) -> None:
    ann, oslo = world.concept(), world.concept("Place")
    world.claim(ann, "lives_in", oslo, by=ann)
    for value in ("tea", 7, 1.5, True, None):
        world.claim(ann, "likes", value, by=ann)
    assert world.slot(ann, "lives_in")["accepted_values"] == [{"id": oslo}]
    assert world.slot(ann, "likes")["accepted_values"] == ["tea", 7, 1.5, True, None]


@pytest.mark.requirement("KI-BELIEF-028", "KI-BELIEF-081")
def test_three_way_conflict_counts_every_material_value(world: World) -> None:
    ann = world.concept()
    for value, confidence in (("+01:00", 0.9), ("+02:00", 0.9), ("+03:00", 0.4), ("+04:00", 0.2)):
        world.claim(ann, "timezone", value, by=world.concept(), confidence=confidence)
    found = world.slot(ann, "timezone")["candidate_projections"]
    assert [p["status"] for p in found] == ["contested", "contested", "contested", "uncertain"]
    assert [p["candidate_status"] for p in found] == ["accepted", "accepted", "uncertain", "uncertain"]
    assert {p["leading"] for p in found} == {"none"}
    assert found[0]["conflict_refs"] == ["P-2", "P-3"]


@pytest.mark.requirement("KI-BELIEF-003")
def test_the_value_with_more_voices_leads_and_stays_contested(world: World) -> None:
    ann = world.concept()
    for value in ("+01:00", "+02:00", "+01:00"):
        world.claim(ann, "timezone", value, by=world.concept())
    found = world.slot(ann, "timezone")["candidate_projections"]
    assert [(p["status"], p["leading"]) for p in found] == [("contested", "support"), ("contested", "opposition")]


@pytest.mark.requirement("KI-BELIEF-044")
def test_a_rival_that_may_hold_does_not_contest(world: World) -> None:
    ann, bob = world.concept(), world.concept()
    world.claim(ann, "timezone", "+01:00", by=ann)
    world.claim(ann, "timezone", "+02:00", by=bob, valid={"from": {"earliest": "2026-05-01", "latest": "2026-12-31"}})
    found = world.belief(ann, "timezone", "+01:00", explanation="ledger")
    assert (found["status"], found["conflict_refs"], found["conflict_reasons"]) == ("accepted", [], [])
    assert found["explanation"]["indeterminate_rivals"] == ["P-2"]
    assert world.belief(ann, "timezone", "+02:00")["status"] == "uncertain"


@pytest.mark.requirement("KI-BELIEF-034")
def test_options_of_one_kind_compete_and_other_kinds_stay(world: World) -> None:
    ann, bob = world.concept(), world.concept()
    dark, light, vim = world.concept("ColorScheme"), world.concept("ColorScheme"), world.concept("Editor")
    for option, actor in ((dark, ann), (light, bob), (vim, ann)):
        world.claim(ann, "prefers", option, by=actor)
    assert world.statuses(ann, "prefers", [dark, light, vim]) == ["contested", "contested", "accepted"]
    found = world.slot(ann, "prefers")
    assert (found["status"], found["accepted_values"]) == ("contested", [{"id": vim}])


@pytest.mark.requirement("KI-BELIEF-034", "KI-BELIEF-048")
def test_succession_stays_within_a_kind(world: World) -> None:
    ann = world.concept()
    dark, light, vim = world.concept("ColorScheme"), world.concept("ColorScheme"), world.concept("Editor")
    for option, at in ((dark, "2026-01-01"), (vim, "2026-02-01"), (light, "2026-09-01")):
        world.claim(ann, "prefers", option, by=ann, at=at, valid={"from": at})
    assert world.slot(ann, "prefers")["accepted_values"] == [{"id": vim}, {"id": light}]
    assert world.statuses(ann, "prefers", [dark, light, vim]) == ["insufficient", "accepted", "accepted"]


@pytest.mark.requirement("KI-BELIEF-035")
def test_values_conflict_only_where_their_times_meet(world: World) -> None:
    ann, bob = world.concept(), world.concept()
    for predicate in ("position", "motto"):
        world.claim(ann, predicate, "first", by=ann, valid={"from": "2026-01-01", "until": "2026-06-01"})
        world.claim(ann, predicate, "second", by=bob, valid={"from": "2026-05-01", "until": "2026-12-01"})
    assert world.slot(ann, "position", at="2026-04-01")["accepted_values"] == ["first"]
    assert world.slot(ann, "position", at="2026-05-15")["status"] == "contested"
    assert world.slot(ann, "position", at="2026-06-01")["accepted_values"] == ["second"]
    assert world.slot(ann, "motto", at="2026-05-15")["accepted_values"] == ["first", "second"]


@pytest.mark.requirement("KI-BELIEF-036")
@pytest.mark.parametrize("policy", ["kip:policy:baseline", STRUCTURAL, DEFAULT])
def test_accepting_a_value_of_a_complete_slot_rules_out_the_others(world: World, policy: str) -> None:
    ann = world.concept()
    world.claim(ann, "code", "A1", by=ann)
    world.claim(ann, "code", "B2", by=ann, stance="uncertain")
    world.proposition(ann, "code", "C3")
    found = world.slot(ann, "code", policy=policy)["candidate_projections"]
    assert [p["status"] for p in found] == ["accepted", "rejected", "rejected"]
    assert [p["candidate_status"] for p in found] == ["accepted", "uncertain", "insufficient"]
    assert found[1]["conflict_reasons"] == ["exclusive_value"]
    assert found[1]["conflict_refs"] == [found[0]["proposition_id"]]
    assert found[1]["leading"] == "opposition"
    assert world.belief(ann, "code", "D4", policy=policy)["status"] == "rejected"
    assert world.statuses(ann, "lives_in", ["nowhere"], policy=policy) == ["insufficient"]


@pytest.mark.requirement("KI-BELIEF-036", "KI-BELIEF-066")
def test_a_value_that_lost_by_precedence_is_uncertain_even_in_a_complete_slot(world: World) -> None:
    ann, bob = world.concept(), world.concept()
    world.claim(ann, "code", "A1", by=ann)
    world.claim(ann, "code", "B2", by=bob)
    assert world.statuses(ann, "code", ["A1", "B2"], policy=DEFAULT) == ["accepted", "uncertain"]
    assert world.statuses(ann, "code", ["A1", "B2"], policy=STRUCTURAL) == ["contested", "contested"]


@pytest.mark.requirement("KI-BELIEF-037")
def test_true_and_false_deny_each_other_only_where_declared(world: World) -> None:
    ann, bob = world.concept(), world.concept()
    for predicate in ("married", "smokes"):
        world.claim(ann, predicate, True, by=ann)
    assert world.statuses(ann, "married", [True, False]) == ["accepted", "rejected"]
    assert world.statuses(ann, "smokes", [True, False]) == ["accepted", "insufficient"]
    for predicate in ("married", "smokes"):
        world.claim(ann, predicate, False, by=bob)
    assert world.statuses(ann, "married", [True, False]) == ["contested", "contested"]
    assert world.belief(ann, "married", True)["conflict_reasons"] == ["boolean_completeness"]
    assert world.statuses(ann, "smokes", [True, False]) == ["accepted", "accepted"]


@pytest.mark.requirement("KI-BELIEF-017")
def test_denying_true_says_nothing_for_false(world: World) -> None:
    ann = world.concept()
    world.claim(ann, "married", True, by=ann, stance="reject")
    assert world.statuses(ann, "married", [True, False]) == ["rejected", "insufficient"]


@pytest.mark.requirement("KI-MERGE-012")
def test_tuples_made_equal_by_a_merge_pool_their_claims(world: World) -> None:
    ann, annie, bob = world.concept(), world.concept(), world.concept()
    world.claim(annie, "lives_in", "Oslo", by=bob)
    world.claim(ann, "lives_in", "Oslo", by=annie, stance="reject")
    world.merge(annie, ann)
    by_old, by_new = world.project(["P-1", "P-2"])
    assert [by_old.wire["proposition_id"], by_new.wire["proposition_id"]] == ["P-1", "P-2"]
    for found in (by_old.wire, by_new.wire, world.belief(annie, "lives_in", "Oslo")):
        assert found["status"] == "contested"
        assert (found["support"]["assertion_ids"], found["opposition"]["assertion_ids"]) == (["A-1"], ["A-2"])
    slot = world.slot(annie, "lives_in")
    assert slot["subject"] == {"id": ann}
    assert len(slot["candidate_projections"]) == 1
    assert slot["basis"]["identity_version"] == 1


@pytest.mark.requirement("KI-MERGE-012", "KI-BELIEF-047")
def test_a_merged_actor_is_one_actor_and_a_merged_value_one_value(world: World) -> None:
    ann, annie, oslo, christiania = world.concept(), world.concept(), world.concept("Place"), world.concept("Place")
    world.claim(ann, "lives_in", christiania, by=annie)
    world.claim(ann, "lives_in", oslo, by=ann, at="2026-06-01")
    world.merge(annie, ann)
    world.merge(christiania, oslo)
    slot = world.slot(ann, "lives_in")
    assert slot["accepted_values"] == [{"id": oslo}]
    assert len(slot["candidate_projections"][0]["support"]["root_groups"]) == 1


def test_an_archived_proposition_is_no_candidate(world: World) -> None:
    ann = world.concept()
    world.claim(ann, "lives_in", "Oslo", by=ann)
    world.claim(ann, "lives_in", "Rome", by=world.concept())
    world.change("P-1", state="archived")
    assert world.slot(ann, "lives_in")["accepted_values"] == ["Rome"]
    assert world.project(["P-1"])[0].wire["status"] == "insufficient"
