"""Reads beyond the dossier: well-formed KQL for what was cut, and its rows as claims."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from brain.agents.builtin.recall.ask import Ask
from brain.agents.model import ModelMessage, ToolCall
from brain.agents.turns import KnownClaim, RecallTurn, Ref
from brain.names import fold

TOOL = "execute_kip_readonly"
_KNOWN = (
    "FIND(?c, ?p, ?o, ?b.status) WHERE {{ ?c {{id: :who}} ?p (?c, {predicate}, ?o) ?b BELIEF (?p) }} "
    "FOR TIME :time LIMIT 40"
)
_NAMED = (
    "FIND(?c, ?p, ?o, ?b.status) WHERE {{ ?c SEARCH CONCEPT :name LIMIT 4 ?p (?c, {predicate}, ?o) ?b BELIEF (?p) }} "
    "FOR TIME :time LIMIT 40"
)
_MOST = 4


def lookup_for(ask: Ask, turn: RecallTurn) -> ToolCall | None:
    """The call that may still find an answer the dossier lacks; None when nothing was left out of it."""
    if ask.form != "value" or not ask.relations or not (turn.cut or (ask.time is not None and ask.subjects)):
        return None
    parameters: dict[str, Any] = {"time": _instant(ask, turn)}
    if ask.subjects and ask.subjects[0].id:
        shape, parameters["who"] = _KNOWN, ask.subjects[0].id
    elif ask.unknown and ask.unknown not in ("you", "你"):
        shape, parameters["name"] = _NAMED, ask.unknown
    else:
        return None
    commands = [
        shape.format(predicate=json.dumps(relation.predicate))
        for relation in ask.relations[:_MOST]
        if not relation.by_value
    ]
    if not commands:
        return None
    arguments = json.dumps({"commands": commands, "parameters": parameters}, ensure_ascii=False)
    return ToolCall("call_lookup", TOOL, arguments)


def _instant(ask: Ask, turn: RecallTurn) -> str:
    """The instant to read at: the end of the time asked about, else the turn's."""
    if ask.time is None:
        return turn.at
    day = ask.time.start if ask.is_before else ask.time.last
    if len(day) > 10:
        return f"{day[:16]}:00.000Z"
    filled = (day + ("-01-01" if ask.is_before else "-12-28")[len(day) - 4 :]) if len(day) < 10 else day
    return f"{filled}T00:00:00.000Z" if ask.is_before else f"{filled}T23:59:59.999Z"


def claims_in(messages: Sequence[ModelMessage], ask: Ask) -> list[KnownClaim]:
    """The claims that the answers to our calls returned; rows of another shape are passed over."""
    found = []
    for message in messages:
        if message.role != "tool":
            continue
        for rows in _row_lists(message.content):
            for row in rows:
                claim = _claim(row)
                if claim is not None and _is_meant(claim, ask):
                    found.append(claim)
    return found


def subjects_of(claims: Sequence[KnownClaim]) -> tuple[Ref, ...]:
    """The subjects of claims, once each."""
    return tuple({claim.subject.id: claim.subject for claim in claims}.values())


def _row_lists(text: str) -> list[list[Any]]:
    try:
        value = json.loads(text)
    except ValueError:
        return []
    results = value.get("results", [value]) if isinstance(value, Mapping) else []
    return [
        result["rows"] for result in results if isinstance(result, Mapping) and isinstance(result.get("rows"), list)
    ]


def _claim(row: Any) -> KnownClaim | None:
    if not isinstance(row, list) or len(row) != 4:
        return None
    subject, proposition, value, status = row
    if not isinstance(subject, Mapping) or not isinstance(proposition, Mapping) or status != "accepted":
        return None
    return KnownClaim(
        _ref(subject),
        str(proposition.get("predicate") or ""),
        _ref(value),
        "accepted",
        None,
        None,
        None,
        None,
        str(proposition.get("id") or ""),
        str(proposition.get("id") or ""),
    )


def _ref(value: Any) -> Ref:
    if isinstance(value, Mapping):
        return Ref(value.get("id"), str(value.get("name") or value.get("id")), value.get("type"))
    return Ref(None, str(value), None)


def _is_meant(claim: KnownClaim, ask: Ask) -> bool:
    """Whether a row is about whom the question names."""
    if ask.subjects:
        return claim.subject.id in {ref.id for ref in ask.subjects}
    return bool(ask.unknown) and set(fold(ask.unknown).split()) <= set(fold(claim.subject.name).split())
