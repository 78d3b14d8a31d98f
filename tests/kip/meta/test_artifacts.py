"""VERIFY, VALIDATE and PREVIEW."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brain.ids import digest
from brain.kip.library import PackageLibrary
from brain.kip.schema.package import complete, seal
from tests.kip.conftest import Space
from tests.kip.meta.test_vocabulary import rows
from tests.kip.schema.conftest import package

CREATE = 'CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}'


class TestReceipts:
    """VERIFY RECEIPT."""

    @pytest.mark.requirement("KI-META-034", "KI-TX-016", "KI-META-035")
    def test_an_unchanged_receipt_is_recognised(self, space: Space) -> None:
        receipt = space.receipt(CREATE)
        for given in (receipt, json.dumps(receipt)):
            shown = rows(space, "VERIFY RECEIPT :r", r=given)
            assert (shown["valid"], shown["committed_here"], shown["signed"]) == (True, True, False)
            assert shown.keys().isdisjoint({"trusted", "true", "safe"})

    @pytest.mark.requirement("KI-META-034", "KI-TX-016")
    @pytest.mark.parametrize("change", [{"space_seq": 2}, {"committed_at": "2027-01-01T00:00:00.000Z"}, {"x": 1}])
    def test_a_changed_receipt_is_found_out(self, space: Space, change: dict[str, Any]) -> None:
        receipt = space.receipt(CREATE)
        assert space.refused("VERIFY RECEIPT :r", r=receipt | change) == "DigestMismatch"

    @pytest.mark.requirement("KI-META-034")
    def test_a_receipt_sealed_anew_is_not_the_one_committed_here(self, space: Space) -> None:
        receipt = {name: value for name, value in space.receipt(CREATE).items() if name != "receipt_digest"}
        forged = receipt | {"change_summary": {"create": 9}}
        assert space.refused("VERIFY RECEIPT :r", r=forged | {"receipt_digest": digest(forged)}) == "DigestMismatch"
        foreign = receipt | {"tx_id": "kip:space:other#1"}
        shown = rows(space, "VERIFY RECEIPT :r", r=foreign | {"receipt_digest": digest(foreign)})
        assert shown["committed_here"] is False

    @pytest.mark.requirement("KI-ERR-071")
    @pytest.mark.parametrize(
        ("value", "code"),
        [("x", "ArtifactParseError"), ("[]", "ArtifactParseError"), ({}, "ArtifactParseError"), (5, "TypeMismatch")],
    )
    def test_what_is_no_receipt_is_refused(self, space: Space, value: Any, code: str) -> None:
        assert space.refused("VERIFY RECEIPT :r", r=value) == code


class TestPackages:
    """VERIFY and VALIDATE SCHEMA PACKAGE."""

    @pytest.mark.requirement("KI-META-034")
    def test_an_installed_package_is_compared_with_the_one_here(self, space: Space) -> None:
        general = dict(PackageLibrary.bundled().resolve("general").artifact)
        shown = rows(space, "VERIFY SCHEMA PACKAGE :p", p=general)
        assert shown["content_digest"] == shown["installed"] == shown["declared"]
        altered = seal(general | {"model_hints": {"summary": "other"}})
        assert space.refused("VERIFY SCHEMA PACKAGE :p", p=altered) == "DigestMismatch"
        assert space.refused("VERIFY SCHEMA PACKAGE :p", p=general | {"model_hints": {}}) == "DigestMismatch"

    @pytest.mark.requirement("KI-META-034")
    def test_a_package_nobody_installed_is_verified_by_itself(self, space: Space) -> None:
        shown = rows(
            space, "VERIFY SCHEMA PACKAGE :p", p=json.dumps(complete(package("t/one", concept_types={"G": {}})))
        )
        assert (shown["valid"], shown["installed"], shown["package_ref"]) == (True, None, "kip://t/one@1.0.0")

    @pytest.mark.requirement("KI-META-036", "KI-SCHEMA-023")
    @pytest.mark.parametrize(
        ("artifact", "codes"),
        [
            (package("t/one", concept_types={"G": {"description": "d"}}), []),
            (package("t/one", concept_types={"Assertion": {}}), ["SchemaSymbolConflict"]),
            (package("t/one", predicates={"p": {"functional": 1}}), ["ConstraintViolation"]),
            (package("t/one", dependencies=[{"package_ref": "kip://t/absent@1.0.0"}]), ["SchemaPackageUnavailable"]),
            (package("domains/general"), ["SchemaSymbolConflict"]),
            ({"format": "KIP-Something"}, ["InvalidIdentifier"]),
            ("{", ["ArtifactParseError"]),
        ],
    )
    def test_a_package_is_judged_and_not_installed(self, space: Space, artifact: Any, codes: list[str]) -> None:
        before = rows(space, "DESCRIBE SCHEMA ENVIRONMENT")
        shown = rows(space, "VALIDATE SCHEMA PACKAGE :p", p=artifact)
        assert [violation["code"] for violation in shown["violations"]] == codes
        assert shown["valid"] is not bool(codes)
        assert rows(space, "DESCRIBE SCHEMA ENVIRONMENT") == before


class TestTexts:
    """VALIDATE KQL and KML."""

    @pytest.mark.requirement("KI-META-036")
    @pytest.mark.parametrize(
        ("language", "text", "codes"),
        [
            ("KQL", 'FIND(?c) WHERE { ?c {type: "Person"} }', []),
            ("KQL", "FIND(?c", ["InvalidSyntax"]),
            ("KQL", 'CREATE CONCEPT ?x {TYPE "Person"}', ["LanguageMismatch"]),
            ("KQL", 'FIND(?c) WHERE { ?c {type: "Nope"} }', ["SchemaSymbolNotFound"]),
            ("KQL", 'FIND(?c) WHERE { ?c {type: :t} ?c {type: "Nope"} }', ["SchemaSymbolNotFound"]),
            ("KQL", "FIND(?c) WHERE { ?c {type: :t} }", []),
            ("KML", CREATE, []),
            ("KML", "", ["InvalidSyntax"]),
            ("KML", "FIND(?c) WHERE { ?c {} }", ["LanguageMismatch"]),
            ("KML", 'CREATE CONCEPT ?x {TYPE "Persn"}', ["SchemaSymbolNotFound"]),
            ("KML", "CREATE CONCEPT ?x {TYPE :t}", []),
            (
                "KML",
                'MUTATE { CREATE CONCEPT ?x {TYPE "No"} CREATE CONCEPT ?y {TYPE "Nay"} }',
                ["SchemaSymbolNotFound"] * 2,
            ),
            ("KML", 'ENSURE PROPOSITION ("C-1", "adores", "C-2")', ["SchemaSymbolNotFound"]),
            ("KML", 'UPDATE "C-1" SET FACET "Mood" {x: 1}', ["SchemaSymbolNotFound"]),
            ("KML", 'UPDATE "C-1" SET STRUCTURAL {("near", "C-2")}', ["SchemaSymbolNotFound"]),
            ("KML", 'DEFINE PREDICATE "p" {description: "d", complete: true}', ["ConstraintViolation"]),
            ("KML", 'DEFINE PREDICATE "prefers" {description: "d"}', ["SchemaSymbolConflict"]),
            ("KML", 'DEFINE PREDICATE :n {description: "d"}', []),
        ],
    )
    def test_legality_is_told_with_the_codes_of_execution(
        self, space: Space, language: str, text: str, codes: list[str]
    ) -> None:
        shown = rows(space, f"VALIDATE {language} :text", text=text)
        assert [violation["code"] for violation in shown["violations"]] == codes
        assert shown["valid"] is not bool(codes)
        assert space.seq == 0

    @pytest.mark.requirement("KI-META-036")
    def test_parameters_can_be_given(self, space: Space) -> None:
        shown = rows(space, 'VALIDATE KML "CREATE CONCEPT ?x {TYPE :t}" WITH {parameters: {t: "Nope"}}')
        assert shown["violations"][0]["code"] == "SchemaSymbolNotFound"

    def test_an_unregistered_class_is_a_warning_and_a_fault_when_strict(self, space: Space) -> None:
        text = 'CREATE ACTIVITY ?x {SET FIELDS {activity_class: "juggling"}}'
        loose = rows(space, "VALIDATE KML :t", t=text)
        strict = rows(space, "VALIDATE KML :t WITH {strict: true}", t=text)
        assert (loose["valid"], strict["valid"]) == (True, False)
        assert loose["warnings"][0]["code"] == "UnregisteredClass"
        for known in ("reflection", "inference", "urn:mine:juggling"):
            assert rows(space, "VALIDATE KML :t", t=text.replace("juggling", known))["warnings"] == []

    @pytest.mark.parametrize(
        ("command", "code"),
        [
            ("VALIDATE KQL 5", "TypeMismatch"),
            ('VALIDATE KQL "x" WITH {colour: 1}', "SchemaFieldNotFound"),
            ('VALIDATE KQL "x" WITH {parameters: 1}', "TypeMismatch"),
            ('VALIDATE KQL "x" WITH {strict: 1}', "TypeMismatch"),
        ],
    )
    def test_a_bad_question_is_refused(self, space: Space, command: str, code: str) -> None:
        assert space.refused(command) == code


class TestPreview:
    """PREVIEW KML."""

    @pytest.mark.requirement("KI-META-037", "KI-META-001")
    def test_it_shows_what_would_happen_and_keeps_nothing(self, space: Space) -> None:
        shown = rows(space, "PREVIEW KML :t", t=CREATE)
        assert (shown["would_commit"], shown["would_change"], shown["receipt"]) == (True, True, None)
        assert shown["effect"]["changes"][0]["op"] == "create"
        assert space.seq == 0
        assert space.handles(CREATE)["a"] == "C-1"

    @pytest.mark.requirement("KI-META-037")
    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ('CREATE CONCEPT ?x {TYPE "Nope"}', "SchemaSymbolNotFound"),
            ('UPDATE "C-404" SET ATTRIBUTES {a: 1}', "NotFoundOrNotVisible"),
            ('CREATE CONCEPT ?x {TYPE "Person" SET FIELDS {key: "ann"}}', "IdentityConflict"),
            ('UPDATE "C-1" SET ATTRIBUTES {a: 1} EXPECT VERSION 9', "VersionConflict"),
        ],
    )
    def test_it_finds_what_only_the_state_can_tell(self, space: Space, text: str, code: str) -> None:
        space.write('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"}}')
        shown = rows(space, "PREVIEW KML :t", t=text)
        assert (shown["would_commit"], shown["error"]["code"]) == (False, code)

    @pytest.mark.requirement("KI-META-037")
    @pytest.mark.parametrize(
        ("text", "code"),
        [("FIND(?x) WHERE { ?x {} }", "LanguageMismatch"), ("UPDATE", "InvalidSyntax"), ("", "InvalidSyntax")],
    )
    def test_what_is_no_kml_has_no_effect_to_show(self, space: Space, text: str, code: str) -> None:
        assert space.error("PREVIEW KML :t", t=text)["code"] == code

    @pytest.mark.requirement("KI-META-038")
    def test_it_promises_nothing(self, space: Space) -> None:
        space.write('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}')
        text = 'UPDATE "C-1" SET ATTRIBUTES {a: 1} EXPECT VERSION 1'
        assert rows(space, "PREVIEW KML :t", t=text)["would_commit"] is True
        space.write('UPDATE "C-1" SET ATTRIBUTES {b: 1}')
        assert space.refused(text) == "VersionConflict"

    def test_no_change_is_told_as_such(self, space: Space) -> None:
        space.write('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}')
        shown = rows(space, "PREVIEW KML :t", t='UPDATE "C-1" SET FIELDS {name: "Ann"}')
        assert (shown["would_commit"], shown["would_change"]) == (True, False)
