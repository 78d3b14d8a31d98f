"""What was wrongly recorded is taken back as the Brain's own mistake (KIP 2.0 §57.8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from brain import errors
from brain.ids import digest
from brain.kip import capabilities
from brain.kip.context import Session
from brain.kip.govern import preset_session
from brain.kip.governance.control import Governor
from brain.kip.governance.plane import Policy, Scope
from brain.kip.recording import Repaired, Replacement, repair_recording
from tests.kip.conftest import OWNER, Space

requirement = pytest.mark.requirement

SAID = "I do not know Ben; I know Cleo."
SAID_AT = "2026-03-01T09:00:00.000Z"
AGENT = preset_session("agent", principal_id="agent", channel="test")
OTHER = preset_session("agent", principal_id="other", channel="test")
SOURCE = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" }
  CREATE CONCEPT ?ben { TYPE "Person" NAME "Ben" }
  CREATE CONCEPT ?cleo { TYPE "Person" NAME "Cleo" }
  CREATE EVIDENCE ?said { SET FIELDS {evidence_class: "user_statement", payload: :payload, observed_at: :at} }
}"""
WRONG = 'ASSERT ?wrong (:ann, "knows", :ben) {by: :ann, mode: "stated", at: :at, evidence: :said}'
RIGHT = 'ASSERT ?right (:ann, "knows", :cleo) {by: :ann, mode: "stated", at: :at, evidence: :said}'
KNOWS = 'FIND(?b.object, ?b.status) WHERE { ?b BELIEF (:ann, "knows", :who) }'


class Misheard:
    """Ann's message, and the claim the agent drew from it by mistake."""

    def __init__(self, space: Space, payload: Any = SAID, recorder: Session = AGENT) -> None:
        self.space = space
        self.recorder = recorder
        self.ids = space.write(SOURCE, session=recorder, payload=payload, at=SAID_AT)["handles"]
        self.ids["wrong"] = space.write(WRONG, session=recorder, at=SAID_AT, **self.ids)["handles"]["wrong"]
        self.digest = digest(payload.encode() if isinstance(payload, str) else payload)

    @property
    def wrong(self) -> str:
        return str(self.ids["wrong"])

    def record(self, **other: Any) -> dict[str, Any]:
        return {
            "source_ref": self.ids["said"],
            "source_digest": self.digest,
            "source_locator": "bytes:0-17",
            "invalidated_refs": [self.wrong],
            "replacement_refs": [],
            "reason": "extraction_error",
            "expected_versions": {self.wrong: self.space.element(self.wrong)["_system"]["version"]},
        } | other

    def repair(self, session: Session | None = None, replacement: Replacement | None = None, **other: Any) -> Repaired:
        return repair_recording(self.space.engine, session or self.recorder, self.record(**other), replacement)

    def right(self, command: str = RIGHT, **values: Any) -> Replacement:
        return Replacement(command, {"at": SAID_AT, **self.ids} | values)

    def status(self, who: str, **envelope: Any) -> Any:
        asked = f'FIND(?b.status) WHERE {{ ?b BELIEF (:ann, "knows", :{who}) }}'
        return self.space.write(asked, **self.ids, **envelope)

    def refused(self, code: str, session: Session | None = None, replacement: Any = None, **other: Any) -> Any:
        """The error a repair is refused with; nothing has changed."""
        before = self.space.seq
        with pytest.raises(errors.KipError) as caught:
            self.repair(session, replacement, **other)
        assert (caught.value.code, self.space.seq) == (code, before)
        assert "recording_validity" not in self.space.element(self.wrong)["_system"]
        return caught.value


@requirement("KI-PROFILE-051", "KI-CAP-021", "KI-TX-036")
def test_a_repair_is_one_commit_that_leaves_the_claim_as_it_was_told(space: Space) -> None:
    misheard = Misheard(space)
    before, source = space.element(misheard.wrong), space.element(misheard.ids["said"])
    done = misheard.repair(replacement=misheard.right(), replacement_refs=["?right"])
    assert space.seq == done.seq == 3
    after = space.element(misheard.wrong)
    assert after["_system"]["recording_validity"] == {"status": "invalidated", "repair_ref": done.repair}
    assert after["_system"]["version"] == before["_system"]["version"] + 1
    assert {name: after[name] for name in after if name != "_system"} == {
        name: before[name] for name in before if name != "_system"
    }
    assert (after["lifecycle"]["status"], after["_system"]["state"]) == ("active", "active")
    assert space.element(misheard.ids["said"]) == source
    activity = space.element(done.repair)
    assert (activity["activity_class"], activity["status"]) == ("recording_repair", "completed")
    (facet,) = activity["facets"].values()
    assert facet == misheard.record(
        replacement_refs=list(done.replacements), expected_versions={misheard.wrong: before["_system"]["version"]}
    )
    assert {ref["id"] for ref in activity["inputs"]} == {misheard.ids["said"], misheard.wrong}
    assert [ref["id"] for ref in activity["outputs"]] == list(done.replacements)
    envelope = space.commit(done.seq).envelope
    assert envelope["control_changes"] == [{"kind": "recording", "version": str(done.seq)}]
    entry = next(entry for entry in envelope["changes"] if entry["id"] == misheard.wrong)
    assert (entry["op"], entry["touched"]) == ("update", ["recording_validity"])
    assert (entry["old_version"], entry["new_version"]) == (1, 2)


