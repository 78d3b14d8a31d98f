"""One packet, from a question to counted text: gather at one sequence, pack, and look whether all of it is still there.

Start reading here. Synchronous and without a model; the service runs it in a thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from brain.agents.reading import ReadFailed, Reading
from brain.agents.since import touched_since
from brain.errors import ExecutionTimeout
from brain.ids import is_element_id
from brain.kip.context import Session
from brain.kip.pipeline import Engine
from brain.packet.gather import ProcedureIncomplete, gather
from brain.packet.items import Item
from brain.packet.pack import Head, Packet, insufficient, pack
from brain.packet.question import Question
from brain.packet.required import RequiredReadIncomplete
from brain.packet.tokens import Count
from brain.store.base import ElementId
from brain.times import Seq

REQUIRED_READ_INCOMPLETE = "recall_required_read_incomplete"
PROCEDURE_WINDOW_INCOMPLETE = "recall_procedure_window_incomplete"
DEADLINE_REACHED = "recall_deadline_reached"

_TRIES = 3
"""Times a packet is put together anew because something in it went away meanwhile."""

_READ_MS = 10_000
"""For one request of reads."""

_ALL_MS = 30_000
"""For all reads of a packet, however often it is put together anew."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a Space, and how tokens are counted."""

    engine: Engine
    session: Session
    count: Count


def packet_for(
    question: Question,
    reader: Reader,
    *,
    max_tokens: int,
    read: Sequence[ElementId] = (),
    warnings: Sequence[Item] = (),
) -> Packet:
    """The packet for a question within so many tokens.

    read      elements that a planner's reads came upon, most important first
    warnings  that have to be in it

    Never raises for what memory holds: a read that failed is a packet that says so by a fixed code.
    """
    head, ends = None, monotonic() + _ALL_MS / 1000
    for _ in range(_TRIES):
        reading = Reading(reader.engine, reader.session, reader.engine.space.head(), _READ_MS, ends)
        head = Head(question.at, reading.seq or 0)
        try:
            gathered = gather(question, reading, read=read)
            packet = pack(head, gathered, max_tokens=max_tokens, count=reader.count, warnings=warnings)
            if packet.wire is None or not _was_touched(packet.wire, reader.engine, head.seq):
                return packet
        except (ReadFailed, RequiredReadIncomplete, ProcedureIncomplete) as failed:
            return insufficient(head, _code(failed), max_tokens=max_tokens, count=reader.count)
    return insufficient(head, REQUIRED_READ_INCOMPLETE, max_tokens=max_tokens, count=reader.count)


def _code(failed: Exception) -> str:
    if isinstance(failed, ProcedureIncomplete):
        return PROCEDURE_WINDOW_INCOMPLETE
    if isinstance(failed, ReadFailed) and failed.code == ExecutionTimeout.__name__:
        return DEADLINE_REACHED
    return REQUIRED_READ_INCOMPLETE


def _was_touched(wire: Mapping[str, Any], engine: Engine, seq: Seq) -> bool:
    """Whether anything a packet tells of was changed, erased or hidden since it was read."""
    return engine.space.head() != seq and touched_since(engine, seq, set(_ids(wire["items"])))


def _ids(value: Any) -> Iterator[ElementId]:
    """Every element id in a packet's items."""
    if isinstance(value, Mapping):
        for member in value.values():
            yield from _ids(member)
    elif isinstance(value, list):
        for member in value:
            yield from _ids(member)
    elif isinstance(value, str) and is_element_id(value):
        yield value
