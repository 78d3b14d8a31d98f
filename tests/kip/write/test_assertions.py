"""ASSERT and CREATE ASSERTION: the payload of a claim (KIP 2.0 §13, §55.1, §56.2)."""

from __future__ import annotations

from typing import Any

import pytest

from brain.kip.govern import preset_session
from tests.kip.conftest import Space, fresh
from tests.kip.write.people import People, cast

requirement = pytest.mark.requirement

CLAIM = 'ASSERT ?c (:a, "lives_in", :o) {{ by: :a, mode: "stated"{} }}'


def claim(space: Space, people: People, more: str = "", **values: Any) -> Any:
    made = space.handles(CLAIM.format(more), a=people.alice, o=people.oslo, **values)
    return space.element(made["c"])


def refused(space: Space, people: People, more: str, **values: Any) -> str:
    return space.refused(CLAIM.format(more), a=people.alice, o=people.oslo, **values)


@requirement("KI-KML-016", "KI-ASSERT-003", "KI-ASSERT-004", "KI-ASSERT-013", "KI-ASSERT-001", "KI-ID-019")
def test_what_is_not_written_has_its_default_or_stays_absent(space: Space, people: People) -> None:
    body = claim(space, people)
    assert body["proposition"] == {"id": "P-1"}
    assert body["asserted_by"] == {"id": people.alice}
    assert (body["stance"], body["mode"]) == ("support", "stated")
    assert body["asserted_at"] == body["_system"]["created_at"] == "2026-09-20T00:00:00.000Z"
    assert body["lifecycle"] == {"status": "active"}
    assert {"confidence", "context_refs", "evidence", "valid_time"}.isdisjoint(body)


@requirement("KI-KML-016", "KI-ASSERT-008")
def test_evidence_is_one_reference_or_several_and_supports(space: Space, people: People) -> None:
    assert claim(space, people, ", evidence: :m", m=people.message)["evidence"] == [
        {"id": people.message, "role": "support"}
    ]
    body = claim(space, people, ", evidence: [:m, :m]", m={"id": people.message})
    assert body["evidence"] == [{"id": people.message, "role": "support"}]


@requirement("KI-KML-014", "KI-ASSERT-001")
@pytest.mark.parametrize(
    "members",
    ['mode: "stated"', "by: :a", 'by: :a, mode: "stated", conf: 1', 'by: :a, mode: "stated", mode: "stated"'],
)
def test_members_are_those_of_the_form(space: Space, people: People, members: str) -> None:
    text = f'ASSERT (:a, "lives_in", :o) {{ {members} }}'
    assert space.refused(text, a=people.alice, o=people.oslo) == "InvalidSyntax"


@requirement("KI-ASSERT-002", "KI-ERR-023", "KI-ENV-014")
@pytest.mark.parametrize(
    ("members", "code"),
    [
        (', stance: "maybe"', "ConstraintViolation"),
        (", stance: :word", "ConstraintViolation"),
        (", confidence: 1.01", "ConstraintViolation"),
        (", confidence: -0.01", "ConstraintViolation"),
        (', confidence: "high"', "TypeMismatch"),
        (", confidence: true", "TypeMismatch"),
        (', at: "2026-01-01"', "ConstraintViolation"),
        (", at: 5", "TypeMismatch"),
        (", key: 5", "TypeMismatch"),
    ],
)
def test_values_are_checked_literal_or_bound(space: Space, people: People, members: str, code: str) -> None:
    assert refused(space, people, members, word="maybe") == code


@requirement("KI-ASSERT-003")
@pytest.mark.parametrize(("written", "kept"), [("0", 0), ("1.0", 1), ("0.5", 0.5)])
def test_confidence_is_kept_as_said(space: Space, people: People, written: str, kept: float) -> None:
    assert claim(space, people, f", confidence: {written}")["confidence"] == kept


