"""`remember`: one document in, claims with the right stance, time and place out, every fault named with its remedy."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brain.agents.model import call
from tests.agents.space import DONE, MONDAY, TestSpace, remember, said

LATER = "2026-05-25T10:00:00.000Z"


def keep(
    space: TestSpace, text: str, *claims: dict[str, Any], at: str = MONDAY, by: str = "Alice", **lists: Any
) -> Any:
    """One message of one speaker, kept as these claims; the tool's answer."""
    document = {"claims": [{"msg": 1, "subject": "I", **claim} for claim in claims], **lists}
    space.form([remember(**document), DONE], said(text, by, at=at))
    return answer(space)


def answer(space: TestSpace) -> Any:
    """What the last tool call answered."""
    outputs = [m["content"][0]["output"] for m in space.transcripts[-1] if m["role"] == "tool"]
    return json.loads(outputs[-1])


def believed(space: TestSpace, predicate: str, at: str = "2026-06-01T00:00:00.000Z") -> dict[str, str]:
    """Values of a predicate of anybody with their status under the memory policy."""
    rows = space.rows(
        "FIND(?o, ?b.status) WHERE { ?p (?s, :predicate, ?o) ?b BELIEF (?p) } FOR TIME :at "
        'WITH EPISTEMIC {policy: "kip:memory-default"}',
        predicate=predicate,
        at=at,
    )
    return {value["name"] if isinstance(value, dict) else str(value): status for value, status in rows}


def assertions(space: TestSpace) -> list[dict[str, Any]]:
    return list(space.rows("FIND(?a) WHERE { ?a ASSERTION {} }"))


# --- the seven changes ------------------------------------------------------------------------------------------------


def test_a_statement_is_dated_attributed_and_cites_its_message(space: TestSpace) -> None:
    assert keep(space, "I live in Szeged", {"predicate": "lives_in", "object": "Szeged"})["ok"]
    [claim] = assertions(space)
    [alice] = space.rows('FIND(?p.id) WHERE { ?p {type: "Person", key: "alice"} }')
    assert (claim["asserted_by"]["id"], claim["asserted_at"], claim["mode"]) == (alice, MONDAY, "stated")
    assert "confidence" not in claim
    [payload] = space.rows("FIND(?e.payload) WHERE { ?e EVIDENCE {} }")
    assert "I live in Szeged" in json.dumps(payload)


@pytest.mark.requirement("BR-MODEL-011")
def test_a_changed_world_ends_the_old_value_and_keeps_it_for_its_time(space: TestSpace) -> None:
    keep(space, "I live in Szeged", {"predicate": "lives_in", "object": "Szeged"})
    noted = keep(
        space,
        "moved to Pécs on the 20th",
        {"predicate": "lives_in", "object": "Pécs", "change": "new", "since": "2026-05-20"},
        at=LATER,
    )
    assert noted["note"] == ["claims[0] ends lives_in Szeged, said 2026-05-04"]
    assert believed(space, "lives_in") == {"Szeged": "insufficient", "Pécs": "accepted"}
    assert believed(space, "lives_in", "2026-05-10T00:00:00.000Z")["Szeged"] == "accepted"
    assert [claim["lifecycle"]["status"] for claim in assertions(space)] == ["active", "active"]


def test_a_change_without_a_date_writes_no_date(space: TestSpace) -> None:
    keep(space, "I live in Szeged", {"predicate": "lives_in", "object": "Szeged"})
    keep(space, "I live in Pécs now", {"predicate": "lives_in", "object": "Pécs", "change": "new"}, at=LATER)
    assert "valid_time" not in assertions(space)[1] or not assertions(space)[1]["valid_time"]
    assert believed(space, "lives_in")["Pécs"] == "accepted"


