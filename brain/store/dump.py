"""A Space as rows: what every store gives of one (`SpaceStore.dump`) and makes one from again (`Store.load`).

Rows hold all that cannot be worked out: versions, commits, control documents, ids already given out, client keys, state
beside the graph, the queue and the tokens of leases. References, the keyword index and counts follow from the versions
(`store/rows.py`) and are made anew. Vectors could be, at an embedder's price, and so come along, last.

Sections stand in the order of `SECTIONS`. Within one the order is free, but for commits, which stand by sequence, and
versions: within a kind by the number of their element, those of one element by commit.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias, TypeVar

import orjson

from brain.store.base import Commit, Document, Element, ElementId, Json, Kind, Work
from brain.times import Seq

WORK_COUNTER = "work"
"""The counter of queue entries; the others are named by the kind whose ids they count."""

OF_ONE_SPACE = frozenset({"space_token", "space_token_uses"})
"""Namespaces of state that is good in the Space of one id: a token of it would open the copy too, and go on doing so
when it is revoked."""


class DamagedDump(Exception):
    """Rows that are no Space: out of order, incomplete, or not what their digest says."""


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """The first row: whose rows follow, and how far its commits go.

    instance_id  of the Space that was dumped, to tell where rows came from; one made of them has an id of its own
    """

    space_id: str
    instance_id: str
    created_ms: int
    seq: Seq


@dataclass(frozen=True, slots=True)
class ControlRow:
    """A version of a control document, and the commit it holds from."""

    name: str
    since: Seq
    document: Document


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version of an element and the commit that wrote it; it holds until the element's next row, the last for now."""

    since: Seq
    element: Element


@dataclass(frozen=True, slots=True)
class CounterRow:
    """The last number given out, from 1: of a kind's ids, or of queue entries. What never counted has no row."""

    name: str
    last: int


