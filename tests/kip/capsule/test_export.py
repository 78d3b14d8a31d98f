"""EXPORT CAPSULE: what is selected, what comes along, what stays outside, and that it is always the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brain.ids import canonical_json, digest, is_element_id
from brain.kip.capsule.references import references
from brain.kip.context import OWNER_PERMISSIONS, Limits, Session
from brain.kip.governance.control import Governor
from brain.kip.governance.plane import Policy, Rule, Scope
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from tests.kip.capsule.conftest import CLAIMS, SETUP, Capsule, record
from tests.kip.conftest import OWNER, Space

requirement = pytest.mark.requirement
GUEST = Session(principal_id="guest", channel="test", permissions=OWNER_PERMISSIONS)


def kinds(capsule: Capsule) -> list[str]:
    return [entry["kind"] for entry in capsule["payload"]["records"]]


def outside(capsule: Capsule) -> list[tuple[str, str]]:
    return [(entry["kind"], entry["locator"]["element_id"]) for entry in capsule["payload"]["external_refs"]]


class TestFormat:
    """The artifact itself."""

    @requirement("KI-CAPS-001", "KI-CAP-024")
    def test_a_capsule_has_the_members_of_the_format(self, space: Space, told: dict[str, str]) -> None:
        capsule = space.write(CLAIMS)
        assert (capsule["format"], capsule["format_version"]) == ("KIP-Cognitive-Capsule", "2.0-draft")
        assert capsule["payload"].keys() == {
            *("manifest", "source", "schema_dependencies", "records", "external_refs", "blobs", "handling")
        }
        assert capsule["payload"]["source"] == {"space_id": "kip:space:default", "snapshot_seq": 1}
        assert space.write("VALIDATE CAPSULE :c", c=capsule)["violations"] == []

    @requirement("KI-CAPS-001")
    def test_each_package_its_words_are_of_is_named_by_digest(self, space: Space, told: dict[str, str]) -> None:
        declared = {entry["package_ref"]: entry for entry in space.write(CLAIMS)["payload"]["schema_dependencies"]}
        general = PackageLibrary.bundled().resolve("general")
        assert declared[general.ref]["content_digest"] == general.digest
        assert declared.keys() == {"kip://core@2.0.0", general.ref, "kip://profiles/cognitive-memory@2.0.0"}

    @requirement("KI-CAPS-002", "KI-CAPS-003")
    def test_the_digest_is_over_everything_but_the_integrity(self, space: Space, told: dict[str, str]) -> None:
        capsule = space.write(CLAIMS)
        body = {name: value for name, value in capsule.items() if name != "integrity"}
        assert capsule["integrity"]["content_digest"] == digest(body)
        assert capsule["integrity"]["digest_profile"] == "kip-jcs-safe-v1"

    @requirement("KI-CAPS-011", "KI-CAPS-002")
    def test_one_selection_at_one_sequence_is_the_same_bytes_whatever_is_written_since(
        self, space: Space, told: dict[str, str]
    ) -> None:
        first = canonical_json(space.write(CLAIMS))
        assert canonical_json(space.write(CLAIMS)) == first
        space.clock.advance(86_400_000)
        space.write('UPDATE "C-1" SET FIELDS {name: "Anna"}')
        space.write(SETUP.replace('"ann"', '"other"'))
        assert canonical_json(space.write(f"{CLAIMS} AS OF SEQ 1")) == first
        assert canonical_json(space.write(CLAIMS)) != first

    @requirement("KI-CAPS-006")
    def test_ids_of_records_mean_something_inside_the_capsule_only(self, space: Space, told: dict[str, str]) -> None:
        capsule = space.write(f'{CLAIMS} WITH {{closure: "closed", provenance_depth: 1}}')
        payload = capsule["payload"]
        local = [entry["id"] for entry in payload["records"]]
        assert not any(map(is_element_id, local))
        assert set(payload["handling"]["source_elements"]) == set(local)
        assert sorted(payload["handling"]["source_elements"].values()) == ["A-1", "C-1", "C-2", "E-1", "P-1", "X-1"]
        assert {to for entry in payload["records"] for _, to in references(entry)} <= set(local)
        made = record(capsule, "activity")
        assert made["_system"]["input_versions"] == {record(capsule, "evidence")["id"]: 1}

    @requirement("KI-CAPS-022")
    def test_text_that_looks_like_an_id_stays_text(self, space: Space, told: dict[str, str]) -> None:
        capsule = space.write(f'{CLAIMS} WITH {{closure: "closed"}}')
        assert record(capsule, "concept")["attributes"]["motto"] == "C-2 and E-1"
        assert record(capsule, "evidence")["payload"]["inline"] == "I live in Oslo, see C-1."

    @requirement("KI-CAPS-013")
    def test_what_is_computed_or_protects_here_is_not_exported(self, space: Space, told: dict[str, str]) -> None:
        space.write('UPDATE "C-1" SET FACET "MnemonicState" {memory_strength: 0.5}')
        space.write('SET RETENTION "C-1" {retention_class: "standard", legal_hold: true}')
        capsule = space.write('EXPORT CAPSULE "C-1" WHERE { ?x {id: "C-1"} }')
        shown = record(capsule, "concept")
        assert "governance" not in shown
        assert shown["retention"] == {"retention_class": "standard"}
        assert shown["facets"] == {"kip://profiles/cognitive-memory@2.0.0/MnemonicState": {"memory_strength": 0.5}}
        assert shown["_system"].keys() == {*("version", "state", "created_at", "updated_at", "space_seq", "origin")}


class TestClosure:
    """Which elements a Capsule holds, and which it names."""

    @requirement("KI-CAPS-007", "KI-CAPS-010")
    def test_referential_holds_what_it_takes_to_say_what_the_roots_say(
        self, space: Space, told: dict[str, str]
    ) -> None:
        capsule = space.write(CLAIMS)
        assert capsule["payload"]["manifest"]["closure"] == "referential"
        assert kinds(capsule) == ["concept", "concept", "proposition", "assertion"]
        assert outside(capsule) == [("source_element", "E-1")]

    @requirement("KI-CAPS-007")
    def test_closed_leaves_nothing_outside(self, space: Space, told: dict[str, str]) -> None:
        capsule = space.write(f'{CLAIMS} WITH {{closure: "closed"}}')
        assert kinds(capsule) == ["concept", "concept", "proposition", "assertion", "evidence"]
        assert capsule["payload"]["external_refs"] == []

    @requirement("KI-CAPS-007")
    def test_selective_holds_the_roots_and_names_the_rest(self, space: Space, told: dict[str, str]) -> None:
        capsule = space.write(f'{CLAIMS} WITH {{closure: "selective"}}')
        assert kinds(capsule) == ["assertion"]
        assert outside(capsule) == [("source_element", name) for name in ("C-1", "P-1", "E-1")]
        assert space.write("VALIDATE CAPSULE :c", c=capsule)["valid"]

    @requirement("KI-CAPS-010")
    def test_depth_goes_back_to_what_the_roots_came_out_of(self, space: Space, told: dict[str, str]) -> None:
        capsule = space.write(f"{CLAIMS} WITH {{provenance_depth: 1}}")
        assert set(kinds(capsule)) == {"concept", "proposition", "assertion", "evidence", "activity"}
        assert capsule["payload"]["external_refs"] == []

    @requirement("KI-CAPS-008")
    def test_what_is_gone_is_unavailable_and_what_is_known_elsewhere_is_named_so(
        self, space: Space, told: dict[str, str]
    ) -> None:
        space.write('UPDATE "C-2" SET FIELDS {canonical_id: "geo:oslo"}')
        space.write('PURGE "E-1" REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"')
        activity = space.write('EXPORT CAPSULE "X-1" WHERE { ?x ACTIVITY {id: "X-1"} }')
        assert outside(activity) == [("source_element", "A-1"), ("unavailable", "E-1")]
        proposition = space.write('EXPORT CAPSULE "P-1" WHERE { ?p (?s, ?r, ?o) } WITH {closure: "selective"}')
        assert [entry["kind"] for entry in proposition["payload"]["external_refs"]] == [
            "source_element",
            "canonical_identity",
        ]
        assert proposition["payload"]["external_refs"][1]["locator"]["canonical_id"] == "geo:oslo"
        error = space.error('EXPORT CAPSULE "X-1" WHERE { ?x ACTIVITY {id: "X-1"} } WITH {closure: "closed"}')
        assert error["code"] == "CapsuleValidationFailed"
        assert error["details"]["faults"] == [{"element": "E-1", "kind": "unavailable"}]

    @requirement("KI-CAPS-008", "KI-ERR-075")
    def test_bytes_kept_elsewhere_are_named_and_never_fetched(self, space: Space) -> None:
        content = digest(b"a film")
        space.write(
            """CREATE EVIDENCE ?film { SET FIELDS {evidence_class: "document", content_digest: :d,
            payload: {mode: "external", content_ref: "https://example.org/film"}} }""",
            d=content,
        )
        exported = 'EXPORT CAPSULE "E-1" WHERE { ?e EVIDENCE {id: "E-1"} }'
        (named,) = space.write(exported)["payload"]["external_refs"]
        assert named["kind"] == "external_artifact"
        assert named["locator"] == {"content_ref": "https://example.org/film", "content_digest": content}
        assert space.refused(f"{exported} WITH {{include_blobs: true}}") == "BlobUnavailable"
        assert space.refused(f'{exported} WITH {{closure: "closed"}}') == "CapsuleValidationFailed"

    @requirement("KI-RETAIN-023")
    def test_a_purge_reaches_no_capsule_of_before_and_every_one_of_after(
        self, space: Space, told: dict[str, str]
    ) -> None:
        exported = 'EXPORT CAPSULE "E-1" WHERE { ?e EVIDENCE {id: "E-1"} }'
        before = space.write(exported)
        space.write('PURGE PAYLOAD "E-1" CONFIRM "PURGE"')
        after = space.write(exported)
        for capsule in (before, after):
            assert space.write("VERIFY CAPSULE :c", c=capsule)["valid"]
            assert space.write("VALIDATE CAPSULE :c", c=capsule)["violations"] == []
        assert record(before, "evidence")["payload"] == {"mode": "inline", "inline": "I live in Oslo, see C-1."}
        assert record(after, "evidence")["payload"] == {"status": "purged"}
        assert record(after, "evidence")["content_digest"] == record(before, "evidence")["content_digest"]
        assert "Oslo" not in canonical_json(space.write(f"{exported} AS OF SEQ 1")).decode()


class TestSelection:
    """The statement's own rules."""

    @requirement("KI-CAPS-010")
    @pytest.mark.parametrize("where", ["", "FILTER(1 == 1)", "NOT { ?x {} }", "OPTIONAL { ?x {} }"])
    def test_a_where_that_selects_nothing_is_refused(self, space: Space, told: dict[str, str], where: str) -> None:
        assert space.refused(f'EXPORT CAPSULE "C-1" WHERE {{ {where} }}') == "InvalidSyntax"

    @requirement("KI-CAPS-011")
    @pytest.mark.parametrize("pattern", ['?c SEARCH CONCEPT "ann" LIMIT 1', '?c BELIEF ("C-1", "knows", "C-2")'])
    def test_belief_and_search_select_nothing(self, space: Space, told: dict[str, str], pattern: str) -> None:
        assert space.refused(f"EXPORT CAPSULE ?c WHERE {{ {pattern} }}") == "InvalidSyntax"

    @requirement("KI-CAPS-010", "KI-CAPS-011")
    def test_every_element_the_variable_is_bound_to_is_a_root(self, space: Space, told: dict[str, str]) -> None:
        capsule = space.write("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }")
        assert capsule["payload"]["manifest"]["roots"] == [entry["id"] for entry in capsule["payload"]["records"]]
        assert [entry["name"] for entry in capsule["payload"]["records"]] == ["Ann", "Oslo"]
        nobody = space.write('EXPORT CAPSULE ?c WHERE { ?c {key: "nobody"} }')
        assert nobody["payload"]["manifest"]["roots"] == nobody["payload"]["records"] == []

    @requirement("KI-CAPS-010")
    def test_where_constrains_the_root_that_is_named(self, space: Space, told: dict[str, str]) -> None:
        named = "EXPORT CAPSULE :r WHERE { ?x {id: :r, key: :k} }"
        assert space.write(named, r="C-1", k="ann")["payload"]["manifest"]["roots"] == ["r1"]
        assert space.write(named, r="C-1", k="bob")["payload"]["manifest"]["roots"] == []
        assert space.refused(named, r="C-9", k="ann") == "NotFoundOrNotVisible"
        assert space.refused(named, r="ann", k="ann") == "InvalidIdentifier"
        assert space.refused(named, r=5, k="ann") == "TypeMismatch"

    @requirement("KI-CAPS-011")
    def test_values_are_no_roots_though_they_look_like_ids(self, space: Space, told: dict[str, str]) -> None:
        space.write('ENSURE PROPOSITION ("C-1", "speaks", "E-1")')
        assert space.refused('EXPORT CAPSULE ?v WHERE { (?c, "speaks", ?v) }') == "TypeMismatch"

    @requirement("KI-CAPS-010", "KI-CAP-026")
    @pytest.mark.parametrize(
        ("options", "code"),
        [
            ('{closure: "open"}', "ConstraintViolation"),
            ("{closure: 1}", "TypeMismatch"),
            ("{provenance_depth: -1}", "TypeMismatch"),
            ("{provenance_depth: true}", "TypeMismatch"),
            ("{include_schema: 1}", "TypeMismatch"),
            ('{to: "https://example.org"}', "SchemaFieldNotFound"),
            ('{proof_profile: "ed25519"}', "UnsupportedCapability"),
        ],
    )
    def test_options_are_what_they_are(self, space: Space, told: dict[str, str], options: str, code: str) -> None:
        assert space.refused(f"{CLAIMS} WITH {options}") == code

    @requirement("KI-ERR-079")
    def test_a_capsule_larger_than_anybody_here_takes_is_not_given_out(
        self, space: Space, told: dict[str, str]
    ) -> None:
        size = len(canonical_json(space.write(CLAIMS)))
        for limit, code in ((size - 1, "ResultLimitExceeded"), (100, "ResultLimitExceeded"), (size, None)):
            limits = replace(Limits(), artifact_bytes=limit)
            engine = Engine(space.store, PackageLibrary.bundled(), clock=space.clock, limits=limits)
            answer: Any = engine.run(CLAIMS, session=OWNER).response["results"][0]
            assert answer.get("error", {}).get("code") == code
            if code:
                assert answer["error"]["details"] == {"limit": limit}