@pytest.mark.requirement("BR-MODEL-012")
def test_a_correction_supersedes_the_speakers_own_claim_for_its_time(space: TestSpace) -> None:
    keep(space, "born on the 4th", {"predicate": "birthday", "text": "1990-03-04"})
    keep(space, "sorry, the 5th", {"predicate": "birthday", "text": "1990-03-05", "change": "correction"}, at=LATER)
    old, new = assertions(space)
    assert old["lifecycle"]["status"] == "superseded"
    assert new["valid_time"]["from"] == {"latest": MONDAY}
    assert believed(space, "birthday", "2026-05-10T00:00:00.000Z") == {
        "1990-03-04": "insufficient",
        "1990-03-05": "accepted",
    }
    assert space.rows("FIND(COUNT(?x)) WHERE { ?x ACTIVITY {activity_class: :c} }", c="belief_revision") == [1]


@pytest.mark.requirement("BR-MODEL-009", "BR-GATE-031")
def test_correcting_somebody_else_is_disagreeing(space: TestSpace) -> None:
    keep(space, "born on the 4th", {"predicate": "birthday", "text": "1990-03-04"})
    noted = keep(
        space,
        "no, Alice was born on the 6th",
        {"subject": "Alice", "predicate": "birthday", "text": "1990-03-06", "change": "correction"},
        at=LATER,
        by="Bob",
    )
    assert "corrects no claim of this speaker" in noted["note"][0]
    assert [claim["lifecycle"]["status"] for claim in assertions(space)] == ["active", "active"]


def test_an_end_is_the_opposite_stance_from_then_on(space: TestSpace) -> None:
    keep(space, "I work for Acme", {"predicate": "works_for", "object": "Acme"})
    keep(space, "I quit on the 15th", {"predicate": "works_for", "change": "ended", "until": "2026-05-15"}, at=LATER)
    assert assertions(space)[1]["stance"] == "reject"
    assert believed(space, "works_for") == {"Acme": "rejected"}
    assert believed(space, "works_for", "2026-05-10T00:00:00.000Z") == {"Acme": "accepted"}


def test_the_end_of_something_never_recorded_is_a_past_interval(space: TestSpace) -> None:
    keep(
        space,
        "I worked for Acme until 2019",
        {"predicate": "works_for", "object": "Acme", "change": "ended", "until": "2019"},
    )
    [claim] = assertions(space)
    assert (claim["stance"], claim["valid_time"]["until"]["latest"]) == ("support", "2019-12-31T23:59:59.999Z")
    assert believed(space, "works_for") == {"Acme": "insufficient"}


def test_a_withdrawal_retracts_and_nothing_else(space: TestSpace) -> None:
    keep(space, "I own a boat", {"predicate": "owns", "object": "a boat", "object_type": "Vehicle"})
    keep(space, "the boat was a joke", {"predicate": "owns", "object": "a boat", "change": "withdrawn"}, at=LATER)
    [claim] = assertions(space)
    assert claim["lifecycle"]["status"] == "retracted"
    assert believed(space, "owns") == {"a boat": "insufficient"}


def test_nothing_to_withdraw_is_a_fault_that_shows_the_slot(space: TestSpace) -> None:
    keep(space, "I speak Finnish", {"predicate": "speaks", "text": "fi"}, by="Bob")
    told = keep(
        space,
        "Bob does not speak Finnish, forget it",
        {"subject": "Bob", "predicate": "speaks", "text": "fi", "change": "withdrawn"},
    )
    assert told["not_kept"][0]["at"] == "claims[0]"
    assert told["not_kept"][0]["choices"][0]["value"] == "fi"
    assert [claim["lifecycle"]["status"] for claim in assertions(space)] == ["active"]


def test_hearsay_is_the_speakers_and_weak(space: TestSpace) -> None:
    keep(
        space,
        "Tom says Ana works for Acme",
        {"subject": "Ana", "predicate": "works_for", "object": "Acme", "change": "hearsay"},
    )
    [alice] = space.rows('FIND(?p.id) WHERE { ?p {type: "Person", key: "alice"} }')
    assert assertions(space)[0]["asserted_by"]["id"] == alice
    assert believed(space, "works_for") == {"Acme": "uncertain"}


def test_an_inference_is_the_brains_and_not_accepted_by_itself(space: TestSpace) -> None:
    keep(space, "my wife Ana", {"predicate": "partner_of", "object": "Ana", "change": "inferred"})
    assert assertions(space)[0]["asserted_by"]["id"] == space.self_id
    assert believed(space, "partner_of") == {"Ana": "uncertain"}


