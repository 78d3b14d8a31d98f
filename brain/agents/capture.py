"""Messages as Evidence: captured by the host from what was received, bound as `:msg1` … `:msg16`, never retyped.

The Evidence of a message is named by its conversation and place, so that every transaction of a pass, and every run of
it, mints the same element once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brain.agents.jobs import FormationJob, Said
from brain.agents.speakers import Cast
from brain.gate.facts import Captured

WINDOW = 16
"""The newest messages of an input that can be cited."""

_CLASSES = {
    "assistant": "agent_statement",
    "system": "external_assertion",
    "tool": "tool_result",
    "user": "user_statement",
}


def first_bound(job: FormationJob) -> int:
    """The place of the message bound as `:msg1`; those before it are context only."""
    return max(0, len(job.messages) - WINDOW)


def captured(job: FormationJob, cast: Cast) -> tuple[Captured, ...]:
    """The citable messages of a job, in order."""
    start = first_bound(job)
    return tuple(
        Captured(
            binding=f"msg{number}",
            client_key=f"conversation:{job.conversation}:message:{start + number}",
            speaker=cast.of[start + number - 1],
            observed_at=said.observed_at,
            text=said.content,
        )
        for number, said in enumerate(job.messages[start:], start=1)
    )


def ingest_block(job: FormationJob, messages: Sequence[Captured]) -> dict[str, Any]:
    """The ingestion context of a write request (§71.1). Every speaker must be stored by now."""
    said = job.messages[first_bound(job) :]
    return {"evidence": [_entry(message, one) for message, one in zip(messages, said, strict=True)]}


def _entry(message: Captured, said: Said) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "key": message.binding,
        "evidence_class": _CLASSES[said.role],
        "payload": said.content,
        "media_type": "text/plain",
        "observed_at": message.observed_at,
        "client_key": message.client_key,
    }
    if said.role in ("user", "assistant") and message.speaker.id is not None:
        entry["source_actor"] = {"id": message.speaker.id}
    return entry
