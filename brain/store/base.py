"""The store promise: everything the rest of Brain may ask of a database, and nothing of how it is done.

A `Store` holds Spaces; a `SpaceStore` is one Space; a `Snapshot` is that Space as it stood after one commit, and a
`Transaction` is the one writer of the moment. Two kinds of data live side by side in one transaction domain:

- the graph: elements, system-versioned (each version says from which sequence on it held), their references, the
  commit records and the keyword index. It changes only with a new `space_seq`. Vectors follow later (`index`).
- state beside the graph: key-value documents, the durable queue and leases. It takes no sequence number and has no
  history, but commits together with the graph, so a claim and the receipt that tells of it are one write.

Every store passes the tests of `tests/store/contract.py` unchanged. Callers ask a store to do, never who it is.

Errors: `HistoricalSnapshotUnavailable` for a sequence that was never reached or is no longer kept, `ExecutionTimeout`
past a deadline, `LeaseLost` when a fencing token is stale, `SpaceExists`, `SpaceMissing` and `StoreFormatError` at
opening, `SpaceInUse` at replacing; `InternalError`, from the driver's own error, when the backend fails.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from brain.times import Seq, Timestamp

if TYPE_CHECKING:
    from brain.kip.algebra import Step
    from brain.store.dump import Row

ElementId: TypeAlias = str
"""Kind letter, hyphen, number from 1: `C-1`. Numbers are never used twice, also after a purge (§7.1)."""

Json: TypeAlias = Any
"""A JSON value."""

Document: TypeAlias = Mapping[str, Json]
"""A JSON object."""


class Kind(StrEnum):
    """The five element kinds (§6.1)."""

    CONCEPT = "concept"
    PROPOSITION = "proposition"
    ASSERTION = "assertion"
    EVIDENCE = "evidence"
    ACTIVITY = "activity"

    @property
    def letter(self) -> str:
        """The kind tag of an element id."""
        return {"activity": "X"}.get(self.value, self.value[0].upper())


class LeaseLost(Exception):
    """The holder's fencing token is no longer the newest: it must write nothing more."""


class Overtaken(Exception):
    """What was assumed of the Space was no longer so: nothing was written, and whoever assumed it begins again."""


class Undecided(Exception):
    """A plan met a value that the store cannot judge as the language does: it has to be run step by step."""


class SpaceExists(Exception):
    """A Space of this id is already there."""


class SpaceMissing(Exception):
    """No Space of this id."""


class SpaceInUse(Exception):
    """Somebody has the Space open, and it cannot be replaced under them."""


class StoreFormatError(Exception):
    """The stored Space is of another format, instance or id than the one asked for."""


# --- the graph's rows -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Element:
    """One version of one element.

    body   the element in its wire shape (kip-element.schema.json): `id`, `kind`, `space_id`, `_system`, `governance`
           and the members that are set. Never changed in place. Computed members are not in it.
    """

    id: ElementId
    kind: Kind
    body: Document

    @property
    def version(self) -> int:
        version: int = self.body["_system"]["version"]
        return version

    @property
    def state(self) -> str:
        """active, archived, merged, tombstoned or purged."""
        state: str = self.body["_system"]["state"]
        return state


@dataclass(frozen=True, slots=True)
class Edge:
    """One stored reference from an element to another.

    field     a plain name for references of Core (`subject`, `object`, `proposition`, `asserted_by`, `context`,
              `evidence`, `source`, `generated_by`, `inputs`, `outputs`, `associated_actors`, `supersedes`,
              `superseded_by`, `corrects`, `corrected_by`, `merged_into`), the symbol's lineage for a declared
              structural field
    position  the 0-based place among the source's references of that field
    role      an Evidence citation's role, else None
    """

    source: ElementId
    field: str
    target: ElementId
    position: int
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """One state-changing commit: its Commit Record (§33.1) and its change envelope (§36.1), both in wire shape."""

    seq: Seq
    tx_id: str
    committed_at: Timestamp
    record: Document
    envelope: Document