# --- several claims of one document -----------------------------------------------------------------------------------


def test_two_values_of_a_one_value_predicate_at_one_instant_are_a_fault(space: TestSpace) -> None:
    told = keep(
        space,
        "I live in Szeged, well, Pécs",
        {"predicate": "lives_in", "object": "Szeged"},
        {"predicate": "lives_in", "object": "Pécs"},
    )
    assert (told["wrote"], told["not_kept"][0]["at"]) == (1, "claims[1]")
    assert believed(space, "lives_in") == {"Szeged": "accepted"}


def test_a_change_within_one_conversation_of_one_instant_takes_effect(space: TestSpace) -> None:
    keep(
        space,
        "I lived in Szeged when we started, now Pécs",
        {"predicate": "lives_in", "object": "Szeged"},
        {"predicate": "lives_in", "object": "Pécs", "change": "new"},
    )
    assert believed(space, "lives_in")["Pécs"] == "accepted"


def test_a_correction_within_one_document_replaces_what_it_corrects(space: TestSpace) -> None:
    told = keep(
        space,
        "the 4th, no, the 5th",
        {"predicate": "birthday", "text": "1990-03-04"},
        {"predicate": "birthday", "text": "1990-03-05", "change": "correction"},
    )
    assert any("corrected by claims[1]" in note for note in told["note"])
    assert believed(space, "birthday") == {"1990-03-05": "accepted"}


def test_a_correction_within_one_document_leaves_other_values_on_record_alone(space: TestSpace) -> None:
    keep(space, "dust", {"predicate": "allergic_to", "object": "dust", "object_type": "Substance"})
    nuts = {"predicate": "allergic_to", "object_type": "Food"}
    keep(
        space,
        "peanuts, sorry, hazelnuts",
        {**nuts, "object": "peanuts"},
        {**nuts, "object": "hazelnuts", "change": "correction"},
        at=LATER,
    )
    assert believed(space, "allergic_to") == {"dust": "accepted", "hazelnuts": "accepted"}


@pytest.mark.requirement("BR-SPACE-022")
def test_options_of_different_kinds_do_not_end_each_other(space: TestSpace) -> None:
    keep(
        space,
        "dark mode, metric units",
        {"predicate": "prefers", "object": "dark mode", "object_type": "ColorScheme"},
        {"predicate": "prefers", "object": "metric", "object_type": "UnitSystem"},
    )
    assert believed(space, "prefers") == {"dark mode": "accepted", "metric": "accepted"}
    drafted = [row["local_name"] for row in space.rows("LIST TYPES") if "local/draft" in row["ref"]]
    assert drafted == ["ColorScheme", "UnitSystem"]


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("BR-FORM-019")
def test_known_things_are_reused_across_documents_case_and_accents(space: TestSpace) -> None:
    keep(space, "I work for Acme", {"predicate": "works_for", "object": "Acme"})
    keep(space, "acme is fine", {"predicate": "client_of", "object": "ACME"}, at=LATER)
    keep(space, "me too", {"predicate": "works_for", "object": "Ácme"}, at=LATER, by="Bob")
    assert space.rows('FIND(COUNT(?o)) WHERE { ?o {type: "Organization"} }') == [1]


def test_names_written_without_spaces_are_found_again(space: TestSpace) -> None:
    keep(space, "我住在北京", {"predicate": "lives_in", "object": "北京"}, by="小明")
    keep(space, "小明住在北京", {"subject": "小明", "predicate": "comes_from", "object": "北京"}, at=LATER, by="小红")
    assert space.rows('FIND(COUNT(?o)) WHERE { ?o {type: "Place"} }') == [1]
    assert sorted(space.rows('FIND(?p.name) WHERE { ?p {type: "Person"} }')) == sorted(["Brain", "小明", "小红"])


