"""`_system.dependency_validity` as a path of FIND (KIP 2.0 §57.6)."""

from __future__ import annotations

import pytest

from tests.kip.conftest import Space

requirement = pytest.mark.requirement


def derived(space: Space) -> dict[str, str]:
    """A claim that was inferred, an Insight, and the message both were made from."""
    made = space.handles(
        """MUTATE {
          CREATE CONCEPT ?alice {TYPE "Person" NAME "Alice"}
          CREATE CONCEPT ?oslo {TYPE "Place" NAME "Oslo"}
          CREATE EVIDENCE ?message {SET FIELDS {evidence_class: "message", payload: "p"}}
        }"""
    )
    (basis,) = space.write('FIND(?s.basis) WHERE { ?s BELIEF SLOT (:a, "lives_in") }', a=made["alice"])
    return made | space.handles(
        """MUTATE {
          ASSERT ?claim (:alice, "lives_in", :oslo) {by: :alice, mode: "inferred"}
          CREATE CONCEPT ?insight {TYPE "Insight" SET ATTRIBUTES {summary: "s"}}
          CREATE CONCEPT ?loose {TYPE "Insight" SET ATTRIBUTES {summary: "t"}}
          CREATE ACTIVITY ?work {
            SET FIELDS {activity_class: "inference", status: "completed"}
            SET FACET "DependencyBasis" {
              basis_seq: 1, groups: [{role: "all_of", pins: [{id: :message, version: 1}]}], policy_basis: :basis}
            SET STRUCTURAL {("inputs", :message) ("outputs", ?claim) ("outputs", ?insight)}
          }
        }""",
        basis=basis,
        **made,
    )


@requirement("KI-BELIEF-077", "KI-PROFILE-024")
def test_what_was_derived_says_whether_its_premises_stand(space: Space) -> None:
    made = derived(space)
    validity = "?x._system.dependency_validity.status, ?x._system.dependency_validity.action_eligible"
    insights = f'FIND(?x.id, {validity}) WHERE {{ ?x {{type: "Insight"}} }} ORDER BY ?x.attributes.summary'
    claims = f"FIND({validity}) WHERE {{ ?x ASSERTION {{}} }}"
    loose = [made["loose"], "unverifiable", False]
    assert space.write(insights) == [[made["insight"], "current", True], loose]
    assert space.write(claims) == [["current", True]]
    space.write("SET RETENTION :m {legal_hold: true}", m=made["message"])
    assert space.write(insights) == [[made["insight"], "needs_review", False], loose]
    assert space.write(claims) == [["needs_review", False]]


@requirement("KI-BELIEF-077")
def test_a_filter_and_a_count_see_the_computed_validity(space: Space) -> None:
    made = derived(space)
    text = """FIND(?x.id) WHERE { ?x {type: "Insight"} FILTER(?x._system.dependency_validity.status == "current") }"""
    assert space.write(text) == [made["insight"]]
    assert space.write(text.replace("?x.id", "COUNT(?x)")) == [1]
    assert space.write(f"{text} ORDER BY ?x._system.dependency_validity.status DESC") == [made["insight"]]


@requirement("KI-BELIEF-077")
def test_what_was_not_derived_has_no_validity_and_nobody_writes_one(space: Space) -> None:
    made = derived(space)
    assert space.write("FIND(?x._system.dependency_validity) WHERE { ?x {id: :a} }", a=made["alice"]) == [None]
    stated = space.handles('ASSERT ?c (:a, "timezone", "+01:00") {by: :a, mode: "stated"}', a=made["alice"])["c"]
    assert space.write("FIND(?x._system.dependency_validity) WHERE { ?x ASSERTION {id: :c} }", c=stated) == [None]
    assert "dependency_validity" not in space.element(made["insight"])["_system"]
    assert space.refused('UPDATE :i SET FIELDS {_system: {dependency_validity: "current"}}', i=made["insight"])
