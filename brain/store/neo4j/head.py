"""What a Space's node says, and what a process remembers of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

from brain.store.base import ElementId
from brain.times import Seq

SPACE = (
    "MATCH (s:Space) USING INDEX s:Space(deployment, id)"
    " WHERE s.deployment = $deployment AND s.id = $id AND s.instance = $instance"
)


@dataclass(frozen=True, slots=True)
class Head:
    """What a Space's node says after one commit, read as a whole.

    totals        per kind how many elements are active, how many texts there are, and how many terms in them
    controls_seq  the last commit that wrote a control document
    merges_seq    the last commit that changed which Concepts are merged
    """

    seq: Seq
    totals: Mapping[str, Mapping[str, int]]
    controls_seq: Seq
    merges_seq: Seq


@dataclass(frozen=True, slots=True)
class Start:
    """What a transaction starts from.

    token         what the last transaction left; as long as it stands there, all of this is so
    last_numbers  the last number given to an element of each kind letter, and to an entry of work under `work`
    leases        as `StateWriter` takes them
    """

    head: Head
    token: str
    last_numbers: Mapping[str, int]
    leases: Mapping[str, tuple[str | None, int, int]]

    @property
    def numbers(self) -> dict[str, int]:
        return {f"last_{name}": last for name, last in self.last_numbers.items()}


class Newest(Protocol):
    """Who knows the way to a Space's head."""

    @property
    def names(self) -> Mapping[str, Any]:
        """The parameters of `SPACE`; SpaceMissing when it is closed here."""
        ...

    def newest(self, timeout_ms: int | None) -> Head:
        """The last commit that is applied as a whole; SpaceMissing when the Space is gone."""
        ...


@dataclass(slots=True)
class Remembered:
    """What was read of a Space and holds until a commit that a `Head` names; shared by the readers of one process."""

    controls: dict[str, tuple[Seq, str | None]] = field(default_factory=dict)
    merges: tuple[Seq, Mapping[ElementId, ElementId]] | None = None
    lock: Lock = field(default_factory=Lock)
