"""Reads beyond the dossier: well-formed KQL for what was cut, and its rows as claims."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from brain.agents.builtin.recall.ask import Ask
from brain.agents.model import ModelMessage, ToolCall
from brain.agents.spoken import as_said
from brain.agents.turns import KnownClaim, KnownCommitment, RecallTurn, Ref
from brain.names import fold
from brain.store.base import ElementId

TOOL = "execute_kip_readonly"
_KNOWN = (
    "FIND(?c, ?p, ?o, ?b.status) WHERE {{ ?c {{id: :who}} ?p (?c, {predicate}, ?o) ?b BELIEF (?p) }} "
    "FOR TIME :time LIMIT 40"
)
_NAMED = (
    "FIND(?c, ?p, ?o, ?b.status) WHERE {{ ?c SEARCH CONCEPT :name LIMIT 4 ?p (?c, {predicate}, ?o) ?b BELIEF (?p) }} "
    "FOR TIME :time LIMIT 40"
)
_HOLDERS = (
    "FIND(?c, ?p, ?o, ?b.status) WHERE {{ ?p (?c, {predicate}, ?o) ?b BELIEF (?p) FILTER(?o == :value) }} "
    "FOR TIME :time LIMIT 40"
)
_COMMITMENTS = (
    'FIND(?c, ?by, ?to) WHERE { ?c {type: "Commitment"} OPTIONAL { STRUCTURAL (?c, "committed_to", ?by) } '
    'OPTIONAL { STRUCTURAL (?c, "owed_to", ?to) } '
    'FILTER(?c.attributes.status == "pending" || ?c.attributes.status == "blocked") } LIMIT 64'
)
_VOICES = "FIND(?a) WHERE {{ ?a ASSERTION {{proposition: {proposition}, state: ?s}} }} LIMIT 24"
_MESSAGES = (
    "FIND(?a, ?e) WHERE {{ ?a ASSERTION {{proposition: {proposition}}} "
    'STRUCTURAL (?a, "evidence", ?e) ?e EVIDENCE {{}} }} LIMIT 12'
)
_NAMES = "FIND(?c) WHERE {{ ?c {{id: {person}, state: ?s}} }}"
_MOST = 4
_MOST_NAMES = 12
MOST_CALLS = 2
"""Who spoke is known after a first read, what they are called after a second."""

VoiceKind = Literal["support", "hearsay", "reject", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Voice:
    """One person's word on a proposition: held, passed on, denied, or taken back since."""

    who: Ref
    date: str
    kind: VoiceKind
    assertion_id: ElementId


@dataclass(frozen=True, slots=True)
class Looked:
    """What our reads returned; by proposition, voices, oldest first, and the messages that its claims cite."""

    claims: tuple[KnownClaim, ...] = ()
    commitments: tuple[KnownCommitment, ...] = ()
    voices: Mapping[ElementId, tuple[Voice, ...]] = field(default_factory=dict)
    messages: Mapping[ElementId, tuple[str, ...]] = field(default_factory=dict)


def lookup_for(ask: Ask, turn: RecallTurn, looked: Looked, about: Sequence[KnownClaim]) -> ToolCall | None:
    """The call that may still find what the dossier lacks; None when nothing was left out of it.

    about  claims of which the question asks who said them
    """
    match ask.form:
        case "sources":
            return _voices_call(looked, about, turn)
        case "commitments" if not looked.commitments:
            return _call("commitments", [_COMMITMENTS], {})
        case "value":
            return _value_call(ask, turn)
        case "reverse":
            return _holders_call(ask, turn)
        case _:
            return None


def messages_call(claims: Sequence[KnownClaim]) -> ToolCall | None:
    """The read of the messages that claims cite."""
    propositions = list(dict.fromkeys(claim.proposition_id for claim in claims))[:_MOST_NAMES]
    return (
        _call("messages", [_MESSAGES.format(proposition=json.dumps(i)) for i in propositions], {}) if claims else None
    )


def _voices_call(looked: Looked, about: Sequence[KnownClaim], turn: RecallTurn) -> ToolCall | None:
    if not looked.voices:
        propositions = list(dict.fromkeys(claim.proposition_id for claim in about))[:_MOST]
        commands = [_VOICES.format(proposition=json.dumps(i)) for i in propositions]
        return _call("voices", commands, {}) if commands else None
    known = _names(turn)
    unnamed = [
        voice.who.id
        for voices in looked.voices.values()
        for voice in voices
        if voice.who.id and voice.who.id not in known and voice.who.name == voice.who.id
    ]
    commands = [_NAMES.format(person=json.dumps(i)) for i in dict.fromkeys(unnamed)][:_MOST_NAMES]
    return _call("names", commands, {}) if commands else None


def _holders_call(ask: Ask, turn: RecallTurn) -> ToolCall | None:
    """Who has a plain value, which no search for its name finds."""
    values = [ref.name for ref in ask.values if ref.id is None]
    if not values:
        return None
    command = _HOLDERS.format(predicate=json.dumps(ask.relations[0].predicate))
    return _call("holders", [command], {"value": values[0], "time": _instant(ask, turn)})


