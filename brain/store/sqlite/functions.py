"""Functions of ours that compiled plans call inside SQL."""

from __future__ import annotations

import unicodedata
from typing import Any

import apsw

from brain.store.base import Undecided

CITED = 64
"""Most elements a group names as having bound it."""


def register(connection: apsw.Connection) -> None:
    """Make them known to a connection; about 10 µs."""
    connection.create_scalar_function("undecided", _undecided, 0)
    connection.create_scalar_function("composed", _composed, 1, deterministic=True)
    connection.create_aggregate_function("cited", lambda: ({}, _cite, _listed))
    connection.create_aggregate_function("cited", lambda: ({}, _cite_one, _listed), 1)


def _undecided(*_: Any) -> None:
    """What a condition comes to when SQL cannot judge a value as the language does."""
    raise Undecided


def _composed(*texts: Any) -> Any:
    """The text, which is in NFC: texts that only NFC makes equal are not SQL's to compare."""
    (text,) = texts
    if isinstance(text, str) and not unicodedata.is_normalized("NFC", text):
        raise Undecided
    return text


def _cite(found: dict[int, None], *eids: Any) -> None:
    """Aggregate: the first elements of a group, their integers apart by spaces."""
    if len(found) < CITED:
        found.update((eid, None) for eid in eids if eid is not None)


def _cite_one(found: dict[int, None], *eids: Any) -> None:
    if len(found) < CITED:
        found[eids[0]] = None


def _listed(found: dict[int, None]) -> str:
    return " ".join(map(str, found))
