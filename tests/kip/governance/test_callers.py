"""Who calls: nobody, somebody whose authentication is too weak, and two who may know of different things."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brain import errors
from brain.kip.context import OWNER_PERMISSIONS, Session
from brain.kip.governance.control import Governor
from brain.kip.governance.plane import Policy, Rule, Scope, from_document, to_document
from brain.kip.migration import migrate
from tests.kip.conftest import Space
from tests.kip.governance.conftest import OWNER

requirement = pytest.mark.requirement
GUEST = Session(principal_id="guest", channel="test", permissions=OWNER_PERMISSIONS)
SECRETS = Rule("deny", frozenset({"discover"}), to=frozenset({"guest"}), scope=Scope(labels=frozenset({"secret"})))
HIDES_SECRETS = Policy(labels=("secret",), rules=(SECRETS,))
RIVALS = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" }
  CREATE CONCEPT ?ben { TYPE "Person" NAME "Ben" }
  CREATE CONCEPT ?cas { TYPE "Person" NAME "Cas" }
  CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "user_statement", payload: "Ann lives by Rome's clocks"} }
  CREATE EVIDENCE ?f { SET FIELDS {evidence_class: "user_statement", payload: "Ann lives by Tokyo's"} }
  ASSERT ?one (?ann, "timezone", "Europe/Rome") {by: ?ben, mode: "stated", evidence: ?e}
  ASSERT ?two (?ann, "timezone", "Asia/Tokyo") {by: ?cas, mode: "stated", evidence: ?f}
}"""
SLOT = 'FIND(?b) WHERE { ?b BELIEF SLOT (:c, "timezone") } WITH EPISTEMIC {explanation: "ledger"}'


# --- nobody -----------------------------------------------------------------------------------------------------------


@requirement("KI-ERR-044")
@pytest.mark.parametrize("name", ["", "  "])
def test_nobody_is_answered_nothing(space: Space, governor: Governor, name: str) -> None:
    nobody = Session(principal_id=name, channel="test", permissions=OWNER_PERMISSIONS)
    for command in ("FIND(?c) WHERE { ?c CONCEPT {} }", 'CREATE CONCEPT ?c { TYPE "Person" }', "DESCRIBE PRIMER"):
        before = space.seq
        error = space.execute({"kip": "2.0", "operations": [{"command": command}]}, nobody)["error"]
        assert (error["code"], error["category"], error["retry"]["class"]) == (
            "Unauthenticated",
            "governance",
            "requires_authority",
        )
        assert space.seq == before
    with pytest.raises(errors.Unauthenticated):
        governor.grant(nobody, "friend", ["read"])
    with pytest.raises(errors.Unauthenticated):
        migrate(space.engine, nobody, {})


# --- a weak authentication --------------------------------------------------------------------------------------------


@requirement("KI-ERR-047")
def test_what_the_policy_keeps_for_a_stronger_authentication_waits_for_it(space: Space, governor: Governor) -> None:
    made = space.handles('CREATE CONCEPT ?c { TYPE "Person" }')["c"]
    strict = Policy(authentications=("token", "hardware_key"), stronger={"purge": "hardware_key", "archive": "token"})
    governor.set_policy(OWNER, strict)
    by: dict[str, Session] = {
        name: replace(GUEST, authentication=name) for name in ("token", "hardware_key", "of no policy")
    }
    for session in (GUEST, by["token"], by["of no policy"]):
        before = space.seq
        error = space.error('PURGE :c CONFIRM "PURGE"', session=session, c=made)
        assert (error["code"], error["category"], error["retry"]["class"], error["details"]["permission"]) == (
            "RequiresStrongerAuthentication",
            "governance",
            "requires_authority",
            "purge",
        )
        assert space.seq == before
    assert space.refused('TRANSITION :c TO "archived"', session=GUEST, c=made) == "RequiresStrongerAuthentication"
    space.write('TRANSITION :c TO "archived"', session=by["token"], c=made)
    space.write('PURGE :c CONFIRM "PURGE"', session=by["hardware_key"], c=made)


@requirement("KI-ERR-047")
def test_a_strong_authentication_gives_no_permission(space: Space, governor: Governor) -> None:
    made = space.handles('CREATE CONCEPT ?c { TYPE "Person" }')["c"]
    governor.set_policy(OWNER, Policy(authentications=("token",), stronger={"purge": "token"}))
    reader = Session("reader", "test", frozenset({"discover", "read"}), authentication="token")
    assert space.refused('PURGE :c CONFIRM "PURGE"', session=reader, c=made) == "NotAuthorized"


@requirement("KI-ERR-047")
def test_protected_state_asks_for_it_too_and_the_refusal_is_audited(space: Space, governor: Governor) -> None:
    keyed = replace(OWNER, authentication="key")
    governor.set_policy(keyed, Policy(authentications=("key",), stronger={"manage_grants": "key"}))
    with pytest.raises(errors.RequiresStrongerAuthentication):
        governor.grant(OWNER, "friend", ["read"])
    assert [row.decision for _, row in governor.decisions(OWNER)][-1] == "deny"
    governor.grant(keyed, "friend", ["read"])