@dataclass(frozen=True, slots=True)
class Scan:
    """Elements of one kind that meet every given condition; None means "any".

    lineages   symbol lineages of `schema_ref` (Concepts) or `predicate_ref` (Propositions)
    states     `_system.state`; ordinary recall passes {"active"}
    classes    `evidence_class` or `activity_class`
    statuses   Assertion `lifecycle.status`, Activity `status`, Evidence `lifecycle.status`
    members    further equalities on scalar members, by path: (("attributes", "city"), "Oslo"). Equality is JSON's:
               no coercion, an absent member equals nothing, null neither
    after      only ids whose number is greater
    limit      at most that many, the lowest numbers first
    """

    kind: Kind
    lineages: frozenset[str] | None = None
    states: frozenset[str] | None = frozenset({"active"})
    key: str | None = None
    name: str | None = None
    canonical_id: str | None = None
    classes: frozenset[str] | None = None
    statuses: frozenset[str] | None = None
    members: tuple[tuple[tuple[str, ...], str | int | float | bool], ...] = ()
    after: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class TupleScan:
    """Propositions by their ends; None means "any", and at least one end should be given.

    subjects, objects   stored endpoints as `object_key` spells them: an element id, or the canonical JSON text of a
                        Literal. Following merges is the caller's work
    predicates          lineages
    pairs               subject and object together, when many tuples are looked up at once
    """

    subjects: frozenset[str] | None = None
    predicates: frozenset[str] | None = None
    objects: frozenset[str] | None = None
    states: frozenset[str] | None = frozenset({"active"})
    pairs: frozenset[tuple[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class EdgeScan:
    """References by source, field and target; None means "any"."""

    sources: frozenset[ElementId] | None = None
    fields: frozenset[str] | None = None
    targets: frozenset[ElementId] | None = None


@dataclass(frozen=True, slots=True)
class Lookups:
    """What is about to be looked up one by one.

    ids     elements
    keys    of Concepts, of any type and state
    tuples  active Propositions: subject, lineages of the predicate, object, as `TupleScan` has them
    """

    ids: frozenset[ElementId] = frozenset()
    keys: frozenset[str] = frozenset()
    tuples: frozenset[tuple[str, frozenset[str], str]] = frozenset()


class SearchMode(StrEnum):
    """How a search finds (§66.3); the words are those of the language."""

    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class Likeness:
    """What a semantic search compares with.

    embedder  the name under which vectors were put
    vector    of the words searched for
    revision  only vectors of this `Freshness.revision` or an earlier one count, so that the pages of one traversal show
              one ranking; None for all
    """

    embedder: str
    vector: tuple[float, ...]
    revision: int | None = None


@dataclass(frozen=True, slots=True)
class Repeated:
    """A plan that is asked again and again with other texts in it.

    plan    with `Given` and `GivenIds` (`brain/kip/given.py`) in the place of these texts
    values  they are made of this time
    memory  whatever the store keeps of the plan
    """

    plan: Step
    values: Mapping[str, Json]
    memory: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search over the elements of one kind that are active at the snapshot.

    text       plain words; operators and quotes have no meaning. `store/search.py` analyses it
    lineages   as in `Scan`
    limit      at most that many hits, best first
    threshold  the least score of a hit, applied before the limit
    likeness   needed by every mode but `keyword`
    visible    what the caller may see; None for everything. What it refuses moves no score, rank or hit of the rest
    """

    kind: Kind
    text: str
    lineages: frozenset[str] | None
    limit: int
    threshold: float = 0.0
    mode: SearchMode = SearchMode.KEYWORD
    likeness: Likeness | None = None
    visible: Callable[[Element], bool] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One search hit; `score` lies in (0, 1] and is only ordinal."""

    id: ElementId
    score: float


@dataclass(frozen=True, slots=True)
class Passage:
    """The text an element has been found by since a commit."""

    id: ElementId
    since: Seq
    text: str


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far the vectors of one embedder follow the texts that hold at a snapshot.

    index_seq  every text of this commit and of those before it has its vector
    pending    texts that have none yet
    is_empty   whether no text has one
    revision   grows with every `Transaction.index`
    """

    index_seq: Seq
    pending: int
    is_empty: bool
    revision: int


# --- state beside the graph -------------------------------------------------------------------------------------------


class WorkStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Work:
    """One entry of a durable queue.

    id         grows with acceptance; a queue is taken in this order
    not_before the earliest moment it may be taken, ms since the epoch
    attempts   how often it was taken so far
    first_attempt_ms  when it was first taken, None before
    note       why it failed or waits; None otherwise
    """

    id: int
    queue: str
    payload: Document
    status: WorkStatus
    not_before: int
    attempts: int
    first_attempt_ms: int | None
    note: str | None


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to act under a name until `expires_ms`; `token` grows with every new holder and never repeats."""

    name: str
    holder: str
    token: int
    expires_ms: int


class Reader(Protocol):
    """Reads of state beside the graph, at the moment of the snapshot or transaction."""

    def get(self, namespace: str, key: str) -> Document | None:
        """The document under a key, or None. An expired document is None."""
        ...

    def scan_state(
        self,
        namespace: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> list[tuple[str, Document]]:
        """Keys and documents in key order (or reverse), strictly after `after` in that order."""
        ...

    def work(
        self, queue: str, *, statuses: Collection[WorkStatus] | None = None, limit: int | None = None
    ) -> list[Work]:
        """Entries of a queue in order."""
        ...

    def due_work(self, queue: str, now_ms: int, *, limit: int | None = None) -> list[Work]:
        """Entries of a queue in order, without those that wait for a later time: queued and due, or running.

        The cost is that of the entries given and of those that wait before them, not of the queue.
        """
        ...

    def work_by_id(self, work_id: int) -> Work | None: ...

    def lease(self, name: str) -> Lease | None:
        """Who holds a name, expired or not; None when it was never held or was released."""
        ...


class Snapshot(Reader, Protocol):
    """One Space as it stood after commit `seq`; a later commit never shows through. Used by one thread at a time.

    State beside the graph has no history: it reads no older than the snapshot, each document as a whole; one store may
    show what was written to it since, where another still shows the moment the snapshot was opened.
    """

    space_id: str

    @property
    def seq(self) -> Seq: ...

    def elements(self, ids: Collection[ElementId]) -> dict[ElementId, Element]:
        """These elements, whatever their state; ids that do not exist are left out."""
        ...

    def scan(self, query: Scan) -> Iterator[Element]:
        """Elements by ascending number, streamed in bounded memory."""
        ...

    def count(self, query: Scan) -> int:
        """How many elements `scan` would give, without reading them."""
        ...

    def tuples(self, query: TupleScan) -> list[Element]:
        """Propositions by ascending number: the whole answer."""
        ...

    def assertions(self, about: Collection[ElementId]) -> list[Element]:
        """Every Assertion of these Propositions by ascending number, of every state and status."""
        ...

    def edges(self, query: EdgeScan) -> list[Edge]:
        """References ordered by source number, field, position."""
        ...

    def expect(self, query: TupleScan, *, hops: int = 1, claims: bool = False, of_next_scan: bool = False) -> None:
        """Hear what is about to be asked for: a store to which every question is a journey may fetch it all at once.

        hops    Propositions that lead on from the far ends are asked for too, so many in a row
        claims  so are the Assertions of the Propositions, what these cite, and what produced either
        of_next_scan  the subjects are left out of `query`: they are what the next `scan` gives, if that is one element

        No answer depends on it, only the time until it is there.
        """
        ...

    def by_client_key(self, kind: Kind, client_key: str) -> Element | None:
        """The element created under a client key (§7.5), stubs included."""
        ...

    def merges(self) -> Mapping[ElementId, ElementId]:
        """Merged Concept to the Concept it was merged into, one step each, as of `seq`."""
        ...

    def search(self, query: SearchQuery) -> list[Hit]:
        """Best hits, by falling score, then ascending number.

        raises  SearchIndexUnavailable when the vectors in store are of another size than the one searched with
        """
        ...

    def freshness(self, embedder: str, kind: Kind | None = None) -> Freshness:
        """Of the vectors of `embedder`, for searches of one kind or of all."""
        ...

    def unindexed(self, embedder: str, limit: int) -> list[Passage]:
        """Texts without a vector of `embedder`: those that hold first, then those that did, whatever the snapshot.

        A text is waiting from the commit that wrote it on, so none is forgotten and none needs a queue of its own.
        """
        ...

    def select(self, plan: Step, repeated: Repeated | None = None) -> Iterator[tuple[Json, ...]] | None:
        """Run a whole plan natively, or None when this store cannot: the caller then runs it step by step.

        Rows are as `brain.kip.algebra` describes them, streamed in bounded memory.

        repeated  what the plan was filled from, when it is one of many that differ in given texts only
        raises  Undecided, from any row on, for a value the store cannot judge as the language does
        """
        ...

    def explain(self, plan: Step) -> str | None:
        """How `select` would run a plan, in the store's own language and without any value; None when it would not."""
        ...

    def control(self, name: str) -> Document | None:
        """A system-versioned control document (`schema`, `policies`, `identity`, `governance`) as of `seq`."""
        ...

    def counts(self) -> Mapping[Kind, int]:
        """Active elements per kind at the head, kept at write time."""
        ...

    def commit(self, seq: Seq) -> Commit | None: ...

    def commit_by_tx(self, tx_id: str) -> Commit | None: ...

    def commits(self, *, after: Seq = 0, until: Seq | None = None, limit: int | None = None) -> list[Commit]:
        """Commits with after < seq <= until, ascending, none past the snapshot."""
        ...

    def commit_at(self, moment: Timestamp) -> Commit | None:
        """The last commit whose `committed_at` is not later than `moment`."""
        ...

    def versions(self, element_id: ElementId) -> list[tuple[Seq, Element]]:
        """Every kept version of an element with the sequence that wrote it, ascending."""
        ...


class Transaction(Snapshot, Protocol):
    """The one writer of a Space. It reads its own writes; nobody else does before it commits.

    `seq` is the head it started from. Graph writes become commit `seq + 1`, and only together with `record`.
    State beside the graph may be written with or without a graph commit.
    """

    def look_ahead(self, lookups: Callable[[], Lookups]) -> None:
        """Hear what is about to be looked up: a store to which every question is a journey asks for it and fetches all
        of it at once. As with `expect`, no answer depends on it."""
        ...

    def new_ids(self, kind: Kind, count: int) -> list[ElementId]:
        """Fresh ids; those of a transaction that fails are not used up."""
        ...

    def put(self, elements: Sequence[Element], *, client_keys: Mapping[ElementId, str] | None = None) -> None:
        """New versions, and new elements, as of `seq + 1`; the keyword index follows."""
        ...

    def erase(self, stubs: Sequence[Element]) -> None:
        """Replace every kept version of these elements by its stub: content is gone from the past too (§60.3)."""
        ...

    def index(self, embedder: str, vectors: Sequence[tuple[Passage, Sequence[float] | None]]) -> None:
        """Keep the vectors of texts, None for a text that has none; it is no graph write and needs no record.

        A text that was erased meanwhile is passed over. Vectors of another size than those in store under this name are
        of another model: all texts wait for theirs again.
        """
        ...

    def put_control(self, name: str, document: Document) -> None:
        """A new version of a control document, as of `seq + 1`."""
        ...

    def record(self, commit: Commit) -> None:
        """The Commit Record of this transaction; its seq must be `seq + 1`. Exactly one per graph commit.

        Operations of an atomic request share one transaction: they `put` one after the other and record once.
        """
        ...

    def set(self, namespace: str, key: str, document: Document, *, expires_ms: int | None = None) -> None:
        """Store a document; past `expires_ms` it reads as absent and may be removed."""
        ...

    def delete(self, namespace: str, key: str) -> None: ...

    def enqueue(self, queue: str, payload: Document, *, not_before: int = 0) -> int:
        """Add work at the end of a queue; its id."""
        ...

    def update_work(
        self, work_id: int, *, status: WorkStatus, not_before: int | None = None, note: str | None = None
    ) -> None:
        """Move an entry; `note` replaces the old one."""
        ...

    def begin_work(self, work_id: int, now_ms: int) -> Work:
        """Mark an entry running and count the attempt."""
        ...

    def delete_work(self, work_id: int) -> None: ...

    def acquire_lease(self, name: str, holder: str, *, ttl_ms: int, now_ms: int) -> Lease | None:
        """Take a free or expired name, or extend one's own (same token); None while another holds it."""
        ...

    def release_lease(self, lease: Lease) -> None:
        """Give a name back; nothing happens when it is no longer one's own."""
        ...

    def check_lease(self, lease: Lease, now_ms: int) -> None:
        """LeaseLost unless `lease` is the newest of its name and not expired at `now_ms`."""
        ...


class SpaceStore(Protocol):
    """One open Space. Thread-safe; several processes may hold the same Space open."""

    space_id: str
    instance_id: str
    """Made at creation, shared by no copy or recreation."""

    def snapshot(
        self, seq: Seq | None = None, *, timeout_ms: int | None = None, assumed: bool = False
    ) -> AbstractContextManager[Snapshot]:
        """The head, or the Space as of `seq` (0 is empty).

        assumed  the block can be run again: a store to which every question is a journey may begin with the head it
                 last knew, and find out on the way

        raises   Overtaken, when `assumed`, from any read or on leaving the block: the head is another one
        """
        ...

    def transaction(
        self, *, timeout_ms: int | None = None, durable: bool = True, assumed: bool = False
    ) -> AbstractContextManager[Transaction]:
        """Wait for the writer lock; leaving the block commits, an exception undoes everything.

        durable  False for what nobody was promised: the commit does not wait for the disk, and a power loss before
                 the next durable one may undo it, as a whole. A killed process loses nothing either way
        assumed  the block can be run again: a store may begin without the writer lock, as if nobody had written since
                 it last knew, and find out when it commits

        raises   Overtaken, when `assumed`, from any call or on leaving the block: somebody has; nothing is written

        Graph writes without `record` are undone too, with InternalError.
        """
        ...

    def head(self) -> Seq: ...

    def flush(self) -> None:
        """Have all that was committed on the disk, also what was committed without being flushed."""
        ...

    def dump(self) -> AbstractContextManager[Iterator[Row]]:
        """Everything in the Space as rows, in bounded memory and as of one moment: `store/dump.py` says in what order.

        Others read and write meanwhile. What they commit shows in no row.
        """
        ...

    def close(self) -> None: ...


class Store(Protocol):
    """All Spaces of one deployment."""

    def create(self, space_id: str, *, now_ms: int, controls: Mapping[str, Document] | None = None) -> SpaceStore:
        """A new Space at sequence 0 with its first control documents; SpaceExists when there is one.

        Ids are `[a-z0-9_]{1,64}`, checked here too.
        """
        ...

    def open(self, space_id: str) -> SpaceStore:
        """An existing Space; SpaceMissing otherwise."""
        ...

    def load(self, rows: Iterable[Row], *, replace: bool = False) -> SpaceStore:
        """A Space of dumped rows, from this store or another: complete and read back, or not there at all.

        Its id is that of the first row, its instance a new one. Its reads are those of the Space that was dumped, past
        ones too, and what continues from them: ids, commits, queue entries and lease tokens go on where they were.

        replace  whether it may take the place of a Space of its id, which stays as it is until then and of which every
                 open handle is then stale

        raises   SpaceExists when there is one that must not be replaced; SpaceInUse when it has to be closed first;
                 DamagedDump for rows that make no Space; whatever iterating the rows raises. Nothing is changed then
        """
        ...

    def exists(self, space_id: str) -> bool: ...

    def spaces(self) -> Iterable[str]:
        """Ids of all Spaces, sorted."""
        ...

    def with_work(self, *, unindexed: bool) -> Iterable[str] | None:
        """Ids of the Spaces in which an entry of work is queued or running, sorted; None where only a look at each
        Space would tell.

        unindexed  also those in which a text never had a vector
        """
        ...

    def check(self) -> None:
        """Nothing when Spaces can be read and written just now; otherwise the registered error, soon and untried again.

        It is asked often, by whoever wants to know whether this process can be sent requests.
        """
        ...

    def delete(self, space_id: str) -> None:
        """Remove a Space with everything in it; nothing happens when it is not there.

        It is gone to everybody at one moment. What a process that is killed then leaves behind is seen by nobody, and
        taken away by `finish_removals`, or before a Space is made under the same id.
        """
        ...

    def finish_removals(self) -> list[str]:
        """Take away what is left of Spaces whose removal was cut short; what was."""
        ...

    def holds(self, space_id: str, instance_id: str) -> dict[str, int]:
        """How much the store has of one Space, by kind: rows or nodes of each sort, files and bytes where it is files.

        It looks at the storage itself, whether there is such a Space or not; what of a kind is not there is left out or
        0. The cost grows with the Space.
        """
        ...

    def close(self) -> None: ...


def element_number(element_id: ElementId) -> int:
    """The number of an id, its place in creation order within its kind."""
    return int(element_id[2:])


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """Bounds a store keeps, in one place so that META can report them."""

    max_document_bytes: int = 8 * 1024 * 1024
    page_rows: int = 512
    extra: Mapping[str, int] = field(default_factory=dict)
