"""Rows out of JSON again, each member looked at: an archive may come from anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brain.ids import is_element_id
from brain.store.base import Commit, Element, Json, Kind, Work, WorkStatus
from brain.store.dump import (
    NAMES,
    WORK_COUNTER,
    ClientKeyRow,
    ControlRow,
    CounterRow,
    DamagedDump,
    DocumentRow,
    LeaseRow,
    Row,
    SpaceRow,
    VectorRow,
    VersionRow,
)
from brain.times import is_timestamp

_MOST = 1 << 62
"""Numbers of a Space lie below this."""

_KIND_OF_LETTER = {kind.letter: kind for kind in Kind}
_COUNTERS = {*Kind, WORK_COUNTER}


def row_of(members: Json) -> Row:
    """The row `brain.store.dump.members` made this of.

    raises  DamagedDump for anything else
    """
    try:
        name, *values = members
        return _READERS[name](*values)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise DamagedDump("there is a line that is no row") from error


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Json) -> int:
    if type(value) is not int or not 0 <= value < _MOST:
        raise ValueError
    return value


def _document(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _optional(read: Callable[[Json], Any], value: Json) -> Any:
    return None if value is None else read(value)


def _timestamp(value: Json) -> str:
    if not is_timestamp(_text(value)):
        raise ValueError
    return str(value)


def _element_id(value: Json) -> str:
    if not is_element_id(_text(value)):
        raise ValueError
    return str(value)


def _space(space_id: Json, instance_id: Json, created_ms: Json, seq: Json) -> Row:
    return SpaceRow(_text(space_id), _text(instance_id), _number(created_ms), _number(seq))


def _control(name: Json, since: Json, document: Json) -> Row:
    return ControlRow(_text(name), _number(since), _document(document))


def _commit(seq: Json, tx_id: Json, moment: Json, record: Json, envelope: Json) -> Row:
    return Commit(_number(seq), _text(tx_id), _timestamp(moment), _document(record), _document(envelope))


def _version(since: Json, body: Json) -> Row:
    element_id = _element_id(_document(body)["id"])
    kind = Kind(body["kind"])
    system = _document(body["_system"])
    _number(system["version"])
    _text(system["state"])
    if kind is not _KIND_OF_LETTER[element_id[0]]:
        raise ValueError
    return VersionRow(_number(since), Element(element_id, kind, body))


def _counter(name: Json, last: Json) -> Row:
    if name not in _COUNTERS:
        raise ValueError
    return CounterRow(name, _number(last))


def _client_key(kind: Json, client_key: Json, element_id: Json) -> Row:
    return ClientKeyRow(Kind(kind), _text(client_key), _element_id(element_id))


def _state(namespace: Json, key: Json, expires_ms: Json, document: Json) -> Row:
    return DocumentRow(_text(namespace), _text(key), _optional(_number, expires_ms), _document(document))


def _work(
    work_id: Json, queue: Json, payload: Json, status: Json, not_before: Json, attempts: Json, first: Json, note: Json
) -> Row:
    return Work(
        _number(work_id),
        _text(queue),
        _document(payload),
        WorkStatus(status),
        _number(not_before),
        _number(attempts),
        _optional(_number, first),
        _optional(_text, note),
    )


def _lease(name: Json, token: Json) -> Row:
    return LeaseRow(_text(name), _number(token))


def _vector(element_id: Json, since: Json, embedder: Json, vector: Json) -> Row:
    components = None
    if vector is not None:
        components = tuple(float(component) for component in vector if type(component) in (int, float))
        if len(components) != len(vector):
            raise TypeError
    return VectorRow(_element_id(element_id), _number(since), _text(embedder), components)


_READERS: dict[str, Callable[..., Row]] = {
    NAMES[SpaceRow]: _space,
    NAMES[ControlRow]: _control,
    NAMES[Commit]: _commit,
    NAMES[VersionRow]: _version,
    NAMES[CounterRow]: _counter,
    NAMES[ClientKeyRow]: _client_key,
    NAMES[DocumentRow]: _state,
    NAMES[Work]: _work,
    NAMES[LeaseRow]: _lease,
    NAMES[VectorRow]: _vector,
}
