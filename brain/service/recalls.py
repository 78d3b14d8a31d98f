"""Recall runs: each a conversation that opens with the question, shows how far it came, and ends in every case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brain.agents.jobs import RecallResult
from brain.agents.model import Usage
from brain.service import conversations, ledger
from brain.service.conversations import usage_to_wire
from brain.service.spaces import OpenSpace
from brain.times import Clock


class RecallRun:
    """One question's conversation. Every method is one transaction."""

    def __init__(self, space: OpenSpace, clock: Clock, *, query: str, user: str) -> None:
        self._space = space
        self._clock = clock
        self._user = user
        with space.transaction(durable=False) as tx:
            self.number = conversations.open_conversation(
                tx,
                "recall",
                user=user,
                messages=[{"role": "user", "content": query}],
                now_ms=clock.now_ms(),
                status="working",
            )
            self._asked_at = tx.seq

    def keep_transcript(self, messages: Sequence[Mapping[str, Any]], usage: Usage) -> None:
        """Show how far it has come."""
        self._change(durable=False, messages=list(messages), usage=usage_to_wire(usage))

    def cancel(self, reason: str) -> None:
        """It ends without an answer because nobody waits for one any more."""
        self._change(status="cancelled", failed_reason=reason)

    def fail(self, reason: str) -> None:
        """It ends without an answer because something broke."""
        self._change(status="failed", failed_reason=reason)

    def end(self, result: RecallResult) -> None:
        """It ends with an answer, or with the reason why there is none; usage and what was shown are noted with it."""
        from brain.kip import exposure  # the engine, which is there by now: a Space is open

        now, failed = self._clock.now_ms(), result.run.failed_reason
        with self._space.transaction() as tx:
            conversations.change(
                tx,
                "recall",
                self.number,
                now,
                status="completed" if failed is None else "failed",
                failed_reason=failed,
                model=result.run.model,
                usage=usage_to_wire(result.run.usage),
                extra={
                    "answer": result.run.content,
                    "citations": [dict(citation.wire) for citation in result.citations],
                    "rounds": result.run.rounds,
                    "stopped": result.run.stopped,
                    "prompt_digest": result.run.prompt_digest,
                },
            )
            ledger.add_usage(tx, "recall", result.run.usage)
            exposure.note(
                tx,
                [citation.element_id for citation in result.citations],
                exposure="retrieved",
                space_uri=self._space.engine.space_uri,
                principal_id=self._user,
                snapshot_seq=self._asked_at,
                now_ms=now,
                recall_ref=f"recall:{self.number}",
            )
            if failed is None:
                amounts: dict[str, float] = {"recalls_completed": 1, "entities_recalled": len(result.citations)}
                if result.uncertainty is not None:
                    amounts |= {"uncertainty_reports": 1, "uncertainty_sum": result.uncertainty}
                ledger.add_metrics(tx, now, **amounts)

    def _change(self, *, durable: bool = True, **members: Any) -> None:
        with self._space.transaction(durable=durable) as tx:
            conversations.change(tx, "recall", self.number, self._clock.now_ms(), **members)