def test_a_first_name_means_the_one_known_person_and_a_new_alike_name_is_another(space: TestSpace) -> None:
    keep(space, "hello", {"predicate": "speaks", "text": "hu"}, by="Marc Xenakis")
    told = keep(
        space,
        "Marc and Mark know each other",
        {"subject": "Marc", "predicate": "knows", "object": "Mark"},
        at=LATER,
        by="Ana",
    )
    people = space.rows('FIND(?p.name) WHERE { ?p {type: "Person"} }')
    assert sorted(people) == ["Ana", "Brain", "Marc Xenakis", "Mark"]
    assert "kept apart" in told["note"][0]


def test_a_name_that_fits_two_is_asked_back_with_both(space: TestSpace) -> None:
    for key in ("a", "b"):
        space.write('CREATE CONCEPT ?o { TYPE "Organization" NAME "Acme" SET FIELDS {key: :key} }', key=f"acme-{key}")
    told = keep(space, "I work for Acme", {"predicate": "works_for", "object": "Acme"})
    assert [choice["name"] for choice in told["not_kept"][0]["choices"]] == ["Acme", "Acme"]
    assert keep(space, "the second", {"predicate": "works_for", "object": "C-3"})["wrote"] == 1


def test_new_things_whose_names_give_one_key_stay_two(space: TestSpace) -> None:
    keep(
        space,
        "C# and C++",
        {"predicate": "interested_in", "object": "C++"},
        {"predicate": "interested_in", "object": "C#"},
    )
    assert believed(space, "interested_in") == {"C++": "accepted", "C#": "accepted"}


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "part"),
    [
        ({"predicate": "resides_in", "object": "Szeged"}, "lives_in"),
        ({"predicate": "lives_in", "object": "Szeged", "msg": 7}, "1 to 1"),
        ({"predicate": "age", "text": "old"}, "takes number"),
        ({"predicate": "lives_in", "object": "Szeged", "since": "last year"}, "is no date"),
        ({"predicate": "lives_in", "object": "C-99"}, "There is no C-99"),
        ({"predicate": "lives_in", "object": "Szeged", "change": "moved"}, "change is one of"),
        ({"predicate": "lives_in"}, "Set object for a thing"),
        ({"predicate": "lives_in", "object": "a", "text": "b"}, "both set"),
        ({"predicate": "prefers", "object": "dark"}, "its type is not said"),
        ({"predicate": "allergic_to", "object": "nuts"}, "object_type"),
        ({"predicate": "lives_in", "object": "Szeged", "by": "Bob"}, "did not say message 1"),
        ({"predicate": "lives_in", "object": "Szeged", "since": "2020", "until": "2019"}, "not after since"),
        ({"predicate": "knows", "object": "I", "subject": "C-1", "object_type": 5}, "not text"),
        ({"predicate": "x" * 100, "object": "a"}, "longer than"),
    ],
)
def test_a_fault_names_its_item_and_what_to_send_instead(space: TestSpace, claim: dict[str, Any], part: str) -> None:
    good = {"predicate": "speaks", "text": "en"}
    told = keep(space, "hello", good, claim)
    [fault] = told["not_kept"]
    assert fault["at"] == "claims[1]"
    assert fault["remedy"]
    assert part in json.dumps(fault, ensure_ascii=False)
    assert told["wrote"] == 1
    assert believed(space, "speaks") == {"en": "accepted"}


def test_what_the_engine_refuses_is_found_item_by_item(space: TestSpace) -> None:
    space.write('CREATE CONCEPT ?o { TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"} }')
    told = keep(
        space,
        "hello",
        {"predicate": "speaks", "text": "en"},
        {"predicate": "timezone", "text": ""},
        {"predicate": "speaks", "text": "not a language tag but a whole sentence"},
    )
    assert told["wrote"] >= 1
    assert believed(space, "speaks")["en"] == "accepted"


