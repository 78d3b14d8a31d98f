"""Engine answers as a model reads them: what carries meaning, in few tokens; receipts stay with the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brain.agents.tools import compact
from brain.kip import ast
from brain.kip.context import Outcome

_PAYLOAD = 2_000
_TEXT = 4_000
_VIEW = (
    "name",
    "key",
    "attributes",
    "facets",
    "structural",
    "stance",
    "mode",
    "confidence",
    "asserted_at",
    "observed_at",
)


def rendered(outcome: Outcome) -> str:
    """A whole response as JSON text: one object for one operation, `results` for several."""
    response = outcome.response
    results = response.get("results") or []
    if not results:
        return compact({"status": "failed", "error": _error(response.get("error") or {})})
    statements = [trace.statement for trace in outcome.operations] or [None] * len(results)
    shown = [_result(result, statement) for result, statement in zip(results, statements, strict=False)]
    return compact(shown[0] if len(shown) == 1 else {"status": response["status"], "results": shown})


def _result(result: Mapping[str, Any], statement: ast.Statement | None) -> dict[str, Any]:
    if "error" in result:
        return {"status": result["status"], "error": _error(result["error"])}
    shown: dict[str, Any] = {"status": result["status"]}
    if isinstance(statement, ast.Find):
        shown["rows"] = plain(result.get("result"))
    elif "receipt" in result:
        value = result.get("result") or {}
        shown["wrote"] = len(value.get("changes") or ())
        if value.get("handles"):
            shown["ids"] = value["handles"]
        if value.get("ref"):
            shown["ref"] = value["ref"]
    else:
        shown["result"] = plain(result.get("result"))
    for member in ("next_cursor", "warnings"):
        if result.get(member):
            shown[member] = result[member]
    return shown


def _error(error: Mapping[str, Any]) -> dict[str, Any]:
    return {name: error[name] for name in ("code", "message", "hint", "details") if error.get(name)}


def plain(value: Any) -> Any:
    """A result value with element views and projections shortened, whatever they are nested in."""
    if isinstance(value, Mapping):
        if "_system" in value and "kind" in value:
            return _element(value)
        if "basis" in value and "status" in value:
            return _projection(value)
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    if isinstance(value, str) and len(value) > _TEXT:
        return f"{value[:_TEXT]} [cut: {len(value) - _TEXT} more characters]"
    return value


def _element(view: Mapping[str, Any]) -> dict[str, Any]:
    """An element with the members a reader acts on."""
    system = view["_system"]
    shown: dict[str, Any] = {"id": view["id"]}
    kind = view.get("schema_ref") or view.get("evidence_class") or view.get("activity_class") or view["kind"]
    shown["type"] = str(kind).rpartition("/")[2]
    if view.get("predicate_ref"):
        shown |= {"subject": view.get("subject"), "predicate": str(view["predicate_ref"]).rpartition("/")[2]}
        shown["object"] = view.get("object")
    shown |= {name: plain(view[name]) for name in _VIEW if view.get(name) not in (None, {}, [])}
    for name in ("proposition", "asserted_by"):
        if isinstance(view.get(name), Mapping):
            shown[name] = view[name].get("id")
    for name in ("valid_time", "context_refs", "source", "inputs", "outputs", "aliases", "status"):
        if view.get(name):
            shown[name] = plain(view[name])
    if view.get("evidence"):
        shown["evidence"] = [citation["id"] for citation in view["evidence"]]
    if view.get("payload") is not None:
        shown["payload"] = _payload(view["payload"])
    status = (view.get("lifecycle") or {}).get("status", "active")
    if status != "active":
        shown["lifecycle"] = status
    if system.get("state", "active") != "active":
        shown["state"] = system["state"]
    shown["version"] = system.get("version")
    return shown


def _payload(payload: Any) -> Any:
    inline = payload.get("inline", payload) if isinstance(payload, Mapping) else payload
    if isinstance(inline, str) and len(inline) > _PAYLOAD:
        return f"{inline[:_PAYLOAD]} [cut: {len(inline) - _PAYLOAD} more characters]"
    return inline


def _projection(value: Mapping[str, Any]) -> dict[str, Any]:
    """A belief or a slot with its verdict and what it rests on."""
    shown: dict[str, Any] = {"status": value["status"]}
    for name in ("accepted_values", "conflict_reasons", "proposition_id", "leading"):
        if value.get(name) not in (None, [], "none"):
            shown[name] = plain(value[name])
    for side in ("support", "opposition"):
        ids = (value.get(side) or {}).get("assertion_ids")
        if ids:
            shown[side] = ids
    reasons = (value.get("uncertainty") or {}).get("reasons")
    if reasons:
        shown["reasons"] = reasons
    if value.get("candidate_projections"):
        shown["candidates"] = [plain(item) for item in value["candidate_projections"]]
    explanation = value.get("explanation")
    if explanation:
        shown["explanation"] = plain(explanation)
    return shown
