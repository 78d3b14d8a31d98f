"""The response envelope, in wire shape (KIP 2.0 §81 to §83)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brain import errors
from brain.kip.context import Answer

_ECHOED = ("mode", "on_error", "isolation", "idempotency_key")


def succeeded(
    answer: Answer, context: Mapping[str, Any], *, status: str = "succeeded", receipt: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """An operation that did what it should."""
    result: dict[str, Any] = {"status": status, "result": answer.result, "context": {**context, **answer.context}}
    if answer.warnings:
        result["warnings"] = [dict(warning) for warning in answer.warnings]
    if answer.next_cursor is not None:
        result["next_cursor"] = answer.next_cursor
    if receipt is not None:
        result["receipt"] = dict(receipt)
    return result


def failed(error: errors.KipError) -> dict[str, Any]:
    """An operation that was refused or broke off; nothing of it is durable."""
    return {"status": "failed", "error": error.to_wire()}


def response(
    results: Sequence[Mapping[str, Any]],
    *,
    request_id: str | None,
    execution: Mapping[str, Any] | None,
    space_uri: str,
    environment_version: int | None,
    receipt: Mapping[str, Any] | None = None,
    outcome_unknown: bool = False,
) -> dict[str, Any]:
    """The whole answer to a request whose shape was right."""
    context: dict[str, Any] = {"space_id": space_uri}
    if environment_version is not None:
        context["schema_environment_version"] = environment_version
    answer: dict[str, Any] = {"kip": "2.0"}
    if request_id is not None:
        answer["request_id"] = request_id
    answer["status"] = "outcome_unknown" if outcome_unknown else _status(results)
    if execution is not None:
        answer["execution"] = {name: execution[name] for name in _ECHOED if name in execution}
    return answer | {
        "results": [dict(result) for result in results],
        "context": context,
        "snapshot": None,
        "receipt": dict(receipt) if receipt is not None else None,
        "warnings": [],
    }


def refused(error: errors.KipError, raw: Any) -> dict[str, Any]:
    """The answer to a request of which nothing ran."""
    answer: dict[str, Any] = {"kip": "2.0"}
    request_id = raw.get("request_id") if isinstance(raw, Mapping) else None
    if isinstance(request_id, str) and 0 < len(request_id) <= 256:
        answer["request_id"] = request_id
    return answer | {
        "status": "failed",
        "results": [],
        "snapshot": None,
        "receipt": None,
        "warnings": [],
        "error": error.to_wire(),
    }


def _status(results: Sequence[Mapping[str, Any]]) -> str:
    good = sum(result["status"] in ("succeeded", "no_effect") for result in results)
    if good == len(results):
        return "succeeded"
    return "partial" if good else "failed"