@requirement("KI-ASSERT-003")
def test_a_null_confidence_is_none(space: Space, people: People) -> None:
    assert "confidence" not in claim(space, people, ", confidence: null")


DAY = "2026-0{}-01T00:00:00.000Z".format


@requirement("KI-ASSERT-005", "KI-ASSERT-006")
@pytest.mark.parametrize(
    "valid",
    [
        {"from": DAY(3), "until": DAY(9)},
        {"from": None},
        {"until": DAY(9)},
        {"from": {"latest": DAY(3)}},
        {"from": {"earliest": DAY(1), "latest": DAY(3)}, "until": {"earliest": DAY(3), "latest": DAY(5)}},
        {"from": {"earliest": DAY(1), "latest": DAY(9)}, "until": {"earliest": DAY(2)}},
    ],
)
def test_an_interval_is_kept_as_written(space: Space, people: People, valid: Any) -> None:
    assert claim(space, people, ", valid: :v", v=valid)["valid_time"] == valid


@requirement("KI-ASSERT-005", "KI-ASSERT-006", "KI-LEX-021", "KI-LEX-022")
@pytest.mark.parametrize(
    ("valid", "code"),
    [
        ({"from": "2026-02-01"}, "ConstraintViolation"),
        ({"from": 5}, "TypeMismatch"),
        ({"until": {}}, "ConstraintViolation"),
        ({"from": {"earliest": DAY(9), "latest": DAY(3)}}, "ConstraintViolation"),
        ({"start": DAY(3)}, "ConstraintViolation"),
        ({"from": DAY(9), "until": DAY(3)}, "ConstraintViolation"),
        ({"from": DAY(3), "until": DAY(3)}, "ConstraintViolation"),
        ({"from": {"earliest": DAY(5)}, "until": {"latest": DAY(5)}}, "ConstraintViolation"),
        ("always", "TypeMismatch"),
    ],
)
def test_an_interval_that_cannot_hold_is_refused(space: Space, people: People, valid: Any, code: str) -> None:
    assert refused(space, people, ", valid: :v", v=valid) == code


@requirement("KI-ASSERT-007")
def test_contexts_are_a_canonical_set_of_concepts(space: Space, people: People) -> None:
    body = claim(space, people, ", context: [:b, :a, :b]", b=people.bob)
    assert body["context_refs"] == [{"id": people.alice}, {"id": people.bob}]
    assert "context_refs" not in claim(space, people, ", context: []")
    assert refused(space, people, ', context: ["C-99"]') == "NotFoundOrNotVisible"
    assert refused(space, people, ", context: [:m]", m=people.message) == "StructuralReferenceInvalid"


@requirement("KI-ASSERT-001", "KI-ERR-024")
def test_an_actor_or_evidence_that_is_not_there_is_refused_with_the_nearest(space: Space, people: People) -> None:
    error = space.error('ASSERT (:a, "lives_in", :o) { by: "Alice", mode: "stated" }', a=people.alice, o=people.oslo)
    assert error["code"] == "NotFoundOrNotVisible"
    assert [candidate["id"] for candidate in error["details"]["candidates"]] == [people.alice]
    assert refused(space, people, ', evidence: "E-404"') == "NotFoundOrNotVisible"
    assert refused(space, people, ", evidence: :b", b=people.bob) == "StructuralReferenceInvalid"


@requirement("KI-KML-017", "KI-ID-016")
def test_a_key_makes_a_claim_safe_to_resend(space: Space, people: People) -> None:
    text = CLAIM.format(', key: "claim:1"')
    values = {"a": people.alice, "o": people.oslo}
    first, again = space.answer(text, **values), space.answer(text, **values)
    assert again["status"] == "no_effect"
    assert again["result"]["handles"] == first["result"]["handles"] == {"c": "A-1", "c#proposition": "P-1"}
    other = CLAIM.format(', key: "claim:1", confidence: 0.4')
    assert space.refused(other, **values) == "ClientKeyConflict"


