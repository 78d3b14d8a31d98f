"""Whose word is later: what the order of saying does where a claim does not say when it began."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.space import TestSpace, open_space, remember, said
from tests.agents.test_remember import assertions, believed, keep

MAY_1, MAY_20 = "2026-05-01T09:00:00.000Z", "2026-05-20T09:00:00.000Z"
JUNE_1, JUNE_2, JUNE_3 = (f"2026-06-0{day}T09:00:00.000Z" for day in (1, 2, 3))
LATER = "2026-06-10T00:00:00.000Z"

PORTO = {"predicate": "lives_in", "object": "Porto"}
LISBON_MAY = {"predicate": "lives_in", "object": "Lisbon", "change": "new", "since": "2026-05"}
ACME = {"predicate": "works_for", "object": "Acme"}
LEFT_IN_MARCH = {**ACME, "change": "ended", "until": "2026-03"}
SUSHI = {"predicate": "likes", "object": "sushi", "object_type": "Food"}


def told(space: TestSpace, *saying: tuple[str, dict[str, Any]], by: str = "Alice") -> None:
    """Each claim in a conversation of its own, in the order given."""
    for at, claim in saying:
        assert keep(space, "…", claim, at=at, by=by)["ok"]


def now(space: TestSpace, predicate: str = "lives_in") -> list[str]:
    return [value for value, status in believed(space, predicate, LATER).items() if status == "accepted"]


# --- a start nobody named -----------------------------------------------------------------------------------------


@pytest.mark.requirement("BR-MODEL-011")
@pytest.mark.parametrize("change", ["new", "stated"])
def test_a_later_word_holds_though_the_start_it_names_lies_before_the_earlier_word(
    space: TestSpace, change: str
) -> None:
    told(space, (JUNE_1, PORTO), (JUNE_2, {**LISBON_MAY, "change": change}))
    assert now(space) == ["Lisbon"]
    assert believed(space, "lives_in", MAY_20)["Lisbon"] == "uncertain"
    assert believed(space, "lives_in", JUNE_1) == {"Porto": "insufficient", "Lisbon": "accepted"}
    assert believed(space, "lives_in", "2026-04-30T23:59:59.999Z") == {"Porto": "accepted", "Lisbon": "insufficient"}


def test_what_the_earlier_word_said_is_still_there_to_be_read_as_of_then(space: TestSpace) -> None:
    told(space, (JUNE_1, PORTO))
    then = space.head()
    told(space, (JUNE_2, LISBON_MAY))
    rows = space.rows(
        'FIND(?o.name, ?b.status) WHERE { ?p (?s, "lives_in", ?o) ?b BELIEF (?p) } AS OF SEQ :seq FOR TIME :at',
        at=LATER,
        seq=then,
    )
    assert rows == [["Porto", "accepted"]]


def test_a_moved_claim_stays_its_speakers_own_and_cites_both_messages(space: TestSpace) -> None:
    told(space, (JUNE_1, PORTO), (JUNE_2, LISBON_MAY))
    first, restated, lisbon = assertions(space)
    assert (first["lifecycle"]["status"], restated["lifecycle"]["status"]) == ("superseded", "active")
    for member in ("asserted_by", "asserted_at", "proposition", "mode"):
        assert restated[member] == first[member]
    assert restated["valid_time"] == {"from": {"latest": "2026-04-30T23:59:59.999Z"}}
    assert [e["id"] for e in restated["evidence"]] == [lisbon["evidence"][0]["id"], first["evidence"][0]["id"]]


def test_taking_the_later_word_back_lets_the_earlier_one_hold_again(space: TestSpace) -> None:
    told(space, (JUNE_1, PORTO), (JUNE_2, LISBON_MAY))
    told(space, (JUNE_3, {"predicate": "lives_in", "object": "Lisbon", "change": "withdrawn"}))
    assert now(space) == ["Porto"]


def test_starts_that_are_named_order_claims_by_themselves(space: TestSpace) -> None:
    told(space, (JUNE_1, {**PORTO, "since": "2023"}), (JUNE_2, {**LISBON_MAY, "since": "2019"}))
    assert now(space) == ["Porto"]
    assert believed(space, "lives_in", "2020-06-01T00:00:00.000Z") == {"Porto": "insufficient", "Lisbon": "accepted"}
    assert [claim["lifecycle"]["status"] for claim in assertions(space)] == ["active", "active"]


def test_of_two_values_since_one_month_the_later_word_is_the_later_move(space: TestSpace) -> None:
    told(space, (JUNE_1, {**PORTO, "since": "2026-05"}), (JUNE_2, LISBON_MAY))
    assert now(space) == ["Lisbon"]


def test_values_of_different_kinds_do_not_move_each_other(space: TestSpace) -> None:
    dark = {"predicate": "prefers", "object": "dark mode", "object_type": "ColorScheme"}
    told(
        space,
        (JUNE_1, dark),
        (JUNE_2, {"predicate": "prefers", "object": "metric", "object_type": "UnitSystem", "since": "2026-01"}),
    )
    assert sorted(now(space, "prefers")) == ["dark mode", "metric"]
    assert [claim["lifecycle"]["status"] for claim in assertions(space)] == ["active", "active"]


def test_nobody_moves_what_another_said(space: TestSpace) -> None:
    told(space, (JUNE_1, PORTO))
    told(space, (JUNE_2, {**LISBON_MAY, "subject": "Alice"}), by="Bob")
    assert [claim["lifecycle"]["status"] for claim in assertions(space)] == ["active", "active"]
    assert now(space) == ["Porto"], "her own word goes before what another says of her"


def test_a_claim_that_is_refused_moves_nothing(space: TestSpace) -> None:
    told(space, (JUNE_1, {"predicate": "birthday", "text": "1990-03-04"}))
    refused = keep(space, "…", {"predicate": "birthday", "text": "some day in spring", "since": "2026-05"}, at=JUNE_2)
    assert (refused["wrote"], len(refused["not_kept"])) == (0, 1)
    [claim] = assertions(space)
    assert claim["lifecycle"]["status"] == "active"


# --- ends, denials and the past -----------------------------------------------------------------------------------


def test_an_end_dated_before_the_claim_was_made_is_the_end_it_names(space: TestSpace) -> None:
    told(space, (JUNE_1, ACME), (JUNE_2, LEFT_IN_MARCH))
    assert believed(space, "works_for", LATER) == {"Acme": "rejected"}
    assert believed(space, "works_for", "2026-04-15T00:00:00.000Z") == {"Acme": "rejected"}
    assert believed(space, "works_for", "2026-02-28T23:59:59.999Z") == {"Acme": "accepted"}


def test_a_denial_does_not_outlast_a_later_word_that_names_an_earlier_start(space: TestSpace) -> None:
    told(space, (JUNE_1, {**ACME, "change": "denied"}), (JUNE_2, {**ACME, "since": "2026-03"}))
    assert believed(space, "works_for", LATER) == {"Acme": "accepted"}


def test_a_denial_is_kept_though_nobody_said_otherwise(space: TestSpace) -> None:
    told(space, (JUNE_1, {**PORTO, "change": "denied"}))
    [claim] = assertions(space)
    assert (claim["stance"], claim["mode"]) == ("reject", "stated")
    assert believed(space, "lives_in", LATER) == {"Porto": "rejected"}


@pytest.mark.parametrize("since", [None, "2020"])
def test_what_is_over_since_nobody_knows_when_does_not_end_what_holds(space: TestSpace, since: str | None) -> None:
    past = {**PORTO, "change": "ended"}
    told(space, (JUNE_1, {"predicate": "lives_in", "object": "Lisbon", "since": since}), (JUNE_2, past))
    assert now(space) == ["Lisbon"]


def test_an_end_of_nothing_on_record_closes_what_was_said_before_it_and_comes_in_later(space: TestSpace) -> None:
    told(space, (JUNE_2, LEFT_IN_MARCH), (JUNE_1, ACME))
    assert now(space, "works_for") == []


def test_a_correction_corrects_only_what_was_said_before_it(space: TestSpace) -> None:
    told(space, (JUNE_3, {"predicate": "birthday", "text": "1990-03-06"}))
    noted = keep(space, "…", {"predicate": "birthday", "text": "1990-03-05", "change": "correction"}, at=JUNE_1)
    assert "corrects no claim" in noted["note"][0]
    assert now(space, "birthday") == ["1990-03-06"]


def test_a_past_that_was_told_first_makes_room_for_what_comes_in_later(space: TestSpace) -> None:
    told(space, (JUNE_2, {**PORTO, "change": "ended"}), (JUNE_1, {"predicate": "lives_in", "object": "Lisbon"}))
    assert now(space) == ["Lisbon"]


def test_a_past_told_twice_makes_room_as_well_and_its_date_counts(space: TestSpace) -> None:
    left = {"predicate": "lives_in", "object": "Lisbon", "change": "ended"}
    told(space, (JUNE_2, left), (JUNE_3, {**left, "until": "2020-03"}), (JUNE_1, PORTO))
    assert now(space) == ["Porto"]
    assert [
        claim["valid_time"]["until"]["latest"][:7] for claim in assertions(space) if claim["asserted_at"] == JUNE_3
    ] == ["2020-03"]


def test_what_held_when_it_was_said_is_no_past_though_its_end_was_told_first(space: TestSpace) -> None:
    lisbon = {"predicate": "lives_in", "object": "Lisbon"}
    told(space, (JUNE_3, {**PORTO, "change": "ended"}), (JUNE_2, PORTO), (JUNE_1, lisbon))
    assert now(space) == []


# --- what was said more than once ----------------------------------------------------------------------------------


def test_what_was_said_twice_is_corrected_whole(space: TestSpace) -> None:
    told(
        space,
        (MAY_1, PORTO),
        (MAY_20, PORTO),
        (JUNE_1, {"predicate": "lives_in", "object": "Lisbon", "change": "correction"}),
    )
    assert believed(space, "lives_in", "2026-05-10T00:00:00.000Z") == {"Porto": "insufficient", "Lisbon": "accepted"}
    assert [claim["lifecycle"]["status"] for claim in assertions(space)] == ["superseded", "superseded", "active"]


def test_what_was_said_twice_is_taken_back_whole(space: TestSpace) -> None:
    told(space, (MAY_1, PORTO), (MAY_20, PORTO), (JUNE_1, {**PORTO, "change": "withdrawn"}))
    assert believed(space, "lives_in", LATER) == {"Porto": "insufficient"}


# --- one instant --------------------------------------------------------------------------------------------------


def test_at_one_instant_what_was_recorded_later_was_said_later(space: TestSpace) -> None:
    told(space, (JUNE_1, PORTO), (JUNE_1, {"predicate": "lives_in", "object": "Lisbon"}))
    assert now(space) == ["Lisbon"]
    told(space, (JUNE_1, SUSHI), (JUNE_1, {**SUSHI, "change": "ended"}))
    assert believed(space, "likes", LATER) == {"sushi": "rejected"}
    told(space, (JUNE_1, SUSHI))
    assert believed(space, "likes", LATER) == {"sushi": "accepted"}


@pytest.mark.parametrize(
    ("claims", "held"),
    [
        ((SUSHI, {**SUSHI, "change": "ended"}), []),
        (({**SUSHI, "change": "denied"}, SUSHI), ["sushi"]),
        ((SUSHI, {**SUSHI, "change": "ended"}, SUSHI), ["sushi"]),
    ],
)
def test_at_one_instant_the_later_message_counts(space: TestSpace, claims: Any, held: list[str]) -> None:
    document = {"claims": [{"msg": number, "subject": "I", **claim} for number, claim in enumerate(claims, 1)]}
    space.form([remember(claims=document["claims"])], *(said("…", "Alice", at=JUNE_1) for _ in claims))
    assert now(space, "likes") == held


def test_two_places_in_two_messages_of_one_instant_are_a_move(space: TestSpace) -> None:
    document = {
        "claims": [
            {"msg": 1, "subject": "I", **PORTO},
            {"msg": 2, "subject": "I", "predicate": "lives_in", "object": "Lisbon"},
        ]
    }
    space.form([remember(claims=document["claims"])], said("…", "Alice", at=JUNE_1), said("…", "Alice", at=JUNE_1))
    assert now(space) == ["Lisbon"]


# --- the order of recording ---------------------------------------------------------------------------------------

SAYINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    (MAY_1, PORTO),
    (MAY_20, {"predicate": "lives_in", "object": "Rome", "since": "2026-02"}),
    (JUNE_1, {"predicate": "lives_in", "object": "Faro"}),
    (JUNE_2, {"predicate": "lives_in", "object": "Lisbon", "change": "new", "since": "2026-05"}),
)


@pytest.mark.requirement("BR-MODEL-015")
@pytest.mark.parametrize("order", list(itertools.permutations(range(4), 4))[::3])
def test_what_holds_does_not_depend_on_the_order_in_which_it_was_recorded(
    space: TestSpace, order: tuple[int, ...]
) -> None:
    told(space, *(SAYINGS[number] for number in order))
    assert now(space) == ["Lisbon"]


_STARTS = st.sampled_from([None, "2026-01", "2026-03", "2026-05-10"])


def _held(starts: list[str | None]) -> int:
    """Whose claim holds, said one after the other: an undated one follows all before it, a dated one by its date."""
    order: list[int] = []
    for number, since in enumerate(starts):
        later = [place for place, other in enumerate(order) if since and (starts[other] or "") > since]
        order.insert(later[0] if later else len(order), number)
    return order[-1]


def _contradict(starts: list[str | None]) -> bool:
    """Whether dates and the order of saying cannot both be kept: after a dated and an undated one, an earlier date."""
    return any(one and two is None and three and three < one for one, two, three in itertools.combinations(starts, 3))


@settings(max_examples=30, deadline=None)
@given(starts=st.lists(_STARTS, min_size=2, max_size=3), data=st.data())
def test_the_last_word_holds_unless_it_is_dated_before_a_dated_one(
    tmp_path_factory: pytest.TempPathFactory, starts: list[str | None], data: st.DataObject
) -> None:
    sayings = [
        (day, {"predicate": "lives_in", "object": f"Town {number}"} | ({"since": since} if since else {}))
        for number, (day, since) in enumerate(zip((JUNE_1, JUNE_2, JUNE_3), starts, strict=False))
    ]
    recorded = sayings if _contradict(starts) else data.draw(st.permutations(sayings))
    with open_space(tmp_path_factory.mktemp("order")) as space:
        told(space, *recorded)
        assert now(space) == [f"Town {_held(starts)}"]


_WORDS = st.tuples(st.sampled_from(["stated", "ended", "denied"]), st.sampled_from(["Porto", "Lisbon"]))


@settings(max_examples=40, deadline=None)
@given(words=st.lists(_WORDS, min_size=2, max_size=4), data=st.data(), is_one_instant=st.booleans())
def test_the_last_undated_word_on_a_value_decides_it(
    tmp_path_factory: pytest.TempPathFactory,
    words: list[tuple[str, str]],
    data: st.DataObject,
    is_one_instant: bool,
) -> None:
    days = [JUNE_1] * 4 if is_one_instant else [JUNE_1, JUNE_2, JUNE_3, "2026-06-04T09:00:00.000Z"]
    sayings = [
        (day, {"predicate": "lives_in", "object": value, "change": change})
        for day, (change, value) in zip(days, words, strict=False)
    ]
    held: str | None = None
    for change, value in words:
        if change == "stated":
            held = value
        elif held == value:
            held = None
    recorded = sayings if is_one_instant else data.draw(st.permutations(sayings))
    with open_space(tmp_path_factory.mktemp("words")) as space:
        told(space, *recorded)
        assert now(space) == ([held] if held else [])
