"""Who speaks: nobody as the Brain, nobody as one of several namesakes without being asked about."""

from __future__ import annotations

import pytest

from brain.agents.jobs import RecallJob
from brain.agents.model import say
from brain.agents.reading import Reading
from brain.agents.recollection import recall_turn
from brain.gate.gate import reader_session
from brain.names import is_reserved
from tests.agents.space import DONE, MONDAY, NOW, TestSpace, remember, said
from tests.agents.test_remember import answer

JAZZ = {"msg": 1, "subject": "I", "predicate": "likes", "object": "jazz", "object_type": "Topic"}


def speakers(space: TestSpace) -> set[str]:
    """Who made the claims there are."""
    return {claim["asserted_by"]["id"] for claim in space.rows("FIND(?a) WHERE { ?a ASSERTION {} }")}


def likes(space: TestSpace, *names: str) -> None:
    for name in names:
        space.form([remember(claims=[JAZZ])], said("I like jazz", name))


@pytest.mark.parametrize("key", ["$self", " $self", "＄self", "\u200b$self", "$system", "$anything"])
def test_a_reserved_key_is_told_by_its_sign_however_it_is_written(key: str) -> None:
    assert is_reserved(key)


@pytest.mark.parametrize("key", ["self", "user-1", "us$er", "小明", ""])
def test_other_keys_are_free(key: str) -> None:
    assert not is_reserved(key)


@pytest.mark.requirement("BR-GATE-040")
@pytest.mark.parametrize(
    "context", [{"counterparty": "$self"}, {"counterparty": "＄self"}, {"counterparty": "$system"}]
)
def test_no_user_message_is_the_brains_by_a_key(space: TestSpace, context: dict[str, str]) -> None:
    result = space.form([remember(claims=[JAZZ])], said("I like jazz"), **context)
    assert result.failed_reason is None
    assert space.self_id not in speakers(space)
    assert len(speakers(space)) == 1


def test_no_agent_message_is_the_brains_by_a_key(space: TestSpace) -> None:
    space.form([remember(claims=[JAZZ])], said("I like jazz", role="assistant"), agent="$self")
    assert speakers(space)
    assert space.self_id not in speakers(space)


@pytest.mark.parametrize("name", ["Brain", "brain", "$self", "BRAIN"])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_no_message_is_the_brains_by_its_name(space: TestSpace, name: str, role: str) -> None:
    space.form([remember(claims=[JAZZ])], said("I like jazz", name, role=role))
    assert speakers(space)
    assert space.self_id not in speakers(space)


def test_nobody_asks_as_the_brain(space: TestSpace) -> None:
    reading = Reading(space.engine, reader_session("agent:recall"))
    assert recall_turn(RecallJob("What do I like?", counterparty="$self"), NOW, reading).asked_by is None


def test_keys_are_taken_exactly_as_given(space: TestSpace) -> None:
    for key in ("ana", "ANA", "ana"):
        space.form([say("nothing")], said("hello"), counterparty=key)
    assert sorted(space.rows('FIND(?p.key) WHERE { ?p {type: "Person"} }')) == ["$self", "ANA", "ana"]


# --- first names --------------------------------------------------------------------------------------------------


def test_a_first_name_of_two_people_is_asked_back_with_both(space: TestSpace) -> None:
    likes(space, "Ana Ruiz", "Ana Silva")
    claim = {"msg": 1, "subject": "Ana", "predicate": "knows", "object": "I"}
    space.form([remember(claims=[claim]), DONE], said("Ana knows me", "Bob"))
    [fault] = answer(space)["not_kept"]
    assert [choice["name"] for choice in fault["choices"]] == ["Ana Ruiz", "Ana Silva"]


def test_a_namesake_the_dossier_does_not_show_is_found_all_the_same(space: TestSpace) -> None:
    likes(space, "Ana Ruiz", "Ana Silva")
    claim = {"msg": 1, "subject": "Ana", "predicate": "knows", "object": "I"}
    space.form([remember(claims=[claim]), DONE], said("she knows me, she said", "Ana Ruiz"))
    [fault] = answer(space)["not_kept"]
    assert len(fault["choices"]) == 2


def test_somebody_known_by_that_name_alone_is_meant_and_namesakes_are_told(space: TestSpace) -> None:
    likes(space, "Ana Ruiz", "Ana")
    claim = {"msg": 1, "subject": "Ana", "predicate": "knows", "object": "I"}
    space.form([remember(claims=[claim]), DONE], said("Ana knows me", "Bob"))
    [note] = answer(space)["note"]
    assert note.startswith("'Ana' was taken for Ana (")
    assert "not for Ana Ruiz (" in note


@pytest.mark.requirement("BR-GATE-040")
def test_who_speaks_under_a_first_name_of_others_is_a_person_of_their_own_and_put_up_for_review(
    space: TestSpace,
) -> None:
    likes(space, "Ana Ruiz", "Ana Silva", "Ana")
    people = dict(space.rows('FIND(?p.name, ?p.id) WHERE { ?p {type: "Person"} }'))
    assert len(speakers(space)) == 3
    [about] = space.rows('FIND(?t.structural) WHERE { ?t {type: "SleepTask"} }')
    named = {ref["id"] for refs in about.values() for ref in refs}
    assert named == {people["Ana"], people["Ana Ruiz"], people["Ana Silva"]}