@requirement("KI-KML-017", "KI-TX-022", "KI-ASSERT-010")
def test_without_a_key_the_same_words_are_two_claims(space: Space, people: People) -> None:
    first, second = claim(space, people), claim(space, people)
    assert first["id"] != second["id"]
    assert first["proposition"] == second["proposition"]


@requirement("KI-ASSERT-010", "KI-PROP-012")
def test_opposing_claims_stand_side_by_side(space: Space, people: People) -> None:
    claim(space, people)
    space.write(
        'ASSERT (:a, "lives_in", :o) { by: :b, mode: "stated", stance: "reject" }',
        a=people.alice,
        b=people.bob,
        o=people.oslo,
    )
    with space.store.snapshot() as snapshot:
        found = snapshot.assertions(["P-1"])
    assert [(a.body["stance"], a.body["lifecycle"]["status"]) for a in found] == [
        ("support", "active"),
        ("reject", "active"),
    ]


@requirement("KI-KML-019", "KI-KML-002", "KI-KML-005")
def test_handles_of_the_block_serve_as_ends_actor_and_evidence(space: Space) -> None:
    handles = space.handles(
        """MUTATE {
          ASSERT ?c (?a, "lives_in", ?o) { by: ?a, mode: "stated", evidence: ?e }
          ASSERT (?a, "timezone", "+01:00") { by: ?a, mode: "stated" }
          CREATE CONCEPT ?a { TYPE "Person" NAME "A" }
          CREATE CONCEPT ?o { TYPE "Place" NAME "O" }
          CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "hi"} }
        }"""
    )
    assert handles["c"] == "A-1"
    assert handles["#assert1"] == "A-2"
    assert handles["#assert1#proposition"] == "P-2"
    assert space.element("A-1")["evidence"] == [{"id": handles["e"], "role": "support"}]


LONG = """MUTATE {
  ENSURE PROPOSITION ?p (:a, "lives_in", :o)
  CREATE ASSERTION ?c {
    CLIENT KEY "k"
    SET FIELDS {
      proposition: ?p, asserted_by: :a, stance: "support", mode: "stated", confidence: 0.9, context_refs: [:b],
      asserted_at: "2026-01-01T00:00:00.000Z", valid_time: {from: "2025-01-01T00:00:00.000Z"}
    }
    SET STRUCTURAL { ("evidence", :m) {role: "support"} }
  }
}"""
SHORT = """ASSERT ?c (:a, "lives_in", :o) {
  by: :a, mode: "stated", confidence: 0.9, context: [:b], at: "2026-01-01T00:00:00.000Z",
  valid: {from: "2025-01-01T00:00:00.000Z"}, evidence: :m, key: "k"
}"""


@requirement("KI-KML-015")
def test_assert_commits_what_its_long_form_commits(space: Space, people: People, tmp_path: Any) -> None:
    values = {"a": people.alice, "b": people.bob, "o": people.oslo, "m": people.message}
    short = space.write(SHORT, **values)
    with fresh(tmp_path / "other", space.clock) as other:
        cast(other)
        long = other.write(LONG, **values)
        assert long["changes"] == short["changes"]
        for element_id in ("A-1", "P-1"):
            assert other.element(element_id) == space.element(element_id)
        assert other.commit(2).envelope == space.commit(2).envelope


@requirement("KI-ASSERT-001", "KI-ASSERT-002")
@pytest.mark.parametrize("absent", ["proposition", "asserted_by", "stance", "mode"])
def test_the_long_form_names_what_it_misses(space: Space, people: People, absent: str) -> None:
    claim(space, people)
    fields = {"proposition": '"P-1"', "asserted_by": ":a", "stance": '"support"', "mode": '"stated"'}
    del fields[absent]
    text = ", ".join(f"{name}: {value}" for name, value in fields.items())
    error = space.error(f"CREATE ASSERTION ?x {{ SET FIELDS {{{text}}} }}", a=people.alice)
    assert error["code"] == "ConstraintViolation"
    assert absent in error["message"]


