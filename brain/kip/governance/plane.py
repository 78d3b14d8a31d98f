"""The protected state of a Space as typed values, and as the control document `governance` (KIP 2.0 §28).

Every change makes a new version of the document in a commit of its own, so that what was in force when is known; what
decides is always the newest. A Space in which nobody ever governed has no document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from brain.store.base import Document, ElementId
from brain.times import Timestamp

CONTROL = "governance"
"""The name of the control document."""

EVERYBODY = "*"
GROUP = "group:"
"""How a subject says that it is a group; every other subject is a principal's id."""

Effect: TypeAlias = Literal["allow", "deny"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which elements a rule is about; an empty member stands for any, an empty scope for the whole Space.

    kinds    element kinds
    types    lineages of Concept Types and Predicates
    labels   classifications; null stands for elements without one
    ids      single elements
    origins  principals that recorded the element
    """

    kinds: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    labels: frozenset[str | None] = frozenset()
    ids: frozenset[ElementId] = frozenset()
    origins: frozenset[str] = frozenset()

    @property
    def is_everything(self) -> bool:
        return not (self.kinds or self.types or self.labels or self.ids or self.origins)


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the policy.

    to, excepted  subjects it is about, and those among them it spares
    fields        paths into the element a denial of `read` leaves out; empty for the whole element
    """

    effect: Effect
    permissions: frozenset[str]
    to: frozenset[str] = frozenset({EVERYBODY})
    excepted: frozenset[str] = frozenset()
    scope: Scope = EVERYTHING
    fields: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Policy:
    """What holds in a Space whoever asks.

    labels     classification labels, the least restricted first (§31.1)
    default_label  what a new element is classified as when nothing it comes from says more; None for nothing
    approvals  permissions whose use waits for a second principal (§29.11)
    reserved   actors only principals bound to them speak as, beside the Space's self (§28.4)
    authentications  classes of authentication, the weakest first; one that is not named is weaker than all of them
    stronger   permission to the least class of authentication its use takes
    """

    version: int = 0
    labels: tuple[str, ...] = ()
    default_label: str | None = None
    rules: tuple[Rule, ...] = ()
    approvals: frozenset[str] = frozenset()
    reserved: frozenset[ElementId] = frozenset()
    authentications: tuple[str, ...] = ()
    stronger: Mapping[str, str] = field(default_factory=dict)

    def out_of_reach(self, authentication: str | None) -> frozenset[str]:
        """The permissions that take a stronger authentication than this."""
        classes = self.authentications
        rank = classes.index(authentication) if authentication in classes else -1
        return frozenset(permission for permission, least in self.stronger.items() if classes.index(least) > rank)


@dataclass(frozen=True, slots=True)
class Grant:
    """Permissions given to a principal or a group, by name or by role; `expires_at` is the first instant without."""

    subject: str
    permissions: frozenset[str] = frozenset()
    role: str | None = None
    scope: Scope = EVERYTHING
    expires_at: Timestamp | None = None
    granted_by: str = ""


@dataclass(frozen=True, slots=True)
class Delegation:
    """What one principal lets another do in its stead: never more than it may do itself at that moment (§28.5).

    held       what the delegator's door gave it over the whole Space when it delegated; what the plane gives it is
               looked up anew at every use
    may_chain  whether the receiver may delegate further under it
    parent     the delegation it was made under
    """

    delegator: str
    receiver: str
    permissions: frozenset[str]
    held: frozenset[str] = frozenset()
    scope: Scope = EVERYTHING
    expires_at: Timestamp | None = None
    may_chain: bool = False
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Binding:
    """The actors a principal may speak as (§28.3)."""

    principal: str
    actors: frozenset[ElementId]


@dataclass(frozen=True, slots=True)
class Plane:
    """Everything. Grants, delegations and bindings are named by ids that are never used again (`next_id`)."""

    version: int = 0
    policy: Policy = Policy()
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    roles: Mapping[str, frozenset[str]] = field(default_factory=dict)
    grants: Mapping[str, Grant] = field(default_factory=dict)
    delegations: Mapping[str, Delegation] = field(default_factory=dict)
    bindings: Mapping[str, Binding] = field(default_factory=dict)
    quarantined: frozenset[ElementId] = frozenset()
    next_id: int = 1

    def groups_of(self, principal: str) -> frozenset[str]:
        return frozenset(name for name, members in self.groups.items() if principal in members)

    def subjects_of(self, principal: str) -> frozenset[str]:
        """Every spelling under which rules and grants mean this principal."""
        return frozenset({EVERYBODY, principal, *(f"{GROUP}{name}" for name in self.groups_of(principal))})

    def label_rank(self, label: str | None) -> int:
        """How restricted a label is: 0 for none, and for one the policy no longer has as much as for the highest."""
        if label is None:
            return 0
        labels = self.policy.labels
        return labels.index(label) + 1 if label in labels else len(labels)

    def highest(self, labels: Iterable[str | None]) -> str | None:
        """The most restricted of some labels."""
        return max(labels, key=self.label_rank, default=None)


def to_document(plane: Plane) -> Document:
    """The plane as JSON."""
    shown: Document = _json(asdict(plane))
    return shown


def from_document(document: Document) -> Plane:
    """The plane of a stored document."""
    return Plane(
        version=document["version"],
        policy=_policy(document["policy"]),
        groups={name: frozenset(members) for name, members in document["groups"].items()},
        roles={name: frozenset(permissions) for name, permissions in document["roles"].items()},
        grants={name: Grant(**_sets(entry)) for name, entry in document["grants"].items()},
        delegations={name: Delegation(**_sets(entry)) for name, entry in document["delegations"].items()},
        bindings={name: Binding(**_sets(entry)) for name, entry in document["bindings"].items()},
        quarantined=frozenset(document["quarantined"]),
        next_id=document["next_id"],
    )


def _policy(document: Document) -> Policy:
    return Policy(
        version=document["version"],
        labels=tuple(document["labels"]),
        default_label=document["default_label"],
        rules=tuple(Rule(**_sets(entry)) for entry in document["rules"]),
        approvals=frozenset(document["approvals"]),
        reserved=frozenset(document["reserved"]),
        # Absent from planes that were written before classes of authentication were.
        authentications=tuple(document.get("authentications", ())),
        stronger=dict(document.get("stronger", {})),
    )


def _sets(entry: Document) -> dict[str, Any]:
    """The members of a stored entry: arrays are sets, `scope` is a Scope."""
    members = {name: frozenset(value) if isinstance(value, list) else value for name, value in entry.items()}
    if "scope" in entry:
        members["scope"] = Scope(**{name: frozenset(value) for name, value in entry["scope"].items()})
    return members


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _json(item) for name, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(value, key=lambda item: (item is not None, str(item)))
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    return value
