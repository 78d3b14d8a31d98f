"""New words, permissions of their own, observations and their repair (KIP 2.0 §11.5, §20.16, §29, §57.8, §60.6)."""

from __future__ import annotations

import pytest

from brain import errors
from brain.ids import digest
from brain.kip.governance.control import Governor
from brain.kip.recording import repair_recording
from tests.kip.conftest import OWNER, Space
from tests.kip.meta.capabilities.shown import CREATE, OUTCOME, SLOT, ZONE, lacking, shows


@shows("draft_vocabulary", "KI-CAP-019")
@shows("draft_hints")
def test_a_word_that_was_missing_is_named_defined_and_used(space: Space) -> None:
    space.write(f'MUTATE {{ {CREATE} CREATE CONCEPT ?b {{TYPE "Person" NAME "Ben"}} }}')
    use, define = (
        'ENSURE PROPOSITION ?p ("C-1", "knowz", "C-2")',
        'DEFINE PREDICATE "knowz" {description: "Is fond of."}',
    )
    assert "knows" in str(space.error(use))
    assert space.refused(define, session=lacking("propose_schema")) == "NotAuthorized"
    space.write(define)
    space.write(use)


@shows("record_outcome_permission", "KI-CAP-023")
def test_outcomes_need_a_permission_of_their_own(space: Space) -> None:
    assert space.refused(OUTCOME, session=lacking("record_outcome")) == "NotAuthorized"
    space.write(OUTCOME)


@shows("derive_permission", "KI-CAP-022", held=False)
def test_deriving_has_no_permission_of_its_own(space: Space) -> None:
    with pytest.raises(errors.UnsupportedCapability):
        Governor(space.engine).grant(OWNER, "ann", ["derive"])
    space.write(
        """MUTATE { CREATE CONCEPT ?a {TYPE "Person"} CREATE CONCEPT ?i {TYPE "Insight" SET ATTRIBUTES {summary: "s"}}
        CREATE ACTIVITY ?x {SET FIELDS {activity_class: "inference", status: "completed"}
        SET STRUCTURAL {("inputs", ?a) ("outputs", ?i)}} }""",
        session=lacking("derive"),
    )


@shows("ingestion_context")
def test_an_observation_comes_in_beside_the_words_that_cite_it(space: Space) -> None:
    space.write(CREATE)
    observed = {"key": "msg", "evidence_class": "user_statement", "payload": "I am on Oslo time."}
    claim = space.write(
        'ASSERT ?claim ("C-1", "timezone", "+01:00") {by: "C-1", mode: "stated", evidence: :msg}',
        envelope={"ingest": {"evidence": [observed]}},
    )["handles"]["claim"]
    cited = 'FIND(?e.payload.inline) WHERE { ?e EVIDENCE {} STRUCTURAL (:c, "evidence", ?e) }'
    assert space.write(cited, c=claim) == [observed["payload"]]


@shows("artifacts", "KI-CAP-014", "KI-ENV-040", held=False)
def test_artifacts_are_not_taken_by_handle(space: Space) -> None:
    for handle in ("a-1", "https://example.org/film", "/etc/passwd"):
        ingest = {"evidence": [{"key": "msg", "evidence_class": "message", "payload_artifact": handle}]}
        response = space.outcome(CREATE, envelope={"ingest": ingest}).response
        assert (response["error"]["code"], space.seq) == ("ArtifactUnavailable", 0)


@shows("payload_purge")
def test_the_bytes_of_an_observation_go_and_its_record_stays(space: Space) -> None:
    space.write('CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: "my secret"}}')
    space.write('PURGE PAYLOAD "E-1" CONFIRM "PURGE"')
    ((payload, evidence_class),) = space.write("FIND(?e.payload, ?e.evidence_class) WHERE { ?e EVIDENCE {} }")
    assert evidence_class == "message"
    assert "secret" not in str(payload)


@shows("recording_repair", "KI-CAP-021")
def test_who_recorded_a_claim_wrongly_takes_the_recording_back(space: Space) -> None:
    space.write(CREATE)
    said = space.handles('CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: "hm"}}')["e"]
    told = ZONE.replace('"stated"', '"stated", evidence: :said')
    claim = space.handles(told, zone="+01:00", said=said)["claim"]
    record = {
        "source_ref": said,
        "source_digest": digest(b"hm"),
        "source_locator": "bytes:0-2",
        "invalidated_refs": [claim],
        "replacement_refs": [],
        "reason": "extraction_error",
        "expected_versions": {claim: 1},
    }
    with pytest.raises(errors.NotAuthorized):
        repair_recording(space.engine, lacking("repair_recording"), record)
    repair_recording(space.engine, OWNER, record)
    assert space.write(SLOT) == [["insufficient", []]]
    assert space.element(claim)["lifecycle"]["status"] == "active"


@shows("identity_repair", "KI-CAP-020", "KI-MERGE-016", "KI-MERGE-017", held=False)
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ('WITHDRAW MERGE "C-1"', "InvalidSyntax"),
        ('TRANSITION "C-1" TO "active"', "ConstraintViolation"),
        ('UPDATE "C-1" SET FIELDS {merged_into: null}', "InvalidSyntax"),
    ],
)
def test_a_merge_is_not_withdrawn_by_any_statement(space: Space, command: str, code: str) -> None:
    space.write(f'MUTATE {{ {CREATE} CREATE CONCEPT ?b {{TYPE "Person" NAME "Ben"}} }}')
    space.write(ZONE, zone="+01:00")
    space.write('MERGE CONCEPT "C-1" INTO "C-2"')
    assert space.refused(command) == code
    assert space.write('FIND(?z) WHERE { ("C-2", "timezone", ?z) }') == ["+01:00"]
