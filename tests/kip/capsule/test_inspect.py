"""VERIFY, VALIDATE and PREVIEW IMPORT of a Capsule: what each tells, and that none of them takes anything in."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brain.ids import canonical_json, digest
from brain.kip import capabilities
from brain.kip.context import OWNER_PERMISSIONS, Limits, Session
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.kip.schema.package import complete
from brain.store.sqlite import SqliteStore
from tests.kip.capsule.conftest import CLAIMS, SETUP, Capsule, record, resealed
from tests.kip.conftest import OWNER, Space
from tests.kip.schema.conftest import package

requirement = pytest.mark.requirement
HERE = '"kip:space:default"'
PREVIEW = f"PREVIEW IMPORT CAPSULE :c INTO {HERE}"

COATS = package(
    "cases/coats",
    concept_types={
        "Coat": {"attributes": {"fields": {"size": {"type": "integer"}, "colour": {"type": "string"}}}},
    },
)


@pytest.fixture
def capsule(space: Space, told: dict[str, str]) -> Capsule:
    exported: Capsule = space.write(f'{CLAIMS} WITH {{closure: "closed", provenance_depth: 1}}')
    return exported


@pytest.fixture
def elsewhere(tmp_path: Path, space: Space) -> Iterator[Space]:
    """Another Space, with a package and a draft of its own."""
    library = PackageLibrary()
    coats = library.install(COATS)
    store = SqliteStore(tmp_path / "elsewhere", clock=space.clock, durability="normal")
    controls = Engine.birth_controls(library, ["general", coats.ref])
    other = Space(store.create("elsewhere", now_ms=space.clock.now_ms(), controls=controls), space.clock)
    other.engine = Engine(other.store, library, clock=space.clock)
    yield other
    store.close()


class TestVerify:
    """Is it what it was?"""

    @requirement("KI-META-034", "KI-CAP-025")
    def test_a_capsule_is_verified_as_text_and_as_an_object(self, space: Space, capsule: Capsule) -> None:
        for given in (capsule, json.dumps(capsule, indent=1), json.dumps(dict(reversed(capsule.items())))):
            shown = space.write("VERIFY CAPSULE :c", c=given)
            assert (shown["valid"], shown["content_digest"]) == (True, capsule["integrity"]["content_digest"])
            assert (shown["kind"], shown["closure"], shown["records"]) == ("snapshot", "closed", 6)

    @requirement("KI-CAPS-009", "KI-META-035")
    def test_verifying_says_nothing_of_truth_trust_or_authority(self, space: Space, capsule: Capsule) -> None:
        signed = {**capsule, "integrity": {**capsule["integrity"], "signatures": [{"by": "somebody"}]}}
        shown = space.write("VERIFY CAPSULE :c", c=signed)
        assert shown["signatures"] == {"present": 1, "checked": False}
        assert shown.keys().isdisjoint({"trusted", "true", "safe", "authority", "grants"})

    @requirement("KI-ERR-072", "KI-CAPS-003")
    def test_any_change_is_found_out(self, space: Space, capsule: Capsule) -> None:
        changed = json.loads(json.dumps(capsule))
        record(changed, "concept")["name"] = "Mallory"
        for verb in ("VERIFY CAPSULE :c", PREVIEW):
            error = space.error(verb, c=changed)
            assert error["code"] == "DigestMismatch"
            assert error["details"]["declared"] == capsule["integrity"]["content_digest"]

    @requirement("KI-CAPS-004")
    @pytest.mark.parametrize(
        "change",
        [
            lambda c: c.update(format_version="1.0-draft"),
            lambda c: c["integrity"].update(digest_profile="kip-draft-canonical-json-v1"),
        ],
    )
    def test_older_drafts_are_refused_and_never_read_under_the_new_name(
        self, space: Space, capsule: Capsule, change: Callable[[Any], None]
    ) -> None:
        older = json.loads(json.dumps(capsule))
        change(older)
        assert space.refused("VERIFY CAPSULE :c", c=older) == "UnsupportedCapability"

    @requirement("KI-ERR-071", "KI-ERR-076")
    @pytest.mark.parametrize(
        ("given", "code"),
        [
            ("x", "ArtifactParseError"),
            ("\ufeff{}", "ArtifactParseError"),
            ('{"format": 1, "format": 2}', "ArtifactParseError"),
            ({}, "ArtifactParseError"),
            ({"format": "KIP-Cognitive-Capsule", "format_version": "2.0-draft"}, "ArtifactParseError"),
            (7, "TypeMismatch"),
        ],
    )
    def test_what_is_no_capsule_is_refused(self, space: Space, given: Any, code: str) -> None:
        assert space.refused("VERIFY CAPSULE :c", c=given) == code

    @requirement("KI-ERR-071", "KI-ERR-076")
    def test_its_parts_have_to_be_of_their_kind(self, space: Space, capsule: Capsule) -> None:
        broken = {**capsule, "payload": {**capsule["payload"], "records": "x"}}
        assert space.refused("VERIFY CAPSULE :c", c=broken) == "ArtifactParseError"
        spelt = {**capsule, "integrity": {**capsule["integrity"], "content_digest": "sha256:00"}}
        assert space.refused("VERIFY CAPSULE :c", c=spelt) == "CapsuleValidationFailed"

    @requirement("KI-ERR-070")
    @pytest.mark.parametrize("subject", ["VERIFY CAPSULE", "VERIFY RECEIPT", "VERIFY SCHEMA PACKAGE"])
    def test_an_artifact_may_have_so_many_bytes_and_not_one_more(
        self, space: Space, capsule: Capsule, subject: str
    ) -> None:
        text = canonical_json(capsule).decode()
        for given in (text, capsule):
            for spare, code in ((0, None), (-1, "ArtifactTooLarge")):
                limits = replace(Limits(), artifact_bytes=len(text.encode()) + spare)
                engine = Engine(space.store, PackageLibrary.bundled(), clock=space.clock, limits=limits)
                answer: Any = engine.run(f"{subject} :c", {"c": given}, session=OWNER).response["results"][0]
                found = answer.get("error", {}).get("code")
                assert (found == "ArtifactTooLarge") == (code is not None)
                if code:
                    assert answer["error"]["details"] == {"bytes": len(text.encode()), "limit": limits.artifact_bytes}


class TestValidate:
    """Does it fit together?"""

    @requirement("KI-META-036", "KI-CAPS-001")
    def test_an_export_is_valid(self, space: Space, capsule: Capsule) -> None:
        shown = space.write("VALIDATE CAPSULE :c WITH {strict: true}", c=capsule)
        assert (shown["valid"], shown["violations"], shown["warnings"]) == (True, [], [])

    @requirement("KI-ERR-076", "KI-CAPS-001", "KI-CAPS-007")
    @pytest.mark.parametrize(
        ("change", "path"),
        [
            (lambda p: p["manifest"].update(kind="nonsense"), "payload.manifest.kind"),
            (lambda p: p["manifest"].pop("closure"), "payload.manifest"),
            (lambda p: p["records"][2].update(confidence=0.5), "payload.records[2]"),
            (lambda p: p["records"][0].update(kind="thing"), "payload.records[0]"),
            (lambda p: p["records"][0]["_system"].update(created_at="yesterday"), "payload.records[0]"),
            (lambda p: p["records"][1].update(id="r1"), "payload"),
            (lambda p: p["records"][2]["subject"].update(id="r99"), "r3.subject"),
            (lambda p: p["manifest"]["roots"].append("r99"), "manifest.roots"),
            (lambda p: p["records"].pop(4), "r4.evidence"),
            (lambda p: p["schema_dependencies"].pop(1), "r2"),
            (lambda p: p["schema_dependencies"][1].pop("content_digest"), "payload.schema_dependencies"),
            (lambda p: p["external_refs"].append({"id": "x1", "kind": "redacted"}), "payload.external_refs"),
            (lambda p: p["blobs"].update({"a": "b"}), "payload.blobs"),
        ],
    )
    def test_what_does_not_fit_is_named_with_its_place(
        self, space: Space, capsule: Capsule, change: Callable[[Any], object], path: str
    ) -> None:
        shown = space.write("VALIDATE CAPSULE :c", c=resealed(capsule, change))
        assert not shown["valid"]
        assert path in {fault["path"].removesuffix("._system.created_at") for fault in shown["violations"]}

    @requirement("KI-ERR-076")
    def test_every_fault_is_told_at_once(self, space: Space, capsule: Capsule) -> None:
        def break_two(payload: Any) -> None:
            payload["records"][2]["subject"]["id"] = "r98"
            payload["records"][3]["proposition"]["id"] = "r99"

        broken = resealed(capsule, break_two)
        faults = space.write("VALIDATE CAPSULE :c", c=broken)["violations"]
        assert [fault["path"] for fault in faults] == ["r3.subject", "r4.proposition"]
        assert space.error(PREVIEW, c=broken)["details"]["faults"] == faults

    @requirement("KI-ERR-080")
    def test_looking_takes_no_longer_than_it_may(self, space: Space, capsule: Capsule) -> None:
        many = resealed(capsule, lambda p: p["records"].extend([p["records"][0]] * 20_000))
        error = space.error("VALIDATE CAPSULE :c", envelope={"options": {"deadline_ms": 50}}, c=many)
        assert error["code"] == "ExecutionTimeout"

    @requirement("KI-CAPS-023", "KI-ERR-072")
    def test_bytes_are_found_by_their_digest(self, space: Space, capsule: Capsule) -> None:
        content = "a film"
        good = resealed(capsule, lambda p: p["blobs"].update({digest(content.encode()): content}))
        assert space.write("VALIDATE CAPSULE :c", c=good)["valid"]
        for change in (
            lambda p: p["blobs"].update({digest(b"another"): content}),
            lambda p: p["records"][4]["payload"].update(inline="I live in Rome."),
        ):
            (fault,) = space.write("VALIDATE CAPSULE :c", c=resealed(capsule, change))["violations"]
            assert fault["code"] == "DigestMismatch"

    @requirement("KI-CAPS-001", "KI-SCHEMA-023")
    def test_records_are_held_against_the_definitions_they_name(self, space: Space, capsule: Capsule) -> None:
        (fault,) = space.write("VALIDATE CAPSULE :c", c=resealed(capsule, lambda p: p["records"][2].update(object=5)))[
            "violations"
        ]
        assert (fault["code"], fault["path"]) == ("ConstraintViolation", "r3")

    @requirement("KI-CAPS-022", "KI-CAPS-007")
    def test_what_a_facet_refers_to_is_a_record_or_named_as_outside(self, space: Space, told: dict[str, str]) -> None:
        scope = 'UPDATE "C-2" SET FACET "MemoryScope" {context_refs: [:who], task_ref: null}'
        space.write(scope, who="C-1")
        exported = 'EXPORT CAPSULE "C-2" WHERE { ?x {id: "C-2"} }'
        named, whole = space.write(exported), space.write(f'{exported} WITH {{closure: "closed"}}')
        for capsule in (named, whole):
            (facet,) = capsule["payload"]["records"][-1]["facets"].values()
            assert facet == {"context_refs": ["C-1"], "task_ref": None}
            assert space.write("VALIDATE CAPSULE :c", c=capsule)["valid"]
        assert [entry["locator"]["element_id"] for entry in named["payload"]["external_refs"]] == ["C-1"]
        assert set(whole["payload"]["handling"]["source_elements"].values()) == {"C-1", "C-2"}
        lost = resealed(named, lambda p: p["external_refs"].clear())
        (fault,) = space.write("VALIDATE CAPSULE :c", c=lost)["violations"]
        assert fault["path"].endswith("MemoryScope]/context_refs/0")

    @requirement("KI-CAPS-005")
    @pytest.mark.parametrize(
        ("base", "target", "told_seqs", "is_valid"),
        [(0, 1, [1], True), (1, 1, [], False), (0, 2, [1, 2], False), (0, 1, [], False), (0, 1, [2], False)],
    )
    def test_a_delta_holds_the_commits_between_its_ends(
        self, space: Space, capsule: Capsule, base: int, target: int, told_seqs: list[int], is_valid: bool
    ) -> None:
        def changes(payload: Any) -> None:
            payload["manifest"] |= {"kind": "delta", "base_seq": base, "target_seq": target}
            payload["changes"] = [{"space_seq": seq} for seq in told_seqs]

        delta = resealed(capsule, changes)
        assert space.write("VALIDATE CAPSULE :c", c=delta)["valid"] is is_valid
        assert space.refused(PREVIEW, c=delta) == ("UnsupportedCapability" if is_valid else "CapsuleValidationFailed")
        assert not space.write(
            "VALIDATE CAPSULE :c", c=resealed(capsule, lambda p: p["manifest"].update(kind="delta"))
        )["valid"]


class TestVocabulary:
    """Packages that came along are looked at and never activated."""

    @requirement("KI-SCHEMA-023", "KI-CAPS-020")
    def test_a_package_that_came_along_serves_to_validate(self, space: Space, elsewhere: Space) -> None:
        elsewhere.write('CREATE CONCEPT ?c {TYPE "Coat" SET ATTRIBUTES {size: 42}}')
        exported = "EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }"
        bare = elsewhere.write(exported)
        (warning,) = space.write("VALIDATE CAPSULE :c", c=bare)["warnings"]
        assert warning["code"] == "SchemaPackageUnavailable"
        assert not space.write("VALIDATE CAPSULE :c WITH {strict: true}", c=bare)["valid"]
        whole = elsewhere.write(f"{exported} WITH {{include_schema: true}}")
        assert space.write("VALIDATE CAPSULE :c WITH {strict: true}", c=whole)["valid"]
        wrong = resealed(whole, lambda p: p["records"][0]["attributes"].update(size="large"))
        (fault,) = space.write("VALIDATE CAPSULE :c", c=wrong)["violations"]
        assert fault["path"] == "r1"
        assert space.refused('FIND(?c) WHERE { ?c {type: "Coat"} }') == "SchemaSymbolNotFound"
        assert space.refused(PREVIEW, c=whole) == "SchemaPackageUnavailable"
        assert space.write("DESCRIBE SCHEMA ENVIRONMENT")["version"] == 1

    @requirement("KI-CAPS-020", "KI-ERR-072")
    def test_a_package_that_came_along_changed_is_found_out(self, space: Space, elsewhere: Space) -> None:
        elsewhere.write('CREATE CONCEPT ?c {TYPE "Coat" SET ATTRIBUTES {size: 42}}')
        whole = elsewhere.write("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} } WITH {include_schema: true}")

        def change(payload: Any) -> None:
            embedded = payload["handling"]["embedded_packages"]
            name = embedded["kip://cases/coats@1.0.0"]
            content = payload["blobs"].pop(name).replace('"integer"', '"string"')
            embedded["kip://cases/coats@1.0.0"] = digest(content.encode())
            payload["blobs"][digest(content.encode())] = content

        (fault,) = space.write("VALIDATE CAPSULE :c", c=resealed(whole, change))["violations"]
        assert fault["code"] == "DigestMismatch"

    @requirement("KI-SCHEMA-023")
    def test_packages_that_need_each_other_or_nobody_are_looked_at_all_the_same(
        self, space: Space, elsewhere: Space
    ) -> None:
        elsewhere.write('CREATE CONCEPT ?c {TYPE "Coat" SET ATTRIBUTES {size: 42}}')
        bare = elsewhere.write("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }")
        here, there = (
            complete(package(f"cases/{one}", dependencies=[{"package_ref": f"kip://cases/{other}@1.0.0"}]))
            for one, other in (("here", "there"), ("there", "here"))
        )
        lost = complete(package("cases/lost", dependencies=[{"package_ref": "kip://cases/nowhere@1.0.0"}]))

        def carry(payload: Any) -> None:
            embedded = payload["handling"].setdefault("embedded_packages", {})
            for artifact in (here, there, lost):
                content = canonical_json(artifact).decode()
                ref = artifact["manifest"]["package_ref"]
                payload["blobs"][digest(content.encode())] = content
                embedded[ref] = digest(content.encode())
                declared = {"package_ref": ref, "content_digest": artifact["integrity"]["content_digest"]}
                payload["schema_dependencies"].append(declared)

        shown = space.write("VALIDATE CAPSULE :c", c=resealed(bare, carry))
        assert (shown["valid"], shown["violations"]) == (True, [])
        told = " ".join(warning["message"] for warning in shown["warnings"])
        assert "kip://cases/lost@1.0.0" in told
        assert "kip://cases/here@1.0.0" not in told

    @requirement("KI-ERR-019", "KI-CAPS-021")
    def test_every_missing_package_and_every_unmapped_draft_is_named(self, space: Space, elsewhere: Space) -> None:
        for name in ("Hat", "Glove"):
            elsewhere.write(f'DEFINE CONCEPT TYPE "{name}" {{description: "Something worn."}}')
            space.write(f'DEFINE CONCEPT TYPE "{name}" {{description: "Something else of the same name."}}')
            elsewhere.write(f'CREATE CONCEPT ?c {{TYPE "{name}"}}')
        elsewhere.write('CREATE CONCEPT ?c {TYPE "Coat"}')
        error = space.error(PREVIEW, c=elsewhere.write("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }"))
        assert (error["code"], error["retry"]["class"]) == ("SchemaPackageUnavailable", "requires_refresh")
        assert error["details"]["unmapped_symbols"] == [
            "kip://local/draft@0.0.0/Glove",
            "kip://local/draft@0.0.0/Hat",
        ]
        assert error["details"]["packages"] == ["kip://cases/coats@1.0.0"]

    @requirement("KI-CAPS-021")
    def test_a_space_knows_its_own_drafts_again(self, space: Space) -> None:
        space.write('DEFINE CONCEPT TYPE "Hat" {description: "Something worn."}')
        space.write('CREATE CONCEPT ?c {TYPE "Hat"}')
        capsule = space.write("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} } WITH {include_schema: true}")
        assert "kip://local/draft@0.0.0" not in capsule["payload"]["handling"].get("embedded_packages", {})
        space.write('DEFINE CONCEPT TYPE "Glove" {description: "Something worn, too."}')
        assert [entry["decision"] for entry in space.write(PREVIEW, c=capsule)["identities"]] == ["create"]


class TestPreview:
    """What would an import meet?"""

    @requirement("KI-META-037", "KI-CAP-025", "KI-CAPS-006")
    def test_a_preview_says_who_is_new_and_that_nothing_is_taken_in(self, space: Space, capsule: Capsule) -> None:
        shown = space.write(PREVIEW, c=capsule)
        assert (shown["would_commit"], shown["error"]["code"]) == (False, "UnsupportedCapability")
        assert capabilities.is_held(shown["error"]["details"]["capability"]) is False
        assert {entry["decision"] for entry in shown["identities"]} == {"create"}
        assert {entry["id"] for entry in shown["identities"]}.isdisjoint({"C-1", "C-2", "P-1", "A-1", "E-1", "X-1"})
        assert space.seq == 1

    @requirement("KI-CAPS-017")
    def test_equal_keys_and_names_stay_apart_and_a_canonical_id_waits_for_approval(self, space: Space) -> None:
        space.write(SETUP)
        space.write('UPDATE "C-2" SET FIELDS {canonical_id: "geo:oslo"}')
        capsule = space.write("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }")
        ann, oslo = space.write(PREVIEW, c=capsule)["identities"]
        assert (ann["decision"], ann["candidates"]) == ("create", [])
        assert (oslo["decision"], oslo["candidates"]) == ("create", ["C-2"])

    @requirement("KI-META-037")
    def test_a_preview_needs_import_and_this_space(self, space: Space, capsule: Capsule) -> None:
        session = Session(principal_id="guest", channel="test", permissions=OWNER_PERMISSIONS - {"import"})
        assert space.refused(PREVIEW, session=session, c=capsule) == "NotAuthorized"
        elsewhere = 'PREVIEW IMPORT CAPSULE :c INTO "kip:space:elsewhere"'
        assert space.refused(elsewhere, c=capsule) == "NotFoundOrNotVisible"
        assert space.refused("PREVIEW IMPORT CAPSULE :c INTO 5", c=capsule) == "TypeMismatch"

    @requirement("KI-CAPS-023")
    def test_no_address_is_ever_followed(self, space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: Any, **__: Any) -> None:
            raise AssertionError("something was fetched")

        space.write(
            """CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "document", content_digest: :d,
            payload: {mode: "external", content_ref: "https://example.org/film"}} }""",
            d=digest(b"a film"),
        )
        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)
        capsule = space.write("EXPORT CAPSULE ?e WHERE { ?e EVIDENCE {} }")
        for verb in ("VERIFY CAPSULE :c", "VALIDATE CAPSULE :c", PREVIEW):
            space.write(verb, c=capsule)
