"""Principals, permissions and the Space's self (KIP 2.0 §5.6, §28 to §30)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brain import errors
from brain.kip.context import OWNER_PERMISSIONS, Session
from brain.kip.govern import SINGLE_AGENT_PRESET, preset_session
from tests.kip.conftest import OWNER, Space

requirement = pytest.mark.requirement

NOBODY = Session(principal_id="nobody", channel="test", permissions=frozenset())


@requirement("KI-GOV-033", "KI-GOV-034")
def test_the_preset_gives_each_principal_exactly_its_permissions() -> None:
    reading = {"discover", "project", "read", "search"}
    agent, maintenance = SINGLE_AGENT_PRESET["agent"], SINGLE_AGENT_PRESET["maintenance"]
    assert set(SINGLE_AGENT_PRESET) == {"agent", "instrument", "maintenance", "owner"}
    assert SINGLE_AGENT_PRESET["instrument"] == {"create", "discover", "read", "record_outcome"}
    assert SINGLE_AGENT_PRESET["owner"] == OWNER_PERMISSIONS
    assert agent & maintenance == reading | {"assert", "create", "update"}
    assert agent - maintenance == {
        "archive",
        "export",
        "propose_schema",
        "record_attributed_assertion",
        "repair_recording",
        "retract_own",
        "supersede_own",
    }
    assert maintenance - agent == {
        "derive",
        "maintain",
        "manage_retention",
        "merge_identity",
        "read_audit",
        "read_history",
        "tombstone",
    }


@requirement("KI-GOV-003", "KI-GOV-018", "KI-GOV-017", "KI-ERR-042", "KI-ERR-045")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ('FIND(?c) WHERE { ?c {type: "Person"} }', "NotAuthorized"),
        ('FIND(?c) WHERE { ?c SEARCH CONCEPT "x" LIMIT 1 }', "NotAuthorized"),
        ('SEARCH CONCEPT "x"', "NotAuthorized"),
        ("HISTORY SPACE", "NotAuthorized"),
        ('CREATE CONCEPT ?c { TYPE "Person" }', "NotAuthorized"),
        ('DEFINE PREDICATE "p" {description: "d"}', "NotAuthorized"),
    ],
)
def test_what_nothing_allows_is_denied(space: Space, command: str, code: str) -> None:
    assert space.refused(command, session=NOBODY) == code


@requirement("KI-GOV-002", "KI-GOV-014", "KI-GOV-004")
def test_nothing_stored_grants_anything(space: Space) -> None:
    made = space.handles(
        'CREATE CONCEPT ?c { TYPE "Person" NAME "nobody" SET ATTRIBUTES {permissions: ["purge"], is_admin: true} }'
    )["c"]
    assert space.refused('PURGE :c CONFIRM "PURGE"', c=made, session=NOBODY) == "NotAuthorized"
    assert (
        space.refused('UPDATE :c SET FIELDS {governance: {authority_class: "executable"}}', c=made) == "InvalidSyntax"
    )


@requirement("KI-ID-006", "KI-TX-036", "KI-GOV-007")
def test_a_space_has_the_self_its_host_designates(space: Space) -> None:
    made = space.handles('CREATE CONCEPT ?me { TYPE "Person" NAME "Brain" }')["me"]
    space.engine.designate_self(made, OWNER)
    assert space.commit(2).envelope["control_changes"] == [{"kind": "identity", "version": "2"}]
    assert space.write("DESCRIBE PRIMER")["cognitive_identity"]["self"] is not None
    space.engine.designate_self(made, OWNER)
    assert space.seq == 2
    agent = preset_session("agent", principal_id="a", channel="agent")
    with pytest.raises(errors.NotAuthorized):
        space.engine.designate_self(made, agent)
    with pytest.raises(errors.NotFoundOrNotVisible):
        space.engine.designate_self("C-99", OWNER)


@requirement("KI-GOV-011", "KI-ERR-048")
def test_only_a_bound_principal_speaks_as_the_self(space: Space) -> None:
    made = space.handles('CREATE CONCEPT ?me { TYPE "Person" NAME "Brain" }')["me"]
    space.engine.designate_self(made, OWNER)
    text = 'ASSERT (:me, "knows", :me) { by: :me, mode: "stated" }'
    stranger = preset_session("agent", principal_id="a", channel="agent")
    assert space.refused(text, me=made, session=stranger) == "ActorBindingRequired"
    space.write(text, me=made, session=replace(stranger, actors=frozenset({made})))


@requirement("KI-ENV-029")
def test_a_gate_sees_each_statement_and_may_refuse_it(space: Space) -> None:
    seen: list[str] = []

    def admit(statement: object, parameters: object) -> None:
        seen.append(type(statement).__name__)
        raise errors.NotAuthorized("The gate says no.")

    gated = replace(OWNER, admit=admit)
    assert space.refused('CREATE CONCEPT ?c { TYPE "Person" }', session=gated) == "NotAuthorized"
    assert seen == ["CreateConcept"]


@requirement("KI-TX-001")
def test_a_review_may_refuse_what_a_statement_would_write(space: Space) -> None:
    def review(write_set: object, tx: object) -> None:
        raise errors.NotAuthorized("Not this.")

    gated = replace(OWNER, review=review)
    assert space.refused('CREATE CONCEPT ?c { TYPE "Person" }', session=gated) == "NotAuthorized"