@requirement("KI-PROFILE-052", "KI-BELIEF-013", "KI-CAP-021")
def test_belief_and_search_leave_out_what_was_never_said_and_the_past_keeps_it(space: Space) -> None:
    misheard = Misheard(space)
    search = 'SEARCH ASSERTION "knows"'
    assert misheard.status("ben") == ["accepted"]
    done = misheard.repair(replacement=misheard.right(), replacement_refs=["?right"])
    assert (misheard.status("ben"), misheard.status("cleo")) == (["insufficient"], ["accepted"])
    assert [hit["id"] for hit in space.write(search)["hits"]] == list(done.replacements)
    pattern = 'FIND(?x.id) WHERE { ?x SEARCH ASSERTION "knows" LIMIT 9 }'
    assert space.write(pattern) == list(done.replacements)
    was = 'FIND(?b.status) WHERE { ?b BELIEF (:ann, "knows", :ben) } AS OF SEQ 2'
    assert space.write(was, **misheard.ids) == ["accepted"]
    assert space.write(f"{pattern} AS OF SEQ 2") == [misheard.wrong]
    raw = "FIND(?a.id, ?a._system.recording_validity.status) WHERE { ?a ASSERTION {} }"
    assert space.write(raw) == [[misheard.wrong, "invalidated"], [done.replacements[0], "valid"]]


@requirement("KI-PROFILE-051")
def test_whether_a_recording_is_valid_can_be_asked_of_every_element(space: Space) -> None:
    misheard = Misheard(space)
    done = misheard.repair()
    valid = 'FIND(?a.id) WHERE { ?a ASSERTION {} FILTER(?a._system.recording_validity.status == "valid") }'
    assert space.write(valid) == []
    shown = space.write("FIND(?a._system.recording_validity) WHERE { ?a ASSERTION {} }")
    assert shown == [{"status": "invalidated", "repair_ref": done.repair}]
    people = 'FIND(?p._system.recording_validity) WHERE { ?p {type: "Person", name: "Ann"} }'
    assert space.write(people) == [{"status": "valid", "repair_ref": None}]
    count = 'FIND(COUNT(?p)) WHERE { ?p {type: "Person"} FILTER(?p._system.recording_validity.status == "valid") }'
    assert space.write(count) == [3]
    with pytest.raises(AssertionError, match="kept by the engine"):
        space.write('UPDATE :a SET FIELDS {_system: {recording_validity: "valid"}}', a=misheard.wrong)


@requirement("KI-PROFILE-051")
def test_nothing_written_later_makes_it_valid_again(space: Space) -> None:
    misheard = Misheard(space)
    done = misheard.repair()
    invalid = {"status": "invalidated", "repair_ref": done.repair}
    for command in (
        'SET RETENTION :a {retention_class: "kept"}',
        'TRANSITION :a TO "retracted"',
        'TRANSITION :a TO "archived"',
        'PURGE :a REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"',
    ):
        space.write(command, a=misheard.wrong)
        assert space.element(misheard.wrong)["_system"]["recording_validity"] == invalid


