"""Packets: recall within a token budget, with a run of the Recall agent before it or without any model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from brain.agents.jobs import Planning, RecallResult
from brain.service.callers import Caller
from brain.service.inputs import BudgetInput, ContextInput, PacketInput, RecallInput, canonical_instant
from brain.service.outputs.memory import BudgetReceipt, PacketOutput
from brain.service.policy import policy_in
from brain.service.spaces import OpenSpace
from brain.times import Clock, timestamp

if TYPE_CHECKING:
    from brain.kip.context import Session
    from brain.packet.pack import Packet
    from brain.packet.question import Question

MOST_TOKENS, CONTEXT_TOKENS = 4_096, 49_152
"""Of a budget that names none."""

_CODES = {
    "context_timeout": "recall_deadline_reached",
    "memory_unavailable": "recall_required_read_incomplete",
    "time_limit": "recall_deadline_reached",
    "timeout": "recall_deadline_reached",
    "turn_limit": "recall_planner_incomplete",
}
"""What a run that came to no end is called in a packet; any other failure is the model's."""

_MODEL_FAILED = "recall_model_unavailable"
_CONTEXT_EXHAUSTED = "recall_context_budget_exhausted"
_EXHAUSTED = (
    "The model's input budget was used up before it had finished looking. These are the candidates the host had read; "
    "whether they answer the question was not judged."
)


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """What a packet may be, and what its planner may be sent."""

    max_tokens: int
    context_tokens: int

    def receipt(self, tokens: int) -> BudgetReceipt:
        """How a packet of so many tokens was counted."""
        from brain.packet.tokens import TOKENIZER

        return {
            "tokenizer": TOKENIZER,
            "token_limit": self.max_tokens,
            "tokens": tokens,
            "context_token_limit": self.context_tokens,
        }

    @property
    def planning(self) -> Planning:
        from brain.packet.tokens import count

        return Planning(self.context_tokens, count)


def budget_of(asked: BudgetInput | None, ceilings: Mapping[str, Any] | None) -> TokenBudget | None:
    """The budget of a request under a policy's ceilings: a request may tighten them, neither raise nor lift them.

    None for a request without one where no policy sets one: it is answered in words.
    """
    if asked is None and ceilings is None:
        return None
    given = BudgetInput() if asked is None else asked
    if ceilings is None:
        return TokenBudget(given.max_tokens or MOST_TOKENS, given.context_tokens or CONTEXT_TOKENS)
    tokens, context = ceilings.get("max_tokens") or MOST_TOKENS, ceilings.get("context_tokens") or CONTEXT_TOKENS
    return TokenBudget(min(given.max_tokens or tokens, tokens), min(given.context_tokens or context, context))


def packet(space: OpenSpace, asked: PacketInput, caller: Caller, clock: Clock) -> tuple[PacketOutput, str]:
    """What memory holds for a question, without a model, and the text that was counted.

    raises  InvalidInput for a time that is none
    """
    from brain.packet.packet import packet_for

    budget = budget_of(asked.budget or BudgetInput(), policy_in(space).recall_budget)
    assert budget is not None  # noqa: S101 - a packet always has one
    question = _question(asked, asked.context, clock, canonical_instant(asked.at) if asked.at else None)
    made = packet_for(question, _reader(space, caller), max_tokens=budget.max_tokens)
    output: PacketOutput = {
        "packet": None if made.wire is None else dict(made.wire),
        "found": is_found(made),
        "memory_budget": budget.receipt(made.tokens),
    }
    if made.failed_reason is not None:
        output["failed_reason"] = made.failed_reason
    return output, made.text


def recalled(
    space: OpenSpace, asked: RecallInput, result: RecallResult, budget: TokenBudget, caller: Caller, clock: Clock
) -> Packet:
    """The packet of a run: what it read beside what the host finds, or why there is none, by a fixed code."""
    from brain.packet.items import warning_item
    from brain.packet.pack import insufficient
    from brain.packet.packet import packet_for
    from brain.packet.tokens import count

    warnings = []
    if result.run.stopped == "context":
        warnings.append(warning_item(_CONTEXT_EXHAUSTED, _EXHAUSTED))
    elif result.run.failed_reason is not None:
        code = _CODES.get(result.run.failed_reason.partition(":")[0], _MODEL_FAILED)
        return insufficient(None, code, max_tokens=budget.max_tokens, count=count)
    return packet_for(
        _question(asked, asked.context, clock, None),
        _reader(space, caller),
        max_tokens=budget.max_tokens,
        read=result.read,
        warnings=warnings,
    )


def is_found(made: Packet) -> bool:
    """Whether a packet delivers any element."""
    return made.is_usable and bool(made.delivered)


def _question(asked: PacketInput | RecallInput, context: ContextInput, clock: Clock, at: str | None) -> Question:
    from brain.packet.question import Question

    now = timestamp(clock.now_ms())
    return Question(asked.query, at or now, now, context.counterparty, context.topic)


def _reader(space: OpenSpace, caller: Caller) -> Any:
    from brain.packet.packet import Reader
    from brain.packet.tokens import count

    return Reader(space.engine, _session(caller), count)


def _session(caller: Caller) -> Session:
    """The caller's own reads, under the memory policy, without what is in quarantine."""
    from brain.gate.gate import MEMORY_POLICY

    return replace(caller.reader(), default_policy=MEMORY_POLICY, recalls=True)
