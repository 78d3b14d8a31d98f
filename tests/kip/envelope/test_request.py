"""The request envelope: strict JSON, shape, capabilities, language, parameters (KIP 2.0 §70 to §74)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brain.kip.context import Session
from tests.kip.conftest import OWNER, Space

requirement = pytest.mark.requirement

COUNT = 'FIND(COUNT(?c)) WHERE { ?c {type: "Person"} }'
CREATE = 'CREATE CONCEPT ?n { TYPE "Person" NAME "N" }'
READONLY = Session(principal_id="reader", channel="test", readonly=True)


def request(*commands: str, **members: Any) -> dict[str, Any]:
    return {"kip": "2.0", "operations": [{"command": command} for command in commands], **members}


def code(response: dict[str, Any]) -> str | None:
    """The error of a response, of the whole or of its first failing operation."""
    if "error" in response:
        assert response["status"] == "failed"
        assert response["results"] == []
        return str(response["error"]["code"])
    return next((entry["error"]["code"] for entry in response["results"] if "error" in entry), None)


@requirement("KI-ENV-003", "KI-LEX-013", "KI-LEX-011", "KI-LEX-012")
@pytest.mark.parametrize(
    "text",
    [
        b'{"kip": "2.0", "kip": "2.0", "operations": [{"command": "LIST TYPES"}]}',
        b'{"kip": "2.0", "operations": [{"command": "LIST TYPES", "parameters": {"a": 1, "a": 2}}]}',
        b'{"kip": "2.0", "operations": [{"command": "LIST TYPES", "parameters": {"a": "\\ud800"}}]}',
        b'{"kip": "2.0", "operations": [{"command": "LIST TYPES", "parameters": {"a": "\xff"}}]}',
        b'{"kip": "2.0", "operations": [{"command": "LIST TYPES", "parameters": {"a": 9007199254740993}}]}',
        b'{"kip": "2.0", "operations": [{"command": "LIST TYPES", "parameters": {"a": 9007199254740993.0}}]}',
        b'{"kip": "2.0", "operations": [{"command": "LIST TYPES", "parameters": {"a": 1e-400}}]}',
        b'{"kip": "2.0", "operations": [{"command": "LIST TYPES", "parameters": {"a": 1e400}}]}',
        b'{"kip": "2.0", "operations": [{"command": "LIST TYPES", "parameters": {"a": NaN}}]}',
        b'{"kip": "2.0",',
        b"[1]",
        b"null",
        b"",
    ],
)
def test_bytes_that_are_not_strict_json_of_a_request_are_refused(space: Space, text: bytes) -> None:
    assert code(space.execute(text)) == "InvalidRequestEnvelope"


@requirement("KI-ENV-003")
@pytest.mark.parametrize("value", [9007199254740993, float("nan"), 1e300, "\ud800", {"a": ["\udfff"]}, {1: 2}, {1, 2}])
def test_objects_from_the_same_process_meet_the_same_rules(space: Space, value: Any) -> None:
    bad = {"kip": "2.0", "operations": [{"command": COUNT, "parameters": {"a": value}}]}
    assert code(space.execute(bad)) == "InvalidRequestEnvelope"


@requirement("KI-ENV-003", "KI-ENV-041")
def test_text_bytes_and_objects_give_one_answer(space: Space) -> None:
    asked = request(COUNT)
    text = json.dumps(asked)
    assert space.execute(text) == space.execute(text.encode()) == space.execute(asked)


@requirement("KI-ENV-001", "KI-ENV-002", "KI-ENV-005", "KI-ENV-006", "KI-ENV-008", "KI-ENV-004", "KI-ERR-007")
@requirement("KI-ENV-007", "KI-TX-006", "KI-ERR-008", "KI-ERR-010")
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"kip": "1.0"}, "UnsupportedProtocolVersion"),
        ({"kip": 2}, "InvalidRequestEnvelope"),
        ({"operations": []}, "InvalidRequestEnvelope"),
        ({"operations": {}}, "InvalidRequestEnvelope"),
        ({"operations": [{}]}, "InvalidRequestEnvelope"),
        ({"operations": [{"command": ""}]}, "InvalidRequestEnvelope"),
        ({"operations": [{"command": 7}]}, "InvalidRequestEnvelope"),
        ({"operations": [{"command": COUNT, "ast": {}}]}, "InvalidRequestEnvelope"),
        ({"operations": [{"ast": {}}]}, "UnsupportedCapability"),
        ({"operations": [{"command": COUNT, "nope": 1}]}, "InvalidRequestEnvelope"),
        ({"operations": [{"command": COUNT, "language": "SQL"}]}, "InvalidRequestEnvelope"),
        ({"operations": [{"command": COUNT, "op_id": ""}]}, "InvalidRequestEnvelope"),
        ({"operations": [{"command": COUNT, "op_id": "x" * 256}]}, None),
        ({"operations": [{"command": COUNT, "op_id": "x" * 257}]}, "InvalidRequestEnvelope"),
        ({"operations": [{"command": COUNT, "idempotency_key": "x" * 1025}]}, "InvalidRequestEnvelope"),
        ({"operations": [{"command": COUNT}, {"command": COUNT}]}, "InvalidRequestEnvelope"),
        (
            {
                "operations": [{"command": COUNT, "op_id": "a"}, {"command": COUNT, "op_id": "a"}],
                "execution": {"mode": "sequence"},
            },
            "InvalidRequestEnvelope",
        ),
        ({"execution": {"mode": "bogus"}}, "InvalidRequestEnvelope"),
        ({"execution": {}}, "InvalidRequestEnvelope"),
        ({"execution": {"mode": "atomic", "on_error": "continue"}}, "InvalidRequestEnvelope"),
        ({"execution": {"mode": "independent", "isolation": "snapshot-plus"}}, "UnsupportedIsolation"),
        ({"execution": {"mode": "independent", "isolation": "serializable"}}, None),
        ({"nope": 1}, "InvalidRequestEnvelope"),
        ({"request_id": "x" * 257}, "InvalidRequestEnvelope"),
        ({"parameters": {"a b": 1}}, "InvalidIdentifier"),
        ({"parameters": []}, "InvalidRequestEnvelope"),
        ({"preconditions": {"nope": 1}}, "InvalidRequestEnvelope"),
        ({"preconditions": {"space_seq": -1}}, "InvalidRequestEnvelope"),
        ({"preconditions": {"space_seq": True}}, "InvalidRequestEnvelope"),
        ({"read": {"as_of_seq": 1}}, "InvalidRequestEnvelope"),
        ({"options": {"deadline_ms": 0}}, "InvalidRequestEnvelope"),
        ({"options": {"dry_run": "yes"}}, "InvalidRequestEnvelope"),
        ({"context": {"who": "me"}}, "InvalidRequestEnvelope"),
        ({"extensions": {"plain": {}}}, "InvalidIdentifier"),
        ({"extensions": {"a/b": {}}}, None),
        ({"extensions": {"a/b": {"critical": True}}}, "UnsupportedCapability"),
        ({"compatibility_profile": "kip-1-compat"}, "UnsupportedCapability"),
        ({"space": {}}, "InvalidRequestEnvelope"),
        ({"space": {"id": "default", "uri": "kip:space:default"}}, None),
        ({"space": {"id": "kip:space:default"}}, None),
        ({"space": {"id": "other"}}, "NotFoundOrNotVisible"),
        ({"space": {"id": "default", "uri": "kip:space:other"}}, "NotFoundOrNotVisible"),
    ],
)
def test_every_member_has_its_shape(space: Space, change: dict[str, Any], expected: str | None) -> None:
    assert code(space.execute({**request(COUNT), **change})) == expected


@requirement("KI-ENV-010", "KI-CAP-001", "KI-ERR-009")
@pytest.mark.parametrize(
    ("requires", "expected"),
    [
        ({"belief_slot": True, "atomic_batch": True}, None),
        ({"streaming": False}, None),
        ({"streaming": True}, "UnsupportedCapability"),
        ({"belief_slot": False}, "UnsupportedCapability"),
        ({"belief_slot": 1}, "UnsupportedCapability"),
        ({"nope": True}, "UnsupportedCapability"),
        ({"bad name": True}, "InvalidIdentifier"),
    ],
)
def test_requirements_are_checked_before_anything_runs(
    space: Space, requires: dict[str, Any], expected: str | None
) -> None:
    assert code(space.execute(request(CREATE, requires=requires))) == expected
    assert space.seq == (expected is None)


@requirement("KI-ENV-011", "KI-ERR-011")
@pytest.mark.parametrize(
    ("command", "label", "fits"),
    [(COUNT, "KQL", True), (COUNT, "KML", False), (CREATE, "KQL", False), ("DESCRIBE PROTOCOL", "META", True)],
)
def test_the_label_has_to_fit_the_statement(space: Space, command: str, label: str, fits: bool) -> None:
    asked = {"kip": "2.0", "operations": [{"command": command, "language": label}]}
    assert code(space.execute(asked)) == (None if fits else "LanguageMismatch")
    assert space.seq == 0


@requirement("KI-ENV-029", "KI-ERR-012")
def test_the_reading_door_takes_everything_that_does_not_write(space: Space) -> None:
    for command in (
        COUNT,
        "DESCRIBE PROTOCOL",
        "LIST TYPES",
        f'PREVIEW KML "{CREATE.replace(chr(34), chr(92) + chr(34))}"',
    ):
        assert code(space.execute(request(command), READONLY)) is None
    for command in (CREATE, 'DEFINE PREDICATE "p" {description: "d"}', "MUTATE {}"):
        assert code(space.execute(request(command), READONLY)) == "ReadonlyViolation"
    assert space.seq == 0


@requirement("KI-ENV-012", "KI-ENV-013", "KI-ENV-015", "KI-KML-042")
def test_operation_parameters_lie_over_shared_ones(space: Space) -> None:
    find = "FIND(?c.name) WHERE { ?c {name: :n} }"
    space.write(CREATE)
    shared = {"n": "nobody", "unused": {"deep": 1}}

    def result(parameters: dict[str, Any] | None) -> Any:
        operation = {"command": find} | ({} if parameters is None else {"parameters": parameters})
        return space.execute({"kip": "2.0", "operations": [operation], "parameters": shared})["results"][0]

    assert result(None)["result"] == []
    assert result({"n": "N"})["result"] == ["N"]
    assert space.refused(find) == "ReferenceError"
    assert space.refused(find, N="N") == "ReferenceError"
    following = request(CREATE, "UPDATE :n SET ATTRIBUTES {x: 1}", execution={"mode": "sequence"})
    assert code(space.execute(following)) == "ReferenceError"


@requirement("KI-KML-042")
def test_a_placeholder_in_a_text_is_text(space: Space) -> None:
    made = space.handles('CREATE CONCEPT ?n { TYPE "Person" NAME "Hello :name" }', name="x")["n"]
    assert space.element(made)["name"] == "Hello :name"


@requirement("KI-ENV-009", "KI-ID-004", "KI-GOV-001")
def test_what_a_request_says_of_itself_grants_nothing(space: Space) -> None:
    reader = Session(principal_id="reader", channel="test", permissions=frozenset({"discover", "read"}))
    forged = request(
        CREATE, context={"client": "owner", "purpose": "maintenance"}, parameters={"principal_id": "owner"}
    )
    assert code(space.execute(forged, reader)) == "NotAuthorized"
    made = space.execute(forged)["results"][0]["result"]["handles"]["n"]
    assert space.element(made)["_system"]["origin"]["principal_id"] == OWNER.principal_id


@requirement("KI-ENV-032", "KI-ENV-033", "KI-ENV-027", "KI-KQL-012")
def test_an_answer_has_its_members(space: Space) -> None:
    asked = {
        "kip": "2.0",
        "request_id": "r-1",
        "operations": [{"command": COUNT, "op_id": "one"}],
        "execution": {"mode": "independent", "idempotency_key": "k"},
    }
    assert space.execute(asked) == {
        "kip": "2.0",
        "request_id": "r-1",
        "status": "succeeded",
        "execution": {"mode": "independent", "idempotency_key": "k"},
        "results": [
            {
                "op_id": "one",
                "status": "succeeded",
                "result": [0],
                "context": {"space_id": "kip:space:default", "snapshot_seq": 0, "schema_environment_version": 1},
            }
        ],
        "context": {"space_id": "kip:space:default", "schema_environment_version": 1},
        "snapshot": None,
        "receipt": None,
        "warnings": [],
    }


@requirement("KI-ERR-082", "KI-ERR-001")
def test_a_defect_is_answered_without_its_insides(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("secret-path /var/lib/brain")

    monkeypatch.setattr(type(space.store), "snapshot", fail)
    response = space.execute(request(COUNT))
    assert code(response) == "InternalError"
    assert "secret-path" not in str(response)


@requirement("KI-ENV-037")
def test_a_snapshot_token_reads_its_coordinate(space: Space) -> None:
    token = space.write("DESCRIBE SNAPSHOT")["snapshot_token"]
    space.write(CREATE)
    assert space.write(COUNT, envelope={"read": {"snapshot_token": token}}) == [0]
    assert space.write(COUNT) == [1]
    other = b"kip:snapshot:kip:space:other:0".hex()
    for bad in ("x", other, b"kip:snapshot:kip:space:default:x".hex()):
        assert space.refused(COUNT, envelope={"read": {"snapshot_token": bad}}) == "CursorInvalid"


@requirement("KI-TX-029", "KI-ERR-055")
def test_preconditions_compare_the_head_and_the_vocabulary(space: Space) -> None:
    for preconditions, expected in (
        ({"space_seq": 0, "schema_environment_version": 1}, None),
        ({"space_seq": 0}, "PreconditionFailed"),
        ({"space_seq": 2}, "PreconditionFailed"),
        ({"schema_environment_version": 7}, "PreconditionFailed"),
    ):
        assert code(space.execute(request(CREATE, preconditions=preconditions))) == expected
    assert code(space.execute(request(COUNT, preconditions={"space_seq": 9}))) == "PreconditionFailed"
