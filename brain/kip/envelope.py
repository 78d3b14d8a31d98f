"""The request envelope: its shape, checked once, as typed values (KIP 2.0 §71 to §75)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from brain import errors
from brain.ids import MAX_SAFE_INTEGER
from brain.kip.context import Limits
from brain.kip.validate import check_timestamp
from brain.kip.write.ingest import IngestEntry

Mode: TypeAlias = Literal["independent", "sequence", "atomic"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_CAPABILITY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*", re.ASCII)
_NAMESPACED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._/-]*", re.ASCII)
_TOKEN_LENGTH = 8192


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, its parameters laid over the request's shared ones."""

    command: str
    parameters: Mapping[str, Any]
    op_id: str | None = None
    language: str | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A request whose shape is right.

    mode       of several operations; `independent` for one that names none
    space      what `space` names, by member; empty for the connection's own Space
    execution  what a response echoes; None when the request has none
    ingested   the ingestion context as it was sent, for the request's digest
    """

    operations: tuple[Operation, ...]
    mode: Mode = "independent"
    on_error: Literal["stop", "continue"] = "stop"
    request_id: str | None = None
    idempotency_key: str | None = None
    execution: Mapping[str, Any] | None = None
    space: Mapping[str, str] = field(default_factory=dict)
    ingest: tuple[IngestEntry, ...] = ()
    ingested: tuple[Mapping[str, Any], ...] = ()
    expected_seq: int | None = None
    expected_environment: int | None = None
    snapshot_token: str | None = None
    requires: Mapping[str, Any] = field(default_factory=dict)
    dry_run: bool = False
    deadline_ms: int | None = None
    purpose: str | None = None
    risk: str | None = None


def read_request(raw: Any, limits: Limits) -> Request:
    """The typed request of a decoded JSON object.

    raises  InvalidRequestEnvelope naming the member that is wrong; UnsupportedProtocolVersion, UnsupportedIsolation,
            UnsupportedCapability, InvalidIdentifier, ArtifactUnavailable where a rule has its own code
    """
    members = _object(raw, "the request", _TOP)
    version = members.get("kip")
    if version != "2.0":
        if isinstance(version, str):
            raise errors.UnsupportedProtocolVersion(f"This service speaks KIP 2.0, not {version[:20]!r}.")
        raise _bad("kip", 'names the protocol: "2.0"')
    execution = members.get("execution")
    operations = _operations(members, limits)
    if len(operations) > 1 and execution is None:
        raise errors.InvalidRequestEnvelope(
            "A request with several operations names its execution.mode.",
            hint='Add "execution": {"mode": "sequence"}, or independent, or atomic.',
        )
    options = members.get("options", {})
    preconditions = members.get("preconditions", {})
    context = members.get("context", {})
    entries = tuple(members.get("ingest", {}).get("evidence", ()))
    if "compatibility_profile" in members:
        raise errors.UnsupportedCapability(
            "No compatibility profile is offered.", details={"capability": "kip1_migration"}
        )
    return Request(
        operations=operations,
        mode=(execution or {}).get("mode", "independent"),
        on_error=(execution or {}).get("on_error", "stop"),
        request_id=members.get("request_id"),
        idempotency_key=(execution or {}).get("idempotency_key"),
        execution=execution,
        space=members.get("space", {}),
        ingest=_entries(entries, operations),
        ingested=entries,
        expected_seq=preconditions.get("space_seq"),
        expected_environment=preconditions.get("schema_environment_version"),
        snapshot_token=members.get("read", {}).get("snapshot_token"),
        requires=members.get("requires", {}),
        dry_run=options.get("dry_run", False),
        deadline_ms=options.get("deadline_ms"),
        purpose=context.get("purpose"),
        risk=context.get("risk"),
    )


# --- the parts of a request -------------------------------------------------------------------------------------------


def _operations(members: Mapping[str, Any], limits: Limits) -> tuple[Operation, ...]:
    shared = members.get("parameters", {})
    raw = members.get("operations")
    if not isinstance(raw, list) or not raw:
        raise _bad("operations", "is an array with at least one operation")
    if len(raw) > limits.operations:
        raise errors.InvalidRequestEnvelope(f"A request has at most {limits.operations} operations.")
    operations = []
    seen: set[str] = set()
    for position, entry in enumerate(raw):
        where = f"operations[{position}]"
        parts = _object(entry, where, _OPERATION)
        if ("command" in parts) == ("ast" in parts):
            raise _bad(where, "has exactly one of command and ast")
        if "ast" in parts:
            raise errors.UnsupportedCapability(
                "Operations are taken as command text, not as a tree.", hint="Send the statement in `command`."
            )
        if len(parts["command"].encode()) > limits.command_bytes:
            raise errors.InvalidRequestEnvelope(f"{where}.command is longer than {limits.command_bytes} bytes.")
        op_id = parts.get("op_id")
        if op_id in seen:
            raise _bad(f"{where}.op_id", "stands on another operation already")
        if op_id is not None:
            seen.add(op_id)
        operations.append(
            Operation(
                command=parts["command"],
                parameters={**shared, **parts.get("parameters", {})},
                op_id=op_id,
                language=parts.get("language"),
                idempotency_key=parts.get("idempotency_key"),
            )
        )
    return tuple(operations)


def _entries(raw: Sequence[Mapping[str, Any]], operations: Sequence[Operation]) -> tuple[IngestEntry, ...]:
    entries = []
    taken: set[str] = set()
    for entry in raw:
        key = entry["key"]
        if key in taken:
            raise _bad("ingest.evidence", f"binds {key} twice")
        if any(key in operation.parameters for operation in operations):
            raise _bad("ingest.evidence", f"binds {key}, which is a parameter already")
        taken.add(key)
        if ("payload" in entry) == ("payload_artifact" in entry):
            raise _bad(f"ingest.evidence {key}", "has exactly one of payload and payload_artifact")
        if "payload_artifact" in entry:
            raise errors.ArtifactUnavailable(f"The artifact of {key} is not here.", hint="Send the payload inline.")
        fields = {
            name: entry[name] for name in ("evidence_class", "media_type", "observed_at", "payload") if name in entry
        }
        entries.append(
            IngestEntry(
                key=key,
                fields=fields,
                source_actor=entry.get("source_actor"),
                facets=entry.get("facets"),
                client_key=entry.get("client_key"),
            )
        )
    return tuple(entries)


# --- shapes -----------------------------------------------------------------------------------------------------------

Shape: TypeAlias = Callable[[Any, str], None]
"""Checks a value at a named place; raises when it does not fit."""


def _text(most: int) -> Shape:
    def check(value: Any, where: str) -> None:
        if not isinstance(value, str) or not 1 <= len(value) <= most:
            raise _bad(where, f"is a string of 1 to {most} characters")

    return check


def _text_or_null(most: int) -> Shape:
    def check(value: Any, where: str) -> None:
        if value is not None:
            _text(most)(value, where)

    return check


def _one_of(*words: str) -> Shape:
    def check(value: Any, where: str) -> None:
        if value not in words or not isinstance(value, str):
            raise _bad(where, f"is one of {', '.join(sorted(words))}")

    return check


def _whole(least: int) -> Shape:
    def check(value: Any, where: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_SAFE_INTEGER:
            raise _bad(where, f"is a whole number from {least}")

    return check


def _flag(value: Any, where: str) -> None:
    if not isinstance(value, bool):
        raise _bad(where, "is true or false")


def _anything(value: Any, where: str) -> None:
    """Any JSON value."""


def _names(pattern: re.Pattern[str], what: str, inner: Shape = _anything) -> Shape:
    def check(value: Any, where: str) -> None:
        if not isinstance(value, Mapping):
            raise _bad(where, "is an object")
        for name, item in value.items():
            if pattern.fullmatch(name) is None:
                raise errors.InvalidIdentifier(
                    f"{where}: {name[:80]!r} is no {what}.", hint=f"Its form is {pattern.pattern}."
                )
            inner(item, f"{where}.{name}")

    return check


def _extension(value: Any, where: str) -> None:
    if not isinstance(value, Mapping):
        raise _bad(where, "is an object")
    if value.get("critical") is True:
        raise errors.UnsupportedCapability(f"{where} is critical, and this service does not know it.")
    if "critical" in value:
        _flag(value["critical"], f"{where}.critical")


def _shape(members: Mapping[str, Shape]) -> Shape:
    def check(value: Any, where: str) -> None:
        _object(value, where, members)

    return check


def _object(value: Any, where: str, members: Mapping[str, Shape]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _bad(where, "is an object")
    unknown = sorted(set(value) - set(members))
    if unknown:
        raise errors.InvalidRequestEnvelope(
            f"{where} has no member {', '.join(map(str, unknown))}.",
            hint=f"Known are {', '.join(sorted(members))}.",
            details={"unknown": unknown},
        )
    for name, item in value.items():
        members[name](item, name if where == "the request" else f"{where}.{name}")
    return value


def _space(value: Any, where: str) -> None:
    parts = _object(value, where, {"id": _text(512), "uri": _text(2048)})
    if not parts:
        raise _bad(where, "names a Space by id or uri")


def _execution(value: Any, where: str) -> None:
    parts = _object(
        value,
        where,
        {
            "extensions": _EXTENSIONS,
            "idempotency_key": _text(1024),
            "isolation": _text(64),
            "mode": _one_of("atomic", "independent", "sequence"),
            "on_error": _one_of("continue", "stop"),
        },
    )
    if "mode" not in parts:
        raise _bad(f"{where}.mode", "is required")
    if parts["mode"] == "atomic" and parts.get("on_error") == "continue":
        raise _bad(f"{where}.on_error", "cannot be continue in an atomic request")
    if parts.get("isolation", "serializable") != "serializable":
        raise errors.UnsupportedIsolation(f"The isolation {parts['isolation']!r} is not offered.")


def _ingest(value: Any, where: str) -> None:
    parts = _object(value, where, {"evidence": _anything, "extensions": _EXTENSIONS})
    if "evidence" not in parts:
        return
    if not isinstance(parts["evidence"], list) or not parts["evidence"]:
        raise _bad(f"{where}.evidence", "is an array with at least one entry")
    for position, entry in enumerate(parts["evidence"]):
        place = f"{where}.evidence[{position}]"
        inside = _object(entry, place, _EVIDENCE)
        for name in ("evidence_class", "key"):
            if name not in inside:
                raise _bad(f"{place}.{name}", "is required")


def _binding(value: Any, where: str) -> None:
    if not isinstance(value, str):
        raise _bad(where, "is a string")
    if _NAME.fullmatch(value) is None:
        raise errors.InvalidIdentifier(f"{where}: {value[:80]!r} cannot name a parameter.")


def _reference(value: Any, where: str) -> None:
    parts = _object(value, where, {"id": _text(512), "key": _text(1024), "type": _text(1024)})
    if set(parts) not in ({"id"}, {"id", "type"}, {"key", "type"}):
        raise _bad(where, 'is a reference, {"id": …} or {"type": …, "key": …}, never a name')


def _facets(value: Any, where: str) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(members, Mapping) for members in value.values()):
        raise _bad(where, "is an object of Facet name to members")


def _timestamp(value: Any, where: str) -> None:
    check_timestamp(value, where)


_EXTENSIONS = _names(_NAMESPACED, "extension name, which has a namespace", _extension)
_PARAMETERS = _names(_NAME, "parameter name")

_OPERATION: Mapping[str, Shape] = {
    "ast": _anything,
    "command": _text(2**31),
    "extensions": _EXTENSIONS,
    "idempotency_key": _text_or_null(1024),
    "language": _one_of("KML", "KQL", "META"),
    "op_id": _text(256),
    "options": _shape({"extensions": _EXTENSIONS}),
    "parameters": _PARAMETERS,
}

_EVIDENCE: Mapping[str, Shape] = {
    "client_key": _text(1024),
    "evidence_class": _text(256),
    "extensions": _EXTENSIONS,
    "facets": _facets,
    "key": _binding,
    "media_type": _text(256),
    "observed_at": _timestamp,
    "payload": _anything,
    "payload_artifact": _text(_TOKEN_LENGTH),
    "source_actor": _reference,
}

_TOP: Mapping[str, Shape] = {
    "compatibility_profile": _text(128),
    "context": _shape(
        {
            "client": _text(256),
            "extensions": _EXTENSIONS,
            "locale": _text(64),
            "purpose": _text(256),
            "risk": _text(128),
        }
    ),
    "execution": _execution,
    "extensions": _EXTENSIONS,
    "ingest": _ingest,
    "kip": _anything,
    "operations": _anything,
    "options": _shape({"deadline_ms": _whole(1), "dry_run": _flag, "extensions": _EXTENSIONS}),
    "parameters": _PARAMETERS,
    "preconditions": _shape(
        {"extensions": _EXTENSIONS, "schema_environment_version": _whole(0), "space_seq": _whole(0)}
    ),
    "read": _shape({"extensions": _EXTENSIONS, "snapshot_token": _text(_TOKEN_LENGTH)}),
    "request_id": _text(256),
    "requires": _names(_CAPABILITY, "capability name"),
    "space": _space,
}


def _bad(where: str, rule: str) -> errors.InvalidRequestEnvelope:
    return errors.InvalidRequestEnvelope(f"{where} {rule}.", details={"member": where})
