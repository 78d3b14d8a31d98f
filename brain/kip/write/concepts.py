"""CREATE CONCEPT and UPSERT CONCEPT (KIP 2.0 §10, §54)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain import errors
from brain.ids import lineage_of
from brain.kip import ast
from brain.kip.write import apply
from brain.kip.write.planes import NO_VALUE, same
from brain.kip.write.steps import Step, check_guards
from brain.kip.write.structural import set_structural, unset_structural
from brain.kip.write.values import SKIP, Values
from brain.kip.write.work import Draft, Workspace
from brain.store.base import ElementId, Kind

CREATED_FIELDS: Mapping[str, apply.Reader] = {
    "aliases": apply.names,
    "canonical_id": apply.text_or_null,
    "key": apply.filled_text,
    "name": apply.text,
}
"""Core fields an author may set when a Concept is made."""

MUTABLE_FIELDS: Mapping[str, apply.Reader] = {
    "aliases": apply.names,
    "canonical_id": apply.text_or_null,
    "name": apply.text,
}
"""Core fields an author may set afterwards."""


class CreateConcept(Step[ast.CreateConcept]):
    """A new Concept, or the earlier one when the client key says retry."""

    draft: Draft

    def declare(self) -> None:
        self.work.permit("create")
        values = Values(self.work)
        client_key = None
        type_name = None
        for clause in self.clause.clauses:
            if isinstance(clause, ast.ClientKey):
                client_key = values.text(clause.key, "CLIENT KEY")
            elif isinstance(clause, ast.TypeClause):
                type_name = values.text(clause.type, "TYPE")
        if type_name is None:
            raise errors.SchemaSymbolNotFound(
                "CREATE CONCEPT needs a TYPE.", hint="Add TYPE with a name from LIST TYPES; no Concept is untyped."
            )
        schema_ref = self.work.environment.concept_type(type_name).symbol.ref
        self.draft = self.work.create(Kind.CONCEPT, {"schema_ref": schema_ref}, client_key)
        self.bind(self.clause.handle.name, self.draft.id)
        for clause in self.clause.clauses:
            if isinstance(clause, ast.SetFields):
                hold_keys(self.work, self.draft, values, clause)

    def fill(self) -> None:
        values = Values(self.work)
        for clause in self.clause.clauses:
            if isinstance(clause, ast.NameClause):
                self.draft.put(("name",), apply.text(values.scalar(clause.name), "NAME"))
            elif isinstance(clause, ast.SetFields):
                members = apply.assigned(values, clause.assignments)
                permit_identity(self.work, members)
                apply.set_fields(self.draft, members, CREATED_FIELDS)
            elif not isinstance(clause, (ast.TypeClause, ast.ClientKey)):
                apply_action(self.work, self.draft, clause, values)


class UpsertConcept(Step[ast.UpsertConcept]):
    """An existing Concept by stable identity, or, by key, a new one."""

    draft: Draft
    supplied: ElementId

    def declare(self) -> None:
        match = next((clause.match for clause in self.clause.clauses if isinstance(clause, ast.MatchClause)), None)
        if match is None:
            raise errors.IdentitySelectorRequired("UPSERT CONCEPT needs a MATCH on id or key.")
        selector = _selector(Values(self.work), match)
        found = self._find(selector)
        if found is None:
            self.work.permit("create")
            type_name = selector.get("type")
            if type_name is None:
                raise errors.SchemaSymbolNotFound(
                    f"No Concept has the key {selector['key']!r}, and MATCH names no type to create one with.",
                    hint='Add type: "…" to MATCH.',
                )
            schema_ref = self.work.environment.concept_type(type_name).symbol.ref
            self.draft = self.work.create(Kind.CONCEPT, {"schema_ref": schema_ref})
            self.draft.put(("key",), selector["key"])
            self.work.hold_key(self.draft, selector["key"])
        else:
            self.work.permit("update", self.work.element(found))
            self.draft = self.work.draft(found)
        self.bind(self.clause.handle.name, self.draft.id)

    def fill(self) -> None:
        check_guards(self.work, self.draft.before, self.draft.id, self.clause.expect)
        values = Values(self.work, self.draft, self.clause.handle.name)
        for clause in self.clause.clauses:
            if isinstance(clause, ast.SetFields):
                members = apply.assigned(values, clause.assignments)
                set_concept_fields(self.work, self.draft, members)
            elif not isinstance(clause, ast.MatchClause):
                apply_action(self.work, self.draft, clause, values)

    def _find(self, selector: Mapping[str, Any]) -> ElementId | None:
        """The Concept a selector addresses, merges followed; None when a key is free.

        raises NotFoundOrNotVisible by id, IdentityConflict for a key that fits several or an element that differs
        """
        work = self.work
        if "id" in selector:
            found = work.canonical(selector["id"])
            body = work.body(found)
            if body is None or body["kind"] != Kind.CONCEPT.value or not _fits(work, body, selector):
                raise errors.NotFoundOrNotVisible(f"No Concept {selector['id']} answers to this MATCH.")
            return found
        type_name = selector.get("type")
        lineages = work.environment.lineages("concept_type", type_name) if type_name is not None else None
        holders = work.concepts_by_key(selector["key"], lineages)
        survivors = list(dict.fromkeys(work.canonical(holder) for holder in holders))
        if not survivors:
            return None
        if len(survivors) > 1:
            raise errors.IdentityConflict(
                f"Several Concepts have the key {selector['key']!r}.",
                hint="Add the type to MATCH, or select by id.",
                details={"candidates": survivors},
            )
        body = work.body(survivors[0])
        differs = body is not None and not _fits(work, body, {**selector, "key": None})
        if survivors[0] in holders and differs:
            raise errors.IdentityConflict(
                f"{survivors[0]} has the key {selector['key']!r} and differs from the rest of MATCH.",
                hint="MATCH on the key alone, or choose another key.",
            )
        return survivors[0]


def hold_keys(work: Workspace, draft: Draft, values: Values, clause: ast.SetFields) -> None:
    """Make a new Concept's key known before other clauses look for it."""
    for member in clause.assignments.members:
        if member.name == "key" and isinstance(member.value, (ast.Literal, ast.Parameter)):
            key = values.scalar(member.value)
            if isinstance(key, str) and draft.stands_for is None:
                work.hold_key(draft, key)


