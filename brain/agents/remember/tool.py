"""The `remember` tool: a document in, one gated MUTATE out, every item answered for.

Good items are kept even when others are not, so that nothing has to be sent twice. What the engine or the gate refuses
although it compiled is found item by item in trial runs, and the rest is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anyio.to_thread import run_sync

from brain import errors
from brain.agents.door import Door, first_error, is_success
from brain.agents.remember.compile import Piece, assemble, compile_document, define_predicates, define_type
from brain.agents.remember.faults import Fault
from brain.agents.remember.ground import Ground
from brain.agents.remember.parse import Parsed, read_document
from brain.agents.remember.schema import REMEMBER_TOOL
from brain.agents.tools import ToolAnswer, compact, failure, refusal
from brain.errors import KipError
from brain.gate.vocabulary import MAX_DEFINITIONS
from brain.kip.context import Outcome

TRANSIENT = frozenset({"ExecutionTimeout", "InternalError", "OutcomeUnknown", "SerializationConflict"})


@dataclass(slots=True)
class _Kept:
    """What a document came to so far."""

    faults: list[Fault]
    warnings: list[str]
    wrote: int = 0
    ids: Mapping[str, str] | None = None


class Remember:
    """Keeps documents of one pass.

    ground  called for every document: the pass's ground as memory stands then
    """

    spec = REMEMBER_TOOL

    def __init__(self, door: Door, ground: Callable[[], Ground]) -> None:
        self._door = door
        self._ground = ground
        self.summary = ""

    async def run(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        return await run_sync(self._keep, arguments)

    def _keep(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        parsed = read_document(arguments)
        self.summary = parsed.summary or self.summary
        kept = _Kept(list(parsed.faults), [])
        if not parsed.is_empty:
            try:
                error = self._write(parsed, kept)
            except KipError as refused:
                return refusal(refused)
            if error is not None:
                return failure(error["code"], error["message"], error.get("hint", ""), error.get("details"))
        return ToolAnswer(compact(_answer(kept)), failed=bool(kept.faults), ends=parsed.done and not kept.faults)

    def _write(self, parsed: Parsed, kept: _Kept) -> Mapping[str, Any] | None:
        """Define, compile, write; the engine's error when nothing could be done about it here."""
        self._define_predicates(parsed, kept)
        compiled = compile_document(parsed, self._ground())
        kept.faults += compiled.faults
        kept.warnings += compiled.warnings
        for name in compiled.types:
            self._define([define_type(name, f"A kind of thing people talk about: {name}.")], kept)
        pieces = list(compiled.pieces)
        if not pieces:
            return None
        outcome = send(self._door, pieces)
        if not is_success(outcome):
            if first_error(outcome)["code"] in TRANSIENT:
                return first_error(outcome)
            pieces, faults = holding(self._door, pieces)
            kept.faults += faults
            if not pieces:
                return None
            outcome = send(self._door, pieces)
            if not is_success(outcome):
                return first_error(outcome)
        kept.wrote = len(pieces)
        kept.ids = named_ids(outcome, assemble(pieces, self._door.origin).handles)
        return None

    def _define_predicates(self, parsed: Parsed, kept: _Kept) -> None:
        if not parsed.new_predicates:
            return
        definitions = define_predicates(parsed.new_predicates, self._ground().vocabulary)
        kept.faults += definitions.faults
        kept.warnings += [f"{name} exists already and was used as it is" for name in definitions.known]
        self._define(definitions.commands, kept)

    def _define(self, commands: Sequence[str], kept: _Kept) -> None:
        """Draft words; one that is there already is no fault."""
        for start in range(0, len(commands), MAX_DEFINITIONS):
            for command in commands[start : start + MAX_DEFINITIONS]:
                outcome = self._door.run([command], {})
                error = None if is_success(outcome) else first_error(outcome)
                if error is not None and error["code"] != "SchemaSymbolConflict":
                    kept.faults.append(Fault("new_predicates", f"{error['code']}: {error['message']}", error["hint"]))


def send(door: Door, pieces: Sequence[Piece], *, is_trial: bool = False) -> Outcome:
    """Write these pieces, all of them or none."""
    block = assemble(pieces, door.origin)
    return door.run([block.text], block.parameters, is_trial=is_trial)


def holding(door: Door, pieces: Sequence[Piece]) -> tuple[list[Piece], list[Fault]]:
    """The pieces that hold beside those before them, each tried; the items of the others as faults.

    What an item does is done with all its pieces or not at all; of items that clash the first is kept.

    raises  the engine's error when it could not be tried
    """
    good: list[Piece] = []
    faults: dict[str, Fault] = {}
    for piece in pieces:
        if piece.at in faults:
            continue
        outcome = send(door, [*good, piece], is_trial=True)
        if is_success(outcome):
            good.append(piece)
            continue
        error = first_error(outcome)
        if error["code"] in TRANSIENT:  # which says nothing of the piece
            raise as_raised(error)
        faults[piece.at] = Fault(piece.at, f"{error['code']}: {error['message']}", error.get("hint", ""))
        good = [other for other in good if other.at != piece.at]
    return good, list(faults.values())


def as_raised(error: Mapping[str, Any]) -> KipError:
    """An error of the engine's answer, to be raised again."""
    kind: type[KipError] = getattr(errors, error["code"])
    retry = error.get("retry", {})
    return kind(
        error["message"],
        hint=error.get("hint"),
        retry=errors.Retry(retry["class"]) if "class" in retry else None,
        after_ms=retry.get("after_ms"),
        details=error.get("details"),
    )


def named_ids(outcome: Outcome, handles: Mapping[str, str]) -> dict[str, str]:
    """The ids of things that have a name, by that name."""
    result = (outcome.response.get("results") or [{}])[0].get("result") or {}
    bound = result.get("handles") or {}
    return {name: bound[handle] for handle, name in handles.items() if name and handle in bound}


def _answer(kept: _Kept) -> dict[str, Any]:
    """What the model reads: how much was written, under which ids, what was not and why."""
    answer: dict[str, Any] = {"ok": not kept.faults, "status": "failed" if kept.faults else "succeeded"}
    answer["wrote"] = kept.wrote
    if kept.ids:
        answer["ids"] = dict(kept.ids)
    if kept.warnings:
        answer["note"] = kept.warnings
    if kept.faults:
        answer["not_kept"] = [fault.to_wire() for fault in kept.faults]
        answer["next"] = "Send only what is listed under not_kept, put right, or done with empty lists."
    return answer
