"""What comes in through the doors that write without a model: KIP with its sources, documents with their messages."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictStr, field_validator

from brain.agents.jobs import WINDOW
from brain.service.inputs import FormationInput, KipInput, MessageInput, canonical_instant, not_blank
from brain.times import Timestamp

MOST_SOURCES = WINDOW
"""Sources of one request, as many as a Formation pass may cite."""


class SourceInput(BaseModel):
    """Something the caller has its facts from, kept word for word as Evidence when a claim cites it.

    observed_at  when the caller saw it, RFC 3339; the time of the request when left out
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: Annotated[StrictStr, Field(max_length=64_000)]
    observed_at: StrictStr | None = None

    @field_validator("content")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        return not_blank("content", value)

    def seen_at(self, now: Timestamp) -> Timestamp:
        """When it was observed: never later than now, for a claim not made yet would leave its slot undecided.

        raises  InvalidInput for a time that is no instant
        """
        return now if self.observed_at is None else min(canonical_instant(self.observed_at), now)


class WriteInput(KipInput):
    """The KIP door that writes: the members of the one that reads, and what claims may cite as `:msg1` … `:msg16`."""

    sources: Annotated[list[SourceInput], Field(max_length=MOST_SOURCES)] | None = None

    def entries(self) -> list[dict[str, Any]]:
        """The operations as objects, in order."""
        given: list[str | dict[str, Any]] = [self.command] if self.command is not None else list(self.operations or ())
        return [{"command": entry} if isinstance(entry, str) else entry for entry in given]


class RememberInput(FormationInput):
    """What was said, as formation takes it, and what it comes to, as a document about these messages.

    document         the lists of the `remember` tool; its items cite messages by their place, from 1
    idempotency_key  stands for this request of this caller
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    messages: Annotated[list[MessageInput], Field(min_length=1, max_length=MOST_SOURCES)]
    document: dict[str, Any]
    idempotency_key: Annotated[StrictStr, Field(min_length=1, max_length=1_024)] | None = None

    @field_validator("messages")
    @classmethod
    def _all_say_something(cls, messages: list[MessageInput]) -> list[MessageInput]:
        for number, message in enumerate(messages, start=1):
            not_blank(f"message {number}", message.text())
        return messages
