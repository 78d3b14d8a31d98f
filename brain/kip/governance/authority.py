"""What the protected state comes to for one principal at one moment (KIP 2.0 §30).

A decision sees the element's kind, exact type, classification, id and recorder, and nothing else of it: no text, no
attribute, no claim. Any denial that fits beats every permission, in whatever order they stand; what no permission fits
is denied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from brain.ids import digest, lineage_of
from brain.kip.governance.names import offered
from brain.kip.governance.plane import EVERYTHING, Delegation, Plane, Policy, Rule, Scope, to_document
from brain.store.base import Document
from brain.times import Timestamp

SEEING = ("discover", "read", "search", "project")
"""Permissions that decide what of the Space shows."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Permissions over a scope."""

    permissions: frozenset[str]
    scope: Scope = EVERYTHING


def covers(scope: Scope, body: Document) -> bool:
    """Whether an element lies in a scope."""
    if scope.is_everything:
        return True
    if scope.kinds and body["kind"] not in scope.kinds:
        return False
    if scope.ids and body["id"] not in scope.ids:
        return False
    if scope.labels and (body.get("governance") or {}).get("classification") not in scope.labels:
        return False
    if scope.types:
        ref = body.get("schema_ref") or body.get("predicate_ref")
        if ref is None or lineage_of(ref) not in scope.types:
            return False
    return not scope.origins or (body["_system"].get("origin") or {}).get("principal_id") in scope.origins


class Authority:
    """Decisions for one principal. Immutable; equal only to itself.

    allowances  what it is allowed; what a delegation gives was narrowed by the delegator's own already (`within`)
    denials     rules that deny it something
    within      further authorities that have to agree: those of the delegators it acts for
    """

    def __init__(
        self,
        allowances: Iterable[Allowance],
        denials: Iterable[Rule] = (),
        within: Sequence[Authority] = (),
        identity: object = None,
    ) -> None:
        self._allowances = tuple(allowances)
        self._denials = tuple(denials)
        self._withholds = tuple(rule for rule in self._denials if rule.fields and "read" in rule.permissions)
        self._within = tuple(within)
        self._identity = identity

    def may(self, permission: str, body: Document) -> bool:
        """Whether a permission may be used on this element."""
        for rule in self._denials:
            if permission in rule.permissions and not rule.fields and covers(rule.scope, body):
                return False
        for given in self._allowances:
            if permission in given.permissions and covers(given.scope, body):
                return all(authority.may(permission, body) for authority in self._within)
        return False

    def hidden_fields(self, body: Document) -> frozenset[str]:
        """Paths of an element that `read` does not show."""
        if not self._withholds and not self._within:
            return frozenset()
        found = frozenset[str]().union(*(rule.fields for rule in self._withholds if covers(rule.scope, body)))
        return found.union(*(authority.hidden_fields(body) for authority in self._within))

    @cached_property
    def permissions(self) -> frozenset[str]:
        """What it may do somewhere, so far as that can be said without an element."""
        allowed = frozenset[str]().union(*(given.permissions for given in self._allowances))
        denied = frozenset[str]().union(
            *(rule.permissions for rule in self._denials if rule.scope.is_everything and not rule.fields)
        )
        held = allowed - denied
        for authority in self._within:
            held &= authority.permissions
        return held

    def is_whole(self, permission: str) -> bool:
        """Whether it is held for every element there is or will be."""
        return (
            permission in self.permissions
            and any(permission in given.permissions and given.scope.is_everything for given in self._allowances)
            and not any(permission in rule.permissions for rule in self._denials)
            and all(authority.is_whole(permission) for authority in self._within)
        )

    @cached_property
    def is_plain(self) -> bool:
        """Whether every permission it holds is held for the whole Space: then the names say everything."""
        return all(map(self.is_whole, self.permissions))

    @cached_property
    def sees_everything(self) -> bool:
        """Whether nothing of the Space is hidden from it by a rule."""
        return all(map(self.is_whole, SEEING[:2])) and all(
            self.is_whole(name) for name in SEEING[2:] if name in self.permissions
        )

    @cached_property
    def digest(self) -> str:
        """Equal for authorities that decide alike because they were made of the same state."""
        allowed = tuple(Rule("allow", given.permissions, scope=given.scope) for given in self._allowances)
        stated = to_document(Plane(policy=Policy(rules=(*allowed, *self._denials))))["policy"]["rules"]
        return digest([self._identity, stated, [authority.digest for authority in self._within]])


def authority_of(plane: Plane, principal: str, held: frozenset[str], now: Timestamp) -> Authority:
    """A principal's own authority.

    held  what the door that authenticated it gives it over the whole Space, before any rule
    """
    subjects = plane.subjects_of(principal)
    allowances = [Allowance(held)] if held else []
    for grant in plane.grants.values():
        if grant.subject in subjects and (grant.expires_at is None or now < grant.expires_at):
            given = grant.permissions | (plane.roles.get(grant.role, frozenset()) if grant.role else frozenset())
            allowances.append(Allowance(given & offered(), grant.scope))
    rules = _rules_of(plane, principal)
    allowances += [Allowance(rule.permissions, rule.scope) for rule in rules if rule.effect == "allow"]
    denials = [rule for rule in rules if rule.effect == "deny"]
    return Authority(allowances, denials, identity=sorted(subjects))


def delegated(plane: Plane, name: str, receiver: str, now: Timestamp) -> Authority | None:
    """What a principal may do under a delegation: what it names, as far as every delegator up the chain may do so now.

    None     for one that is not there, is another's, ran out, or hangs on one that is gone
    """
    chain = chain_of(plane, name)
    if chain is None or chain[0].receiver != receiver:
        return None
    if any(link.expires_at is not None and now >= link.expires_at for link in chain):
        return None
    top = chain[-1]
    authority = authority_of(plane, top.delegator, top.held, now)
    for link in reversed(chain):
        denials = denials_of(plane, link.receiver)
        given = Allowance(link.permissions, link.scope)
        authority = Authority([given], denials, within=[authority], identity=_spelled(link))
    return authority


def denials_of(plane: Plane, principal: str) -> list[Rule]:
    """The rules that deny a principal something, in whoever's stead it acts."""
    return [rule for rule in _rules_of(plane, principal) if rule.effect == "deny"]


def _rules_of(plane: Plane, principal: str) -> list[Rule]:
    subjects = plane.subjects_of(principal)
    return [rule for rule in plane.policy.rules if rule.to & subjects and not rule.excepted & subjects]


def chain_of(plane: Plane, name: str) -> list[Delegation] | None:
    """A delegation and those it was made under, itself first; None when one of them is gone or may not be chained."""
    chain: list[Delegation] = []
    following: str | None = name
    while following is not None:
        link = plane.delegations.get(following)
        if link is None or len(chain) > len(plane.delegations):
            return None
        if chain and (not link.may_chain or link.receiver != chain[-1].delegator):
            return None
        chain.append(link)
        following = link.parent
    return chain


def chain_digest(chain: Sequence[Delegation]) -> str:
    """The digest of a delegation chain for receipts (§33.2)."""
    return digest([_spelled(link) for link in chain])


def _spelled(link: Delegation) -> Document:
    stored: Document = to_document(Plane(delegations={"_": link}))["delegations"]["_"]
    return stored