@dataclass(frozen=True, slots=True)
class ClientKeyRow:
    kind: Kind
    client_key: str
    element_id: ElementId


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document of state; one past its time may still be there."""

    namespace: str
    key: str
    expires_ms: int | None
    document: Document


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """The newest token of a lease. Who held it is not said: a copy is held by nobody, and its next token is greater."""

    name: str
    token: int


@dataclass(frozen=True, slots=True)
class VectorRow:
    """The vector of a text, as `Transaction.index` takes it: only its direction counts; None for a text without one."""

    element_id: ElementId
    since: Seq
    embedder: str
    vector: tuple[float, ...] | None


Row: TypeAlias = (
    SpaceRow | ControlRow | Commit | VersionRow | CounterRow | ClientKeyRow | DocumentRow | Work | LeaseRow | VectorRow
)

SECTIONS: tuple[type, ...] = (
    SpaceRow,
    ControlRow,
    Commit,
    VersionRow,
    CounterRow,
    ClientKeyRow,
    DocumentRow,
    Work,
    LeaseRow,
    VectorRow,
)
"""The kinds of rows, in the order they stand in."""

NAMES: dict[type, str] = {
    SpaceRow: "space",
    ControlRow: "control",
    Commit: "commit",
    VersionRow: "version",
    CounterRow: "counter",
    ClientKeyRow: "client_key",
    DocumentRow: "document",
    Work: "work",
    LeaseRow: "lease",
    VectorRow: "vector",
}

_ORDER = {section: place for place, section in enumerate(SECTIONS)}
_MODULUS = 1 << 256
_R = TypeVar("_R")


def members(row: Row) -> list[Json]:
    """A row as JSON: its name, then its members in order."""
    match row:
        case SpaceRow():
            values: list[Json] = [row.space_id, row.instance_id, row.created_ms, row.seq]
        case ControlRow():
            values = [row.name, row.since, row.document]
        case Commit():
            values = [row.seq, row.tx_id, row.committed_at, row.record, row.envelope]
        case VersionRow():
            values = [row.since, row.element.body]
        case CounterRow():
            values = [row.name, row.last]
        case ClientKeyRow():
            values = [row.kind.value, row.client_key, row.element_id]
        case DocumentRow():
            values = [row.namespace, row.key, row.expires_ms, row.document]
        case Work():
            head = [row.id, row.queue, row.payload, row.status.value]
            values = [*head, row.not_before, row.attempts, row.first_attempt_ms, row.note]
        case LeaseRow():
            values = [row.name, row.token]
        case VectorRow():
            vector = None if row.vector is None else list(row.vector)
            values = [row.element_id, row.since, row.embedder, vector]
    return [NAMES[type(row)], *values]


@dataclass(slots=True)
class Tally:
    """What some rows are, whatever their order within a section: how many of each kind, and one digest over all.

    Vectors and the instance they came from are not in the digest: a store may keep vectors more coarsely than another.
    """

    rows: Counter[str] = field(default_factory=Counter)
    _sum: int = 0

    def add(self, row: Row) -> None:
        name = NAMES[type(row)]
        self.rows[name] += 1
        if isinstance(row, VectorRow):
            return
        counted = replace(row, instance_id="") if isinstance(row, SpaceRow) else row
        text = orjson.dumps(members(counted), option=orjson.OPT_SORT_KEYS)
        # A sum, so that stores need not sort alike; a lost, doubled or changed row changes it.
        self._sum = (self._sum + int.from_bytes(hashlib.sha256(text).digest(), "big")) % _MODULUS

    @property
    def digest(self) -> str:
        """`sha256-sum:` and the sum of the rows' SHA-256 digests, modulo 2^256, in lower-case hex."""
        return f"sha256-sum:{self._sum:064x}"

    def following(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows as they come, each counted."""
        for row in rows:
            self.add(row)
            yield row


def batches(rows: Iterable[_R], most: int) -> Iterator[list[_R]]:
    """The rows as they come, in lists of at most so many."""
    left = iter(rows)
    while batch := list(islice(left, most)):
        yield batch


def tally_of(rows: Iterable[Row]) -> Tally:
    """What these rows are."""
    tally = Tally()
    for row in rows:
        tally.add(row)
    return tally


def checked(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows as they come, with DamagedDump at the first that cannot follow those before it.

    What is checked is what a Space's reads rely on: sections in order, commits without a gap, versions of an element
    together, growing and written by commits there are, ids counted.
    """
    place = -1
    space: SpaceRow | None = None
    versions = _Versions()
    seq = 0
    for row in rows:
        section = _ORDER[type(row)]
        if section < place or (space is None) == (section > 0):
            raise DamagedDump(f"a {NAMES[type(row)]} row stands where none can be")
        if space is not None and place <= _ORDER[Commit] < section and seq != space.seq:
            raise DamagedDump(f"commits end at {seq}, not at {space.seq}")
        place = section
        if isinstance(row, SpaceRow):
            space = row
        elif isinstance(row, Commit):
            seq += 1
            if row.seq != seq:
                raise DamagedDump(f"commit {row.seq} stands where {seq} should")
        elif isinstance(row, VersionRow):
            versions.add(row, seq)
        elif isinstance(row, CounterRow):
            versions.count(row)
        yield row
    if space is None:
        raise DamagedDump("there are no rows")
    if seq != space.seq:
        raise DamagedDump(f"commits end at {seq}, not at {space.seq}")
    versions.end()


class _Versions:
    """What has been seen of elements: their ids, and the greatest number of each kind."""

    def __init__(self) -> None:
        self._id: ElementId = ""
        self._since: Seq = 0
        self._seen: dict[Kind, _Numbers] = {kind: _Numbers() for kind in Kind}

    def add(self, row: VersionRow, head: Seq) -> None:
        element = row.element
        if element.id != self._id:
            if not self._seen[element.kind].add(int(element.id[2:])):
                raise DamagedDump(f"{element.id} stands after an element of a greater number")
            self._id, self._since = element.id, 0
        if not self._since < row.since <= head:
            raise DamagedDump(f"a version of {element.id} cannot be of commit {row.since}")
        self._since = row.since

    def count(self, row: CounterRow) -> None:
        if row.last < 1:
            raise DamagedDump(f"the counter {row.name} stands at {row.last}")
        if row.name != WORK_COUNTER:
            numbers = self._seen[Kind(row.name)]
            numbers.counted = row.last

    def end(self) -> None:
        for kind, numbers in self._seen.items():
            if numbers.greatest > numbers.counted:
                raise DamagedDump(f"{kind.letter}-{numbers.greatest} was never counted")


@dataclass(slots=True)
class _Numbers:
    """Numbers seen of one kind."""

    greatest: int = 0
    counted: int = 0

    def add(self, number: int) -> bool:
        """Whether it is greater than all before it."""
        if number <= self.greatest:
            return False
        self.greatest = number
        return True


def renamed(rows: Iterable[Row], space_id: str) -> Iterator[Row]:
    """The same rows for a Space of another id.

    Elements carry the id of the Space they are in and get the new one. Commits and receipts are records of what
    happened under the old name, with digests taken over it, and stay as they are. What lets callers into a Space of
    another id does not come along.
    """
    uri, is_another = f"kip:space:{space_id}", False
    for row in rows:
        if isinstance(row, SpaceRow):
            is_another = row.space_id != space_id
            yield replace(row, space_id=space_id)
        elif is_another and isinstance(row, DocumentRow) and row.namespace in OF_ONE_SPACE:
            continue
        elif isinstance(row, VersionRow) and row.element.body.get("space_id", uri) != uri:
            element = replace(row.element, body={**row.element.body, "space_id": uri})
            yield replace(row, element=element)
        else:
            yield row


def verify(loaded: Iterable[Row], expected: Tally) -> None:
    """DamagedDump unless what a store reads back of a Space it loaded is what it was given; for `Store.load`."""
    found = tally_of(loaded)
    if found.digest != expected.digest:
        counts = {name: (expected.rows[name], found.rows[name]) for name in expected.rows | found.rows}
        told = ", ".join(f"{name} {given}/{kept}" for name, (given, kept) in sorted(counts.items()))
        raise DamagedDump(f"what was stored is not what was given (given/stored: {told})")