@pytest.mark.parametrize(
    "arguments",
    [
        {"claims": "no list", "done": True, "summary": ""},
        {"claims": [5], "done": True, "summary": ""},
        {"claims": [{"msg": True, "subject": "I", "predicate": "speaks", "text": "en"}], "done": True, "summary": ""},
        {"events": [{"msg": 1}], "done": True, "summary": 5},
        {"commitments": [{"msg": 1, "what": "x", "who": "I", "status": "done"}], "done": True, "summary": ""},
        {"new_predicates": [{"name": "x"}], "done": True, "summary": ""},
        {"events": [{"msg": 1, "what": "x", "who": "Ann"}], "done": True, "summary": ""},
    ],
)
def test_a_misshapen_document_is_answered_and_the_run_goes_on(space: TestSpace, arguments: dict[str, Any]) -> None:
    result = space.form([call("remember", json.dumps(arguments)), DONE], said("hello", "Alice"))
    assert answer(space)["not_kept"]
    assert (result.failed_reason, result.rounds, result.committed) == (None, 2, ())


def test_more_items_than_fit_are_cut_and_said(space: TestSpace) -> None:
    claims = [{"predicate": "speaks", "text": f"x{n}"} for n in range(70)]
    told = keep(space, "many", *claims)
    assert told["not_kept"][0]["at"] == "claims[64]"
    assert told["wrote"] == 64


# --- the other lists --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("BR-FORM-018", "BR-MODEL-006")
def test_an_event_is_linked_to_its_people_and_to_its_message(space: TestSpace) -> None:
    keep(
        space,
        "Bob and I met in May",
        events=[{"msg": 1, "what": "Alice met Bob", "on": "2026-05", "who": ["I", "Bob"]}],
    )
    [event] = space.rows('FIND(?e) WHERE { ?e {type: "Event"} }')
    assert event["attributes"]["when"] == "2026-05"
    assert event["attributes"]["started_at"] == "2026-05-01T00:00:00.000Z"
    who = space.rows('FIND(?w.name) WHERE { STRUCTURAL (:event, "involves", ?w) }', event={"id": event["id"]})
    assert sorted(who) == ["Alice", "Bob"]
    inputs = space.rows(
        'FIND(?e.evidence_class) WHERE { ?x ACTIVITY {activity_class: "extraction"} '
        'STRUCTURAL (?x, "outputs", :event) STRUCTURAL (?x, "inputs", ?e) }',
        event={"id": event["id"]},
    )
    assert inputs == ["user_statement"]


@pytest.mark.requirement("BR-FORM-018", "BR-FORM-022")
def test_a_commitment_is_kept_and_settled_by_a_later_word(space: TestSpace) -> None:
    keep(
        space,
        "I will send Ana the slides by Friday",
        commitments=[{"msg": 1, "what": "send Ana the slides", "who": "I", "to": "Ana", "due": "2026-05-08"}],
    )
    [kept] = space.rows('FIND(?c.attributes) WHERE { ?c {type: "Commitment"} }')
    assert (kept["status"], kept["due_at"]) == ("pending", "2026-05-08T23:59:59.999Z")
    told = keep(
        space,
        "slides are out",
        commitments=[{"msg": 1, "what": "sent the slides to Ana", "who": "I", "status": "fulfilled"}],
        at=LATER,
    )
    assert told["ok"], told
    [kept] = space.rows('FIND(?c.attributes) WHERE { ?c {type: "Commitment"} }')
    assert (kept["status"], kept["completed_at"]) == ("fulfilled", LATER)


def test_settling_what_is_not_on_record_is_a_fault(space: TestSpace) -> None:
    told = keep(space, "did it", commitments=[{"msg": 1, "what": "did it", "who": "I", "status": "fulfilled"}])
    assert "not clear which" in told["not_kept"][0]["problem"]


def test_nobody_settles_a_commitment_of_strangers(space: TestSpace) -> None:
    keep(space, "I'll call mum", commitments=[{"msg": 1, "what": "call mum", "who": "I"}])
    [kept] = space.rows('FIND(?c.id) WHERE { ?c {type: "Commitment"} }')
    told = keep(
        space,
        "Alice called mum",
        commitments=[{"msg": 1, "what": f"{kept} call mum", "who": "Alice", "status": "fulfilled"}],
        at=LATER,
        by="Mallory",
    )
    assert told["not_kept"]
    assert space.rows('FIND(?c.attributes.status) WHERE { ?c {type: "Commitment"} }') == ["pending"]


