"""What travels with a command through the engine: who asks, what it runs against, what it answers, what it would write.

These types are the engine's inner promises. `pipeline.py` makes a `Run` for every operation and hands it to
`read.run_find`, `describe.run_meta` or `write.run_kml`, which know nothing of envelopes, doors or agents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from brain import errors
from brain.kip.tokens import COMMAND_BYTES, NESTING
from brain.store.base import Document, Element, ElementId, Json, Snapshot, Transaction
from brain.times import Seq, Timestamp

if TYPE_CHECKING:
    from brain.kip.ast import Statement
    from brain.kip.governance.authority import Authority
    from brain.kip.governance.plane import Plane
    from brain.kip.governance.sight import Sight
    from brain.kip.schema import Environment
    from brain.kip.templates import Templates
    from brain.store.embedding import Embedder, EmbeddingFailure

CORE_PERMISSIONS: frozenset[str] = frozenset(
    {
        "approve",
        "archive",
        "assert",
        "assert_as_actor",
        "create",
        "declassify",
        "discover",
        "elevate_authority",
        "export",
        "import",
        "maintain",
        "manage_actor_binding",
        "manage_delegation",
        "manage_grants",
        "manage_legal_hold",
        "manage_policy",
        "manage_retention",
        "manage_schema",
        "merge_identity",
        "project",
        "purge",
        "quarantine",
        "read",
        "read_audit",
        "read_history",
        "read_raw_origin",
        "record_attributed_assertion",
        "retract_own",
        "search",
        "supersede_own",
        "tombstone",
        "update",
    }
)
"""The permissions of §29 that need no capability."""

OWNER_PERMISSIONS = CORE_PERMISSIONS | {"propose_schema", "record_outcome", "repair_recording"}
"""Every permission of §29 this engine offers; the owner preset holds them all."""

Admit: TypeAlias = Callable[["Statement", Mapping[str, Json]], None]
"""Judges a parsed statement with its bound parameters before anything runs; raises a KipError to refuse."""

Review: TypeAlias = Callable[["WriteSet", Transaction], None]
"""Judges what a statement would write, inside its transaction, before it commits; raises to refuse. May also write
state beside the graph, which then commits with it."""


@dataclass(frozen=True, slots=True)
class Session:
    """The authenticated caller of a request, made by a door or a host, never from request content (§28.2).

    principal_id    opaque name of the authenticated principal, shown in `_system.origin`
    channel         the door it came through: `http`, `agent:formation`, `host`, …
    permissions     what Governance lets it do here
    actors          Concepts it may speak as without `record_attributed_assertion`
    default_policy  the epistemic policy of a command that names none: `kip:policy:baseline` for raw KQL,
                    `kip:memory-default` for the memory routes
    admit, review   the write gate, when one stands before this caller
    readonly        the read-only door: any write is `ReadonlyViolation`
    delegation      the delegation the principal acts under, when its door says so (§28.5)
    recalls         reads to remember: what is in quarantine is not there for it (§31.6)
    authentication  the class of authentication its door vouches for; None for a door that names none
    holder          whom its idempotency keys belong to, where its door tells principals of one name apart

    Governance fills in the rest when an operation begins; `permissions` and `actors` are then what is really held:

    authority          decides element by element, where the permissions alone do not say it; None where they do
    bindings           the ActorBindings of the principal by their ids
    reserved           actors only the principals bound to them speak as
    delegation_digest  of the chain acted under
    out_of_reach       permissions the policy wants a stronger authentication for than the session's
    """

    principal_id: str
    channel: str
    permissions: frozenset[str] = OWNER_PERMISSIONS
    actors: frozenset[ElementId] = frozenset()
    default_policy: str = "kip:policy:baseline"
    readonly: bool = False
    admit: Admit | None = None
    review: Review | None = None
    delegation: str | None = None
    recalls: bool = False
    authentication: str | None = None
    holder: str = ""
    authority: Authority | None = None
    bindings: tuple[tuple[str, frozenset[ElementId]], ...] = ()
    reserved: frozenset[ElementId] = frozenset()
    delegation_digest: str | None = None
    out_of_reach: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the engine, reported by DESCRIBE CAPABILITIES and PROTOCOL; each passing of one is a named error."""

    command_bytes: int = COMMAND_BYTES
    nesting: int = NESTING
    operations: int = 256
    plan_elements: int = 20_000
    plan_steps: int = 256
    hops: int = 64
    held_solutions: int = 1_000_000
    meta_page: int = 100
    search_limit: int = 1_000
    regex_bytes: int = 2_048
    artifact_bytes: int = 16 * 1024 * 1024
    idempotency_retention_ms: int = 7 * 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Run:
    """What one operation runs with.

    snapshot     the one state every clause of the operation reads
    environment  the vocabulary as of that snapshot
    parameters   operation parameters over shared ones, ingest bindings included (`{"id": "E-1"}`)
    now          the engine clock, read once per operation
    open_at      the Space as of another sequence, for statements that look back by themselves; None where a caller has
                 nothing but the snapshot
    deadline_ms  monotonic milliseconds after which work stops with ExecutionTimeout; None for none
    purpose, risk  of the request's context, shown in a projection's basis
    embedder     what a search by likeness compares with; None where none is offered
    vectors      of the words searched for, as far as they were embedded before the snapshot was opened
    sight        what is hidden from the caller; the snapshot shows none of it. None when nothing is
    weighed      the Space as belief may be worked out for this caller; None for the snapshot itself
    plane        the protected state as it stands; None where nobody governed
    templates    plans of this Space to fill again; None to make each anew
    """

    snapshot: Snapshot
    environment: Environment
    parameters: Mapping[str, Json]
    session: Session
    now: Timestamp
    space_uri: str
    limits: Limits = field(default_factory=Limits)
    cursor_key: bytes = b""
    open_at: Callable[[Seq], AbstractContextManager[Snapshot]] | None = None
    deadline_ms: float | None = None
    purpose: str | None = None
    risk: str | None = None
    embedder: Embedder | None = None
    vectors: Mapping[str, list[float] | EmbeddingFailure] = field(default_factory=dict)
    sight: Sight | None = None
    weighed: Snapshot | None = None
    plane: Plane | None = None
    templates: Templates | None = None

    def check_deadline(self) -> None:
        """ExecutionTimeout once the operation has run too long."""
        check_deadline(self.deadline_ms)


