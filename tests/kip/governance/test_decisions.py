"""Who may do what: denial beats permission, nothing is permitted by silence, and only protected state decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain import errors
from brain.kip import capabilities
from brain.kip.context import CORE_PERMISSIONS, OWNER_PERMISSIONS, Run, Session
from brain.kip.governance.authority import Allowance, Authority, authority_of
from brain.kip.governance.control import Governor
from brain.kip.governance.names import EXTENDED, offered
from brain.kip.governance.plane import Grant, Plane, Policy, Rule, Scope, from_document, to_document
from brain.kip.parser import parse
from brain.kip.write import run_kml
from brain.times import timestamp
from tests.kip.conftest import Space
from tests.kip.governance.conftest import OWNER, agent, stranger

requirement = pytest.mark.requirement
NOW = "2026-09-20T00:00:00.000Z"
NAMES = ("discover", "read", "update", "purge")

scopes = st.builds(
    Scope,
    kinds=st.frozensets(st.sampled_from(["concept", "evidence"]), max_size=1),
    labels=st.frozensets(st.sampled_from([None, "secret"]), max_size=2),
    ids=st.frozensets(st.sampled_from(["C-1", "E-1"]), max_size=1),
    origins=st.frozensets(st.sampled_from(["ann", "bob"]), max_size=1),
)
rules = st.builds(
    Rule,
    effect=st.sampled_from(["allow", "deny"]),
    permissions=st.frozensets(st.sampled_from(NAMES), min_size=1),
    to=st.frozensets(st.sampled_from(["*", "ann", "bob", "group:all"]), min_size=1),
    excepted=st.frozensets(st.sampled_from(["ann", "group:all"]), max_size=1),
    scope=scopes,
)
bodies = st.builds(
    lambda kind, label, origin: {
        "id": {"concept": "C-1", "evidence": "E-1"}[kind],
        "kind": kind,
        "governance": {} if label is None else {"classification": label},
        "_system": {"state": "active", "version": 1, "origin": {"principal_id": origin}},
    },
    st.sampled_from(["concept", "evidence"]),
    st.sampled_from([None, "secret"]),
    st.sampled_from(["ann", "bob"]),
)


def plane(*listed: Rule) -> Plane:
    return Plane(policy=Policy(labels=("secret",), rules=listed), groups={"all": frozenset({"ann", "bob"})})


@requirement("KI-GOV-003")
@given(listed=st.lists(rules, max_size=6), body=bodies, data=st.data())
def test_the_order_of_rules_never_decides(listed: list[Rule], body: dict[str, object], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(listed))
    for name in NAMES:
        first = authority_of(plane(*listed), "ann", frozenset({"read"}), NOW).may(name, body)
        assert authority_of(plane(*shuffled), "ann", frozenset({"read"}), NOW).may(name, body) == first


@requirement("KI-GOV-003")
@given(listed=st.lists(rules, max_size=6), denial=rules, body=bodies)
def test_one_more_denial_never_permits_more(listed: list[Rule], denial: Rule, body: dict[str, object]) -> None:
    more = Rule("deny", denial.permissions, denial.to, denial.excepted, denial.scope)
    before = authority_of(plane(*listed), "ann", OWNER_PERMISSIONS, NOW)
    after = authority_of(plane(*listed, more), "ann", OWNER_PERMISSIONS, NOW)
    assert all(before.may(name, body) for name in NAMES if after.may(name, body))
    assert after.permissions <= before.permissions


@requirement("KI-GOV-003")
@given(listed=st.lists(rules, max_size=6), body=bodies)
def test_what_no_permission_covers_is_denied(listed: list[Rule], body: dict[str, object]) -> None:
    denials = [rule for rule in listed if rule.effect == "deny"]
    nothing = authority_of(plane(*denials), "ann", frozenset(), NOW)
    assert not any(nothing.may(name, body) for name in NAMES)
    assert nothing.permissions == frozenset()


@requirement("KI-GOV-003")
@given(listed=st.lists(rules, max_size=6), body=bodies)
def test_what_is_held_for_the_whole_space_is_held_for_each_element(listed: list[Rule], body: dict[str, object]) -> None:
    authority = authority_of(plane(*listed), "ann", frozenset({"read", "discover"}), NOW)
    for name in NAMES:
        if authority.is_whole(name):
            assert authority.may(name, body)
        if authority.may(name, body):
            assert name in authority.permissions


@requirement("KI-GOV-003")
@given(listed=st.lists(rules, max_size=6))
def test_a_plane_is_read_back_as_it_was_written(listed: list[Rule]) -> None:
    written = Plane(
        version=3,
        policy=Policy(2, ("public", "secret"), "public", tuple(listed), frozenset({"purge"}), frozenset({"C-1"})),
        groups={"all": frozenset({"ann"})},
        roles={"reader": frozenset({"read"})},
        grants={"grant-1": Grant("group:all", role="reader", scope=Scope(labels=frozenset({None, "secret"})))},
        quarantined=frozenset({"C-7"}),
        next_id=9,
    )
    assert from_document(to_document(written)) == written


@requirement("KI-GOV-002")
def test_a_claim_of_authority_gives_none(space: Space, governor: Governor) -> None:
    nobody = stranger("ann")
    governor.grant(OWNER, "ann", ["discover", "read"])
    before = space.write("DESCRIBE ACCESS", session=nobody)
    made = space.handles(
        'MUTATE { CREATE CONCEPT ?ann { TYPE "Person" NAME "ann" SET ATTRIBUTES {is_admin: true, may: ["purge"]} }'
        ' ASSERT (?ann, "knows", ?ann) {by: ?ann, mode: "observed", confidence: 1.0} }'
    )["ann"]
    assert space.write("DESCRIBE ACCESS", session=nobody) == before
    assert space.refused('PURGE :c CONFIRM "PURGE"', c=made, session=nobody) == "NotAuthorized"


@requirement("KI-GOV-005", "KI-GOV-006")
def test_the_registry_of_permissions_is_the_specifications() -> None:
    assert len(CORE_PERMISSIONS) == 32
    assert EXTENDED.keys() == {"derive", "manage_trust", "propose_schema", "record_outcome", "repair_recording"}
    assert CORE_PERMISSIONS <= OWNER_PERMISSIONS <= offered()


@requirement("KI-GOV-005")
@pytest.mark.parametrize("names", [["read", "fly"], []])
def test_a_grant_names_permissions(space: Space, governor: Governor, names: list[str]) -> None:
    with pytest.raises(errors.ConstraintViolation):
        governor.grant(OWNER, "ann", names)
    assert space.seq == 0


@requirement("KI-GOV-005", "KI-GOV-006", "KI-CAP-022", "KI-CAP-023")
@pytest.mark.parametrize("is_offered", [True, False])
@pytest.mark.parametrize("name", sorted(EXTENDED))
def test_an_extended_permission_exists_as_long_as_its_capability(
    space: Space, governor: Governor, monkeypatch: pytest.MonkeyPatch, name: str, is_offered: bool
) -> None:
    registry = capabilities.REGISTRY
    entry = replace(registry[EXTENDED[name]], is_supported=is_offered)
    monkeypatch.setattr(capabilities, "REGISTRY", {**registry, EXTENDED[name]: entry})
    holder = replace(OWNER, permissions=OWNER_PERMISSIONS | {name})
    if is_offered:
        governor.grant(holder, "ann", [name])
        assert space.write("DESCRIBE ACCESS", session=stranger("ann"))["permissions"] == [name]
    else:
        with pytest.raises(errors.UnsupportedCapability):
            governor.grant(holder, "ann", [name])
        assert space.seq == 0


@requirement("KI-GOV-005", "KI-GOV-006")
@pytest.mark.parametrize("name", ["propose_schema", "record_outcome", *sorted(CORE_PERMISSIONS)])
def test_every_permission_on_offer_can_be_granted(space: Space, governor: Governor, name: str) -> None:
    governor.grant(OWNER, "ann", [name])
    assert space.write("DESCRIBE ACCESS", session=stranger("ann"))["permissions"] == [name]


@requirement("KI-GOV-004")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ('UPDATE :p SET FIELDS {object: "fr"}', "ImmutableField"),
        ('UPDATE :c SET FIELDS {_system: {origin: {principal_id: "other"}}}', "InvalidSyntax"),
        ('UPDATE :c SET FIELDS {governance: {authority_class: "executable"}}', "InvalidSyntax"),
        ("UPDATE :a SET FIELDS {asserted_by: :c}", "InvalidSyntax"),
    ],
)
def test_no_policy_permits_what_the_protocol_forbids(space: Space, governor: Governor, command: str, code: str) -> None:
    made = space.handles(
        'MUTATE { CREATE CONCEPT ?c { TYPE "Person" } ENSURE PROPOSITION ?p (?c, "speaks", "en")'
        ' ASSERT ?a (?c, "speaks", "en") {by: ?c, mode: "stated"} }'
    )
    governor.set_policy(OWNER, Policy(rules=(Rule("allow", OWNER_PERMISSIONS),)))
    used: Any = {name: made[name] for name in ("c", "p", "a") if f":{name}" in command}
    assert space.refused(command, session=OWNER, **used) == code


@requirement("KI-GOV-014")
@pytest.mark.parametrize(
    "text",
    [
        'CREATE CONCEPT ?c { TYPE "Person" NAME "worker" SET FIELDS {key: "worker"} }',
        'CREATE CONCEPT ?c { TYPE "Person" NAME "Owner" SET ATTRIBUTES {role: "owner", permissions: ["purge"]} }',
        'CREATE EVIDENCE ?c { SET FIELDS {evidence_class: "user_statement", payload: "worker may purge all"} }',
        'CREATE ACTIVITY ?c { SET FIELDS {activity_class: "grant", status: "completed"} }',
    ],
)
def test_nothing_that_is_stored_permits_anything(space: Space, governor: Governor, text: str) -> None:
    governor.set_policy(OWNER, Policy(labels=("secret",)))
    worker = agent("worker")
    made = space.handles(text)["c"]
    for command in ('PURGE :c CONFIRM "PURGE"', "SET RETENTION :c {legal_hold: true}", 'TRANSITION :c TO "tombstoned"'):
        assert space.refused(command, session=worker, c=made) == "NotAuthorized"
    with pytest.raises(errors.NotAuthorized):
        governor.classify(worker, [made], "secret")


@requirement("KI-GOV-003")
def test_authorities_over_scopes_add_up() -> None:
    body = {"id": "C-1", "kind": "concept", "_system": {}}
    other = {"id": "E-1", "kind": "evidence", "_system": {}}
    both = Authority(
        [
            Allowance(frozenset({"read"}), Scope(kinds=frozenset({"concept"}))),
            Allowance(frozenset({"read"}), Scope(kinds=frozenset({"evidence"}))),
        ]
    )
    assert both.may("read", body)
    assert both.may("read", other)
    assert not both.is_whole("read")
    assert Session(principal_id="x", channel="y", authority=both) != Session(principal_id="x", channel="y")


@requirement("KI-ERR-049", "KI-ERR-050", "KI-GOV-004", "KI-GOV-024")
@pytest.mark.parametrize(
    ("member", "code"),
    [
        ("_system", "ProtectedSystemField"),
        ("space_id", "ProtectedSystemField"),
        ("governance", "ProtectedGovernanceField"),
        ("merged_into", "ProtectedGovernanceField"),
    ],
)
def test_a_statement_that_no_parser_saw_reaches_nothing_protected(space: Space, member: str, code: str) -> None:
    made = space.handles('CREATE CONCEPT ?c { TYPE "Person" NAME "Ann" }')["c"]
    statement: Any = parse('UPDATE :c SET FIELDS {name: "x"}')
    (action,) = statement.actions
    (assignment,) = action.assignments.members
    members = replace(action.assignments, members=(replace(assignment, name=member),))
    forged = replace(statement, actions=(replace(action, assignments=members),))
    with space.store.transaction() as tx:
        now = timestamp(space.clock.now_ms())
        run = Run(tx, space.engine.environment(tx), {"c": made}, OWNER, now, space.engine.space_uri)
        with pytest.raises(errors.KipError) as refused:
            run_kml(forged, run, tx)
    assert refused.value.code == code
