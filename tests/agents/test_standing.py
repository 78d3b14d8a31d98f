"""How what is known is told: to the precision said, with who says otherwise and what ended it, and no date made up."""

from __future__ import annotations

from typing import Any

import pytest

from brain.agents.dossier import entity_of, read_claims
from brain.agents.jobs import RecallJob, Said
from brain.agents.reading import Reading
from brain.agents.recollection import recall_turn
from brain.agents.remember.dates import read_date, with_zone
from brain.agents.spoken import as_said, span_as_said, spoken
from brain.agents.telling import entry_lines, recall_text
from brain.agents.turns import DossierEntry, KnownClaim
from brain.gate.gate import reader_session
from tests.agents.space import MONDAY, TestSpace, remember, said
from tests.agents.test_remember import keep
from tests.agents.test_timeline import (
    ACME,
    JUNE_1,
    JUNE_2,
    JUNE_3,
    LATER,
    LEFT_IN_MARCH,
    LISBON_MAY,
    MAY_1,
    PORTO,
    told,
)


def known(space: TestSpace, name: str = "Alice", at: str = LATER) -> dict[str, KnownClaim]:
    """What the dossier holds of somebody or something, by value."""
    [view] = space.rows("FIND(?c) WHERE { ?c {name: :name} }", name=name)
    entity = entity_of(view)
    claims = read_claims([entity], at, Reading(space.engine, reader_session("agent:recall")))[entity.id]
    return {claim.object.name: claim for claim in claims}


def prompt_line(claim: KnownClaim) -> str:
    """The claim as it stands in a prompt."""
    return entry_lines([DossierEntry(claim.subject, None, (), False, (claim,), ())])[0].splitlines()[1]


# --- times in words -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["2024", "2024-03", "2024-02", "2024-03-20", "2024-01-01"])
def test_a_date_is_told_back_as_it_was_said(text: str) -> None:
    assert spoken(read_date(text).point) == text


@pytest.mark.parametrize(
    ("text", "words"), [("2024-03-20T15:00Z", "2024-03-20 15:00 UTC"), ("2024-03-20T15:00:07Z", "2024-03-20 15:00 UTC")]
)
def test_an_instant_is_told_to_the_minute_with_its_zone(text: str, words: str) -> None:
    assert spoken(read_date(text).point) == words


@pytest.mark.parametrize("text", ["2026", "2026-06"])
def test_a_month_or_year_that_is_not_over_is_told_as_that(text: str) -> None:
    assert spoken(read_date(text).not_after("2026-06-12T10:00:00.000Z").point) == text


@pytest.mark.parametrize(
    ("point", "words"),
    [
        (None, ""),
        ({"latest": JUNE_1}, ""),
        ({"earliest": "2024-03-10T00:00:00.000Z"}, "some time from 2024-03-10 on"),
        (
            {"earliest": "2024-03-10T00:00:00.000Z", "latest": "2024-05-02T00:00:00.000Z"},
            "some time between 2024-03-10 and 2024-05-02",
        ),
        ({"earliest": "2024-03-20T08:00:00.000Z", "latest": "2024-03-20T11:00:00.000Z"}, "2024-03-20"),
        ("2024-03-20T00:00:00.000Z", "2024-03-20"),
        ("2024-03-20T15:07:00.000Z", "2024-03-20 15:07 UTC"),
    ],
)
def test_a_bound_is_told_as_what_it_says_and_no_more(point: Any, words: str) -> None:
    assert spoken(point) == words


@pytest.mark.parametrize(
    ("text", "offset", "words"),
    [
        ("2026-04-16", 60, "2026-04-16"),
        ("2026-04", -480, "2026-04"),
        ("2026", 0, "2026"),
        ("2026-04-16T16:00", 60, "2026-04-16 16:00 +01:00"),
        ("2026-04-16T16:00", 0, "2026-04-16 16:00 UTC"),
        ("2026-04-16T23:30", -480, "2026-04-16 23:30 -08:00"),
        ("2026-04-16T12:00+0900", 60, "2026-04-16 12:00 +09:00"),
        ("2026-04-16T12:00:30Z", 60, "2026-04-16 12:00 UTC"),
    ],
)
def test_a_date_kept_with_its_words_is_told_as_it_was_said_by_the_clock_it_was_said_by(
    text: str, offset: int, words: str
) -> None:
    span = read_date(text, offset)
    kept = with_zone(text, offset)
    assert as_said(kept, span.latest) == as_said(kept, span.earliest) == words