@requirement("KI-ERR-047")
@pytest.mark.parametrize(
    ("classes", "stronger"),
    [
        (("token", "token"), {}),
        (("",), {}),
        (("token",), {"purge": "key"}),
        (("token",), {"read": "token"}),
        (("token",), {"fly": "token"}),
        (("token",), {"manage_policy": "token"}),
    ],
)
def test_a_policy_nobody_could_follow_is_refused(
    space: Space, governor: Governor, classes: tuple[str, ...], stronger: dict[str, str]
) -> None:
    before = space.seq
    with pytest.raises(errors.ConstraintViolation):
        governor.set_policy(OWNER, Policy(authentications=classes, stronger=stronger))
    assert space.seq == before


@requirement("KI-ERR-047")
def test_a_plane_written_before_there_were_classes_asks_for_none(space: Space, governor: Governor) -> None:
    governor.set_policy(OWNER, Policy(labels=("secret",)))
    with space.store.snapshot() as snapshot:
        document: Any = snapshot.control("governance")
    del document["policy"]["authentications"], document["policy"]["stronger"]
    assert from_document(document).policy.out_of_reach(None) == frozenset()
    kept = Policy(authentications=("a", "b"), stronger={"purge": "b"})
    shown = from_document(to_document(replace(from_document(document), policy=kept)))
    assert shown.policy.out_of_reach("a") == frozenset({"purge"})


# --- two who may know of different things -----------------------------------------------------------------------------


@requirement("KI-BELIEF-038")
def test_a_rival_nobody_told_you_of_leaves_no_trace(space: Space, governor: Governor) -> None:
    made = space.handles(RIVALS)
    governor.set_policy(OWNER, HIDES_SECRETS)
    governor.classify(OWNER, [made["two"], made["two#proposition"], made["f"], made["cas"]], "secret")
    (owner,) = space.write(SLOT, c=made["ann"])
    (guest,) = space.write(SLOT, session=GUEST, c=made["ann"])
    one, two = made["one#proposition"], made["two#proposition"]
    assert owner["status"] == "contested"
    assert {p["proposition_id"]: p["conflict_refs"] for p in owner["candidate_projections"]} == {one: [two], two: [one]}
    assert guest["status"] == "accepted"
    (seen,) = guest["candidate_projections"]
    assert (seen["proposition_id"], seen["conflict_refs"], seen["conflict_reasons"]) == (one, [], [])
    for hidden in ("two", "two#proposition", "f", "cas"):
        assert f"'{made[hidden]}'" not in repr(guest)


@requirement("KI-BELIEF-038")
def test_an_answer_beside_a_hidden_rival_is_the_answer_without_it(space: Space, governor: Governor) -> None:
    """All of it, counts and digests included: a rival that was never told is what the guest compares with."""
    made = space.handles(RIVALS)
    governor.set_policy(OWNER, HIDES_SECRETS)
    governor.classify(OWNER, [made["two"], made["two#proposition"], made["f"], made["cas"]], "secret")
    (beside,) = space.write(SLOT, session=GUEST, c=made["ann"])
    space.write(
        'PURGE ?x WHERE { ?x ASSERTION {id: :a} } REFERENCE POLICY "authorized_cascade" CONFIRM "PURGE"', a=made["two"]
    )
    (without,) = space.write(SLOT, session=GUEST, c=made["ann"])
    for answer in (beside, without):
        for member in ("basis", "id", "projection_id"):
            answer.pop(member, None)
        for candidate in answer["candidate_projections"]:
            candidate.pop("basis", None)
    assert beside == without


@requirement("KI-STRUCT-014")
def test_a_reference_reads_as_a_stub_or_not_at_all_by_who_asks(space: Space, governor: Governor) -> None:
    made = space.handles(
        """MUTATE {
          CREATE EVIDENCE ?gone { SET FIELDS {evidence_class: "document", payload: "gone"} }
          CREATE EVIDENCE ?kept { SET FIELDS {evidence_class: "document", payload: "kept"} }
          CREATE EVIDENCE ?hush { SET FIELDS {evidence_class: "document", payload: "hush"} }
          CREATE ACTIVITY ?x { SET FIELDS {activity_class: "review", status: "completed"}
            SET STRUCTURAL { ("inputs", ?gone) ("inputs", ?kept) ("inputs", ?hush) } }
        }"""
    )
    space.write('PURGE :e REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"', e=made["gone"])
    governor.set_policy(OWNER, HIDES_SECRETS)
    governor.classify(OWNER, [made["hush"]], "secret")
    refs = "FIND(?x.inputs) WHERE { ?x ACTIVITY {id: :x} }"
    gone, kept, hush = made["gone"], made["kept"], made["hush"]
    assert [one["id"] for one in space.write(refs, x=made["x"])[0]] == [gone, kept, hush]
    assert [one["id"] for one in space.write(refs, session=GUEST, x=made["x"])[0]] == [gone, kept]
    stub = space.write('FIND(?e) WHERE { ?e EVIDENCE {id: :e, state: "purged"} }', session=GUEST, e=gone)
    assert stub == space.write('FIND(?e) WHERE { ?e EVIDENCE {id: :e, state: "purged"} }', e=gone)
    assert (stub[0]["id"], stub[0].get("payload")) == (gone, None)
    absent = space.write('FIND(?e) WHERE { ?e EVIDENCE {id: :e, state: "purged"} }', session=GUEST, e="E-77")
    assert space.write('FIND(?e) WHERE { ?e EVIDENCE {id: :e, state: "purged"} }', session=GUEST, e=hush) == absent
