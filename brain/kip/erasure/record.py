"""ErasurePlans as they are kept: control records beside the graph, which survive what they erase (KIP 2.0 §60.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, TypeAlias

from brain import errors
from brain.ids import is_element_id
from brain.store.base import Document, ElementId, Reader, Transaction
from brain.times import Seq

Scope: TypeAlias = Literal["payload_only", "semantic_forgetting"]
Surface: TypeAlias = Literal["backup", "blob", "cache", "element", "index", "payload", "replay", "summary"]
State: TypeAlias = Literal["pending", "erased", "held", "unavailable"]
Status: TypeAlias = Literal["pending", "completed", "partial", "blocked"]

SCOPES: tuple[Scope, ...] = ("payload_only", "semantic_forgetting")
STATES: tuple[State, ...] = ("pending", "erased", "held", "unavailable")
OUTSIDE: tuple[Surface, ...] = ("backup", "blob", "cache", "index", "replay", "summary")
"""Where a host may hold copies of its own."""

_PLANS = "kip.erasure"
_NEXT = ("kip.erasure.state", "next")


@dataclass(frozen=True, slots=True)
class Target:
    """One place where a copy is.

    ref   an element id, the `content_ref` of a payload that is kept elsewhere, or the name a host gave its copy
    """

    ref: str
    surface: Surface
    state: State = "pending"


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan and how far it has got. `to_record` is the ErasurePlan; the other members are how it is carried out.

    receipts      transaction ids of its batches
    outside       targets in the host's hands, as (surface, ref)
    kept          elements that came from the source and stand on other grounds too, so they are no copies
    retention_ms  how long the tombstones of its source events refuse them
    refuses_new   whether the same content is refused as a later observation too
    has_begun     whether the tombstones are there
    """

    ref: str
    scope: Scope
    basis_seq: Seq
    sources: tuple[ElementId, ...]
    targets: tuple[Target, ...]
    exports: tuple[str, ...] = ()
    receipts: tuple[str, ...] = ()
    outside: tuple[tuple[Surface, str], ...] = ()
    kept: tuple[ElementId, ...] = ()
    retention_ms: int = 0
    refuses_new: bool = False
    has_begun: bool = False

    @property
    def status(self) -> Status:
        """What the states of the targets come to; nothing else can make a plan completed."""
        if not self.has_begun:
            return "pending"
        states = {target.state for target in self.targets}
        if "held" in states:
            return "blocked"
        return "partial" if states - {"erased"} else "completed"

    @property
    def waiting(self) -> tuple[Target, ...]:
        """Targets in the Space's own hands that are not erased."""
        return tuple(
            one for one in self.targets if one.state != "erased" and self.is_own(one) and is_element_id(one.ref)
        )

    @property
    def has_more(self) -> bool:
        """Whether another batch would find something to erase."""
        return any(one.state == "pending" for one in self.waiting)

    def is_own(self, target: Target) -> bool:
        """Whether a copy is the Space's own, and not in the host's hands."""
        if target.surface == "blob" or (target.surface, target.ref) in self.outside:
            return False
        return target.surface == "cache" or is_element_id(target.ref)

    def to_record(self) -> Document:
        """The ErasurePlan (`schemas/kip-cognitive-records.schema.json`)."""
        return {
            "scope": self.scope,
            "basis_seq": self.basis_seq,
            "source_event_refs": list(self.sources),
            "targets": [asdict(target) for target in self.targets],
            "external_exports": list(self.exports),
            "status": self.status,
            "receipts": list(self.receipts),
        }

    def with_state(self, states: dict[tuple[Surface, str], State]) -> Plan:
        """The plan with new states of these targets."""
        moved = (replace(one, state=states.get((one.surface, one.ref), one.state)) for one in self.targets)
        return replace(self, targets=tuple(moved))


@dataclass(frozen=True, slots=True)
class ErasureReport:
    """What became of a plan.

    record     the ErasurePlan
    remaining  targets that are not erased: why it is not completed
    kept       see `Plan.kept`
    exports    copies that left the Space before, each with `recalled: false`: nothing here can call them back
    replays    Activities that cannot be worked through again, with the inputs that are gone
    """

    plan_ref: str
    record: Document
    remaining: tuple[Target, ...]
    kept: tuple[ElementId, ...]
    exports: tuple[Document, ...] = ()
    replays: tuple[Document, ...] = field(default_factory=tuple)

    @property
    def status(self) -> str:
        return str(self.record["status"])


def new_ref(tx: Transaction) -> str:
    """A name for a plan that no plan had before."""
    number = int((tx.get(*_NEXT) or {"next": 1})["next"])
    tx.set(*_NEXT, {"next": number + 1})
    return f"erasure:{number:06d}"


def keep(tx: Transaction, plan: Plan) -> None:
    """Write a plan down; it is the checkpoint of its last batch."""
    tx.set(_PLANS, plan.ref, asdict(plan))


def load(reader: Reader, ref: str) -> Plan:
    """A plan by its name.

    raises  NotFoundOrNotVisible
    """
    found = reader.get(_PLANS, ref)
    if found is None:
        raise errors.NotFoundOrNotVisible(f"There is no erasure plan {ref!r}.")
    return _plan(found)


def refs(reader: Reader) -> Sequence[str]:
    """The names of all plans, oldest first."""
    return [key for key, _ in reader.scan_state(_PLANS)]


def _plan(found: Document) -> Plan:
    members = dict(found)
    for name in ("sources", "exports", "receipts", "kept"):
        members[name] = tuple(members[name])
    members["targets"] = tuple(Target(**target) for target in members["targets"])
    members["outside"] = tuple((surface, ref) for surface, ref in members["outside"])
    return Plan(**members)
