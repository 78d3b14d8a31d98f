"""What comes page by page, and what comes as it happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows, and the cursor of those that follow; None where nothing does."""

    rows: list[Row]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One commit of the change stream.

    cursor    to go on behind it
    envelope  the KIP change envelope: `space_seq`, `tx_id`, `committed_at`, `changes`, …
    """

    cursor: str
    envelope: dict[str, Any]

    @property
    def seq(self) -> int:
        """The sequence of the commit."""
        seq: int = self.envelope["space_seq"]
        return seq
