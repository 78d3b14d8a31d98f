"""DESCRIBE and LIST over the vocabulary."""

from __future__ import annotations

from typing import Any

import pytest

from brain.kip.library import PackageLibrary
from tests.kip.conftest import Space

PERSON = "kip://profiles/cognitive-memory@2.0.0/Person"
LISTS = ("TYPES", "PREDICATES", "FACETS", "STRUCTURAL FIELDS", "SCHEMA PACKAGES", "SPACES", "EPISTEMIC POLICIES")


def rows(space: Space, command: str, **values: Any) -> Any:
    answer = space.answer(command, **values)
    assert "error" not in answer, answer["error"]
    return answer["result"]


@pytest.mark.requirement("KI-META-006")
@pytest.mark.parametrize(
    ("command", "ref", "kind"),
    [
        ('DESCRIBE TYPE "Person"', PERSON, "Concept type"),
        (f'DESCRIBE TYPE "{PERSON}"', PERSON, "Concept type"),
        ('DESCRIBE PREDICATE "lives_in"', "kip://domains/general@1.0.0/lives_in", "predicate"),
        ('DESCRIBE FACET "MnemonicState"', "kip://profiles/cognitive-memory@2.0.0/MnemonicState", "facet"),
        ('DESCRIBE STRUCTURAL FIELD "has_step"', "kip://profiles/cognitive-memory@2.0.0/has_step", "structural field"),
        ('DESCRIBE STRUCTURAL FIELD "evidence"', "kip://core@2.0.0/evidence", "structural field"),
    ],
)
def test_a_symbol_is_described_exactly(space: Space, command: str, ref: str, kind: str) -> None:
    shown = rows(space, command)
    assert {name: shown[name] for name in ("ref", "local_name", "package_ref", "status", "kind")} == {
        "ref": ref,
        "local_name": ref.rsplit("/", 1)[1],
        "package_ref": ref.rsplit("/", 1)[0],
        "status": "active",
        "kind": kind,
    }
    assert shown["definition"]["description"]


@pytest.mark.requirement("KI-SCHEMA-013")
def test_a_bare_predicate_is_described_with_its_defaults(space: Space) -> None:
    space.write('DEFINE PREDICATE "admires" {description: "looks up to"}')
    definition = rows(space, 'DESCRIBE PREDICATE "admires"')["definition"]
    assert definition == {
        "ref": "kip://local/draft@0.0.0/admires",
        "kind": "PredicateType",
        "description": "looks up to",
        "functional": False,
        "open_world": True,
        "complete": False,
        "boolean_completeness": False,
        "temporal_conflict": "overlapping_valid_time",
    }


def test_a_value_schema_is_shown_with_what_it_refers_to(space: Space) -> None:
    definition = rows(space, 'DESCRIBE FACET "OutcomeRecord"')["definition"]
    (schema,) = definition["referred_schemas"].values()
    assert "outcome_status" in schema["required"]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ('DESCRIBE TYPE "Preference"', "SchemaSymbolNotFound"),
        ('DESCRIBE TYPE "lives_in"', "SchemaSymbolNotFound"),
        ("DESCRIBE TYPE 5", "TypeMismatch"),
        ('DESCRIBE PACKAGE "kip://domains/general@9.0.0"', "SchemaPackageUnavailable"),
        ('LIST SCHEMA PACKAGES STATUS "asleep"', "ConstraintViolation"),
        ("LIST SCHEMA PACKAGES STATUS 5", "TypeMismatch"),
        ("DESCRIBE SCHEMA ENVIRONMENT AS OF SEQ 7", "HistoricalSnapshotUnavailable"),
        ("DESCRIBE SCHEMA ENVIRONMENT AS OF SEQ -1", "TypeMismatch"),
    ],
)
def test_what_cannot_be_described_says_why(space: Space, command: str, code: str) -> None:
    assert space.refused(command) == code


@pytest.mark.requirement("KI-META-013")
@pytest.mark.parametrize("subject", LISTS)
def test_every_list_pages_without_gaps_or_repetition(space: Space, subject: str) -> None:
    whole = rows(space, f"LIST {subject}")
    assert whole
    walked: list[Any] = []
    answer = space.answer(f"LIST {subject} LIMIT 3")
    for _ in range(100):
        walked += answer["result"]
        if "next_cursor" not in answer:
            break
        answer = space.answer(f"LIST {subject} LIMIT 3 CURSOR :c", c=answer["next_cursor"])
    assert walked == whole