@requirement("KI-PROFILE-052")
def test_what_was_derived_from_it_needs_review(space: Space) -> None:
    misheard = Misheard(space)
    (basis,) = space.write('FIND(?s.basis) WHERE { ?s BELIEF SLOT (:ann, "knows") }', **misheard.ids)
    space.write(
        """MUTATE {
          CREATE CONCEPT ?insight {TYPE "Insight" SET ATTRIBUTES {summary: "Ann and Ben are close."}}
          CREATE ACTIVITY ?work {
            SET FIELDS {activity_class: "consolidation", status: "completed"}
            SET FACET "DependencyBasis" {
              basis_seq: 2, policy_basis: :basis,
              groups: [{role: "all_of", pins: [{id: :wrong, version: 1, planes: {attributes: 1}}]}]}
            SET STRUCTURAL {("inputs", :wrong) ("outputs", ?insight)}
          }
        }""",
        basis=basis,
        **misheard.ids,
    )
    asked = 'FIND(?x._system.dependency_validity.status) WHERE { ?x {type: "Insight"} }'
    reasons = asked.replace(".status", ".reasons")
    assert space.write(asked) == ["current"]
    misheard.repair()
    assert space.write(asked) == ["needs_review"]
    assert "recording_repaired" in str(space.write(reasons))


@requirement("KI-PROFILE-052")
def test_a_replacement_is_dated_by_the_source(space: Space) -> None:
    misheard = Misheard(space)
    for late in ({"at": "2026-09-01T00:00:00.000Z"}, {"at": "2026-02-28T00:00:00.000Z"}):
        error = misheard.refused("ConstraintViolation", replacement=misheard.right(**late), replacement_refs=["?right"])
        assert error.details["claim_times"] == [SAID_AT]
    undated = RIGHT.replace("at: :at, ", "")
    misheard.refused("ConstraintViolation", replacement=misheard.right(undated), replacement_refs=["?right"])
    done = misheard.repair(replacement=misheard.right(), replacement_refs=["?right"])
    assert space.element(done.replacements[0])["asserted_at"] == SAID_AT


@requirement("KI-PROFILE-052")
def test_an_instant_the_source_states_dates_a_replacement_too(space: Space) -> None:
    letter = {"date": "2025-12-24T18:00:00+01:00", "text": SAID}
    misheard = Misheard(space, payload=letter)
    written = misheard.right(at="2025-12-24T17:00:00.000Z")
    done = misheard.repair(replacement=written, replacement_refs=["?right"], source_locator="/text")
    assert space.element(done.replacements[0])["asserted_at"] == "2025-12-24T17:00:00.000Z"


@requirement("KI-PROFILE-050", "KI-CAP-021")
def test_only_who_recorded_it_repairs_it(space: Space) -> None:
    misheard = Misheard(space)
    for session in (OTHER, OWNER):
        error = misheard.refused("NotAuthorized", session)
        assert error.details == {"permission": "repair_recording", "element": misheard.wrong}


@requirement("KI-PROFILE-050")
def test_reviewing_anothers_recordings_takes_a_grant_that_names_the_recorder(space: Space, governor: Governor) -> None:
    misheard = Misheard(space)
    governor.grant(OWNER, "other", ["repair_recording"])
    misheard.refused("NotAuthorized", OTHER)
    governor.grant(OWNER, "other", ["repair_recording"], scope=Scope(origins=frozenset({"somebody"})))
    misheard.refused("NotAuthorized", OTHER)
    review = governor.grant(OWNER, "other", ["repair_recording"], scope=Scope(origins=frozenset({"agent"})))
    governor.revoke(OWNER, review)
    misheard.refused("NotAuthorized", OTHER)
    governor.set_group(OWNER, "reviewers", ["other"])
    governor.grant(OWNER, "group:reviewers", ["repair_recording"], scope=Scope(origins=frozenset({"agent"})))
    misheard.repair(OTHER)
    assert misheard.status("ben") == ["insufficient"]


@requirement("KI-PROFILE-050")
def test_recording_and_updating_give_no_right_to_repair(space: Space) -> None:
    scribe = Session("agent", "test", permissions=AGENT.permissions - {"repair_recording"})
    misheard = Misheard(space, recorder=scribe)
    assert misheard.refused("NotAuthorized").details["permission"] == "repair_recording"


@requirement("KI-PROFILE-050")
def test_a_replacement_needs_the_permissions_of_any_claim(space: Space, governor: Governor) -> None:
    misheard = Misheard(space)
    governor.set_policy(OWNER, Policy(reserved=frozenset({misheard.ids["cleo"]})))
    by_cleo = RIGHT.replace("by: :ann", "by: :cleo")
    misheard.refused("ActorBindingRequired", replacement=misheard.right(by_cleo), replacement_refs=["?right"])
    mute = Session("agent", "test", permissions=AGENT.permissions - {"record_attributed_assertion"})
    misheard.refused("NotAuthorized", mute, replacement=misheard.right(), replacement_refs=["?right"])


