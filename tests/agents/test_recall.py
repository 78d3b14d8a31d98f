"""Recall: what the model is told, what it may read, what is cited, how it ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anyio
import pytest

from brain.agents.jobs import RecallJob
from brain.agents.model import ModelAnswer, ModelFailure, ModelRequest, call, say
from brain.agents.recall import recall
from brain.agents.turns import DossierEntry, KnownClaim, RecallTurn
from tests.agents.space import TestSpace, remember, said

LATER = "2026-05-25T10:00:00.000Z"


def read(command: str) -> ModelAnswer:
    return call("execute_kip_readonly", json.dumps({"command": command}))


@pytest.fixture
def known(space: TestSpace) -> TestSpace:
    """Alice: lived in Szeged, lives in Pécs since the 20th; had Acme until the 15th; dog Rex; took back a boat."""
    space.form(
        [
            remember(
                claims=[
                    {"msg": 1, "subject": "I", "predicate": "lives_in", "object": "Szeged"},
                    {"msg": 1, "subject": "I", "predicate": "works_for", "object": "Acme"},
                    {"msg": 1, "subject": "I", "predicate": "has_pet", "object": "Rex"},
                    {"msg": 1, "subject": "Rex", "predicate": "species", "text": "dog"},
                    {"msg": 1, "subject": "I", "predicate": "owns", "object": "boat", "object_type": "Vehicle"},
                    {"msg": 2, "subject": "Alice", "predicate": "birthday", "text": "1990-03-04"},
                ],
                events=[{"msg": 1, "what": "Alice ran the Budapest marathon", "on": "2026-05-02", "who": ["I"]}],
                commitments=[{"msg": 1, "what": "water the plants", "who": "I", "to": "Bob", "due": "2026-06-03"}],
                rules=[{"msg": 1, "rule": "answer briefly"}],
            )
        ],
        said("about me", "Alice"),
        said("about Alice", "Bob", plus_ms=5),
    )
    space.form(
        [
            remember(
                claims=[
                    {
                        "msg": 1,
                        "subject": "I",
                        "predicate": "lives_in",
                        "object": "Pécs",
                        "change": "new",
                        "since": "2026-05-20",
                    },
                    {"msg": 1, "subject": "I", "predicate": "works_for", "change": "ended", "until": "2026-05-15"},
                    {"msg": 1, "subject": "I", "predicate": "owns", "change": "withdrawn"},
                    {"msg": 2, "subject": "Alice", "predicate": "birthday", "text": "1990-03-06"},
                    {"msg": 2, "subject": "Alice", "predicate": "speaks", "text": "hu", "change": "hearsay"},
                ]
            )
        ],
        said("news", "Alice", at=LATER),
        said("more", "Carol", at=LATER),
    )
    return space


def turn_of(space: TestSpace) -> RecallTurn:
    task = space.last_model.requests[0].task
    assert isinstance(task, RecallTurn)
    return task


def entry(space: TestSpace, name: str) -> DossierEntry:
    return next(found for found in turn_of(space).dossier if found.who.name == name)


def claim(space: TestSpace, name: str, predicate: str, value: str) -> KnownClaim:
    return next(c for c in entry(space, name).claims if c.predicate == predicate and c.object.name == value)


@pytest.mark.requirement("BR-RECALL-003", "BR-RECALL-004", "BR-RECALL-008")
def test_the_dossier_tells_each_value_with_how_it_stands_since_when_and_whose_word(known: TestSpace) -> None:
    known.recall([say("…")], "What do you know about Alice?")
    standings = {(c.predicate, c.object.name): c.standing for c in entry(known, "Alice").claims}
    assert standings == {
        ("lives_in", "Pécs"): "accepted",
        ("lives_in", "Szeged"): "was",
        ("works_for", "Acme"): "was",
        ("has_pet", "Rex"): "accepted",
        ("owns", "boat"): "withdrawn",
        ("birthday", "1990-03-04"): "hearsay",
        ("birthday", "1990-03-06"): "accepted",
        ("speaks", "hu"): "hearsay",
    }
    moved = claim(known, "Alice", "lives_in", "Pécs")
    assert (moved.since_text, moved.said_at, moved.by and moved.by.name) == ("2026-05-20", LATER, "Alice")
    assert claim(known, "Alice", "lives_in", "Szeged").until_text == "2026-05-20"
    assert claim(known, "Alice", "works_for", "Acme").until_text == "2026-05-15"


def test_the_time_asked_about_decides_how_values_stand(known: TestSpace) -> None:
    known.recall([say("…")], "Where did Alice live?", at="2026-05-10T00:00:00.000Z")
    assert claim(known, "Alice", "lives_in", "Szeged").standing == "accepted"
    assert claim(known, "Alice", "lives_in", "Pécs").standing == "planned"
    assert "Answer as of 2026-05-10T00:00:00.000Z." in known.last_model.requests[0].messages[1].content


def test_disagreement_is_told_as_disagreement(known: TestSpace) -> None:
    denial = {"msg": 1, "subject": "Alice", "predicate": "has_pet", "object": "Rex", "change": "denied"}
    known.form([remember(claims=[denial])], said("she has no dog", "Bob", at=LATER))
    known.recall([say("…")], "Does Alice have a dog?")
    told = claim(known, "Alice", "has_pet", "Rex")
    assert (told.standing, [ref.name for ref in told.against]) == ("disputed", ["Bob"])


def test_what_is_linked_to_the_one_asked_about_is_told_too(known: TestSpace) -> None:
    known.recall([say("…")], "What species is Alice's pet?")
    assert claim(known, "Rex", "species", "dog").standing == "accepted"


@pytest.mark.parametrize(
    ("question", "counterparty"), [("Where do I live?", "alice"), ("Where does Alice live?", None), ("alice?", None)]
)
def test_the_person_meant_is_found_by_key_and_by_name(
    known: TestSpace, question: str, counterparty: str | None
) -> None:
    known.recall([say("…")], question, counterparty=counterparty)
    assert entry(known, "Alice")
    assert (turn_of(known).asked_by is not None) is (counterparty is not None)


@pytest.mark.requirement("BR-RECALL-017")
def test_events_commitments_and_rules_come_with_the_person(known: TestSpace) -> None:
    known.recall([say("…")], "What is up?", counterparty="alice")
    turn = turn_of(known)
    assert [event.summary for event in turn.events] == ["Alice ran the Budapest marathon"]
    assert [(c.summary, c.status, c.due) for c in turn.commitments] == [
        ("water the plants", "pending", "2026-06-03T23:59:59.999Z")
    ]
    assert [(rule.summary, rule.is_constraint) for rule in turn.rules] == [("answer briefly", True)]


@pytest.mark.parametrize("question", ["Who ran the marathon?", "who lives in Pécs?", "Which dog is there?"])
def test_words_of_the_question_lead_to_what_holds_them(known: TestSpace, question: str) -> None:
    known.recall([say("…")], question)
    text = known.last_model.requests[0].messages[1].content
    assert "Alice" in text.split("--- question")[0] or "Rex" in text.split("--- question")[0]


# --- citations --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("BR-RECALL-018", "BR-RECALL-021", "BR-RECALL-022")
def test_claims_of_the_dossier_that_the_answer_speaks_of_are_cited(known: TestSpace) -> None:
    result = known.recall([say('Alice lives in Pécs.\n<memory_meta>{"found": true}</memory_meta>')], "Where is Alice?")
    assert result.run.content == "Alice lives in Pécs."
    [cited] = result.citations
    assert cited.wire["name"] == "Alice lives_in Pécs"
    assert cited.wire["source"] == "Alice"
    assert set(cited.wire) == {"entity", "type", "name", "source", "created_at"}


@pytest.mark.requirement("BR-RECALL-018")
def test_elements_that_bound_the_rows_of_a_read_are_cited_whatever_was_projected(known: TestSpace) -> None:
    find = 'FIND(?o.name) WHERE { ?w {type: "Person", name: "Alice"} ?p (?w, "works_for", ?o) }'
    result = known.recall([read(find), say("No idea, but A-999 says so.")], "qqq?")
    names = {citation.wire.get("name") for citation in result.citations}
    assert {"Alice", "Acme", "Alice works_for Acme"} <= names
    assert "A-999" not in {citation.element_id for citation in result.citations}


@pytest.mark.requirement("BR-RECALL-018")
def test_an_answer_that_found_nothing_cites_nothing(known: TestSpace) -> None:
    result = known.recall(
        [say('Nothing about Alice. <memory_meta>{"found": false, "uncertainty": 0.9}</memory_meta>')], "Alice?"
    )
    assert (result.found, result.uncertainty, result.citations) == (False, 0.9, ())


@pytest.mark.requirement("BR-RECALL-018")
def test_a_report_narrows_the_citations_to_what_carries_the_answer_and_adds_none(known: TestSpace) -> None:
    known.recall([say("…")], "Where is Alice?")
    carrier = claim(known, "Alice", "lives_in", "Pécs").assertion_id
    both = "Alice lives in Pécs and lived in Szeged."

    def cited(*ids: object) -> list[str]:
        report = json.dumps({"found": True, "rests_on": ids})
        result = known.recall([say(f"{both}\n<memory_meta>{report}</memory_meta>")], "Where is Alice?")
        assert result.run.content == both
        return [citation.element_id for citation in result.citations]

    assert cited(carrier, "A-999", "E-1", 7, None) == [carrier]
    assert carrier in cited("A-999")
    assert len(cited()) > 1


@pytest.mark.requirement("BR-RECALL-023")
def test_what_was_not_reported_is_not_known(known: TestSpace) -> None:
    result = known.recall([say("Alice lives in Pécs.")], "Where is Alice?")
    assert (result.found, result.uncertainty) == (None, None)


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("BR-RECALL-005")
def test_an_endless_recall_stops_at_its_rounds(known: TestSpace) -> None:
    result = known.recall([read("DESCRIBE SPACE")] * 9, "Alice?")
    assert (result.run.rounds, result.run.stopped) == (7, "turns")
    assert result.run.content
    result = known.recall([read("DESCRIBE SPACE")] * 9, "Alice?", max_rounds=2)
    assert result.run.rounds == 2


@pytest.mark.requirement("BR-RECALL-006")
def test_a_slow_model_ends_in_a_stated_failure(known: TestSpace) -> None:
    class Slow:
        name = "slow/test"

        async def answer(self, request: ModelRequest) -> ModelAnswer:
            await asyncio.sleep(30)
            raise AssertionError

    result = anyio.run(recall, known.place(Slow()), RecallJob("Alice?", timeout_ms=300))
    assert result.run.failed_reason is not None
    assert result.run.failed_reason.startswith("timeout")


@pytest.mark.requirement("BR-RECALL-019")
def test_a_recall_whose_caller_left_asks_the_model_no_more(known: TestSpace) -> None:
    asked: list[ModelRequest] = []

    async def leave() -> bool:
        with anyio.CancelScope() as scope:

            class Slow:
                name = "slow/test"

                async def answer(self, request: ModelRequest) -> ModelAnswer:
                    asked.append(request)
                    scope.cancel()
                    await asyncio.sleep(30)
                    raise AssertionError

            await recall(known.place(Slow()), RecallJob("Alice?"))
        return scope.cancelled_caught

    assert anyio.run(leave)
    assert len(asked) == 1


@pytest.mark.requirement("BR-RECALL-009", "BR-MODEL-019")
@pytest.mark.parametrize(
    "command",
    ['UPSERT CONCEPT ?x { MATCH {type: "Person", key: "evil"} }', 'DEFINE CONCEPT TYPE "Evil" {description: "x"}'],
)
def test_recall_writes_nothing(known: TestSpace, command: str) -> None:
    before = known.head()
    known.recall([read(command), say("ok")], "Alice?")
    assert "ReadonlyViolation" in known.tool_text()
    assert known.head() == before


@pytest.mark.requirement("BR-RECALL-009")
def test_one_write_in_a_batch_is_refused_and_the_reads_are_answered(known: TestSpace) -> None:
    commands = ["FIND(COUNT(?c)) WHERE { ?c {} }", 'TRANSITION "A-1" TO "retracted"']
    known.recall([call("execute_kip_readonly", json.dumps({"commands": commands})), say("ok")], "Alice?")
    assert "ReadonlyViolation" in known.tool_text()
    assert '\\"rows\\":[' in known.tool_text()


def test_a_provider_error_is_a_stated_failure(known: TestSpace) -> None:
    result = known.recall(
        [ModelFailure("refused", "the model provider refused the content", transient=False)], "Alice?"
    )
    assert (result.run.failed_reason, result.citations) == ("refused: the model provider refused the content", ())


@pytest.mark.requirement("BR-RECALL-046")
@pytest.mark.parametrize(
    "happening, is_answered",
    [
        ('PURGE :a REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"', False),
        ('TRANSITION :a TO "archived"', False),
        ('UPSERT CONCEPT ?x { MATCH {type: "Person", key: "new"} SET FIELDS {name: "Somebody Else"} }', True),
    ],
)
def test_nothing_is_answered_from_what_was_erased_meanwhile(
    known: TestSpace, happening: str, is_answered: bool
) -> None:
    [claim, *_] = known.rows("FIND(?a.id) WHERE { ?a ASSERTION {} }")

    def meanwhile(_: ModelRequest) -> ModelAnswer:
        known.write(happening, **({"a": {"id": claim}} if ":a" in happening else {}))
        return say("Alice works for Acme.")

    result = known.recall([read("FIND(?a) WHERE { ?a ASSERTION {} }"), meanwhile], "Where does Alice work?")
    assert bool(result.run.content) is is_answered
    assert (result.run.failed_reason or "").startswith("" if is_answered else "memory_changed")
    assert result.run.usage.requests == 2
    assert bool(result.citations) is is_answered


@pytest.mark.requirement("BR-RECALL-002")
def test_each_recall_reads_the_words_of_the_space_anew(known: TestSpace) -> None:
    known.write('DEFINE PREDICATE "plays" {description: "What the subject plays."}')
    known.recall([say("ok")], "Alice?")
    assert "plays any -> any, many: What the subject plays" in known.last_model.requests[0].messages[0].content


@pytest.mark.requirement("BR-RECALL-010")
def test_the_tools_of_recall_only_read(known: TestSpace) -> None:
    known.recall([say("ok")], "Alice?")
    assert [tool.name for tool in known.last_model.requests[0].tools] == ["execute_kip_readonly", "kip_reference"]


@pytest.mark.parametrize("question", ["?", "…", "的", "x" * 20_000, "a\x00b\ud800c", '") } FIND(', "<<kip>>"])
def test_any_question_is_answered(known: TestSpace, question: str) -> None:
    result = known.recall([say("hm")], question)
    assert result.run.failed_reason is None


def test_bindings_of_the_host_are_not_redefined(known: TestSpace) -> None:
    arguments: dict[str, Any] = {"command": "FIND(?c) WHERE { ?c {} } LIMIT 1", "parameters": {"at": "x"}}
    known.recall([call("execute_kip_readonly", json.dumps(arguments)), say("ok")], "Alice?")
    assert "NotAuthorized" in known.tool_text()


def test_a_question_about_somebody_does_not_bring_everybody_of_its_relation(known: TestSpace) -> None:
    known.form([remember(claims=[{"msg": 1, "subject": "I", "predicate": "speaks", "text": "fi"}])], said("me", "Dana"))
    known.recall([say("It does not say.")], "What does Carol speak?")
    assert [found.who.name for found in turn_of(known).dossier] == ["Carol"]
    known.recall([say("Dana and Alice do.")], "Who is it that speaks?")
    assert {"Dana", "Alice"} <= {found.who.name for found in turn_of(known).dossier}


def test_a_value_somebody_is_asked_about_by_is_looked_for_beside_a_name(known: TestSpace) -> None:
    known.form([remember(claims=[{"msg": 1, "subject": "I", "predicate": "speaks", "text": "fi"}])], said("me", "Dana"))
    known.recall([say("Dana.")], "Who speaks fi with Carol?")
    assert {"Carol", "Dana"} <= {found.who.name for found in turn_of(known).dossier}
