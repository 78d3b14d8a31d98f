"""Messages as Evidence: captured by the host from what was received, bound as `:msg1` … `:msg16`, never retyped.

The Evidence of a message is named by its conversation and its place there, so that every transaction of a pass, and
every run of it, mints the same element once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brain.agents.jobs import FormationJob, Said
from brain.agents.speakers import Cast
from brain.gate.facts import Captured, Speaker

_CLASSES = {
    "assistant": "agent_statement",
    "system": "external_assertion",
    "tool": "tool_result",
    "user": "user_statement",
}


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of a pass.

    place   in its conversation, from 1
    number  the N of `:msgN`; None for a message that is context only
    """

    place: int
    number: int | None
    said: Said
    speaker: Speaker


def heard(job: FormationJob, cast: Cast) -> tuple[Heard, ...]:
    """What a pass is shown, in order: a few messages before those it may cite, and these."""
    first = job.citable.first
    return tuple(
        Heard(at + 1, at - first + 1 if at >= first else None, job.messages[at], cast.of[at])
        for at in range(job.shown.first, job.shown.end)
    )


def captured(job: FormationJob, cast: Cast) -> tuple[Captured, ...]:
    """The citable messages of a job, in order."""
    return tuple(
        Captured(
            binding=f"msg{one.number}",
            client_key=f"conversation:{job.conversation}:message:{one.place}",
            speaker=one.speaker,
            observed_at=one.said.observed_at,
            text=one.said.content,
        )
        for one in heard(job, cast)
        if one.number is not None
    )


def ingest_block(job: FormationJob, messages: Sequence[Captured]) -> dict[str, Any]:
    """The ingestion context of a write request (§71.1). Every speaker must be stored by now."""
    said = job.messages[job.citable.first : job.citable.end]
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