@pytest.mark.parametrize("text", [None, 7, "soon", "2026-05-99", "2025-05-01"])
@pytest.mark.parametrize(
    ("instant", "words"),
    [
        ("2026-04-16T23:59:59.999Z", "2026-04-16"),
        ("2026-04-16T00:00:00.000Z", "2026-04-16"),
        ("2026-04-16T15:00:59.999Z", "2026-04-16 15:00 UTC"),
    ],
)
def test_an_instant_whose_words_do_not_fit_it_is_told_as_a_day_or_in_utc(text: Any, instant: str, words: str) -> None:
    assert as_said(text, instant) == words


def test_a_span_is_told_by_its_words_where_they_mean_all_of_it() -> None:
    first, last = "2026-05-01T00:00:00.000Z", "2026-05-31T23:59:59.999Z"
    assert span_as_said("2026-05", first, last) == "2026-05"
    assert span_as_said("2026-05-01", first, last) == ""
    assert span_as_said(None, first, last) == ""


def test_a_promise_and_a_happening_are_told_by_the_clock_they_were_told_by(space: TestSpace) -> None:
    message = Said("user", "…", "Alice", MONDAY, 540)
    promise = {"msg": 1, "what": "call Bob", "who": "I", "due": "2026-05-06T12:00"}
    happening = {"msg": 1, "what": "Alice met Bob", "who": ["I"], "on": "2026-05-03T09:30"}
    space.form([remember(commitments=[promise], events=[happening])], message)
    reading = Reading(space.engine, reader_session("agent:recall"))
    turn = recall_turn(RecallJob("When did Alice meet Bob?"), LATER, reading)
    assert turn.commitments[0].due_text == "2026-05-06 12:00 +09:00"
    assert turn.events[0].on_text == "2026-05-03 09:30 +09:00"
    words = recall_text(turn)
    assert "event 2026-05-03 09:30 +09:00: Alice met Bob" in words
    assert "due 2026-05-06 12:00 +09:00" in words


# --- former values ------------------------------------------------------------------------------------------------


def test_what_ended_nobody_knows_when_is_told_without_a_date(space: TestSpace) -> None:
    told(space, (JUNE_2, {**PORTO, "change": "ended"}))
    claim = known(space)["Porto"]
    assert (claim.standing, claim.until_text, claim.until) == ("was", "", JUNE_2)
    assert "was, over by 2026-06-02, said 2026-06-02" in prompt_line(claim)


@pytest.mark.parametrize("said", [MAY_1, JUNE_1, "2026-02-01T09:00:00.000Z"])
def test_an_end_named_to_the_month_is_told_to_the_month(space: TestSpace, said: str) -> None:
    told(space, (said, ACME), (JUNE_2, LEFT_IN_MARCH))
    assert (known(space)["Acme"].standing, known(space)["Acme"].until_text) == ("was", "2026-03")


def test_a_value_ends_where_the_next_one_is_said_to_begin(space: TestSpace) -> None:
    told(space, (JUNE_1, PORTO), (JUNE_2, LISBON_MAY))
    claims = known(space)
    assert (claims["Porto"].standing, claims["Porto"].until_text) == ("was", "2026-05")
    assert claims["Porto"].rests_on == (claims["Lisbon"].assertion_id,)
    assert known(space, "Porto")["Porto"].until_text == "2026-05", "asked from the other end as well"


def test_a_value_followed_by_one_without_a_start_ended_nobody_knows_when(space: TestSpace) -> None:
    told(space, (MAY_1, {**PORTO, "since": "2024"}), (JUNE_2, {"predicate": "lives_in", "object": "Lisbon"}))
    claim = known(space)["Porto"]
    assert (claim.standing, claim.since_text, claim.until_text, claim.until) == ("was", "2024", "", JUNE_2)


