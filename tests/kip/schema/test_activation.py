"""Which packages a Space works with changes under schema authority only."""

from __future__ import annotations

import pytest

from brain import errors
from brain.kip.activation import set_package
from brain.kip.govern import preset_session
from brain.kip.governance.control import Governor
from brain.kip.library import PROFILE
from tests.kip.conftest import OWNER, Space

requirement = pytest.mark.requirement
EVERYDAY = "kip://brain/everyday@1.0.0"
AGENT = preset_session("agent", principal_id="agent", channel="test")


@requirement("KI-ERR-051", "KI-SCHEMA-018")
@pytest.mark.parametrize("role", ["agent", "maintenance"])
@pytest.mark.parametrize("status", ["active", "readable", "blocked"])
def test_an_agent_activates_and_blocks_nothing(space: Space, role: str, status: str) -> None:
    before = space.seq, space.write("DESCRIBE SCHEMA ENVIRONMENT")
    with pytest.raises(errors.ProtectedSchemaState) as refused:
        set_package(space.engine, preset_session(role, principal_id="agent", channel="test"), EVERYDAY, status)  # type: ignore[arg-type]
    error = refused.value.to_wire()
    assert (error["category"], error["retry"]["class"]) == ("governance", "non_retryable")
    assert (space.seq, space.write("DESCRIBE SCHEMA ENVIRONMENT")) == before
    _, row = Governor(space.engine).decisions(OWNER)[-1]
    assert (row.decision, row.permissions) == ("deny", ("manage_schema",))


@requirement("KI-ERR-051", "KI-SCHEMA-018")
def test_whoever_manages_the_schema_does_and_stored_elements_stay(space: Space) -> None:
    made = space.handles('CREATE CONCEPT ?c { TYPE "Person" }')["c"]
    held = space.element(made)
    claim = 'ASSERT (:c, "birthday", "1990-04-01") {by: :c, mode: "stated"}'
    assert space.refused(claim, c=made) == "SchemaSymbolNotFound"
    seq = set_package(space.engine, OWNER, EVERYDAY)
    assert space.commit(seq).envelope["control_changes"] == [{"kind": "schema", "version": str(seq)}]
    assert set_package(space.engine, OWNER, EVERYDAY) == seq == space.seq
    space.write(claim, c=made)
    set_package(space.engine, OWNER, EVERYDAY, "readable")
    assert "error" in space.answer(claim.replace("1990", "1991"), c=made)
    assert space.element(made) == held


@requirement("KI-ERR-051")
@pytest.mark.parametrize(
    ("ref", "status"),
    [("kip://nobody/knows@1.0.0", "active"), (PROFILE, "blocked"), ("kip://local/draft@0.0.0", "active")],
)
def test_what_cannot_be_is_refused_and_changes_nothing(space: Space, ref: str, status: str) -> None:
    before = space.seq
    with pytest.raises((errors.SchemaPackageUnavailable, errors.ConstraintViolation)):
        set_package(space.engine, OWNER, ref, status)  # type: ignore[arg-type]
    assert space.seq == before
