"""ENSURE PROPOSITION and ASSERT (KIP 2.0 §12, §55). ASSERT does what its long form does, by the same functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brain import errors
from brain.ids import is_element_id, object_key
from brain.kip import ast
from brain.kip.schema import Endpoint, PredicateType
from brain.kip.write import apply, check, refs
from brain.kip.write.records import fill_assertion
from brain.kip.write.steps import Step, check_guards, named_target
from brain.kip.write.transition import supersede
from brain.kip.write.values import SKIP, Values
from brain.kip.write.work import Draft, Workspace
from brain.store.base import ElementId, Kind
from brain.unicode import normalize

_MEMBERS = {
    "at": "asserted_at",
    "by": "asserted_by",
    "confidence": "confidence",
    "context": "context_refs",
    "mode": "mode",
    "stance": "stance",
    "valid": "valid_time",
}
"""Members of ASSERT and the Assertion fields they become; `evidence` and `key` have work of their own."""


class EnsureProposition(Step[ast.EnsureProposition]):
    """The Proposition of a tuple: the one that exists, or a new one; never a claim."""

    proposition: ElementId | None = None
    stated: Stated | None = None

    def declare(self) -> None:
        for name in self.handles:
            self.work.pending[name] = self.resolve

    def foresee(self) -> None:
        self.stated = foreseen(self.work, self.clause.proposition)

    def resolve(self) -> None:
        """Runs early when an endpoint of another clause is this one's handle."""
        if self.proposition is not None:
            return
        for name in self.handles:
            if self.work.pending.pop(name, None) is None:
                raise errors.ReferenceError(f"?{name} is a Proposition about itself.", details={"handle": name})
        self.proposition = ensure(self.work, self.stated or stated_by(self.work, self.clause.proposition))
        for name in self.handles:
            self.bind(name, self.proposition)

    def fill(self) -> None:
        if self.proposition is not None:
            draft = self.work.drafts.get(self.proposition)
            before = draft.before if draft else self.work.element(self.proposition)
            check_guards(self.work, before, self.proposition, self.clause.expect)


class Assert(Step[ast.Assert]):
    """A claim: its Proposition ensured, its Assertion made, and, where asked for, an older one superseded."""

    proposition: ElementId
    stated: Stated | None
    draft: Draft

    @property
    def name(self) -> str:
        """The handle, or how the result calls a claim that has none."""
        return self.clause.handle.name if self.clause.handle else f"#assert{self.position}"

    def declare(self) -> None:
        values = Values(self.work)
        written = [member.value for member in self.clause.members.members if member.name == "key"]
        client_key = None
        if written:
            key = values.read(written[0])
            if not isinstance(key, str):
                raise errors.TypeMismatch("key of ASSERT is a string.")
            client_key = apply.filled_text(key, "key")
        self.draft = self.work.create(Kind.ASSERTION, {}, client_key)
        self.bind(self.name, self.draft.id)

    def foresee(self) -> None:
        self.stated = foreseen(self.work, self.clause.proposition)

    def resolve(self) -> None:
        stated = self.stated or stated_by(self.work, self.clause.proposition)
        self.proposition = ensure(self.work, stated, holder=self.draft.id)
        self.bind(f"{self.name}#proposition", self.proposition)

    def fill(self) -> None:
        values = Values(self.work)
        members = self._members(values)
        fields = {field: members[name] for name, field in _MEMBERS.items() if name in members}
        fields.setdefault("stance", "support")
        fill_assertion(self.work, self.draft, {"proposition": {"id": self.proposition}, **fields})
        cited = members.get("evidence", [])
        for value in cited if isinstance(cited, list) else [cited]:
            evidence = refs.reference(self.work, value, holder=self.draft.id, path="evidence", kinds={Kind.EVIDENCE})
            citations = self.draft.body.setdefault("evidence", [])
            if {"id": evidence, "role": "support"} not in citations:
                citations.append({"id": evidence, "role": "support"})

    def move(self) -> None:
        if self.clause.superseding is not None:
            old = self._superseded(Values(self.work), self.clause.superseding)
            supersede(self.work, self.work.draft(old), self.draft.id, self.draft.body)

    def _members(self, values: Values) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for member in self.clause.members.members:
            if member.name not in _MEMBERS and member.name not in ("evidence", "key"):
                raise errors.InvalidSyntax(
                    f"ASSERT has no member {member.name}.",
                    hint=f"It has {', '.join(sorted([*_MEMBERS, 'evidence', 'key']))}.",
                )
            if member.name in members:
                raise errors.InvalidSyntax(f"ASSERT names {member.name} twice.")
            value = values.read(member.value)
            if value is not SKIP:
                members[member.name] = value
        for name in ("by", "mode"):
            if name not in members:
                raise errors.InvalidSyntax(f"ASSERT needs {name}.", hint="Write by (who claims it) and mode.")
        return members

    def _superseded(self, values: Values, target: ast.Target) -> ElementId:
        if isinstance(target, ast.Variable):
            return values.handle(target.name)
        return named_target(self.work, values.scalar(target))


@dataclass(frozen=True, slots=True)
class Stated:
    """What a tuple says, its names resolved.

    supplied   subject and object as the write names them, each `{"id"}`, a canonical reference or a Literal
    canonical  both with merges followed
    ends       `object_key` of both
    """

    predicate: PredicateType
    lineages: frozenset[str]
    supplied: tuple[Any, Any]
    canonical: tuple[Any, Any]
    ends: tuple[str, str]