def test_a_full_name_is_no_first_name(space: TestSpace) -> None:
    likes(space, "Ana", "Ana Ruiz")
    space.form([remember(claims=[JAZZ])], said("I like jazz", "Ana Ruiz", at=MONDAY))
    assert space.rows('FIND(COUNT(?t)) WHERE { ?t {type: "SleepTask"} }') == [0]
    assert len(speakers(space)) == 2


# --- counterparties known by key alone --------------------------------------------------------------------------------


def who(space: TestSpace) -> dict[str, str]:
    """Names of the people on record by key."""
    return dict(space.rows('FIND(?p.key, ?p.name) WHERE { ?p {type: "Person"} FILTER(?p.key != "$self") }'))


def likers(space: TestSpace) -> list[str]:
    """Keys of those who said they like jazz, in the order they said so."""
    ids = space.rows("FIND(?a.asserted_by.id) WHERE { ?a ASSERTION {} } ORDER BY ?a._system.created_at ASC, ?a.id ASC")
    return [space.rows("FIND(?p.key) WHERE { ?p {id: :id} }", id=i)[0] for i in ids]


@pytest.mark.requirement("BR-GATE-040")
def test_a_named_speaker_beside_unnamed_messages_is_not_the_counterparty(space: TestSpace) -> None:
    both = [JAZZ, {**JAZZ, "msg": 2}]
    messages = (said("I'm a nurse"), said("I'm a director", "Carol Kane", plus_ms=5))
    space.form([remember(claims=both)], *messages, counterparty="acct-1")
    assert who(space) == {"acct-1": "acct-1", "carol-kane": "Carol Kane"}
    assert likers(space) == ["acct-1", "carol-kane"]


@pytest.mark.requirement("BR-GATE-040")
def test_somebody_on_record_stays_themselves_beside_a_counterparty_that_was_heard_without_a_name(
    space: TestSpace,
) -> None:
    space.form([remember(claims=[JAZZ])], said("I like jazz"), counterparty="acct-1")
    space.form([remember(claims=[JAZZ])], said("I like jazz", "Carol Kane"))
    space.form([remember(claims=[JAZZ])], said("I like jazz", "Carol Kane", plus_ms=9), counterparty="acct-1")
    assert likers(space) == ["acct-1", "carol-kane", "carol-kane"]
    assert who(space)["acct-1"] == "acct-1"


@pytest.mark.requirement("BR-GATE-040")
def test_a_new_name_under_a_key_that_was_heard_without_one_is_asked_about_and_not_merged(space: TestSpace) -> None:
    space.form([remember(claims=[JAZZ])], said("I like jazz"), counterparty="ana")
    for number in range(2):
        space.form([remember(claims=[JAZZ])], said("I like jazz", "Bob Stone", plus_ms=number), counterparty="ana")
    assert who(space) == {"ana": "ana", "bob-stone": "Bob Stone"}
    assert likers(space)[:2] == ["ana", "bob-stone"]
    [about] = space.rows('FIND(?t.structural) WHERE { ?t {type: "SleepTask"} }')
    people = dict(space.rows('FIND(?p.key, ?p.id) WHERE { ?p {type: "Person"} }'))
    assert {ref["id"] for refs in about.values() for ref in refs} == {people["ana"], people["bob-stone"]}


@pytest.mark.requirement("BR-GATE-040")
def test_several_names_under_a_new_key_are_nobodys_unless_one_has_the_key_in_it(space: TestSpace) -> None:
    talk = (said("I like jazz", "Bob Stone"), said("I like jazz", "Ana Ruiz", plus_ms=5))
    both = [JAZZ, {**JAZZ, "msg": 2}]
    space.form([remember(claims=both)], *talk, counterparty="acct-1")
    assert who(space) == {"acct-1": "acct-1", "ana-ruiz": "Ana Ruiz", "bob-stone": "Bob Stone"}


@pytest.mark.requirement("BR-GATE-040")
def test_a_name_that_has_the_key_in_it_is_the_counterpartys_until_somebody_else_is_called_so(space: TestSpace) -> None:
    space.form([remember(claims=[JAZZ])], said("I like jazz"), counterparty="ana")
    talk = (said("I like jazz", "Bob Stone"), said("I like jazz", "Ana Ruiz", plus_ms=5))
    space.form([remember(claims=[JAZZ, {**JAZZ, "msg": 2}])], *talk, counterparty="ana")
    assert who(space) == {"ana": "Ana Ruiz", "bob-stone": "Bob Stone"}
    space.form([remember(claims=[JAZZ])], said("I like jazz"), counterparty="bob")
    space.form([remember(claims=[JAZZ])], said("I like jazz", "Bob Stone", plus_ms=9), counterparty="bob")
    assert who(space)["bob"] == "bob"
