"""What comes in through a door, as types: checked once, in the caller's terms, before anything is stored."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
)

from brain.agents.jobs import Said
from brain.service.failures import InvalidInput
from brain.service.policy import MemoryPolicy
from brain.times import LAST_MS, Timestamp, milliseconds, timestamp

_RFC3339 = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))", re.ASCII
)
_MAX_MESSAGES = 256

_UNSEEN_KINDS = frozenset({"Cc", "Cf", "Cn", "Cs", "Zl", "Zp", "Zs"})
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""Letters and marks that show nothing by themselves: fillers, the blank of Braille, variation selectors."""

_Short = Annotated[StrictStr, Field(max_length=256)]
"""A name, key or label: it becomes part of what agents read, and of the graph."""


class _Moment(NamedTuple):
    """An instant, and the UTC offset of the clock it was told by, in minutes, east positive."""

    instant: Timestamp
    utc_offset_minutes: int


class _Input(BaseModel):
    """Unknown members are ignored on these inputs, as their clients rely on."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def _absent_is_empty(value: object) -> object:
    """null where an object may be left out is that."""
    return {} if value is None else value


class MessageInput(_Input):
    role: Literal["system", "user", "assistant", "tool"]
    content: StrictStr | list[StrictStr | dict[str, Any]]
    name: _Short | None = None
    user: _Short | None = None
    timestamp: Annotated[StrictInt, Field(ge=0, le=LAST_MS)] | StrictStr | None = None

    def said_at(self, given: _Moment) -> _Moment:
        """When it was said and by what clock; milliseconds, which tell no zone, by that of the request's time.

        raises  InvalidInput when its time is a text and no instant
        """
        if self.timestamp is None:
            return given
        if isinstance(self.timestamp, str):
            return moment_of(self.timestamp)
        return _Moment(timestamp(self.timestamp), given.utc_offset_minutes)

    def to_wire(self) -> dict[str, Any]:
        """As conversations show it: a time is Unix milliseconds, whichever way it came in."""
        shown = self.model_dump(exclude_none=True)
        if isinstance(self.timestamp, str):
            shown["timestamp"] = milliseconds(moment_of(self.timestamp).instant)
        return shown

    def text(self) -> str:
        """The content as one text: parts joined by a line break, those without text left out."""
        if isinstance(self.content, str):
            return self.content
        pieces = (part if isinstance(part, str) else part.get("text") for part in self.content)
        return "\n".join(piece for piece in pieces if isinstance(piece, str))


class ContextInput(_Input):
    """Who and what a request is about; a member of blank text is one that was left out."""

    counterparty: _Short | None = None
    agent: _Short | None = None
    source: _Short | None = None
    topic: _Short | None = None

    @field_validator("*")
    @classmethod
    def _not_blank(cls, value: str | None) -> str | None:
        return None if value is None or is_blank(value) else value.strip()

    @field_validator("counterparty", "agent")
    @classmethod
    def _not_reserved(cls, value: str | None) -> str | None:
        # `$self` is the Brain: whoever could speak under it would put words into the Brain's own mouth.
        if value is not None and next((c for c in value if not _is_unseen(c)), "") == "$":
            raise ValueError("keys that begin with $ are reserved")
        return value


_Context = Annotated[ContextInput, BeforeValidator(_absent_is_empty, json_schema_input_type=ContextInput | None)]


class FormationInput(_Input):
    messages: list[MessageInput] = Field(max_length=_MAX_MESSAGES)
    context: _Context = ContextInput()
    timestamp: StrictStr | None = None

    def said(self, accepted_at: Timestamp) -> tuple[Said, ...]:
        """The messages with their observation times (BR-FORM-007), none later than their acceptance.

        raises  InvalidInput when there is nothing to read, or a time that is no instant
        """
        given = moment_of(self.timestamp) if self.timestamp is not None else _Moment(accepted_at, 0)
        if all(is_blank(message.text()) for message in self.messages):
            raise InvalidInput("messages must hold at least one message that is not empty")
        moments = [message.said_at(given) for message in self.messages]
        return tuple(
            Said(
                role=message.role,
                content=message.text(),
                name=None if message.name is None or is_blank(message.name) else message.name.strip(),
                # What a fast clock puts ahead of ours was observed by now all the same: a claim not yet said leaves
                # its whole slot undecided until its time comes.
                observed_at=min(moment.instant, accepted_at),
                utc_offset_minutes=moment.utc_offset_minutes,
            )
            for message, moment in zip(self.messages, moments, strict=True)
        )


class BudgetInput(_Input):
    """Tokens a packet may have, and tokens its model may be sent over the whole run; None for the default.

    Both names are of one encoding, o200k_base.
    """

    tokenizer: Literal["o200k_base@tiktoken-rs-0.12", "o200k_base@tiktoken-rs-0.12.0"] | None = None
    max_tokens: Annotated[StrictInt, Field(ge=1, le=65_536)] | None = None
    context_tokens: Annotated[StrictInt, Field(ge=1, le=131_072)] | None = None


class RecallInput(_Input):
    """A question; with a budget, also an empty one, it is answered with a packet instead of words."""

    query: StrictStr = Field(max_length=32_768)
    context: _Context = ContextInput()
    budget: BudgetInput | None = None

    @field_validator("query")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        return not_blank("query", value)


class PacketInput(RecallInput):
    """A question to memory alone.

    at  the instant beliefs hold for; now when it is left out
    """

    at: StrictStr | None = None


_Number = StrictInt | StrictFloat


class MaintenanceParameters(_Input):
    """Targets of one cycle; two older names are taken too, and the decay factor is checked and ignored."""

    stale_event_threshold_days: StrictInt | None = Field(default=None, ge=1, le=365)
    unconsolidated_max_backlog: StrictInt | None = Field(
        default=None,
        ge=1,
        le=10_000,
        validation_alias=AliasChoices("unconsolidated_max_backlog", "unsorted_max_backlog"),
    )
    orphan_max_count: StrictInt | None = Field(default=None, ge=1, le=10_000)
    memory_strength_decay_factor: Annotated[_Number, Field(gt=0, le=1)] | None = Field(
        default=None, validation_alias=AliasChoices("memory_strength_decay_factor", "confidence_decay_factor")
    )

    def effective(self) -> dict[str, int]:
        """The targets that were given and mean something."""
        return self.model_dump(exclude_none=True, exclude={"memory_strength_decay_factor"})


class MaintenanceInput(_Input):
    trigger: Annotated[StrictStr, Field(max_length=64)] = "on_demand"
    scope: Literal["full", "quick", "daydream"] = "daydream"
    timestamp: StrictStr | None = None
    parameters: Annotated[
        MaintenanceParameters,
        BeforeValidator(_absent_is_empty, json_schema_input_type=MaintenanceParameters | None),
    ] = MaintenanceParameters()

    @field_validator("timestamp")
    @classmethod
    def _instant(cls, value: str | None) -> str | None:
        return None if value is None else canonical_instant(value)


class ProbeInput(_Input):
    query: StrictStr = Field(max_length=4_096)
    limit: StrictInt = 8

    @field_validator("query")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        return not_blank("query", value)


class CreateSpaceInput(_Input):
    """`user` is a principal: its written form, or its bytes where the body can carry them."""

    user: Annotated[StrictStr, Field(max_length=128)] | bytes
    space_id: StrictStr
    tier: StrictInt


class UpdateSpaceInput(_Input):
    """What a manager changes of a Space; what is left out keeps its value.

    name, description, memory_policy  null empties them
    wiki_acl_defaults                 namespace to the label its new documents get; replaced whole, as a policy is
    """

    name: _Short | None = None
    description: Annotated[StrictStr, Field(max_length=10_000)] | None = None
    public: StrictBool = False
    memory_policy: MemoryPolicy | None = None
    wiki_digest: StrictBool = False
    wiki_audit_reads: StrictBool = False
    wiki_acl_defaults: Annotated[dict[_Short, _Short], Field(max_length=1_000)] | None = None

    @field_validator("wiki_acl_defaults")
    @classmethod
    def _of_text(cls, value: dict[str, str] | None) -> dict[str, str] | None:
        for namespace, label in (value or {}).items():
            not_blank("a namespace", namespace)
            not_blank("a label", label)
        return value

    def to_record(self) -> dict[str, Any]:
        """The members that were given, as a Space's record keeps them."""
        given = self.model_dump(exclude_unset=True)
        if "memory_policy" in given:
            given["memory_policy"] = self.memory_policy and self.memory_policy.to_record()
        return given


