"""The pieces claims come to: an Assertion to be written, or one to be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from brain.agents.remember.block import Block
from brain.agents.remember.ground import Message, Mode, Stance
from brain.agents.remember.things import Thing
from brain.agents.turns import PredicateWord
from brain.ids import object_key
from brain.store.base import ElementId
from brain.times import Timestamp

Value: TypeAlias = Thing | str | float | bool


@dataclass(frozen=True, slots=True)
class Assert:
    """One claim, ready to be written.

    object      a Thing, or a scalar
    valid       `valid_time`, None when nothing was said about it
    supersedes  the speaker's own earlier claim it corrects
    also_corrects  further claims of the speaker that say what that one says
    said_at     when it was made, when that was before its message: a claim on record told with other times
    also_cites  Evidence on record that it rests on beside its message
    """

    at: str
    message: Message
    subject: Thing
    word: PredicateWord
    object: Value
    by: Thing
    mode: Mode
    stance: Stance
    valid: dict[str, Any] | None
    supersedes: ElementId | None
    change: str
    also_corrects: tuple[ElementId, ...] = ()
    said_at: Timestamp | None = None
    also_cites: tuple[ElementId, ...] = ()

    def write(self, block: Block) -> None:
        subject = block.thing(self.subject)
        target = block.thing(self.object) if isinstance(self.object, Thing) else block.value(self.object)
        members = [
            f"by: {block.thing(self.by)}",
            f'mode: "{self.mode}"',
            f'stance: "{self.stance}"',
            f"at: {block.value(self.said_at or self.message.observed_at)}",
            f"evidence: {self._evidence(block)}",
        ]
        if self.valid:
            members.append(f"valid: {block.value(self.valid)}")
        key = block.key("claim", self._content())
        members.append(f"key: {key}")
        handle = block.handle()
        superseding = f" SUPERSEDING {block.value(self.supersedes)}" if self.supersedes else ""
        block.add(
            f"ASSERT {handle} ({subject}, {block.value(self.word.name)}, {target}) "
            f"{{{', '.join(members)}}}{superseding}"
        )
        for other in self.also_corrects:
            block.add(f'TRANSITION {block.value(other)} TO "superseded" BY {handle}')
        if self.supersedes:
            _record_revision(block, self.message, (self.supersedes, *self.also_corrects), handle)
        else:
            block.output(self.message.binding, handle, key)

    def _evidence(self, block: Block) -> str:
        cited = [f":{self.message.binding}", *map(block.reference, self.also_cites)]
        return cited[0] if len(cited) == 1 else f"[{', '.join(cited)}]"

    @property
    def slot(self) -> tuple[Any, ...]:
        """What only one value may hold of at a time; the value itself where many may."""
        kind = self.object.type if isinstance(self.object, Thing) else ""
        line: tuple[Any, ...] = (self.subject.identity, self.word.name, self.by.identity)
        if self.word.values == "one":
            return line
        return (*line, kind) if self.word.values == "one_per_type" else (*line, self.value_key)

    @property
    def value_key(self) -> tuple[str, ...]:
        """Equal for equal values."""
        return self.object.identity if isinstance(self.object, Thing) else (object_key(self.object),)

    def _content(self) -> dict[str, Any]:
        return {
            "message": self.message.binding,
            "subject": list(self.subject.stable),
            "predicate": self.word.name,
            "object": list(self.object.stable if isinstance(self.object, Thing) else self.value_key),
            "by": list(self.by.stable),
            "mode": self.mode,
            "stance": self.stance,
            "valid": self.valid,
            "supersedes": self.supersedes,
        }


@dataclass(frozen=True, slots=True)
class Withdraw:
    """A speaker takes an earlier claim of theirs back, however often it was made, and puts nothing in its place."""

    at: str
    message: Message
    assertions: tuple[ElementId, ...]

    def write(self, block: Block) -> None:
        for assertion in self.assertions:
            block.add(f'TRANSITION {block.value(assertion)} TO "retracted"')
        _record_revision(block, self.message, self.assertions, None)


ClaimPiece: TypeAlias = Assert | Withdraw


def _record_revision(block: Block, message: Message, old: Sequence[ElementId], new: str | None) -> None:
    activity = block.handle()
    entries = [f'("inputs", :{message.binding})', *(f'("inputs", {block.reference(i)})' for i in old)]
    if new:
        entries.append(f'("outputs", {new})')
    key = block.key("revision", {"message": message.binding, "old": list(old), "is_replaced": new is not None})
    block.add(
        f"CREATE ACTIVITY {activity} {{ CLIENT KEY {key} "
        'SET FIELDS {activity_class: "belief_revision", status: "completed"} '
        f"SET STRUCTURAL {{ {' '.join(entries)} }} }}"
    )