@requirement("KI-PROFILE-050")
@pytest.mark.parametrize(
    ("other", "code"),
    [
        ({"source_digest": digest(b"something else")}, "DigestMismatch"),
        ({"source_locator": "bytes:0-99"}, "ConstraintViolation"),
        ({"source_locator": "bytes:7-7"}, "ConstraintViolation"),
        ({"source_locator": "/text"}, "ConstraintViolation"),
        ({"source_locator": ""}, "TypeMismatch"),
        ({"source_ref": "E-99"}, "NotFoundOrNotVisible"),
        ({"source_ref": "C-1"}, "TypeMismatch"),
        ({"source_ref": "said"}, "ConstraintViolation"),
        ({"reason": "world_change"}, "ConstraintViolation"),
        ({"invalidated_refs": []}, "ConstraintViolation"),
        ({"invalidated_refs": ["A-1", "A-1"]}, "ConstraintViolation"),
        ({"invalidated_refs": ["P-1"], "expected_versions": {"P-1": 1}}, "ConstraintViolation"),
        ({"invalidated_refs": ["E-1"], "expected_versions": {"E-1": 1}}, "ConstraintViolation"),
        ({"invalidated_refs": ["C-1"], "expected_versions": {"C-1": 1}}, "ConstraintViolation"),
        ({"expected_versions": {}}, "ConstraintViolation"),
        ({"expected_versions": {"A-1": True}}, "TypeMismatch"),
        ({"expected_versions": {"A-1": 2}}, "VersionConflict"),
        ({"expected_versions": {"A-1": 1, "E-1": 7}}, "VersionConflict"),
        ({"replacement_refs": ["?right"]}, "ReferenceError"),
        ({"replacement_refs": ["A-1"]}, "ConstraintViolation"),
        ({"replacement_refs": ["C-1"]}, "ConstraintViolation"),
        ({"comment": "sorry"}, "ConstraintViolation"),
    ],
)
def test_a_repair_is_judged_against_the_source_and_the_versions_read(
    space: Space, other: Mapping[str, Any], code: str
) -> None:
    Misheard(space).refused(code, **other)


@requirement("KI-PROFILE-050")
@pytest.mark.parametrize(
    "command",
    [
        WRONG.replace("?wrong", "?right").replace(", evidence: :said", ""),
        RIGHT + " SUPERSEDING :wrong",
        f'MUTATE {{ {RIGHT} UPDATE :ann SET FIELDS {{name: "Anna"}} }}',
        f"MUTATE {{ {RIGHT} {RIGHT.replace('?right', '?more').replace(':cleo', ':ben')} }}",
    ],
)
def test_a_replacement_adds_what_the_source_says_and_changes_nothing_else(space: Space, command: str) -> None:
    misheard = Misheard(space)
    misheard.refused("ConstraintViolation", replacement=misheard.right(command), replacement_refs=["?right"])


@requirement("KI-PROFILE-050")
def test_a_recording_is_repaired_once(space: Space) -> None:
    misheard = Misheard(space)
    misheard.repair()
    with pytest.raises(errors.ConstraintViolation):
        misheard.repair()


@requirement("KI-PROFILE-050")
def test_a_repair_may_wait_for_a_second_principal(space: Space, governor: Governor) -> None:
    misheard = Misheard(space)
    governor.set_policy(OWNER, Policy(approvals=frozenset({"repair_recording"})))
    waiting = misheard.refused("RequiresApproval").details["approval_id"]
    governor.approve(OWNER, waiting)
    assert space.element(misheard.wrong)["_system"]["version"] == 1
    misheard.repair()
    assert misheard.status("ben") == ["insufficient"]


@requirement("KI-PROFILE-050")
def test_repairs_are_audited_refused_ones_too(space: Space, governor: Governor) -> None:
    misheard = Misheard(space)
    misheard.refused("NotAuthorized", OTHER)
    misheard.repair()
    rows = [row for _, row in governor.decisions(OWNER) if row.action == "repair_recording"]
    assert [(row.principal_id, row.decision) for row in rows] == [("other", "deny"), ("agent", "allow")]


@requirement("KI-PROFILE-053")
def test_without_the_capability_nothing_stands_in_for_a_repair(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    misheard = Misheard(space)
    off = {**capabilities.REGISTRY, "recording_repair": capabilities.Capability(is_supported=False, note="off")}
    monkeypatch.setattr(capabilities, "REGISTRY", off)
    misheard.refused("UnsupportedCapability")
    assert (
        space.refused(
            WRONG, session=AGENT, envelope={"requires": {"recording_repair": True}}, at=SAID_AT, **misheard.ids
        )
        == "UnsupportedCapability"
    )
    assert misheard.status("ben") == ["accepted"]