def test_who_repeats_a_claim_without_its_date_has_not_taken_the_date_back(space: TestSpace) -> None:
    told(space, (MAY_1, {**PORTO, "since": "2024"}), (JUNE_2, PORTO))
    claim = known(space)["Porto"]
    assert (claim.since_text, claim.said_at, len(claim.rests_on)) == ("2024", JUNE_2, 1)


def test_what_holds_is_carried_by_a_claim_that_holds(space: TestSpace) -> None:
    told(space, (JUNE_3, ACME), (JUNE_2, {**ACME, "change": "ended", "until": "2019"}))
    claim = known(space)["Acme"]
    assert (claim.standing, claim.said_at, claim.until_text) == ("accepted", JUNE_3, "")


# --- denials ------------------------------------------------------------------------------------------------------


def test_a_denial_nobody_asked_for_is_told_and_cited(space: TestSpace) -> None:
    told(space, (JUNE_1, {**PORTO, "change": "denied"}))
    claim = known(space)["Porto"]
    assert (claim.standing, claim.by.name if claim.by else "") == ("denied", "Alice")
    assert claim.assertion_id.startswith("A-")


def test_hearsay_after_a_denial_is_disputed_and_the_denial_stands_beside_it(space: TestSpace) -> None:
    told(space, (JUNE_1, {**PORTO, "change": "denied"}))
    denial = known(space)["Porto"].assertion_id
    told(space, (JUNE_2, {**PORTO, "subject": "Alice"}), by="Bob")
    claim = known(space)["Porto"]
    assert (claim.standing, [ref.name for ref in claim.against], claim.rests_on) == ("disputed", ["Alice"], (denial,))
    assert "denied by Alice" in prompt_line(claim)


# --- several people on one value ----------------------------------------------------------------------------------


LEEDS = {**PORTO, "object": "Leeds"}
OF_ALICE = {"subject": "Alice"}


def voices(claim: KnownClaim) -> list[tuple[str, str]]:
    """Who spoke to a claim, and on which side."""
    return [(voice.who.name if voice.who else "", voice.side) for voice in claim.voices]


def test_of_several_who_say_the_same_the_one_it_is_about_is_told_and_cited(space: TestSpace) -> None:
    told(space, (JUNE_1, LEEDS))
    own = known(space)["Leeds"].assertion_id
    told(space, (JUNE_2, {**LEEDS, **OF_ALICE}), by="Bob")
    claim = known(space)["Leeds"]
    assert (claim.by.name if claim.by else "", claim.said_at, claim.assertion_id) == ("Alice", JUNE_1, own)
    assert voices(claim) == [("Alice", "for"), ("Bob", "for")]
    assert f"said 2026-06-01 by Alice [{own}]; also said by Bob 2026-06-02 [" in prompt_line(claim)


def test_among_others_the_newest_word_is_told_and_each_of_them_once(space: TestSpace) -> None:
    for day, by in ((JUNE_1, "Bob"), (JUNE_2, "Carol"), (JUNE_3, "Bob")):
        told(space, (day, {**LEEDS, **OF_ALICE}), by=by)
    claim = known(space)["Leeds"]
    assert (claim.by.name if claim.by else "", claim.said_at) == ("Bob", JUNE_3)
    assert voices(claim) == [("Bob", "for"), ("Carol", "for")]


@pytest.mark.parametrize("denied_on", [JUNE_1, JUNE_3])
def test_what_one_tells_as_over_and_another_denies_is_disputed_and_each_keeps_their_side(
    space: TestSpace, denied_on: str
) -> None:
    sides = [
        (JUNE_2, "Bob", {**ACME, **OF_ALICE, "change": "ended"}),
        (denied_on, "Alice", {**ACME, "change": "denied"}),
    ]
    for day, by, saying in sorted(sides, key=lambda side: side[0]):
        told(space, (day, saying), by=by)
    claim = known(space)["Acme"]
    assert (claim.standing, claim.is_over, claim.by.name if claim.by else "") == ("disputed", True, "Bob")
    assert [ref.name for ref in claim.against] == ["Alice"]
    assert sorted(voices(claim)) == [("Alice", "against"), ("Bob", "for")]


