"""UPDATE: merging, removal, sweeps, expressions, guards (KIP 2.0 §35, §58, §59)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kip.conftest import Space
from tests.kip.write.people import People

requirement = pytest.mark.requirement

PLANES = "_system.plane_versions"


def attributes(space: Space, element_id: str) -> Any:
    return space.element(element_id).get("attributes", {})


@requirement("KI-KML-021", "KI-KML-022", "KI-FACET-009", "KI-TX-009", "KI-TX-032")
def test_planes_merge_by_name_and_count_for_themselves(space: Space, people: People) -> None:
    result = space.write(
        'UPDATE :a SET FIELDS {name: "Anna"} SET ATTRIBUTES {city: null, x: {y: 1}} '
        'SET FACET "MnemonicState" {salience: 0.3} UNSET ATTRIBUTES {age}',
        a=people.alice,
    )
    assert result["changes"] == [
        {
            "op": "update",
            "kind": "concept",
            "id": people.alice,
            "schema_ref": "kip://profiles/cognitive-memory@2.0.0/Person",
            "old_version": 1,
            "new_version": 2,
            "touched": ["attributes.age", "attributes.city", "attributes.x", "facets.MnemonicState", "fields.name"],
            "planes": {"attributes": 2, "facets": {"MnemonicState": 1}, "retention": 0, "structural": 0},
        }
    ]
    assert attributes(space, people.alice) == {"city": None, "x": {"y": 1}}
    space.write("UPDATE :a SET ATTRIBUTES {x: {z: 2}}", a=people.alice)
    assert attributes(space, people.alice)["x"] == {"z": 2}


@requirement("KI-TX-008", "KI-KML-022", "KI-TX-015")
@pytest.mark.parametrize(
    "action",
    [
        "SET ATTRIBUTES {age: 41}",
        "SET ATTRIBUTES {age: 41.0}",
        "UNSET ATTRIBUTES {nothing}",
        'SET FIELDS {name: "Alice"}',
    ],
)
def test_what_is_so_already_changes_nothing(space: Space, people: People, action: str) -> None:
    answer = space.answer(f"UPDATE :a {action}", a=people.alice)
    assert answer["status"] == answer["receipt"]["status"] == "no_effect"
    assert answer["result"] == {"changes": [], "handles": {}}
    assert space.seq == 1
    assert space.element(people.alice)["_system"]["version"] == 1


@requirement("KI-KML-022")
def test_true_and_one_are_different_values(space: Space, people: People) -> None:
    space.write("UPDATE :a SET ATTRIBUTES {flag: true}", a=people.alice)
    assert space.answer("UPDATE :a SET ATTRIBUTES {flag: 1}", a=people.alice)["status"] == "succeeded"


@requirement("KI-CONCEPT-005", "KI-CONCEPT-006")
def test_required_attributes_stay(space: Space) -> None:
    made = space.handles('CREATE CONCEPT ?e { TYPE "Event" SET ATTRIBUTES {summary: "s"} }')["e"]
    assert space.refused("UPDATE :e UNSET ATTRIBUTES {summary}", e=made) == "ConstraintViolation"
    assert space.refused("UPDATE :e SET ATTRIBUTES {summary: null}", e=made) == "ConstraintViolation"


@requirement("KI-ID-011", "KI-CONCEPT-002", "KI-KML-028", "KI-ERR-032")
@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("key", "ImmutableField"),
        ("schema_ref", "ImmutableField"),
        ("client_key", "ImmutableField"),
        ("id", "TypeMismatch"),
        ("colour", "TypeMismatch"),
        ("_system", "InvalidSyntax"),
        ("merged_into", "InvalidSyntax"),
    ],
)
def test_identity_is_fixed_and_core_fields_are_not_invented(
    space: Space, people: People, field: str, code: str
) -> None:
    assert space.refused(f'UPDATE "{people.alice}" SET FIELDS {{{field}: "x"}}') == code


@requirement("KI-KML-020", "KI-KML-025", "KI-ERR-025", "KI-ERR-024")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('UPDATE "C-404" SET ATTRIBUTES {a: 1}', "NotFoundOrNotVisible"),
        ('UPDATE "nonsense" SET ATTRIBUTES {a: 1}', "InvalidIdentifier"),
        ("UPDATE ?z SET ATTRIBUTES {a: 1}", "ReferenceError"),
        ('UPDATE ?z SET ATTRIBUTES {a: 1} WHERE { ?c {key: "alice"} }', "ReferenceError"),
        ('UPDATE "C-1" WHERE { ?c {key: "alice"} }', "InvalidSyntax"),
        ('UPDATE ?c SET ATTRIBUTES {a: 1} WHERE { ?c {key: "alice"} } LIMIT -1', "TypeMismatch"),
        ('UPDATE ?c SET ATTRIBUTES {a: 1} WHERE { ?c {key: "alice"} } LIMIT :n', "TypeMismatch"),
    ],
)
def test_a_target_is_named_or_selected(space: Space, people: People, text: str, code: str) -> None:
    assert space.refused(text, n="2") == code


@requirement("KI-KML-027")
@pytest.mark.parametrize(
    "clause", ['?b BELIEF (?c, "lives_in", ?o)', '?b BELIEF SLOT (?c, "lives_in")', '?c SEARCH CONCEPT "x" LIMIT 1']
)
def test_selection_reads_raw_state_only(space: Space, people: People, clause: str) -> None:
    text = f'UPDATE ?c SET ATTRIBUTES {{a: 1}} WHERE {{ ?c {{key: "alice"}} {clause} }}'
    assert space.refused(text) == "InvalidSyntax"


@requirement("KI-ID-019")
@pytest.mark.parametrize("value", [{"id": "C-1"}, {"type": "Person", "key": "alice"}, "C-1"])
def test_a_bound_target_may_be_any_stable_reference(space: Space, people: People, value: Any) -> None:
    space.write("UPDATE :t SET ATTRIBUTES {seen: true}", t=value)
    assert attributes(space, people.alice)["seen"] is True


# --- sweeps -----------------------------------------------------------------------------------------------------------

SWEEP = 'UPDATE ?p SET ATTRIBUTES {seen: true} WHERE { ?p {type: "Person"} (?p, "works_for", ?o) }'


def works_for_two(space: Space) -> list[str]:
    """Three Persons, each with two employers."""
    made = space.handles(
        "MUTATE {"
        + " ".join(f'CREATE CONCEPT ?p{n} {{ TYPE "Person" SET ATTRIBUTES {{n: {n}}} }}' for n in range(3))
        + ' CREATE CONCEPT ?x { TYPE "Organization" } CREATE CONCEPT ?y { TYPE "Organization" }'
        + " ".join(f' ENSURE PROPOSITION (?p{n}, "works_for", ?{o})' for n in range(3) for o in "xy")
        + "}"
    )
    return [made[f"p{n}"] for n in range(3)]


@requirement("KI-KML-023", "KI-KML-005", "KI-KML-024", "KI-RETAIN-029")
def test_a_capped_sweep_takes_distinct_targets_by_number(space: Space) -> None:
    first, second, third = works_for_two(space)
    answer = space.answer(f"{SWEEP} LIMIT 2")
    assert [entry["id"] for entry in answer["result"]["changes"]] == [first, second]
    assert answer["receipt"]["change_summary"] == {"update": 2, "matched": 2, "updated": 2}
    again = space.answer(f"{SWEEP} LIMIT 2")
    assert again["status"] == "no_effect"
    assert again["result"] == {"changes": [], "handles": {}, "matched": 2, "updated": 0}
    rest = SWEEP.replace("(?p,", "NOT { ?p {attributes: {seen: true}} } (?p,")
    assert [entry["id"] for entry in space.write(rest)["changes"]] == [third]
    assert space.write(f"{SWEEP} LIMIT 0")["changes"] == []


@requirement("KI-KML-026", "KI-TX-028")
def test_one_target_that_cannot_be_changed_stops_the_sweep(space: Space, people: People) -> None:
    text = 'UPDATE ?e SET ATTRIBUTES {summary: :s} WHERE { ?e {type: "Event"} }'
    space.write('CREATE CONCEPT ?e { TYPE "Event" SET ATTRIBUTES {summary: "one"} }')
    space.write('CREATE CONCEPT ?e { TYPE "Event" SET ATTRIBUTES {summary: "two"} }')
    assert space.refused(text, s=7) == "ConstraintViolation"
    space.write('UPDATE ?e SET ATTRIBUTES {note: "x"} WHERE { ?e {type: "Event"} } LIMIT 1')
    guarded = 'UPDATE ?e SET ATTRIBUTES {note: "y"} WHERE { ?e {type: "Event"} } EXPECT VERSION 2'
    assert space.refused(guarded) == "VersionConflict"


@requirement("KI-KML-020", "KI-KML-025")
def test_a_where_beside_a_named_target_only_guards(space: Space, people: People) -> None:
    text = 'UPDATE :a SET ATTRIBUTES {{x: 1}} WHERE {{ ?c {{key: "{}"}} }}'
    assert space.answer(text.format("nobody"), a=people.alice)["status"] == "no_effect"
    assert space.answer(text.format("bob"), a=people.alice)["status"] == "succeeded"


@requirement("KI-TX-003", "KI-KML-023")
def test_a_selection_in_a_block_reads_the_state_before_the_block(space: Space, people: People) -> None:
    made = space.handles(
        """MUTATE {
          CREATE CONCEPT ?new { TYPE "Person" NAME "New" }
          UPDATE ?p SET ATTRIBUTES {swept: true} WHERE { ?p {type: "Person"} }
        }"""
    )
    assert attributes(space, people.bob) == {"swept": True}
    assert attributes(space, made["new"]) == {}


@requirement("KI-KML-025")
def test_an_unbound_optional_target_is_left_alone(space: Space, people: People) -> None:
    text = 'UPDATE ?o SET ATTRIBUTES {x: 1} WHERE { ?p {type: "Person"} OPTIONAL { (?p, "lives_in", ?o) } }'
    assert space.answer(text)["status"] == "no_effect"


# --- expressions ------------------------------------------------------------------------------------------------------


def compute(space: Space, people: People, expression: str, **values: Any) -> Any:
    text = f'UPDATE ?c SET ATTRIBUTES {{v: {expression}}} WHERE {{ ?c {{key: "alice"}} }}'
    return space.answer(text, **values)


@requirement("KI-KML-030", "KI-KML-031")
@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("ADD(?c.attributes.age, 1)", 42),
        ("add(?c.attributes.age, -1)", 40),
        ("MUL(?c.attributes.age, 0.5)", 20.5),
        ("CLAMP(ADD(?c.attributes.age, 100), 0, 99)", 99),
        ("COALESCE(?c.attributes.missing, :n)", 5),
        ("ADD(COALESCE(?c.attributes.missing, 1), MUL(2, 3))", 7),
    ],
)
def test_expressions_compute_from_the_state_before(space: Space, people: People, expression: str, value: Any) -> None:
    assert "error" not in compute(space, people, expression, n=5)
    assert attributes(space, people.alice)["v"] == value


@requirement("KI-KML-031")
@pytest.mark.parametrize(
    "expression",
    ["ADD(?c.attributes.missing, 1)", "MUL(?c.name, 2)", "COALESCE(?c.attributes.missing, null)", "ADD(:t, 1)"],
)
def test_a_value_that_is_no_number_skips_its_key(space: Space, people: People, expression: str) -> None:
    assert compute(space, people, expression, t="7")["status"] == "no_effect"


@requirement("KI-KML-031", "KI-KML-023")
def test_other_assignments_still_apply_and_read_old_values(space: Space, people: People) -> None:
    space.write(
        "UPDATE ?c SET ATTRIBUTES {age: ADD(?c.attributes.age, 1), m: ADD(?c.attributes.age, 10), k: ADD(?c.name, 1)}"
        ' WHERE { ?c {key: "alice"} }'
    )
    assert attributes(space, people.alice) == {"age": 42, "m": 51}


@requirement("KI-KML-032", "KI-KML-034")
@pytest.mark.parametrize(
    "expression",
    [
        "ADD(9007199254740991, 1)",
        "MUL(1e308, 10)",
        "MUL(1e-200, 1e-200)",
        "CLAMP(?c.attributes.age, 9, 1)",
    ],
)
def test_a_result_outside_the_numbers_fails_the_write(space: Space, people: People, expression: str) -> None:
    answer = compute(space, people, expression)
    assert answer["error"]["code"] in ("ConstraintViolation", "InvalidSyntax")
    assert space.seq == 1


@requirement("KI-KML-033", "KI-KML-030")
@pytest.mark.parametrize("expression", ["ADD(1)", "POW(2, 3)", "ADD(?d.attributes.age, 1)", "ADD(1, 2, 3)"])
def test_misused_expressions_are_errors(space: Space, people: People, expression: str) -> None:
    text = f'UPDATE ?c SET ATTRIBUTES {{v: {expression}}} WHERE {{ ?c {{key: "alice"}} ?d {{key: "bob"}} }}'
    assert space.refused(text) == "InvalidSyntax"


@requirement("KI-KML-034")
def test_a_computed_value_still_has_to_fit(space: Space, people: People) -> None:
    space.write('UPDATE :a SET FACET "MnemonicState" {memory_strength: 0.8}', a=people.alice)
    text = """UPDATE ?c SET FACET "MnemonicState" {
      memory_strength: ADD(?c.facets["MnemonicState"].memory_strength, 0.4)
    } WHERE { ?c {key: "alice"} }"""
    assert space.refused(text) == "ConstraintViolation"


# --- guards -----------------------------------------------------------------------------------------------------------


@requirement("KI-TX-025", "KI-TX-026", "KI-TX-027", "KI-ERR-054", "KI-STRUCT-013")
def test_each_plane_is_guarded_by_its_own_counter(space: Space, people: People) -> None:
    def passes(text: str) -> None:
        space.write(f"UPDATE :a {text}", a=people.alice)

    def conflict(text: str) -> Any:
        error = space.error(f"UPDATE :a {text}", a=people.alice)
        assert error["code"] == "VersionConflict"
        return error["details"]

    passes('SET FACET "MnemonicState" {salience: 0.1} EXPECT VERSION 0 OF FACET "MnemonicState"')
    passes('SET FACET "MnemonicState" {salience: 0.2} EXPECT VERSION 1 OF FACET "MnemonicState"')
    passes("SET ATTRIBUTES {a: 1} EXPECT VERSION 1 OF ATTRIBUTES EXPECT VERSION 0 OF RETENTION")
    assert conflict("SET ATTRIBUTES {a: 2} EXPECT VERSION 3") == {
        "element": people.alice,
        "plane": "element",
        "expected": 3,
        "found": 4,
    }
    assert conflict("SET ATTRIBUTES {a: 2} EXPECT VERSION 1 OF ATTRIBUTES")["plane"] == "attributes"
    assert (
        conflict("SET ATTRIBUTES {a: 2} EXPECT VERSION 2 OF ATTRIBUTES EXPECT VERSION 4 OF RETENTION")["plane"]
        == "retention"
    )
    space.write('SET RETENTION :a {retention_class: "x"} EXPECT VERSION 0 OF RETENTION', a=people.alice)
    assert space.element(people.alice)["_system"]["plane_versions"] == {
        "attributes": 2,
        "facets": {"MnemonicState": 2},
        "retention": 1,
        "structural": 0,
    }


@requirement("KI-TX-026", "KI-TX-030", "KI-KML-038")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "UPDATE :a SET ATTRIBUTES {a: 1} EXPECT VERSION 1 OF ATTRIBUTES EXPECT VERSION 1 OF ATTRIBUTES",
            "InvalidSyntax",
        ),
        ("UPDATE :a EXPECT VERSION 1 SET ATTRIBUTES {a: 1}", "InvalidSyntax"),
        ('UPDATE :a SET ATTRIBUTES {a: 1} EXPECT STATE "active"', "InvalidSyntax"),
        ("UPDATE :a SET ATTRIBUTES {a: 1} EXPECT VERSION -1", "TypeMismatch"),
        ('UPDATE :a SET ATTRIBUTES {a: 1} EXPECT VERSION "1"', "TypeMismatch"),
        ("UPDATE :a SET ATTRIBUTES {a: 1} EXPECT VERSION null", "TypeMismatch"),
        ("UPDATE :a SET ATTRIBUTES {a: 1} EXPECT VERSION 1.5", "TypeMismatch"),
    ],
)
def test_guards_stand_at_the_end_once_per_plane_with_a_count(
    space: Space, people: People, text: str, code: str
) -> None:
    assert space.refused(text, a=people.alice) == code


# --- one plan ---------------------------------------------------------------------------------------------------------


@requirement("KI-TX-010", "KI-KML-029", "KI-ERR-014")
@pytest.mark.parametrize(
    ("one", "two", "agrees"),
    [
        ('SET FIELDS {name: "One"}', 'SET FIELDS {name: "Two"}', False),
        ('SET FIELDS {name: "One"}', 'SET FIELDS {name: "One"}', True),
        ("SET ATTRIBUTES {x: 1}", "SET ATTRIBUTES {y: 2}", True),
        ("SET ATTRIBUTES {x: 1}", "UNSET ATTRIBUTES {x}", False),
        ('SET FACET "MnemonicState" {salience: 0.1}', 'SET FACET "MnemonicState" {salience: 0.2}', False),
    ],
)
def test_two_wishes_for_one_place_conflict_in_either_order(
    space: Space, people: People, one: str, two: str, agrees: bool
) -> None:
    for first, second in ((one, two), (two, one)):
        answer = space.answer(f"MUTATE {{ UPDATE :a {first} UPDATE :a {second} }}", a=people.alice)
        if agrees:
            assert "error" not in answer
        else:
            assert answer["error"]["code"] == "DuplicateMutationTarget"


@requirement("KI-TX-009")
def test_three_clauses_make_one_version(space: Space, people: People) -> None:
    space.write(
        """MUTATE {
          UPDATE :a SET ATTRIBUTES {x: 1} UPDATE :a SET FIELDS {name: "N"} SET RETENTION :a {retention_class: "r"}
        }""",
        a=people.alice,
    )
    assert space.element(people.alice)["_system"]["version"] == 2


@requirement("KI-KML-002", "KI-TX-002")
def test_an_update_of_what_the_block_creates_belongs_to_the_creation(space: Space) -> None:
    made = space.write('MUTATE { UPDATE ?a SET ATTRIBUTES {x: 1} CREATE CONCEPT ?a { TYPE "Person" } }')
    assert [entry["op"] for entry in made["changes"]] == ["create"]
    body = space.element(made["handles"]["a"])
    assert (body["attributes"], body["_system"]["version"]) == ({"x": 1}, 1)