def set_concept_fields(work: Workspace, draft: Draft, members: Mapping[str, Any]) -> None:
    """SET FIELDS on a Concept that exists: identity is fixed, and a Core field is never invented."""
    permit_identity(work, members)
    for name, value in members.items():
        if name in ("key", "schema_ref", "client_key"):
            if draft.before is None and name == "key":
                draft.put(("key",), apply.filled_text(value, name))
                work.hold_key(draft, value)
                continue
            raise errors.ImmutableField(f"{name} of {draft.id} is fixed since it was created.")
        if name not in MUTABLE_FIELDS:
            raise errors.TypeMismatch(
                f"A Concept has no Core field {name} to set.",
                hint="What describes the Concept itself goes into SET ATTRIBUTES; a claim about it into ASSERT.",
                details={"field": name},
            )
        if value is not SKIP:
            draft.put((name,), MUTABLE_FIELDS[name](value, name))


def permit_identity(work: Workspace, members: Mapping[str, Any]) -> None:
    """A canonical id asks for more than `update` (§7.4)."""
    if members.get("canonical_id") is not None:
        work.permit("merge_identity")


def apply_action(
    work: Workspace, draft: Draft, action: ast.CreateClause | ast.UpsertClause | ast.UpdateAction, values: Values
) -> None:
    """The SET and UNSET clauses that mean the same in CREATE, UPSERT and UPDATE."""
    match action:
        case ast.SetAttributes(assignments=assignments):
            apply.set_attributes(draft, apply.assigned(values, assignments))
        case ast.UnsetAttributes(names=names):
            apply.unset_attributes(draft, names)
        case ast.SetFacet(facet=facet, assignments=assignments):
            apply.set_facet(work, draft, values.text(facet, "The Facet"), apply.assigned(values, assignments))
        case ast.UnsetFacet(facet=facet, names=names):
            apply.unset_facet(work, draft, values.text(facet, "The Facet"), names)
        case ast.SetStructural(entries=entries):
            set_structural(work, draft, entries, values)
        case ast.UnsetStructural(entries=entries):
            unset_structural(work, draft, entries, values)
        case _:
            raise AssertionError(f"no shared action: {type(action).__name__}")


def _selector(values: Values, match: ast.ObjectPattern) -> dict[str, Any]:
    """MATCH as values: `id` or `key` names the Concept, everything else constrains it (§54.3)."""
    selector: dict[str, Any] = {}
    for member in match.members:
        apply.refuse_protected(member.name)
        selector[member.name] = _pattern_value(values, member.value)
    for name in ("id", "key", "type", "name", "canonical_id"):
        if name in selector and not isinstance(selector[name], str):
            raise errors.TypeMismatch(f"{name} in MATCH is a string.", details={"field": name})
    if "id" in selector or selector.get("key"):
        return selector
    if "key" in selector:
        raise errors.ConstraintViolation("The key in MATCH is empty.")
    if "name" in selector:
        raise errors.NameIdentityForbidden("MATCH selects by name, and names may repeat.")
    raise errors.IdentitySelectorRequired("MATCH names neither an id nor a key.")


def _pattern_value(values: Values, node: ast.PatternValue) -> Any:
    match node:
        case ast.Literal() | ast.Parameter():
            return values.scalar(node)
        case ast.ArrayPattern(items=items):
            return [_pattern_value(values, item) for item in items]
        case ast.ObjectPattern(members=members):
            return {member.name: _pattern_value(values, member.value) for member in members}
        case _:
            raise errors.IdentitySelectorRequired("MATCH takes literals and parameters; it binds no variables.")


def _fits(work: Workspace, body: Mapping[str, Any], selector: Mapping[str, Any]) -> bool:
    """Whether an element meets every member of a selector; None stands for one already met."""
    for name, wanted in selector.items():
        if name == "id" or (name == "key" and wanted is None):
            continue
        if name == "type":
            lineages = work.environment.lineages("concept_type", wanted)
            if lineage_of(body.get("schema_ref", "")) not in lineages:
                return False
        elif name == "state":
            if body["_system"]["state"] != wanted:
                return False
        elif isinstance(wanted, dict) and name in ("attributes", "facets"):
            held = body.get(name, {})
            if any(not same(held.get(member, NO_VALUE), value) for member, value in wanted.items()):
                return False
        elif not same(body.get(name, NO_VALUE), wanted):
            return False
    return True
