"""How a snapshot asks: one statement is one round trip, and the first one finds out whether the head is still the head.

A process remembers the head it last met. A snapshot whose reader can begin again starts from that one, and asks for the
Space's head along with whatever it asks for first. When it is the same, what came with it is right. When it is another,
the snapshot starts anew from there, which nobody notices who was told nothing of it yet; who was begins again
(`Overtaken`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from brain.store.base import Overtaken, SpaceMissing
from brain.store.neo4j.connection import Database, Row
from brain.store.neo4j.head import SPACE, Head, Newest, Remembered
from brain.store.neo4j.state import StateReader
from brain.times import Clock, Seq


class Reading(StateReader):
    """
    head   of the Space, certain or as remembered
    seq    what is read at, None for the head
    doubt  who to ask for the newest head, None when `head` is certain
    """

    def __init__(
        self,
        database: Database,
        *,
        space_id: str,
        space_key: str,
        seq: Seq | None,
        head: Head,
        remembered: Remembered,
        clock: Clock,
        timeout_ms: int | None,
        doubt: Newest | None = None,
    ) -> None:
        super().__init__(space_key, clock, timeout_ms)
        self._database = database
        self.space_id = space_id
        self._seq = seq
        self._newest_head = head
        self._remembered = remembered
        self._doubt = doubt
        self._has_told = False

    @property
    def seq(self) -> Seq:
        return self._head.seq if self._seq is None else self._seq

    @property
    def _head(self) -> Head:
        """The head of the Space, as something is about to be told of it."""
        self._has_told = True
        return self._newest_head

    @property
    def _at(self) -> Seq:
        """The sequence whose versions are read."""
        return self._newest_head.seq if self._seq is None else self._seq

    def make_certain(self) -> None:
        """Find out about the head, unless that was done.

        raises  Overtaken when another one was told of; SpaceMissing
        """
        if self._doubt is not None:
            self._begin_again(self._doubt.newest(self.timeout_ms))

    def _begin_again(self, head: Head) -> None:
        self._doubt = None
        if head.seq != self._newest_head.seq:
            if self._has_told:
                raise Overtaken
            self._newest_head = head

    # --- statements ---------------------------------------------------------------------------------------------------

    def _ask(self, statement: str, parameters: Mapping[str, Any], timeout_s: float | None) -> list[Row]:
        return self._database.read(statement, parameters, timeout_s)

    def _rows(self, statement: str, **parameters: Any) -> list[Row]:
        """The rows of one statement about the graph; `$space` and `$at` are bound for it."""
        self.make_certain()
        return self._state_rows(statement, **{"at": self._at, **parameters})

    def _row(self, statement: str, **parameters: Any) -> Row | None:
        rows = self._rows(statement, **parameters)
        return rows[0] if rows else None

    def _value(self, statement: str, **parameters: Any) -> Any:
        """The one value of a statement about the graph that ends with `AS found`."""
        return self._state_value(statement, **parameters)

    def _state_value(self, statement: str, **parameters: Any) -> Any:
        """The same of any; with the first one comes whether the head is still the head."""
        if self._doubt is not None:
            names = {f"of_{name}": value for name, value in self._doubt.names.items()}
            rows = self._state_rows(with_head(statement), **{"at": self._at, **names, **parameters})
            if not rows:
                raise SpaceMissing(self.space_id)
            found, head = rows[0]
            if head == self._newest_head.seq:
                self._doubt = None
                return found
            self._begin_again(self._doubt.newest(self.timeout_ms))
        [(found,)] = self._state_rows(statement, **{"at": self._at, **parameters})
        return found


@lru_cache(maxsize=1024)
def with_head(statement: str) -> str:
    """A statement of one value, with the Space's head beside it; no row when the Space is gone."""
    space = SPACE.replace("$", "$of_")
    return f"{space} WITH s.head AS newest CALL () {{ {statement} }} RETURN found, newest"
