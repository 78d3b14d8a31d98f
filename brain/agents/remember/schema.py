"""The `remember` tool as a model sees it: its description and JSON Schema; lengths are checked when it is read."""

from __future__ import annotations

from typing import Any

from brain.agents.model import ToolSpec

REMEMBER = "remember"

MAX_ITEMS = 64
"""Items per list; a longer document is cut up by the model, not by the host."""

_DATE = "date as precisely as said: 2024, 2024-03, 2024-03-20 or 2024-03-20T15:00Z"
_MSG = {"type": "integer", "minimum": 1, "description": "number of the message that says it"}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _items(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "array",
        "maxItems": MAX_ITEMS,
        "items": {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
    }


REMEMBER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "claims": _items(
            {
                "msg": _MSG,
                "subject": _text("a name, a dossier id, or I for the speaker"),
                "subject_type": _text("type of a subject memory does not hold yet"),
                "predicate": _text("a predicate of the vocabulary or of new_predicates"),
                "object": _text("the thing meant: a name, a dossier id, or I"),
                "text": {"type": ["string", "number", "boolean"], "description": "a plain value instead of object"},
                "object_type": _text("type of an object memory does not hold yet"),
                "by": _text("who claims it, only when it is not the speaker"),
                "change": {
                    "enum": ["stated", "new", "ended", "correction", "withdrawn", "denied", "hearsay", "inferred"],
                    "description": "what this does to what is known; default stated",
                },
                "since": _text(_DATE),
                "until": _text(_DATE),
            },
            "msg",
            "subject",
            "predicate",
        ),
        "events": _items(
            {
                "msg": _MSG,
                "what": _text("one sentence"),
                "on": _text(_DATE),
                "who": {"type": "array", "maxItems": 16, "items": {"type": "string"}},
            },
            "msg",
            "what",
        ),
        "commitments": _items(
            {
                "msg": _MSG,
                "what": _text("what is owed"),
                "who": _text("who owes it"),
                "to": _text("to whom"),
                "due": _text(_DATE),
                "status": {"enum": ["pending", "fulfilled", "cancelled", "blocked"]},
            },
            "msg",
            "what",
            "who",
        ),
        "rules": _items({"msg": _MSG, "rule": _text("a standing instruction for serving this person")}, "msg", "rule"),
        "requests": _items(
            {
                "msg": _MSG,
                "kind": {"enum": ["erase", "correct_identity", "other"]},
                "what": _text("what is meant, in the speaker's words"),
            },
            "msg",
            "kind",
            "what",
        ),
        "new_predicates": _items(
            {
                "name": _text("snake_case verb phrase"),
                "meaning": _text("one sentence"),
                "subject": _text("type name"),
                "object": _text("type name, or text"),
                "values": {"enum": ["one", "many", "one_per_type"], "description": "values true at one time"},
            },
            "name",
            "meaning",
            "subject",
            "object",
            "values",
        ),
        "done": {"type": "boolean", "description": "true when nothing is left to do"},
        "summary": _text("one sentence on what was kept and what was not"),
    },
    "required": ["done", "summary"],
    "additionalProperties": False,
}

REMEMBER_TOOL = ToolSpec(
    REMEMBER,
    "Keep what these messages tell: claims, events, promises, rules, wishes about memory. One call for the whole "
    "conversation. Times, evidence, ids and quoting are filled in for you; good items are kept even when others are "
    "refused, so never send those again. Nothing worth keeping: empty lists and done.",
    REMEMBER_SCHEMA,
)