def _value_call(ask: Ask, turn: RecallTurn) -> ToolCall | None:
    if not ask.relations or not (turn.cut or ask.unknown or (ask.time is not None and ask.subjects)):
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
    return _call("lookup", commands, parameters) if commands else None


def _call(name: str, commands: list[str], parameters: Mapping[str, Any]) -> ToolCall:
    arguments = json.dumps({"commands": commands, "parameters": parameters}, ensure_ascii=False)
    return ToolCall(f"call_{name}", TOOL, arguments)


def _instant(ask: Ask, turn: RecallTurn) -> str:
    """The instant to read at: the end of the time asked about, else the turn's."""
    if ask.time is None:
        return turn.at
    day = ask.time.start if ask.is_before else ask.time.last
    if len(day) > 10:
        return f"{day[:16]}:00.000Z"
    filled = (day + ("-01-01" if ask.is_before else "-12-28")[len(day) - 4 :]) if len(day) < 10 else day
    return f"{filled}T00:00:00.000Z" if ask.is_before else f"{filled}T23:59:59.999Z"


def looked_up(messages: Sequence[ModelMessage], ask: Ask, turn: RecallTurn) -> Looked:
    """What the answers to our calls returned; rows of another shape are passed over."""
    rows = [
        row for message in messages if message.role == "tool" for found in _row_lists(message.content) for row in found
    ]
    claims = [claim for row in rows if (claim := _claim(row)) is not None and _is_meant(claim, ask)]
    names = _names(turn) | {
        row["id"]: _ref(row) for row in rows if isinstance(row, Mapping) and str(row.get("id")).startswith("C-")
    }
    voices: dict[ElementId, list[Voice]] = {}
    for row in rows:
        if isinstance(row, Mapping) and row.get("type") == "assertion" and row.get("proposition"):
            voices.setdefault(row["proposition"], []).append(_voice(row, names))
    spoken = {i: tuple(sorted(found, key=lambda voice: voice.date)) for i, found in voices.items()}
    return Looked(tuple(claims), _commitments(rows), spoken, _messages(rows))


def _messages(rows: Sequence[Any]) -> dict[ElementId, tuple[str, ...]]:
    """The texts in rows `[assertion, evidence]`, by the proposition the assertion is about."""
    found: dict[ElementId, tuple[str, ...]] = {}
    for row in rows:
        if not isinstance(row, list) or len(row) != 2 or not all(isinstance(part, Mapping) for part in row):
            continue
        assertion, evidence = row
        proposition, text = assertion.get("proposition"), evidence.get("payload")
        if isinstance(proposition, str) and isinstance(text, str):
            found[proposition] = (*found.get(proposition, ()), text)
    return found


def _voice(row: Mapping[str, Any], names: Mapping[ElementId, Ref]) -> Voice:
    actor = str(row.get("asserted_by") or "")
    kind: VoiceKind = "support"
    if row.get("lifecycle") in ("retracted", "superseded"):
        kind = "withdrawn"
    elif row.get("stance") == "reject":
        kind = "reject"
    elif row.get("mode") not in ("stated", None):
        kind = "hearsay"
    date = str(row.get("asserted_at") or "")[:10]
    return Voice(names.get(actor, Ref(actor or None, actor or "?", None)), date, kind, str(row["id"]))


def _commitments(rows: Sequence[Any]) -> tuple[KnownCommitment, ...]:
    """Commitments in rows `[commitment, by, to]`, those due soonest first."""
    found: dict[ElementId, KnownCommitment] = {}
    for row in rows:
        if not isinstance(row, list) or len(row) != 3 or not isinstance(row[0], Mapping):
            continue
        view, by, to = row
        if view.get("type") != "Commitment":
            continue
        attributes = view.get("attributes") or {}
        earlier = found.get(view["id"])
        owed = (_ref(to),) if isinstance(to, Mapping) else ()
        found[view["id"]] = KnownCommitment(
            view["id"],
            str(attributes.get("summary") or ""),
            str(attributes.get("status") or "pending"),
            _ref(by) if isinstance(by, Mapping) else None,
            tuple(dict.fromkeys((*(earlier.to if earlier else ()), *owed))),
            attributes.get("due_at"),
            as_said(attributes.get("due"), attributes.get("due_at")),
        )
    return tuple(sorted(found.values(), key=lambda known: (known.due or "9", int(known.id[2:]))))


def _names(turn: RecallTurn) -> dict[ElementId, Ref]:
    """Everybody the dossier names."""
    refs = [entry.who for entry in turn.dossier]
    refs += [ref for entry in turn.dossier for claim in entry.claims for ref in (claim.by, *claim.against) if ref]
    return {ref.id: ref for ref in refs if ref.id}


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
    if ask.form == "reverse":
        return claim.object.name in {ref.name for ref in ask.values}
    if ask.subjects:
        return claim.subject.id in {ref.id for ref in ask.subjects}
    return bool(ask.unknown) and set(fold(ask.unknown).split()) <= set(fold(claim.subject.name).split())