@pytest.mark.requirement("BR-FORM-022")
def test_a_rule_becomes_a_constraint_about_its_speaker(space: TestSpace) -> None:
    keep(space, "always answer in Hungarian", rules=[{"msg": 1, "rule": "answer in Hungarian"}])
    [rule] = space.rows('FIND(?i.attributes.insight_class) WHERE { ?i {type: "Insight"} STRUCTURAL (?i, "about", ?p) }')
    assert rule == "constraint"


def test_a_wish_to_erase_is_a_task_and_erases_nothing(space: TestSpace) -> None:
    keep(space, "I speak Finnish", {"predicate": "speaks", "text": "fi"})
    keep(space, "erase that", requests=[{"msg": 1, "kind": "erase", "what": "that I speak Finnish"}], at=LATER)
    [task] = space.rows('FIND(?t.attributes) WHERE { ?t {type: "SleepTask"} }')
    assert (task["task_class"], task["status"]) == ("review_retention", "pending")
    assert believed(space, "speaks") == {"fi": "accepted"}


def test_a_new_predicate_is_defined_used_and_put_up_for_review(space: TestSpace) -> None:
    mentors = {
        "name": "mentors",
        "meaning": "The subject guides the object.",
        "subject": "Person",
        "object": "Person",
        "values": "many",
    }
    told = keep(space, "I mentor Bob", {"predicate": "mentors", "object": "Bob"}, new_predicates=[mentors])
    assert told["ok"], told
    assert believed(space, "mentors") == {"Bob": "accepted"}
    assert space.rows('FIND(?t.attributes.task_class) WHERE { ?t {type: "SleepTask"} }') == ["review_schema"]
    told = keep(space, "and Ana", {"predicate": "mentors", "object": "Ana"}, new_predicates=[mentors], at=LATER)
    assert told["note"] == ["mentors exists already and was used as it is"]
    assert space.rows('FIND(COUNT(?t)) WHERE { ?t {type: "SleepTask"} }') == [1]


def test_a_new_predicate_the_gate_refuses_is_a_fault(space: TestSpace) -> None:
    wrong = {"name": "Grant", "meaning": "x", "subject": "Person", "object": "text", "values": "many"}
    told = keep(space, "x", {"predicate": "Grant", "text": "all"}, new_predicates=[wrong])
    assert {fault["at"] for fault in told["not_kept"]} == {"new_predicates", "claims[0]"}


# --- ending -----------------------------------------------------------------------------------------------------------


def test_done_ends_the_pass_without_another_model_call(space: TestSpace) -> None:
    result = space.form(
        [remember(claims=[{"msg": 1, "subject": "I", "predicate": "speaks", "text": "en"}])], said("hi", "A")
    )
    assert (result.rounds, result.stopped, result.content) == (1, "done", "kept")


def test_a_fault_keeps_the_pass_going_even_when_done(space: TestSpace) -> None:
    bad = remember(claims=[{"msg": 1, "subject": "I", "predicate": "nope", "text": "en"}])
    good = remember(claims=[{"msg": 1, "subject": "I", "predicate": "speaks", "text": "en"}])
    result = space.form([bad, good], said("hi", "A"))
    assert (result.rounds, len(result.committed)) == (2, 1)


def test_an_empty_document_writes_nothing(space: TestSpace) -> None:
    before = space.head()
    result = space.form([remember()], said("thanks!", "Alice"))
    assert (result.committed, space.head()) == ((), before)


def test_of_items_that_clash_the_first_is_kept_and_the_other_told(space: TestSpace) -> None:
    keep(space, "I live in Porto", {"predicate": "lives_in", "object": "Porto"})
    told = keep(
        space,
        "Forget Porto. Not Porto, Faro.",
        {"predicate": "lives_in", "object": "Porto", "change": "withdrawn"},
        {"predicate": "lives_in", "object": "Faro", "change": "correction"},
        at=LATER,
    )
    assert not told["ok"]
    assert told["wrote"] >= 1
    assert [fault["at"] for fault in told["not_kept"]] == ["claims[1]"]