class AddSpaceTokenInput(_Input):
    """A token to mint; labels are those of the documents it may read beside the unlabelled ones."""

    scope: Literal["read", "write", "*"]
    name: StrictStr
    expires_at: Annotated[StrictInt, Field(ge=0, le=LAST_MS)] | None = None
    labels: Annotated[list[_Short], Field(max_length=256)] | None = None


class RevokeSpaceTokenInput(_Input):
    """Which token, by its value or by its name."""

    token: StrictStr | None = None
    name: StrictStr | None = None


class PinInput(_Input):
    entity: _Short
    pinned: StrictBool = True


class ForgetInput(_Input):
    entities: list[_Short]
    dry_run: StrictBool = False


class UserInput(_Input):
    """Somebody known by a key; a name that is given is theirs from now on."""

    user: _Short
    name: _Short | None = None


class PromoteInput(_Input):
    """A draft symbol and the installed one it becomes one with."""

    kind: Literal["ConceptType", "PredicateType"]
    source: Annotated[_Short, Field(alias="from")]
    target: Annotated[_Short, Field(alias="to")]


class RestartInput(_Input):
    conversation: Annotated[StrictInt, Field(ge=1, le=10**12)]


class KipInput(BaseModel):
    """The read-only KIP door's request: one `command`, or `operations`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: StrictStr | None = None
    operations: list[StrictStr | dict[str, Any]] | None = None
    execution: dict[str, Any] | None = None
    read: dict[str, Any] | None = None
    parameters: dict[str, Any] | None = None
    dry_run: StrictBool | None = None

    def envelope(self, *, deadline_ms: int) -> dict[str, Any]:
        """The KIP request envelope this stands for (§71), to be answered within so many milliseconds.

        raises  InvalidInput when it holds both a command and operations, or neither
        """
        if self.command is not None and self.operations is not None:
            raise InvalidInput("send either a single `command` or a list of `operations`, not both")
        if self.command is None and not self.operations:
            raise InvalidInput("send a `command`, or `operations` with at least one entry")
        entries: list[str | dict[str, Any]] = (
            [self.command] if self.command is not None else list(self.operations or ())
        )
        if len(entries) > 1 and "mode" not in (self.execution or {}):
            raise InvalidInput("several operations need `execution.mode`: independent, sequence or atomic")
        wire: dict[str, Any] = {
            "kip": "2.0",
            "operations": [{"command": entry} if isinstance(entry, str) else entry for entry in entries],
        }
        given: Mapping[str, Any] = {"execution": self.execution, "read": self.read, "parameters": self.parameters}
        wire.update({name: value for name, value in given.items() if value is not None})
        wire["options"] = {"deadline_ms": deadline_ms}
        if self.dry_run is not None:
            wire["options"]["dry_run"] = self.dry_run
        return wire


def is_blank(text: str) -> bool:
    """Whether there is nothing to read in a text: white space, control and format characters, fillers."""
    return all(_is_unseen(character) for character in text)


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN_KINDS or character in _UNSEEN


def not_blank(name: str, value: str) -> str:
    """The text, unless there is nothing to read in it; ValueError then."""
    if is_blank(value):
        raise ValueError(f"{name} must not be blank")
    return value


def canonical_instant(text: str) -> Timestamp:
    """An RFC 3339 instant of any offset as a protocol timestamp; InvalidInput as `moment_of`."""
    return moment_of(text).instant


def moment_of(text: str) -> _Moment:
    """An RFC 3339 instant of any offset as a protocol timestamp, and that offset.

    raises  InvalidInput when it is none, has no zone, or is finer than a millisecond: a time is never guessed
    """
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise InvalidInput("timestamp must be an RFC 3339 instant with a zone, such as 2026-03-09T10:30:00.000Z")
    day, clock, fraction, zulu, sign, hours, minutes = match.groups()
    if fraction is not None and len(fraction) > 3:
        raise InvalidInput("timestamp must not be finer than a millisecond")
    try:
        moment = datetime.strptime(f"{day}T{clock}", "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        raise InvalidInput("timestamp is no moment of the calendar") from None
    offset = 0
    if not zulu:
        if int(hours) > 23 or int(minutes) > 59:
            raise InvalidInput("timestamp has an impossible zone offset")
        offset = (int(hours) * 60 + int(minutes)) * 60_000 * (1 if sign == "+" else -1)
    ms = int(moment.timestamp()) * 1000 + int((fraction or "").ljust(3, "0")) - offset
    if not 0 <= ms <= LAST_MS:
        raise InvalidInput("timestamp must lie between 1970 and 9999")
    return _Moment(timestamp(ms), offset // 60_000)
