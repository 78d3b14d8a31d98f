"""Observations a request brings along (KIP 2.0 §71.1)."""

from __future__ import annotations

from typing import Any

import pytest

from brain.kip.govern import preset_session
from tests.kip.conftest import Space
from tests.kip.envelope.test_request import COUNT, CREATE, code, request
from tests.kip.write.people import People, cast

requirement = pytest.mark.requirement

CLAIM = 'ASSERT (:a, "lives_in", :o) {by: :a, mode: "stated", evidence: :msg}'
EVIDENCE = 'FIND(COUNT(?e)) WHERE { ?e EVIDENCE {evidence_class: "user_statement"} }'
CLAIMS = "FIND(COUNT(?a)) WHERE { ?a ASSERTION {} }"


@pytest.fixture
def people(space: Space) -> People:
    return cast(space)


def entry(**members: Any) -> dict[str, Any]:
    return {"key": "msg", "evidence_class": "user_statement", "payload": "I live in Oslo.", **members}


def send(space: Space, people: People, *commands: str, entries: list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    parameters = {"a": people.alice, "o": people.oslo}
    return space.execute(request(*commands, parameters=parameters, ingest={"evidence": entries}, **members))


@requirement("KI-ENV-016", "KI-ENV-017", "KI-ENV-022", "KI-ID-019")
def test_an_observation_is_minted_with_the_write_that_cites_it(space: Space, people: People) -> None:
    observed = "2026-09-01T00:00:00.000Z"
    entries = [entry(observed_at=observed, media_type="text/plain", source_actor={"type": "Person", "key": "alice"})]
    response = send(space, people, CLAIM, entries=entries)
    assert response["status"] == "succeeded"
    changes = response["results"][0]["result"]["changes"]
    made = next(change["id"] for change in changes if change["kind"] == "evidence")
    body = space.element(made)
    assert (body["payload"]["inline"], body["observed_at"], body["media_type"]) == (
        "I live in Oslo.",
        observed,
        "text/plain",
    )
    assert body["source"] == [{"id": people.alice}]
    assert space.element("A-1")["evidence"] == [{"id": made, "role": "support"}]
    assert space.seq == 2


@requirement("KI-ENV-016")
def test_an_observation_nothing_cites_is_kept_too(space: Space, people: People) -> None:
    assert send(space, people, CREATE, entries=[entry()])["status"] == "succeeded"
    assert space.write(EVIDENCE) == [1]


@requirement("KI-ENV-017", "KI-ENV-022", "KI-ENV-023", "KI-ENV-018", "KI-ENV-001", "KI-ERR-069", "KI-ENV-040")
@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], "InvalidRequestEnvelope"),
        ([entry(payload_artifact="x")], "InvalidRequestEnvelope"),
        ([{"key": "msg", "evidence_class": "message"}], "InvalidRequestEnvelope"),
        ([{"key": "msg", "payload": "p"}], "InvalidRequestEnvelope"),
        ([entry(), entry()], "InvalidRequestEnvelope"),
        ([entry(key="a")], "InvalidRequestEnvelope"),
        ([entry(key="bad key")], "InvalidIdentifier"),
        ([entry(source_actor={"name": "Alice"})], "InvalidRequestEnvelope"),
        ([entry(source_actor="Alice")], "InvalidRequestEnvelope"),
        ([entry(observed_at="2026-01-01")], "ConstraintViolation"),
        ([entry(observed_at=None)], "TypeMismatch"),
        ([{"key": "msg", "evidence_class": "m", "payload_artifact": "http://example.org/x"}], "ArtifactUnavailable"),
        ([entry(source_actor={"id": "C-99"})], "NotFoundOrNotVisible"),
        ([entry(facets={"NoFacet": {}})], "SchemaSymbolNotFound"),
        ([entry(facets={"MnemonicState": {"salience": 0.1}})], "ConstraintViolation"),
    ],
)
def test_entries_have_their_rules(space: Space, people: People, entries: list[dict[str, Any]], expected: str) -> None:
    assert code(send(space, people, CLAIM, entries=entries)) == expected
    assert space.seq == 1
    assert space.write(EVIDENCE) == [0]


@requirement("KI-ENV-018")
@pytest.mark.parametrize("command", [COUNT, 'DEFINE CONCEPT TYPE "Boat" {description: "b"}'])
def test_a_request_that_mints_nothing_is_refused(space: Space, people: People, command: str) -> None:
    assert code(send(space, people, command, entries=[entry()])) == "InvalidRequestEnvelope"
    assert space.seq == 1


@requirement("KI-ENV-019", "KI-ENV-020", "KI-ENV-021")
def test_one_observation_serves_many_transactions(space: Space, people: People) -> None:
    two = {"execution": {"mode": "sequence"}}
    assert code(send(space, people, CLAIM, CLAIM, entries=[entry()], **two)) == "InvalidRequestEnvelope"
    assert (space.write(EVIDENCE), space.write(CLAIMS)) == ([0], [0])
    keyed = entry(client_key="message:42")
    for expected in (2, 4):
        assert send(space, people, CLAIM, CLAIM, entries=[keyed], **two)["status"] == "succeeded"
        assert (space.write(EVIDENCE), space.write(CLAIMS)) == ([1], [expected])
    for change in ({"payload": "other"}, {"evidence_class": "message"}, {"media_type": "text/html"}):
        response = send(space, people, CLAIM, entries=[{**keyed, **change}])
        assert code(response) == "ClientKeyConflict"
    assert code(send(space, people, CLAIM, entries=[{**keyed, "observed_at": "2026-01-01T00:00:00.000Z"}])) == (
        "ClientKeyConflict"
    )
    assert send(space, people, CLAIM, COUNT, entries=[entry()], **two)["status"] == "succeeded"


@requirement("KI-ENV-021")
def test_what_an_aborted_write_minted_is_minted_by_the_next(space: Space, people: People) -> None:
    bad = CLAIM.replace('"lives_in"', '"adores"')
    execution = {"mode": "sequence", "on_error": "continue"}
    response = send(space, people, bad, CLAIM, entries=[entry(client_key="k")], execution=execution)
    assert [entry["status"] for entry in response["results"]] == ["failed", "succeeded"]
    assert (space.write(EVIDENCE), space.write(CLAIMS)) == ([1], [1])


@requirement("KI-ENV-016", "KI-ENV-026")
def test_an_atomic_request_mints_once_without_client_key(space: Space, people: People) -> None:
    response = send(space, people, CLAIM, CLAIM, entries=[entry()], execution={"mode": "atomic"})
    assert response["status"] == "succeeded"
    assert (space.write(EVIDENCE), space.write(CLAIMS)) == ([1], [2])
    assert space.element("A-1")["evidence"] == space.element("A-2")["evidence"]


@requirement("KI-ENV-016")
def test_a_read_after_the_write_may_name_what_was_minted(space: Space, people: People) -> None:
    find = 'FIND(?a.id) WHERE { ?a ASSERTION {} STRUCTURAL (?a, "evidence", :msg) }'
    response = send(space, people, CLAIM, find, entries=[entry()], execution={"mode": "sequence"})
    assert response["results"][1]["result"] == ["A-1"]


@requirement("KI-ENV-022", "KI-EVID-012")
def test_an_ingested_outcome_needs_the_instruments_permission(space: Space, people: People) -> None:
    agent = preset_session("agent", principal_id="a", channel="agent")
    asked = request(CREATE, ingest={"evidence": [entry(evidence_class="outcome")]})
    assert code(space.execute(asked, agent)) == "NotAuthorized"
