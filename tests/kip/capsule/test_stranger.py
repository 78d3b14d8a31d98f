"""What a stranger's Capsule does to this Space, where none is taken in: nothing, and who copies from it does no more.

A host that imports one day has these as its floor (KIP 2.0 §31.4, §88.8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from brain.ids import digest
from brain.kip.govern import preset_session
from brain.kip.governance.control import Governor
from tests.kip.capsule.conftest import Capsule, record, resealed
from tests.kip.conftest import OWNER, Space, fresh

requirement = pytest.mark.requirement

AGENT = preset_session("agent", principal_id="agent", channel="test")
LOOKS = ("VERIFY CAPSULE :c", "VALIDATE CAPSULE :c", 'PREVIEW IMPORT CAPSULE :c INTO "kip:space:default"')
BEHAVIOR = {"task_family": "walking", "procedure": "step"}
SKILL = """MUTATE {
  CREATE CONCEPT ?skill {TYPE "Skill" SET ATTRIBUTES {status: :status, summary: "walk", skill_class: "heuristic"}
    SET STRUCTURAL {("current_revision", ?revision)}}
  CREATE CONCEPT ?revision {TYPE "SkillRevision"
    SET ATTRIBUTES {task_family: "walking", procedure: "step", behavior_digest: :digest}
    SET STRUCTURAL {("revision_of", ?skill)}}
}"""


@pytest.fixture
def stranger(tmp_path: Path, space: Space) -> Iterator[Space]:
    """Another Space, with a self, a draft, a grant and a Skill that may be carried out there."""
    with fresh(tmp_path / "elsewhere", space.clock) as other:
        other.write('DEFINE CONCEPT TYPE "Hat" {description: "Something worn."}')
        made = other.handles(SKILL, status="proposed", digest=digest(BEHAVIOR))
        me = other.handles('CREATE CONCEPT ?me {TYPE "Person" NAME "Me" SET FIELDS {key: "me"}}')["me"]
        other.engine.designate_self(me, OWNER)
        governor = Governor(other.engine)
        governor.grant(OWNER, "agent", ["purge"])
        governor.elevate(OWNER, made["revision"], "executable", behavior_digest=digest(BEHAVIOR))
        yield other


@pytest.fixture
def capsule(stranger: Space) -> Capsule:
    exported: Capsule = stranger.write("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} } WITH {include_schema: true}")
    return exported


def protected(space: Space) -> Mapping[str, Any]:
    """All that only Governance changes here, and all that is known."""
    with space.store.snapshot() as snapshot:
        names = ("identity", "schema", "governance", "policies", "recording")
        controls = {name: snapshot.control(name) for name in names}
        return {**controls, "seq": snapshot.seq, "counts": dict(snapshot.counts())}


def adopted(payload: Any) -> None:
    for entry in payload["records"]:
        if entry.get("attributes", {}).get("status") == "proposed":
            entry["attributes"]["status"] = "adopted"


def executable(payload: Any) -> None:
    for entry in payload["records"]:
        entry["governance"] = {"authority_class": "executable"}


def myself(payload: Any) -> None:
    payload["handling"]["self"] = payload["records"][0]["id"]


def trusted(payload: Any) -> None:
    payload["handling"]["trust"] = {"kip:space:default": 1.0}


def granted(payload: Any) -> None:
    payload["handling"]["grants"] = [{"principal": "agent", "permissions": ["purge", "manage_schema"]}]


@requirement("KI-SEC-008", "KI-GOV-027", "KI-CAPS-015", "KI-CAPS-016", "KI-CAPS-018", "KI-CAPS-019", "KI-CAPS-024")
@requirement("KI-CAPS-014", "KI-CAPS-025", "KI-CAPS-026", "KI-ERR-077")
@pytest.mark.parametrize("change", [None, adopted, executable, myself, trusted, granted])
def test_looking_at_a_capsule_takes_nothing_of_it_in(
    space: Space, capsule: Capsule, change: Callable[[Any], None] | None
) -> None:
    before = protected(space)
    given = resealed(capsule, change) if change else capsule
    for look in LOOKS * 2:
        answer = space.answer(look, c=given)
        if "error" in answer:
            assert answer["error"]["code"] in ("CapsuleValidationFailed", "SchemaPackageUnavailable")
        elif look.startswith("PREVIEW"):
            assert (answer["result"]["would_commit"], answer["result"]["error"]["code"]) == (
                False,
                "UnsupportedCapability",
            )
    assert protected(space) == before
    assert before["counts"] == dict.fromkeys(before["counts"], 0)


@requirement("KI-SEC-008", "KI-GOV-027")
@pytest.mark.parametrize(
    ("attempt", "code"),
    [
        ('CREATE CONCEPT ?s {TYPE "Skill" SET FIELDS {governance: {authority_class: "executable"}}}', "InvalidSyntax"),
        ('UPDATE "C-1" SET FIELDS {governance: {authority_class: "executable"}}', "InvalidSyntax"),
        ('UPDATE "C-1" SET FIELDS {_system: {origin: {import_id: "stranger"}}}', "InvalidSyntax"),
        ('UPDATE "C-1" SET ATTRIBUTES {status: "adopted"} EXPECT VERSION 1', "ConstraintViolation"),
        ('UPDATE "C-1" SET ATTRIBUTES {status: "trialed"} EXPECT VERSION 1', "ConstraintViolation"),
        ('DEFINE CONCEPT TYPE "Hat" {description: "Something worn.", required: ["size"]}', "ConstraintViolation"),
    ],
)
def test_whoever_copies_it_by_hand_gets_no_further(space: Space, capsule: Capsule, attempt: str, code: str) -> None:
    """A model that reads a Capsule and writes what it says is a writer like any other."""
    status = record(resealed(capsule, adopted), "concept")["attributes"]["status"]
    values = {"status": status, "digest": digest(BEHAVIOR)}
    assert status == "adopted"
    assert space.refused(SKILL, session=AGENT, **values) == "ConstraintViolation"
    made = space.write(SKILL, session=AGENT, **{**values, "status": "proposed"})["handles"]
    before = protected(space)
    assert space.refused(attempt, session=AGENT) == code
    assert protected(space) == before
    for element_id in made.values():
        body = space.element(element_id)
        assert body["governance"]["authority_class"] == "descriptive"
        assert body["_system"]["origin"] == {"principal_id": "agent", "channel": "test", "import_id": None}
    assert space.write("DESCRIBE SPACE")["identity_version"] == 0