class TestAuthority:
    """Who may export what."""

    @requirement("KI-CAPS-012")
    @pytest.mark.parametrize("missing", ["export", "read"])
    def test_exporting_needs_its_own_permission_and_changes_nothing(
        self, space: Space, told: dict[str, str], missing: str
    ) -> None:
        session = replace(GUEST, permissions=OWNER_PERMISSIONS - {missing})
        assert space.refused(CLAIMS, session=session) == "NotAuthorized"
        space.write(CLAIMS)
        assert space.seq == 1

    @requirement("KI-CAPS-012")
    def test_the_past_needs_read_history(self, space: Space, told: dict[str, str]) -> None:
        space.write('UPDATE "C-1" SET FIELDS {name: "Anna"}')
        session = replace(GUEST, permissions=OWNER_PERMISSIONS - {"read_history"})
        assert space.refused(f"{CLAIMS} AS OF SEQ 1", session=session) == "NotAuthorized"
        assert space.refused(f"{CLAIMS} AS OF SEQ 9") == "HistoricalSnapshotUnavailable"

    @requirement("KI-CAPS-012", "KI-CAPS-008")
    @pytest.mark.parametrize(
        ("denied", "shown"),
        [("discover", []), ("read", [("redacted", "E-1")]), ("export", [("redacted", "E-1")])],
    )
    def test_what_is_hidden_is_nothing_and_what_is_withheld_is_redacted(
        self, space: Space, told: dict[str, str], denied: str, shown: list[tuple[str, str]]
    ) -> None:
        rule = Rule("deny", frozenset({denied}), to=frozenset({"guest"}), scope=Scope(kinds=frozenset({"evidence"})))
        Governor(space.engine).set_policy(OWNER, Policy(rules=(rule,)))
        capsule = space.write(CLAIMS, session=GUEST)
        assert outside(capsule) == shown
        assert (b'"E-1"' in canonical_json(capsule)) == bool(shown)
        assert space.write("VALIDATE CAPSULE :c", c=capsule)["valid"]
        roots = space.write("EXPORT CAPSULE ?e WHERE { ?e EVIDENCE {} }", session=GUEST)["payload"]
        assert roots["manifest"]["roots"] == roots["records"] == []
