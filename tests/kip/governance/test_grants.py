"""Giving and taking authority: grants, groups, roles, bindings, delegations, and what a commit still asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from brain import errors
from brain.kip.context import Session, WriteSet
from brain.kip.govern import preset_session
from brain.kip.governance.control import Governor
from brain.kip.governance.plane import Policy, Rule, Scope
from brain.store.base import Transaction
from tests.kip.conftest import Space
from tests.kip.governance.conftest import OWNER, agent, stranger

requirement = pytest.mark.requirement
READING = ["discover", "read"]
PERSON = 'CREATE CONCEPT ?c { TYPE "Person" NAME "Ann" }'
NAMES = 'FIND(?c.name) WHERE { ?c {type: "Person"} }'


@requirement("KI-GOV-001", "KI-GOV-003", "KI-GOV-005")
def test_a_principal_may_do_what_it_was_granted_and_nothing_else(space: Space, governor: Governor) -> None:
    space.write(PERSON)
    ann = stranger("ann")
    assert space.refused(NAMES, session=ann) == "NotAuthorized"
    governor.grant(OWNER, "ann", READING)
    assert space.write(NAMES, session=ann) == ["Ann"]
    assert space.write(NAMES, session=stranger("ann")) == ["Ann"]
    assert space.refused(NAMES, session=stranger("bob")) == "NotAuthorized"
    assert space.refused(PERSON, session=ann) == "NotAuthorized"


@requirement("KI-GOV-001")
def test_the_text_of_a_request_names_nobody(space: Space, governor: Governor) -> None:
    governor.grant(OWNER, "ann", READING)
    forged = {"context": {"purpose": "answer_user", "client": "ann"}}
    assert space.refused(NAMES, session=stranger("bob"), envelope=forged) == "NotAuthorized"
    spoofed = {"context": {"principal_id": "ann"}}
    assert space.refused(NAMES, session=stranger("bob"), envelope=spoofed) == "InvalidRequestEnvelope"


@requirement("KI-GOV-007")
def test_groups_and_roles_are_other_words_for_grants(space: Space, governor: Governor) -> None:
    space.write(PERSON)
    governor.set_role(OWNER, "reader", READING)
    governor.set_group(OWNER, "team", ["ann"])
    grant = governor.grant(OWNER, "group:team", role="reader")
    assert space.write(NAMES, session=stranger("ann")) == ["Ann"]
    assert space.write("DESCRIBE ACCESS", session=stranger("ann"))["groups"] == ["team"]
    governor.set_group(OWNER, "team", ["bob"])
    assert space.refused(NAMES, session=stranger("ann")) == "NotAuthorized"
    assert space.write(NAMES, session=stranger("bob")) == ["Ann"]
    governor.set_role(OWNER, "reader", ["search"])
    assert space.refused(NAMES, session=stranger("bob")) == "NotAuthorized"
    governor.revoke(OWNER, grant)
    assert space.write("DESCRIBE ACCESS", session=stranger("bob"))["permissions"] == []


@requirement("KI-GOV-007")
@pytest.mark.parametrize(
    ("permission", "act"),
    [
        ("manage_grants", lambda g, s, ids: g.grant(s, "me", ["purge"])),
        ("manage_grants", lambda g, s, ids: g.revoke(s, ids["grant"])),
        ("manage_grants", lambda g, s, ids: g.set_group(s, "team", ["me"])),
        ("manage_grants", lambda g, s, ids: g.set_role(s, "all", ["purge"])),
        ("manage_delegation", lambda g, s, ids: g.delegate(s, "me", ["read"])),
        ("manage_delegation", lambda g, s, ids: g.withdraw(s, ids["delegation"])),
        ("manage_actor_binding", lambda g, s, ids: g.bind(s, "me", [ids["c"]])),
        ("manage_actor_binding", lambda g, s, ids: g.unbind(s, ids["binding"])),
        ("manage_policy", lambda g, s, ids: g.set_policy(s, Policy())),
        ("manage_policy", lambda g, s, ids: g.classify(s, [ids["c"]], "secret")),
        ("quarantine", lambda g, s, ids: g.quarantine(s, [ids["c"]])),
        ("elevate_authority", lambda g, s, ids: g.elevate(s, ids["c"], "advisory")),
        ("approve", lambda g, s, ids: g.approve(s, "approval:x")),
        ("approve", lambda g, s, ids: g.waiting(s)),
        ("read_audit", lambda g, s, ids: g.decisions(s)),
    ],
)
@pytest.mark.parametrize("role", ["agent", "maintenance", "instrument"])
def test_protected_state_changes_only_under_its_own_permission(
    space: Space,
    governor: Governor,
    role: str,
    permission: str,
    act: Callable[[Governor, Session, dict[str, str]], Any],
) -> None:
    ids = {"c": space.handles(PERSON)["c"]}
    governor.set_policy(OWNER, Policy(labels=("secret",)))
    ids["grant"] = governor.grant(OWNER, "ann", ["read"])
    ids["delegation"] = governor.delegate(OWNER, "ann", ["read"])
    ids["binding"] = governor.bind(OWNER, "ann", [ids["c"]])
    session = preset_session(role, principal_id="me", channel="test")
    before = space.seq
    if permission in session.permissions:
        act(governor, session, ids)
        return
    with pytest.raises(errors.NotAuthorized) as refused:
        act(governor, session, ids)
    assert refused.value.details["permission"] == permission
    assert space.seq == before


@requirement("KI-GOV-004", "KI-GOV-007")
def test_nobody_gives_what_it_does_not_hold(space: Space, governor: Governor) -> None:
    governor.grant(OWNER, "deputy", ["manage_grants", "manage_delegation", "manage_policy", "read"])
    governor.set_group(OWNER, "owners", ["somebody"])
    governor.grant(OWNER, "group:owners", ["purge"])
    deputy = stranger("deputy")
    governor.grant(deputy, "ann", ["read"])
    for attempt in (
        lambda: governor.grant(deputy, "deputy", ["purge"]),
        lambda: governor.set_role(deputy, "mine", ["purge"]),
        lambda: governor.set_group(deputy, "owners", ["somebody", "deputy"]),
        lambda: governor.delegate(deputy, "ann", ["purge"]),
        lambda: governor.set_policy(deputy, Policy(rules=(Rule("allow", frozenset({"purge"})),))),
    ):
        with pytest.raises(errors.NotAuthorized):
            attempt()
    assert "purge" not in space.write("DESCRIBE ACCESS", session=deputy)["permissions"]


@requirement("KI-GOV-007")
def test_a_policy_does_not_take_its_own_permission_from_who_sets_it(space: Space, governor: Governor) -> None:
    lockout = Policy(rules=(Rule("deny", frozenset({"manage_policy"})),))
    with pytest.raises(errors.ConstraintViolation):
        governor.set_policy(OWNER, lockout)
    assert space.seq == 0


@requirement("KI-GOV-007", "KI-TX-036")
def test_every_change_of_authority_is_a_commit_of_its_own(space: Space, governor: Governor) -> None:
    governor.grant(OWNER, "ann", ["read"])
    envelope = space.commit(1).envelope
    assert envelope["changes"] == []
    assert envelope["control_changes"] == [{"kind": "authorization", "version": "1"}]
    assert governor.set_group(OWNER, "team", []) == 1


# --- revocation -------------------------------------------------------------------------------------------------------


@requirement("KI-GOV-008")
def test_a_grant_that_runs_out_before_the_commit_aborts_the_write(space: Space, governor: Governor) -> None:
    space.write(PERSON)
    governor.grant(OWNER, "ann", ["create"], expires_at="2026-09-20T00:00:01.000Z")

    def dawdle(write_set: WriteSet, tx: Transaction) -> None:
        space.clock.advance(1000)

    before = space.seq
    assert space.refused(PERSON, session=replace(stranger("ann"), review=dawdle)) == "NotAuthorized"
    assert space.seq == before
    assert space.refused(PERSON, session=stranger("ann")) == "NotAuthorized"


@requirement("KI-GOV-008", "KI-TX-005")
def test_a_revocation_waits_for_the_write_under_way_and_binds_the_next(space: Space, governor: Governor) -> None:
    grant = governor.grant(OWNER, "ann", ["create"])
    reached, order = threading.Event(), list[str]()

    def revoke() -> None:
        governor.revoke(OWNER, grant)
        order.append("revoked")

    revoker = threading.Thread(target=revoke)

    def pause(write_set: WriteSet, tx: Transaction) -> None:
        revoker.start()
        reached.wait(0.3)
        order.append("written")

    space.write(PERSON, session=replace(stranger("ann"), review=pause))
    revoker.join()
    assert order == ["written", "revoked"]
    assert space.refused(PERSON, session=stranger("ann")) == "NotAuthorized"


@requirement("KI-TX-024", "KI-GOV-008")
def test_a_replay_shows_nothing_to_who_lost_the_permission(space: Space, governor: Governor) -> None:
    grant = governor.grant(OWNER, "ann", ["create"])
    keyed = {"execution": {"mode": "independent", "idempotency_key": "once"}}
    first = space.answer(PERSON, session=stranger("ann"), envelope=keyed)
    assert space.answer(PERSON, session=stranger("ann"), envelope=keyed)["receipt"] == first["receipt"]
    governor.revoke(OWNER, grant)
    assert space.refused(PERSON, session=stranger("ann"), envelope=keyed) == "NotAuthorized"


# --- delegations and bindings -----------------------------------------------------------------------------------------


@requirement("KI-GOV-009")
def test_a_delegation_gives_no_more_than_its_delegator_has(space: Space, governor: Governor) -> None:
    space.write(PERSON)
    governor.grant(OWNER, "ann", [*READING, "create", "manage_delegation"])
    secret = governor.delegate(stranger("ann"), "bob", READING)
    acting = replace(stranger("bob"), delegation=secret)
    assert space.write(NAMES, session=acting) == ["Ann"]
    assert space.refused(PERSON, session=acting) == "NotAuthorized"
    assert space.refused(NAMES, session=stranger("bob")) == "NotAuthorized"
    assert space.refused(NAMES, session=replace(stranger("eve"), delegation=secret)) == "NotAuthorized"
    governor.set_policy(OWNER, Policy(rules=(Rule("deny", frozenset({"read"}), to=frozenset({"ann"})),)))
    assert space.refused(NAMES, session=acting) == "NotAuthorized"


@requirement("KI-GOV-009")
def test_a_delegators_loss_is_its_receivers_too(space: Space, governor: Governor) -> None:
    grant = governor.grant(OWNER, "ann", [*READING, "manage_delegation"])
    acting = replace(stranger("bob"), delegation=governor.delegate(stranger("ann"), "bob", READING))
    assert space.write(NAMES, session=acting) == []
    governor.revoke(OWNER, grant)
    assert space.refused(NAMES, session=acting) == "NotAuthorized"


@requirement("KI-GOV-009")
def test_a_delegation_is_passed_on_only_where_it_says_so(space: Space, governor: Governor) -> None:
    wanted = [*READING, "manage_delegation"]
    plain = replace(stranger("ann"), delegation=governor.delegate(OWNER, "ann", wanted))
    with pytest.raises(errors.NotAuthorized):
        governor.delegate(plain, "bob", READING)
    passed = replace(stranger("ann"), delegation=governor.delegate(OWNER, "ann", wanted, may_chain=True))
    further = governor.delegate(passed, "bob", READING)
    acting = replace(stranger("bob"), delegation=further)
    assert space.write(NAMES, session=acting) == []
    governor.withdraw(OWNER, str(passed.delegation))
    assert space.refused(NAMES, session=acting) == "NotAuthorized"


@requirement("KI-GOV-009")
def test_a_receipt_names_the_delegation_it_was_written_under(space: Space, governor: Governor) -> None:
    acting = replace(stranger("bob"), delegation=governor.delegate(OWNER, "bob", ["create"]))
    receipt = space.receipt(PERSON, session=acting)
    assert receipt["origin"]["principal_id"] == "bob"
    assert receipt["origin"]["delegation_digest"].startswith("sha256:")
    assert space.receipt(PERSON, session=OWNER)["origin"]["delegation_digest"] is None
    shown = space.write("DESCRIBE ACCESS", session=acting)
    assert shown["delegation_chain"] == [{"delegator": "owner", "receiver": "bob", "expires_at": None}]


@requirement("KI-GOV-011", "KI-GOV-009", "KI-GOV-012")
def test_a_binding_lets_a_principal_speak_as_its_actor(space: Space, governor: Governor) -> None:
    made = space.handles(PERSON)["c"]
    text = 'ASSERT ?a (:c, "speaks", "en") {by: :c, mode: "stated"}'
    governor.grant(OWNER, "ann", [*READING, "create", "assert"])
    ann = stranger("ann")
    assert space.refused(text, session=ann, c=made) == "NotAuthorized"
    binding = governor.bind(OWNER, "ann", [made])
    receipt = space.receipt(text, session=ann, c=made)
    assert receipt["origin"]["actor_binding_id"] == binding
    assert space.write("DESCRIBE ACCESS", session=ann)["actor_binding"] == [made]
    governor.unbind(OWNER, binding)
    assert space.refused(text, session=ann, c=made) == "NotAuthorized"
    with pytest.raises(errors.NotFoundOrNotVisible):
        governor.bind(OWNER, "ann", ["C-99"])


LONG_CLAIM = """MUTATE {
  ENSURE PROPOSITION ?p (:c, "speaks", "en")
  CREATE ASSERTION ?a { SET FIELDS {proposition: ?p, asserted_by: :c, stance: "support", mode: "stated"} }
}"""


@requirement("KI-GOV-011")
@pytest.mark.parametrize("text", ['ASSERT (:c, "speaks", "en") {by: :c, mode: "stated"}', LONG_CLAIM])
def test_an_actor_the_policy_reserves_is_spoken_for_by_its_own_only(
    space: Space, governor: Governor, text: str
) -> None:
    made = space.handles(PERSON)["c"]
    space.write(text, session=agent(), c=made)
    governor.set_policy(OWNER, Policy(reserved=frozenset({made})))
    assert space.refused(text, session=agent(), c=made) == "ActorBindingRequired"
    governor.bind(OWNER, "agent", [made])
    space.write(text, session=agent(), c=made)


@requirement("KI-GOV-005")
def test_a_scoped_permission_holds_for_its_scope(space: Space, governor: Governor) -> None:
    person = "kip://profiles/cognitive-memory/Person"
    governor.grant(OWNER, "ann", [*READING, "search"])
    governor.grant(OWNER, "ann", ["create", "update"], scope=Scope(types=frozenset({person})))
    ann = stranger("ann")
    made = space.handles(PERSON, session=ann)["c"]
    space.write('UPDATE :c SET FIELDS {name: "Anne"}', session=ann, c=made)
    assert space.refused('CREATE CONCEPT ?c { TYPE "Place" }', session=ann) == "NotAuthorized"
    place = space.handles('CREATE CONCEPT ?c { TYPE "Place" }')["c"]
    assert space.refused('UPDATE :c SET FIELDS {name: "x"}', session=ann, c=place) == "NotAuthorized"


# --- approvals --------------------------------------------------------------------------------------------------------


@requirement("KI-GOV-029", "KI-ERR-046")
def test_what_waits_for_approval_is_done_after_somebody_else_approved(space: Space, governor: Governor) -> None:
    made = space.handles(PERSON)["c"]
    governor.set_policy(OWNER, Policy(approvals=frozenset({"purge"})))
    purge = 'PURGE :c CONFIRM "PURGE"'
    refused = space.error(purge, c=made)
    assert (refused["code"], refused["retry"]["class"]) == ("RequiresApproval", "requires_authority")
    (waits,) = governor.waiting(OWNER)
    assert (waits.id, waits.principal_id, waits.permissions) == (
        refused["details"]["approval_id"],
        "owner",
        ("purge",),
    )
    assert [entry["id"] for entry in waits.changes] == [made]
    with pytest.raises(errors.NotAuthorized):
        governor.approve(OWNER, waits.id)
    assert space.refused(purge, c=made) == "RequiresApproval"
    governor.grant(OWNER, "second", ["approve"])
    governor.approve(stranger("second"), waits.id)
    space.write(purge, c=made)
    assert space.element(made)["_system"]["state"] == "purged"


@requirement("KI-GOV-029")
def test_an_approval_serves_one_principal_one_request_once(space: Space, governor: Governor) -> None:
    governor.set_policy(OWNER, Policy(approvals=frozenset({"create"})))
    governor.grant(OWNER, "second", ["approve"])
    assert space.refused(PERSON) == "RequiresApproval"
    governor.approve(stranger("second"), governor.waiting(OWNER)[0].id)
    assert space.refused(PERSON, session=agent()) == "RequiresApproval"
    assert space.refused('CREATE CONCEPT ?c { TYPE "Person" NAME "Other" }') == "RequiresApproval"
    space.write(PERSON)
    assert space.refused(PERSON) == "RequiresApproval"


@requirement("KI-TX-024", "KI-GOV-029")
def test_a_replay_asks_for_no_second_approval(space: Space, governor: Governor) -> None:
    governor.set_policy(OWNER, Policy(approvals=frozenset({"create"})))
    governor.grant(OWNER, "second", ["approve"])
    keyed = {"execution": {"mode": "independent", "idempotency_key": "once"}}
    space.refused(PERSON, envelope=keyed)
    governor.approve(stranger("second"), governor.waiting(OWNER)[0].id)
    first = space.answer(PERSON, envelope=keyed)
    assert space.answer(PERSON, envelope=keyed)["receipt"] == first["receipt"]


@requirement("KI-GOV-029")
def test_an_atomic_request_waits_as_a_whole(space: Space, governor: Governor) -> None:
    governor.set_policy(OWNER, Policy(approvals=frozenset({"create"})))
    governor.grant(OWNER, "second", ["approve"])
    request = {
        "kip": "2.0",
        "execution": {"mode": "atomic"},
        "operations": [{"command": PERSON}, {"command": 'CREATE CONCEPT ?d { TYPE "Place" NAME "Oslo" }'}],
    }
    before = space.seq
    refused = space.execute(request)
    assert "RequiresApproval" in {entry.get("error", {}).get("code") for entry in refused["results"]}
    assert space.seq == before
    (waits,) = governor.waiting(OWNER)
    assert len(waits.commands) == 2
    governor.approve(stranger("second"), waits.id)
    assert [entry["status"] for entry in space.execute(request)["results"]] == ["succeeded", "succeeded"]


# --- audit ------------------------------------------------------------------------------------------------------------


@requirement("KI-GOV-010", "KI-SEC-011")
def test_every_write_can_be_audited(space: Space, governor: Governor) -> None:
    made = space.handles(PERSON)["c"]
    space.write('PURGE :c CONFIRM "PURGE"', c=made)
    rows = governor.writes(OWNER)
    assert [(row.space_seq, row.principal_id, row.permissions) for row in rows] == [
        (1, "owner", ("create",)),
        (2, "owner", ("purge",)),
    ]
    assert rows[1].details is not None
    assert rows[1].details["changes"] == {"purge": 1}
    assert governor.writes(OWNER, after=1, limit=5) == rows[1:]


@requirement("KI-GOV-010")
def test_decisions_of_the_protected_plane_are_kept_refused_ones_too(space: Space, governor: Governor) -> None:
    governor.grant(OWNER, "ann", ["read"])
    with pytest.raises(errors.NotAuthorized):
        governor.grant(agent(), "agent", ["purge"])
    rows = [row for _, row in governor.decisions(OWNER)]
    assert [(row.principal_id, row.action, row.decision, row.permissions, row.space_seq) for row in rows] == [
        ("owner", "grant", "allow", ("manage_grants",), 1),
        ("agent", "grant", "deny", ("manage_grants",), None),
    ]
    auditor = preset_session("maintenance", principal_id="m", channel="test")
    assert governor.decisions(auditor, after=1)[0][1] == rows[1]


@requirement("KI-GOV-010")
def test_whom_a_space_is_about_is_audited_too(space: Space, governor: Governor) -> None:
    made = space.handles(PERSON)["c"]
    space.engine.designate_self(made, OWNER)
    with pytest.raises(errors.NotAuthorized):
        space.engine.designate_self(made, agent())
    rows = [row for _, row in governor.decisions(OWNER)]
    assert [(row.action, row.decision, row.space_seq) for row in rows] == [
        ("designate_self", "allow", 2),
        ("designate_self", "deny", None),
    ]


@requirement("KI-GOV-029")
def test_a_preview_says_that_it_would_wait(space: Space, governor: Governor) -> None:
    governor.set_policy(OWNER, Policy(approvals=frozenset({"create"})))
    shown = space.write("PREVIEW KML :text", text=PERSON)
    assert (shown["would_commit"], shown["error"]["code"]) == (False, "RequiresApproval")
    assert governor.waiting(OWNER) == []


@requirement("KI-GOV-029")
def test_what_nobody_approves_is_forgotten(space: Space, governor: Governor) -> None:
    governor.set_policy(OWNER, Policy(approvals=frozenset({"create"})))
    governor.grant(OWNER, "second", ["approve"])
    assert space.refused(PERSON) == "RequiresApproval"
    (waits,) = governor.waiting(OWNER)
    space.clock.advance(space.engine.limits.idempotency_retention_ms)
    assert governor.waiting(OWNER) == []
    with pytest.raises(errors.NotFoundOrNotVisible):
        governor.approve(stranger("second"), waits.id)
