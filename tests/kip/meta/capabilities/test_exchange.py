"""Capsules go out and come in nowhere; no older protocol, no memory requests; who may know (KIP 2.0 §28, §95, §103)."""

from __future__ import annotations

from brain.kip.context import Session
from brain.kip.governance.control import Governor
from tests.kip.conftest import OWNER, Space
from tests.kip.meta.capabilities.shown import CREATE, KNOWN, lacking, shows


@shows("capsule_export", "KI-CAP-024")
@shows("capsule_import", "KI-CAP-025", held=False)
def test_a_capsule_goes_out_is_checked_and_comes_in_nowhere(space: Space) -> None:
    space.write(CREATE)
    capsule = space.write("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }")
    assert space.write("VERIFY CAPSULE :c", c=capsule)["valid"] is True
    assert space.write("VALIDATE CAPSULE :c", c=capsule)["valid"] is True
    preview = space.write('PREVIEW IMPORT CAPSULE :c INTO "kip:space:default"', c=capsule)
    assert (preview["would_commit"], preview["error"]["code"]) == (False, "UnsupportedCapability")
    assert space.refused('IMPORT CAPSULE :c INTO "kip:space:default"', c=capsule) == "InvalidSyntax"
    assert space.refused("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }", session=lacking("export")) == "NotAuthorized"
    assert space.seq == 1


@shows("capsule_signatures", "KI-CAP-026", "KI-CAPS-009", "KI-ERR-073", "KI-ERR-074", held=False)
def test_a_capsule_is_not_signed_and_no_signature_counts_as_checked(space: Space) -> None:
    space.write(CREATE)
    export = "EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }"
    assert space.refused(f'{export} WITH {{proof_profile: "ed25519"}}') == "UnsupportedCapability"
    capsule = space.write(export)
    forged = {"signer": "somebody", "value": "not a signature"}
    capsule["integrity"]["signatures"] = [forged]
    assert space.write("VERIFY CAPSULE :c", c=capsule)["signatures"] == {"present": 1, "checked": False}


@shows("kip1_migration", "KI-CAP-027", "KI-CAP-032", "KI-CAP-033", "KI-CAP-034", "KI-CAP-035", held=False)
def test_nothing_of_the_first_protocol_is_read(space: Space) -> None:
    command = 'UPSERT { CONCEPT ?d { {type: "Drug", name: "A"} } }'
    old = {"kip": "1.0", "operations": [{"command": command}]}
    assert space.execute(old)["error"]["code"] == "UnsupportedProtocolVersion"
    assert space.refused(command) == "InvalidSyntax"
    compatible = space.outcome(CREATE, envelope={"compatibility_profile": "kip-1"}).response
    assert compatible["error"]["code"] == "UnsupportedCapability"
    question = 'DESCRIBE COMPATIBILITY FROM "kip://domains/general@1.0.0" TO "kip://domains/general@1.0.0"'
    assert space.refused(question) == "UnsupportedCapability"
    assert space.seq == 0


@shows("memory_interface", held=False)
def test_no_request_of_the_memory_interface_is_taken_for_kip(space: Space) -> None:
    refused = space.execute({"protocol": "kip-memory/2.0", "intent": "recall", "query": "who?"})
    assert refused["error"]["code"] == "InvalidRequestEnvelope"


@shows("governance_policies")
@shows("governed_visibility")
def test_who_may_know_of_nothing_finds_nothing_until_a_grant_says_otherwise(space: Space) -> None:
    space.write(CREATE)
    ann = Session(principal_id="ann", channel="test", permissions=frozenset())
    assert space.refused(KNOWN, session=ann) == "NotAuthorized"
    granted = Governor(space.engine).grant(OWNER, "ann", ["discover", "read"])
    assert space.write(KNOWN, session=ann) == ["Ann"]
    Governor(space.engine).revoke(OWNER, granted)
    assert space.refused(KNOWN, session=ann) == "NotAuthorized"