def check_deadline(deadline_ms: float | None) -> None:
    """ExecutionTimeout past a deadline in monotonic milliseconds; None is no deadline."""
    if deadline_ms is not None and monotonic() * 1000 > deadline_ms:
        raise errors.ExecutionTimeout()


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers.

    result       the JSON value of the operation
    next_cursor  present when the page was cut
    context      members of the operation's result context (§50) beyond what the pipeline adds by itself
    bound        for FIND, per result row: the ids of the elements that bound it, the row's possible citations
    warnings     disclosures that do not change the result
    counted      for a mutation that sweeps: `matched` targets after the cap, and `updated` ones (§58.4)
    """

    result: Json
    next_cursor: str | None = None
    context: Document = field(default_factory=dict)
    bound: tuple[frozenset[ElementId], ...] = ()
    warnings: tuple[Document, ...] = ()
    counted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Changed:
    """One element before and after a transaction."""

    before: Element
    after: Element


@dataclass(slots=True)
class WriteSet:
    """Everything one statement (or one atomic request) would write, resolved and validated, before it commits.

    created      new elements in creation order
    changed      elements with a new version
    erased       stubs that replace purged elements
    controls     control documents with a new version
    client_keys  created element to its client key
    changes      the envelope's entries, sorted by id (§36.1)
    ingested     ids among `created` that the host's ingest block minted
    """

    created: list[Element] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    erased: list[Element] = field(default_factory=list)
    controls: dict[str, Document] = field(default_factory=dict)
    client_keys: dict[ElementId, str] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    ingested: frozenset[ElementId] = frozenset()

    @property
    def is_empty(self) -> bool:
        """No durable change: `no_effect`, no sequence number (§32.8)."""
        return not (self.created or self.changed or self.erased or self.controls)


@dataclass(frozen=True, slots=True)
class OperationTrace:
    """What the host may know of one operation beyond its wire answer; it is never sent to a model as such.

    bound    as in `Answer`
    seq      the commit it made, None for reads and no_effect
    ids      elements it created or changed, in envelope order
    """

    statement: Statement | None
    bound: tuple[frozenset[ElementId], ...] = ()
    seq: Seq | None = None
    ids: tuple[ElementId, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """A request's answer: the response envelope in wire shape (§81), and the host's trace, one per operation."""

    response: dict[str, Any]
    operations: tuple[OperationTrace, ...]
