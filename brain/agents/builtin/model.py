"""`builtin/offline`: a deterministic extractive model behind the Model promise, for a machine without a key.

It reads the typed turn of a run and answers like any model: with the `remember` call, with a read, or in words. It
claims nothing it could not read plainly, and says in every answer that it is what it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from anyio.to_thread import run_sync

from brain.agents.builtin.compose import document_of
from brain.agents.builtin.conversation import read_conversation
from brain.agents.builtin.recall.answer import Reply, ask_of, reply_to
from brain.agents.builtin.recall.ask import Ask
from brain.agents.builtin.recall.kinship import kin_claims
from brain.agents.builtin.recall.lookup import (
    MOST_CALLS,
    TOOL,
    Looked,
    looked_up,
    lookup_for,
    messages_call,
    subjects_of,
)
from brain.agents.builtin.recall.sources import claims_spoken_of
from brain.agents.builtin.upkeep import report_of
from brain.agents.model import ModelAnswer, ModelMessage, ModelRequest, ToolCall, Usage
from brain.agents.remember.document import LISTS, RememberDocument
from brain.agents.remember.schema import REMEMBER
from brain.agents.turns import FormationTurn, MaintenanceTurn, RecallTurn

NAME = "builtin/offline"
_NO_TASK = "The built-in model only forms, recalls and maintains memory."


class OfflineModel:
    """The key-free model. It counts no tokens, so its usage leaves them unknown."""

    name = NAME

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Answer one call; the reading runs in a thread, since a long conversation takes a while."""
        return await run_sync(answer_to, request)


def answer_to(request: ModelRequest) -> ModelAnswer:
    """The answer to a call: always the same for the same call."""
    match request.task:
        case FormationTurn() as turn:
            return _formed(turn, request)
        case RecallTurn() as turn:
            return _recalled(turn, request)
        case MaintenanceTurn() as turn:
            return _said(report_of(turn))
        case _:
            return _said(_NO_TASK)


def _formed(turn: FormationTurn, request: ModelRequest) -> ModelAnswer:
    """The pass's one document; once it was sent, or when there is nothing to send, only words."""
    document = document_of(read_conversation(turn.lines, turn.dossier), turn)
    is_sent = any(message.tool_calls for message in request.messages)
    if is_sent:
        return _said(_outcome(request.messages) or document.summary)
    if not _holds(document) or all(tool.name != REMEMBER for tool in request.tools):
        return _said(document.summary)
    arguments = json.dumps(document.to_json(), ensure_ascii=False)
    return ModelAnswer(document.summary, (ToolCall("call_remember", REMEMBER, arguments),), Usage(requests=1), NAME)


def _outcome(messages: Sequence[ModelMessage]) -> str | None:
    """What became of the document, when not all of it was kept."""
    results = [message.content for message in messages if message.role == "tool"]
    try:
        told = json.loads(results[-1]) if results else {}
    except ValueError:
        return None
    if not isinstance(told, dict) or told.get("ok", True):
        return None
    wrote, refused = int(told.get("wrote") or 0), len(told.get("not_kept") or ())
    return f"Kept {wrote} parts of what was said. Not kept: {refused or 'all'}, refused by memory."


def _holds(document: RememberDocument) -> bool:
    return any(getattr(document, name) for name in LISTS)


def _recalled(turn: RecallTurn, request: ModelRequest) -> ModelAnswer:
    """The answer of the dossier; what it may lack of one is read first."""
    ask = ask_of(turn)
    looked = looked_up(request.messages, ask, turn)
    calls = sum(1 for message in request.messages if message.tool_calls)
    if looked.claims and not ask.subjects:
        ask = replace(ask, subjects=subjects_of(looked.claims), unknown="")
    reply = reply_to(ask, turn, looked)
    if calls < MOST_CALLS and any(tool.name == TOOL for tool in request.tools):
        call = _next_read(ask, turn, looked, reply)
        if call is not None and not _was_sent(call, request.messages):
            return ModelAnswer("", (call,), Usage(requests=1), NAME)
    return _said(_with_report(reply))


def _next_read(ask: Ask, turn: RecallTurn, looked: Looked, reply: Reply) -> ToolCall | None:
    """The read that may still change the answer."""
    if not looked.messages:
        told_of = [claim for one in (ask, *ask.others) if one.kin for claim in kin_claims(one.kin, turn)]
        call = messages_call(told_of)
        if call is not None:
            return call
    if reply.found and ask.form == "value":
        return None
    return lookup_for(ask, turn, looked, claims_spoken_of(ask, turn))


def _was_sent(call: ToolCall, messages: Sequence[ModelMessage]) -> bool:
    return any(sent.arguments == call.arguments for message in messages for sent in message.tool_calls or ())


def _with_report(reply: Reply) -> str:
    report = {"found": reply.found, "uncertainty": reply.uncertainty, "rests_on": list(reply.rests_on)}
    return f"{reply.text}\n<memory_meta>{json.dumps(report)}</memory_meta>"


def _said(text: str) -> ModelAnswer:
    return ModelAnswer(text, (), Usage(requests=1), NAME)