@pytest.mark.requirement("KI-META-013", "KI-SCHEMA-024")
def test_symbols_are_listed_by_reference(space: Space) -> None:
    space.write('DEFINE PREDICATE "mentors" {description: "teaches"}')
    listed = rows(space, "LIST PREDICATES")
    assert listed == sorted(listed, key=lambda row: row["ref"])
    assert {
        "ref": "kip://local/draft@0.0.0/mentors",
        "local_name": "mentors",
        "package_ref": "kip://local/draft@0.0.0",
        "status": "active",
    } in listed


@pytest.mark.requirement("KI-META-013", "KI-KQL-056")
def test_a_list_shows_the_vocabulary_its_first_page_saw(space: Space) -> None:
    whole = rows(space, "LIST PREDICATES")
    first = space.answer("LIST PREDICATES LIMIT 2")
    space.write('DEFINE PREDICATE "zz" {description: "d"}')
    second = space.answer("LIST PREDICATES CURSOR :c", c=first["next_cursor"])
    assert first["result"] + second["result"] == whole
    assert len(rows(space, "LIST PREDICATES")) == len(whole) + 1


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ('LIST TYPES CURSOR "zzz"', "CursorInvalid"),
        ("LIST TYPES CURSOR :c", "CursorInvalid"),
        ("LIST TYPES LIMIT -1", "TypeMismatch"),
        ('LIST TYPES LIMIT "2"', "TypeMismatch"),
        ("LIST TYPES LIMIT 1.5", "TypeMismatch"),
    ],
)
def test_a_bad_page_is_refused(space: Space, command: str, code: str) -> None:
    assert space.refused(command, c=None) == code


def test_a_cursor_goes_on_with_its_own_list_only(space: Space) -> None:
    cursor = space.answer("LIST TYPES LIMIT 1")["next_cursor"]
    assert space.refused("LIST PREDICATES LIMIT 1 CURSOR :c", c=cursor) == "CursorMismatch"
    assert space.refused("HISTORY SPACE CURSOR :c", c=cursor) == "CursorTypeMismatch"
    assert rows(space, "LIST TYPES LIMIT 0") == []


@pytest.mark.requirement("KI-META-006", "KI-SCHEMA-021")
def test_a_package_is_described_by_reference_or_id(space: Space) -> None:
    by_ref = rows(space, 'DESCRIBE PACKAGE "kip://domains/general@1.0.0"')
    assert by_ref == rows(space, 'DESCRIBE PACKAGE "kip://domains/general"')
    assert by_ref["symbols"]["concept_types"] == ["Organization", "Place", "Topic"]
    assert by_ref["integrity"]["content_digest"] == PackageLibrary.bundled().resolve("general").digest
    assert rows(space, 'DESCRIBE PACKAGE "kip://core@2.0.0"')["symbols"]["kinds"] == [
        "Activity",
        "Assertion",
        "Concept",
        "Evidence",
        "Proposition",
    ]


@pytest.mark.requirement("KI-SCHEMA-033")
def test_the_draft_package_is_described_as_it_grows(space: Space) -> None:
    draft = 'DESCRIBE PACKAGE "kip://local/draft@0.0.0"'
    assert space.refused(draft) == "SchemaPackageUnavailable"
    space.write('DEFINE PREDICATE "one" {description: "d"}')
    first = rows(space, draft)
    space.write('DEFINE CONCEPT TYPE "Two" {description: "d"}')
    second = rows(space, draft)
    assert (first["package_ref"], first["status"]) == (second["package_ref"], second["status"])
    assert first["integrity"]["content_digest"] != second["integrity"]["content_digest"]
    assert second["symbols"]["concept_types"] == ["Two"]
    assert second["symbols"]["predicates"] == ["one"]


@pytest.mark.requirement("KI-SCHEMA-017", "KI-SCHEMA-019", "KI-META-006")
def test_the_environment_is_kept_as_it_was(space: Space) -> None:
    before = rows(space, "DESCRIBE SCHEMA ENVIRONMENT")
    space.write('DEFINE PREDICATE "one" {description: "d"}')
    now = rows(space, "DESCRIBE SCHEMA ENVIRONMENT")
    then = rows(space, "DESCRIBE SCHEMA ENVIRONMENT AS OF SEQ 0")
    assert then == before
    assert (then["version"], now["version"]) == (1, 2)
    assert "kip://local/draft@0.0.0" in now["packages"]
    assert "kip://local/draft@0.0.0" not in then["packages"]
    assert space.commit(1).envelope["control_changes"][0]["kind"] == "schema"