def foreseen(work: Workspace, node: ast.Tuple) -> Stated | None:
    """What a tuple says when it is no other clause's to tell; its Proposition is then looked up with all others'."""
    if not isinstance(node, ast.PropositionTuple) or not all(map(work.is_direct, (node.subject, node.object))):
        return None
    stated = stated_by(work, node)
    work.foresee_tuple(stated.ends, stated.lineages)
    return stated


def stated_by(work: Workspace, node: ast.Tuple) -> Stated:
    if isinstance(node, ast.PropositionById):
        raise errors.InvalidSyntax("An id names a Proposition and cannot make one; write the tuple.")
    predicate = _predicate(work, node.predicate)
    supplied = _subject(work, predicate, node.subject), _object(work, predicate, node.object)
    lineages = work.environment.group("predicate", predicate.symbol.lineage)
    canonical = _resolved(work, supplied[0]), _resolved(work, supplied[1])
    return Stated(predicate, lineages, supplied, canonical, (object_key(canonical[0]), object_key(canonical[1])))


def ensure(work: Workspace, stated: Stated, *, holder: ElementId | None = None) -> ElementId:
    """The id of the Proposition a tuple states, made when there is none.

    holder  the Assertion that keeps what the endpoints were called, when the tuple belongs to an ASSERT
    """
    found = work.proposition(stated.ends, stated.lineages)
    if found is None:
        found = _create(work, stated.predicate, *stated.canonical)
        work.hold_tuple(stated.ends, stated.lineages, found)
        holder = holder or found
    if holder is not None:
        for name, end, resolved in zip(("subject", "object"), stated.supplied, stated.canonical, strict=True):
            if end != resolved:
                path = name if holder == found else f"proposition.{name}"
                work.note_reference(holder, path, end["id"], resolved["id"])
    return found


def _create(work: Workspace, predicate: PredicateType, subject: Any, value: Any) -> ElementId:
    work.permit("create")
    check.endpoint(work, predicate, "subject", subject)
    check.endpoint(work, predicate, "object", value)
    draft = work.create(Kind.PROPOSITION, {"subject": subject, "predicate_ref": predicate.symbol.ref, "object": value})
    return draft.id


def _predicate(work: Workspace, atom: ast.PredicateAtom) -> PredicateType:
    if isinstance(atom, ast.Variable):
        raise errors.ReferenceError("A write names its predicate; a variable does not stand for one.")
    return work.environment.predicate(Values(work).text(atom, "The predicate"))


def _subject(work: Workspace, predicate: PredicateType, term: ast.Term) -> dict[str, Any]:
    end = _end(work, predicate.subject, term, "subject")
    if not (isinstance(end, dict) and "id" in end):
        raise errors.TypeMismatch("The subject of a Proposition is an element, not a Literal.")
    return end


def _object(work: Workspace, predicate: PredicateType, term: ast.Term) -> Any:
    return _end(work, predicate.object, term, "object")


def _end(work: Workspace, endpoint: Endpoint, term: ast.Term, place: str) -> Any:
    """An endpoint as `{"id"}` as supplied, a canonical reference, or a Literal in canonical form."""
    match term:
        case ast.Variable(name=name):
            return {"id": _handle(work, name)}
        case ast.PropositionTuple() | ast.PropositionById():
            if not endpoint.takes_propositions_by_name:
                raise errors.UnsupportedCapability(
                    f"The {place} of this Predicate does not take Propositions.",
                    hint="Use a Predicate whose definition lists the kind Proposition.",
                )
            if isinstance(term, ast.PropositionTuple):
                return {"id": ensure(work, stated_by(work, term))}
            return {"id": _existing(work, Values(work).scalar(term.id), place)}
        case ast.ObjectPattern():
            return _from_value(work, endpoint, _object_value(work, term), place)
        case ast.Literal() | ast.Parameter():
            return _from_value(work, endpoint, Values(work).scalar(term), place)


def _from_value(work: Workspace, endpoint: Endpoint, value: Any, place: str) -> Any:
    if isinstance(value, str):
        if is_element_id(value) and (place == "subject" or endpoint.kinds):
            return {"id": _existing(work, value, place)}
        return normalize("NFC", value)
    if isinstance(value, (dict, Mapping)):  # a dict, as it nearly always is, is told sooner by its own name
        if set(value) == {"canonical_id"} and place == "object":
            found = refs.by_canonical_id(work, value["canonical_id"])
            return {"id": found} if found else dict(value)
        return {"id": _existing(work, value, place)}
    if isinstance(value, list):
        raise errors.TypeMismatch(f"The {place} of a Proposition is one element or one JSON scalar.")
    return value


def _existing(work: Workspace, value: Any, place: str) -> ElementId:
    supplied = refs.named(work, value, place)
    refs.reference(work, supplied, holder=None, path=place)
    return supplied


def _object_value(work: Workspace, pattern: ast.ObjectPattern) -> dict[str, Any]:
    values = Values(work)
    members: dict[str, Any] = {}
    for member in pattern.members:
        if not isinstance(member.value, (ast.Literal, ast.Parameter)):
            raise errors.IdentitySelectorRequired("A write names its endpoints; a pattern does not name one.")
        members[member.name] = values.scalar(member.value)
    return members


def _handle(work: Workspace, name: str) -> ElementId:
    if work.is_pending(name):
        work.pending[name]()
    return Values(work).handle(name)


def _resolved(work: Workspace, end: Any) -> Any:
    if not isinstance(end, dict) or "id" not in end:
        return end
    survivor = work.canonical(end["id"])
    return end if survivor == end["id"] else {"id": survivor}