@requirement("KI-ASSERT-008")
def test_a_citation_has_one_of_three_roles(space: Space, people: People) -> None:
    claim(space, people)
    text = """CREATE ASSERTION ?x {
      SET FIELDS {proposition: "P-1", asserted_by: :a, stance: "support", mode: "stated"}
      SET STRUCTURAL { ("evidence", :m) {role: :role} }
    }"""
    values = {"a": people.alice, "m": people.message}
    for role in ("challenge", "context", "support"):
        made = space.handles(text, role=role, **values)["x"]
        assert space.element(made)["evidence"] == [{"id": people.message, "role": role}]
    assert space.refused(text, role="vouches", **values) == "ConstraintViolation"


@requirement("KI-ASSERT-009", "KI-KML-028", "KI-ERR-033", "KI-STRUCT-012")
@pytest.mark.parametrize(
    ("action", "code"),
    [
        ("SET FIELDS {confidence: 0.1}", "InvalidSyntax"),
        ('SET FIELDS {stance: "reject"}', "InvalidSyntax"),
        ('SET FIELDS {asserted_at: "2026-01-01T00:00:00.000Z"}', "InvalidSyntax"),
        ('SET FIELDS {name: "n"}', "EpistemicRevisionRequired"),
        ("SET ATTRIBUTES {a: 1}", "EpistemicRevisionRequired"),
        ("UNSET ATTRIBUTES {a}", "EpistemicRevisionRequired"),
        ('SET STRUCTURAL { ("evidence", "E-1") }', "EpistemicRevisionRequired"),
        ('UNSET STRUCTURAL { ("evidence", "E-1") }', "EpistemicRevisionRequired"),
    ],
)
def test_a_claim_is_not_edited(space: Space, people: People, action: str, code: str) -> None:
    claim(space, people)
    assert space.refused(f'UPDATE "A-1" {action}') == code


@requirement("KI-ASSERT-012", "KI-GOV-011", "KI-GOV-012", "KI-GOV-033")
def test_who_claims_and_who_records_are_kept_apart(space: Space, people: People) -> None:
    agent = preset_session("agent", principal_id="agent-1", channel="agent", actors=[people.bob])
    values = {"a": people.alice, "b": people.bob, "o": people.oslo}
    about = space.write('ASSERT ?c (:a, "lives_in", :o) { by: :a, mode: "stated" }', session=agent, **values)
    body = space.element(about["handles"]["c"])
    assert body["asserted_by"] == {"id": people.alice}
    assert body["_system"]["origin"]["principal_id"] == "agent-1"


@requirement("KI-GOV-011", "KI-GOV-003", "KI-ERR-045")
def test_an_unbound_actor_needs_the_permission_to_record_others(space: Space, people: People) -> None:
    maintenance = preset_session("maintenance", principal_id="m", channel="upkeep", actors=[people.bob])
    for text in (
        'ASSERT (:a, "knows", :b) { by: :who, mode: "stated" }',
        """MUTATE { ENSURE PROPOSITION ?p (:a, "knows", :b) CREATE ASSERTION ?c {
             SET FIELDS {proposition: ?p, asserted_by: :who, stance: "support", mode: "stated"}
        } }""",
    ):
        values = {"a": people.alice, "b": people.bob}
        assert space.refused(text, session=maintenance, who=people.alice, **values) == "NotAuthorized"
        space.write(text, session=maintenance, who=people.bob, **values)


@requirement("KI-GOV-026")
def test_an_inferred_claim_keeps_what_it_was_derived_from(space: Space, people: People) -> None:
    made = space.handles(
        'ASSERT ?c (:a, "lives_in", :o) { by: :a, mode: "inferred", evidence: :m }',
        a=people.alice,
        o=people.oslo,
        m=people.message,
    )
    assert space.element(made["c"])["governance"]["authority_lineage"] == [people.message]