def test_a_former_value_by_own_word_stays_former_whoever_denies_it(space: TestSpace) -> None:
    told(space, (JUNE_1, PORTO), (JUNE_2, LISBON_MAY))
    told(space, (JUNE_3, {**PORTO, **OF_ALICE, "change": "denied"}), by="Bob")
    claim = known(space)["Porto"]
    assert (claim.standing, claim.by.name if claim.by else "") == ("was", "Alice")
    assert voices(claim) == [("Alice", "for"), ("Bob", "against")]


def test_an_own_denial_goes_before_what_others_only_passed_on(space: TestSpace) -> None:
    told(space, (JUNE_1, {**ACME, "change": "denied"}))
    told(space, (JUNE_2, {**ACME, **OF_ALICE, "change": "hearsay"}), by="Bob")
    claim = known(space)["Acme"]
    assert (claim.standing, claim.by.name if claim.by else "") == ("denied", "Alice")
    assert voices(claim) == [("Alice", "against"), ("Bob", "unsure")]


def test_what_one_passes_on_and_another_denies_of_a_third_is_disputed(space: TestSpace) -> None:
    told(space, (JUNE_1, {**ACME, **OF_ALICE, "change": "hearsay"}), by="Bob")
    told(space, (JUNE_2, {**ACME, **OF_ALICE, "change": "denied"}), by="Carol")
    claim = known(space)["Acme"]
    assert (claim.standing, claim.by.name if claim.by else "") == ("disputed", "Bob")
    assert [ref.name for ref in claim.against] == ["Carol"]


def test_what_somebody_left_is_former_though_others_still_say_it(space: TestSpace) -> None:
    told(space, (JUNE_1, LEEDS), (JUNE_2, LISBON_MAY))
    told(space, (JUNE_3, {**LEEDS, **OF_ALICE}), by="Bob")
    claims = known(space)
    assert claims["Lisbon"].standing == "accepted"
    assert (claims["Leeds"].standing, claims["Leeds"].by.name if claims["Leeds"].by else "") == ("was", "Alice")


def test_a_plan_that_is_denied_now_is_a_plan_until_it_is_denied_later(space: TestSpace) -> None:
    told(space, (JUNE_1, {**ACME, "change": "denied"}), (JUNE_2, {**ACME, "change": "new", "since": "2027-01"}))
    assert known(space)["Acme"].standing == "planned"
    told(space, (JUNE_3, {**ACME, "change": "denied"}))
    assert known(space)["Acme"].standing == "denied"


# --- the order of former values -----------------------------------------------------------------------------------


def test_former_values_come_last_ended_first_and_then_those_of_which_nobody_knows_when(space: TestSpace) -> None:
    told(space, (MAY_1, PORTO), (JUNE_1, {**LEEDS, "change": "new"}), (JUNE_2, {**LISBON_MAY, "since": "2026-06-02"}))
    told(space, (JUNE_3, {**PORTO, **OF_ALICE, "object": "Faro", "change": "ended"}), by="Bob")
    former = [claim for claim in known(space).values() if claim.standing == "was"]
    assert [claim.object.name for claim in former] == ["Leeds", "Porto", "Faro"]
    leeds, porto, faro = former
    assert leeds.followed_by == known(space)["Lisbon"].assertion_id
    assert porto.followed_by == leeds.assertion_id
    assert faro.followed_by is None


def test_what_was_taken_back_is_no_former_value(space: TestSpace) -> None:
    told(space, (MAY_1, PORTO), (JUNE_1, LISBON_MAY))
    assert keep(space, "…", {**PORTO, "change": "withdrawn"}, {**PORTO, "change": "denied"}, at=JUNE_2, by="Alice")[
        "ok"
    ]
    claim = known(space)["Porto"]
    assert (claim.standing, claim.said_at) == ("denied", JUNE_2)


# --- happenings ---------------------------------------------------------------------------------------------------


def test_a_happening_without_a_date_was_told_when_it_was_said_not_when_it_was_recorded(space: TestSpace) -> None:
    happening = {"msg": 1, "what": "Alice met Bob", "who": ["I"]}
    space.form([remember(events=[happening])], said("I met Bob", "Alice", at=MONDAY))
    reading = Reading(space.engine, reader_session("agent:recall"))
    [event] = recall_turn(RecallJob("Whom did Alice meet?"), LATER, reading).events
    assert (event.on, event.said_at) == (None, MONDAY)
