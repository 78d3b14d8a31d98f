"""MERGE CONCEPT (KIP 2.0 §11, §61)."""

from __future__ import annotations

from typing import Any

import pytest

from brain.kip.govern import preset_session
from tests.kip.conftest import Space
from tests.kip.write.people import People

requirement = pytest.mark.requirement

MERGE = "MERGE CONCEPT :s INTO :t"


@requirement("KI-MERGE-001", "KI-MERGE-008", "KI-MERGE-014", "KI-TX-032", "KI-TX-036")
def test_a_merge_redirects_and_rewrites_nothing(space: Space, people: People) -> None:
    space.write('ASSERT (:b, "lives_in", :o) { by: :b, mode: "stated" }', b=people.bob, o=people.oslo)
    before = {i: space.element(i) for i in (people.alice, people.bob, "P-1", "A-1")}
    result = space.write(MERGE, s=people.bob, t=people.alice)
    assert result["changes"] == [
        {
            "op": "merge",
            "kind": "concept",
            "id": people.bob,
            "schema_ref": "kip://profiles/cognitive-memory@2.0.0/Person",
            "old_version": 1,
            "new_version": 2,
            "refs": {"merged_into": people.alice},
            "touched": ["fields.merged_into", "state"],
        }
    ]
    for element_id in (people.alice, "P-1", "A-1"):
        assert space.element(element_id) == before[element_id]
    source = space.element(people.bob)
    assert (source["_system"]["state"], source["merged_into"], source["name"]) == (
        "merged",
        {"id": people.alice},
        "Bob",
    )
    assert space.commit(space.seq).envelope["control_changes"] == [{"kind": "identity", "version": "3"}]
    with space.store.snapshot() as snapshot:
        identity: Any = snapshot.control("identity")
    decision = identity["decisions"][people.bob]
    assert (identity["version"], decision["target"], decision["version"], decision["principal_id"]) == (
        1,
        people.alice,
        1,
        "owner",
    )


@requirement("KI-MERGE-002", "KI-MERGE-003", "KI-MERGE-004", "KI-ERR-031")
def test_a_merge_is_made_once_and_closes_no_circle(space: Space, people: People) -> None:
    carol = space.handles('CREATE CONCEPT ?c { TYPE "Person" NAME "Carol" }')["c"]
    assert space.answer(MERGE, s=people.bob, t=people.bob)["status"] == "no_effect"
    space.write(MERGE, s=people.bob, t=people.alice)
    assert space.answer(MERGE, s=people.bob, t=people.alice)["status"] == "no_effect"
    assert space.refused(MERGE, s=people.alice, t=people.bob) == "IdentityMergeConflict"
    assert space.refused(MERGE, s=people.bob, t=carol) == "IdentityMergeConflict"
    space.write(MERGE, s=people.alice, t=carol)
    assert space.answer(MERGE, s=people.bob, t=carol)["status"] == "no_effect"


@requirement("KI-MERGE-005", "KI-MERGE-006", "KI-ERR-031")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('MERGE CONCEPT "C-1" INTO "C-404"', "NotFoundOrNotVisible"),
        ('MERGE CONCEPT "C-1" INTO "C-3"', "IdentityMergeConflict"),
        ('MERGE CONCEPT "E-1" INTO "C-1"', "StructuralReferenceInvalid"),
        ('MERGE CONCEPT "C-2" INTO "C-1" EXPECT VERSION 7', "VersionConflict"),
        ('MERGE CONCEPT "C-2" INTO "C-1" WHERE { ?x {name: "Nobody"} }', "NotFoundOrNotVisible"),
        ('MERGE CONCEPT ?s INTO "C-1" WHERE { ?s {name: "Nobody"} }', "NotFoundOrNotVisible"),
        ('MERGE CONCEPT ?s INTO "C-3" WHERE { ?s {type: "Person"} }', "IdentityMergeConflict"),
        ('MERGE CONCEPT "C-2" INTO "C-1" LIMIT 1', "InvalidSyntax"),
    ],
)
def test_each_side_is_one_concept_of_one_type(space: Space, people: People, text: str, code: str) -> None:
    assert space.refused(text) == code


@requirement("KI-KML-039", "KI-MERGE-005")
def test_a_where_may_bind_both_sides(space: Space, people: People) -> None:
    space.write('MERGE CONCEPT ?s INTO ?t WHERE { ?s {type: "Person", key: "bob"} ?t {type: "Person", key: "alice"} }')
    assert space.element(people.bob)["merged_into"] == {"id": people.alice}


@requirement("KI-MERGE-007", "KI-GOV-033")
def test_merging_needs_identity_authority(space: Space, people: People) -> None:
    agent = preset_session("agent", principal_id="a", channel="agent")
    maintenance = preset_session("maintenance", principal_id="m", channel="upkeep")
    assert space.refused(MERGE, s=people.bob, t=people.alice, session=agent) == "NotAuthorized"
    space.write(MERGE, s=people.bob, t=people.alice, session=maintenance)


@requirement("KI-MERGE-010", "KI-MERGE-011", "KI-MERGE-015", "KI-CONCEPT-007")
def test_new_writes_land_on_the_survivor_and_keep_what_was_said(space: Space, people: People) -> None:
    space.write(MERGE, s=people.bob, t=people.alice)
    carol = space.handles('CREATE CONCEPT ?c { TYPE "Person" NAME "Carol" }')["c"]
    first = space.handles(
        'ASSERT ?c (:b, "knows", :c) { by: :b, mode: "stated", context: [:b] }', b=people.bob, c=carol
    )
    body = space.element(first["c"])
    assert space.element(first["c#proposition"])["subject"] == {"id": people.alice}
    assert (body["asserted_by"], body["context_refs"]) == ({"id": people.alice}, [{"id": people.alice}])
    supplied = [(r["supplied"], r["resolved"], r["path"]) for r in body["_system"]["input_references"]]
    assert supplied == [
        (people.bob, people.alice, "proposition.subject"),
        (people.bob, people.alice, "asserted_by"),
        (people.bob, people.alice, "context_refs[0]"),
    ]
    assert all(r["identity_version"] == 1 and r["decision_id"] for r in body["_system"]["input_references"])
    again = space.handles('ENSURE PROPOSITION ?p (:a, "knows", :c)', a=people.alice, c=carol)
    assert again["p"] == first["c#proposition"]
    assert space.handles('UPSERT CONCEPT ?x { MATCH {type: "Person", key: "bob"} }')["x"] == people.alice
    assert space.refused('CREATE CONCEPT ?x { TYPE "Person" SET FIELDS {key: "bob"} }') == "IdentityConflict"


@requirement("KI-MERGE-013")
def test_the_past_knows_nothing_of_the_merge(space: Space, people: People) -> None:
    space.write(MERGE, s=people.bob, t=people.alice)
    with space.store.snapshot(1) as snapshot:
        assert dict(snapshot.merges()) == {}


@requirement("KI-ASSERT-018", "KI-MERGE-012")
def test_supersession_follows_merges_of_actor_and_subject(space: Space, people: People) -> None:
    old = space.handles('ASSERT ?c (:b, "timezone", "+01:00") { by: :b, mode: "stated" }', b=people.bob)["c"]
    space.write(MERGE, s=people.bob, t=people.alice)
    text = 'ASSERT (:a, "timezone", "+02:00") { by: :a, mode: "stated" } SUPERSEDING :old'
    space.write(text, a=people.alice, old=old)
    assert space.element(old)["lifecycle"]["status"] == "superseded"
