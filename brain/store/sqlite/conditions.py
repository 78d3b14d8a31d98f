"""Conditions of SQL on sets of values; a set of one, the usual case, is an equality."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from typing import Any

import apsw

from brain.store.base import ElementId
from brain.store.sqlite.keys import eid_of
from brain.store.sqlite.state import json_list


def among(column: str, values: Collection[str], name: str, bindings: dict[str, Any]) -> str:
    """`column` is one of these texts, bound as `name`."""
    if len(values) == 1:
        (bindings[name],) = values
        return f"{column} = :{name}"
    bindings[name] = json_list(values)
    return f"{column} IN (SELECT value FROM json_each(:{name}))"


def among_symbols(column: str, values: Collection[str], name: str, bindings: dict[str, Any]) -> str:
    """`column` is the symbol of one of these texts."""
    if len(values) == 1:
        (bindings[name],) = values
        return f"{column} = (SELECT id FROM symbol WHERE text = :{name})"
    bindings[name] = json_list(values)
    return f"{column} IN (SELECT id FROM symbol WHERE text IN (SELECT value FROM json_each(:{name})))"


def among_elements(column: str, ids: Iterable[ElementId], name: str, bindings: dict[str, Any]) -> str:
    """`column` is the integer of one of these ids; a text that is no id is the integer of nothing."""
    eids = eids_of(ids)
    if len(eids) == 1:
        (bindings[name],) = eids
        return f"{column} = :{name}"
    bindings[name] = integers(eids)
    return f"{column} IN carray(:{name})"


def eids_of(ids: Iterable[ElementId]) -> set[int]:
    """The integers of those of these texts that are ids."""
    return {eid for element_id in ids if (eid := eid_of(element_id)) is not None}


def integers(eids: Iterable[int]) -> Any:
    """Element integers as a binding for `carray`, which takes no empty array; no element is 0."""
    return apsw.carray(array("q", eids) or array("q", [0]))
