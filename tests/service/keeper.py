"""A model that keeps every message as a happening of the message's own words, through the real tools and gate.

What it is asked to remember says how it behaves: `[fail]` no answer comes, `[fail once]` none the first time, `[twice]`
it writes in two turns, `[fail later]` and none comes in the second, `[slow 0.5]` seconds before every answer, `[break]`
it raises what no model should, `[loop]` it never stops calling a tool.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import anyio

from brain.agents.model import ModelAnswer, ModelFailure, ModelRequest, ToolCall, Usage
from brain.agents.turns import FormationTurn, RecallTurn

_MARK = re.compile(r"\[(fail once|fail later|fail|twice|break|loop|slow ([0-9.]+))\]")


class Keeper:
    """See above. `asked` counts the calls per text, `at_work` holds the texts whose answer is awaited just now."""

    name = "test/keeper"

    def __init__(self, *, pause_s: float = 0.0) -> None:
        self.pause_s = pause_s
        self.asked: Counter[str] = Counter()
        self.at_work: list[str] = []
        self.most_at_work = 0
        self.gates: dict[str, anyio.Event] = {}
        """Texts whose answer waits until their event is set."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        turn: Any = request.task
        text = turn.lines[-1].text if isinstance(turn, FormationTurn) else getattr(turn, "question", "")
        self.asked[text] += 1
        self.at_work.append(text)
        self.most_at_work = max(self.most_at_work, len(self.at_work))
        try:
            await anyio.sleep(self.pause_s)
            if text in self.gates:
                await self.gates[text].wait()
            return await self._answer(turn, text, len([m for m in request.messages if m.role == "assistant"]))
        finally:
            self.at_work.remove(text)

    async def _answer(self, turn: object, text: str, turns_done: int) -> ModelAnswer:
        marks = {mark[1]: mark[2] for mark in _MARK.finditer(text)}
        for mark, seconds in marks.items():
            if mark.startswith("slow"):
                await anyio.sleep(float(seconds))
        is_first, is_later = self.asked[text] == 1, turns_done == 1
        if "fail" in marks or ("fail once" in marks and is_first) or ("fail later" in marks and is_later):
            raise ModelFailure("provider_error", "the model provider could not answer", transient=True)
        if "break" in marks:
            raise RuntimeError(f"never to be seen: {text}")
        if isinstance(turn, RecallTurn):
            return self._say('It is as it is.\n<memory_meta>{"found": true, "uncertainty": 0.25}</memory_meta>')
        if not isinstance(turn, FormationTurn):
            return self._say("Nothing to tidy.")
        if "loop" in marks:
            return self._call("kip_reference", {"topic": "syntax"}, turns_done)
        if "twice" in marks and is_later:
            return self._remember(turn, f"{text} (again)", is_done=True, turns_done=turns_done)
        return self._remember(turn, text, is_done="twice" not in marks, turns_done=turns_done)

    def _remember(self, turn: FormationTurn, what: str, *, is_done: bool, turns_done: int) -> ModelAnswer:
        happening = {"msg": turn.lines[-1].number, "what": what}
        return self._call("remember", {"events": [happening], "done": is_done, "summary": "Kept."}, turns_done)

    def _call(self, tool: str, arguments: dict[str, Any], turns_done: int) -> ModelAnswer:
        calls = (ToolCall(f"call_{turns_done}", tool, json.dumps(arguments)),)
        return ModelAnswer("", calls, Usage(100, 20, 0, 1), self.name)

    def _say(self, text: str) -> ModelAnswer:
        return ModelAnswer(text, (), Usage(50, 10, 0, 1), self.name)
