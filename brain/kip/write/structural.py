"""SET and UNSET STRUCTURAL: references in the record topology of an element (KIP 2.0 §17, §20.13)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain import errors
from brain.ids import lineage_of
from brain.kip import ast
from brain.kip.schema import CORE_FIELDS, StructuralField
from brain.kip.write import check, refs
from brain.kip.write.select import Row
from brain.kip.write.steps import bound_elements
from brain.kip.write.values import Values
from brain.kip.write.work import Draft, Workspace
from brain.store.base import ElementId, Kind

ROLES = ("support", "challenge", "context")

CORE_TARGETS: Mapping[str, frozenset[Kind] | None] = {
    "associated_actors": frozenset({Kind.CONCEPT}),
    "evidence": frozenset({Kind.EVIDENCE}),
    "generated_by": frozenset({Kind.ACTIVITY}),
    "inputs": None,
    "outputs": None,
    "source": frozenset({Kind.CONCEPT, Kind.EVIDENCE}),
}
"""Kinds each Core structural field points to; None is every kind."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where the references of one field stand in an element's body.

    declared  the package's definition; None for a Core field
    """

    name: str
    path: tuple[str, ...]
    declared: StructuralField | None

    @property
    def is_single(self) -> bool:
        return self.declared.most == 1 if self.declared else self.name == "generated_by"

    @property
    def is_ordered(self) -> bool:
        return self.declared is not None and self.declared.ordered


def set_structural(
    work: Workspace, draft: Draft, entries: Sequence[ast.StructuralEntry], values: Values, rows: Sequence[Row] = ()
) -> None:
    """Add references; on a field of one, take the old one's place."""
    placed: dict[tuple[str, ...], dict[int, ElementId]] = {}
    for entry in entries:
        field = _field(work, draft, values.text(entry.field, "The name of a structural field"))
        options = values.members(entry.options) if entry.options else {}
        for target in _targets(work, draft, field, entry.target, values, rows):
            _add(draft, field, target, options, placed.setdefault(field.path, {}))


def unset_structural(
    work: Workspace, draft: Draft, entries: Sequence[ast.StructuralEntry], values: Values, rows: Sequence[Row] = ()
) -> None:
    """Take references away; one that is not there is no error."""
    for entry in entries:
        field = _field(work, draft, values.text(entry.field, "The name of a structural field"))
        for target in _targets(work, draft, field, entry.target, values, rows):
            draft.claim((*field.path, target), False)
            present = _references(draft, field)
            _store(draft, field, [reference for reference in present if reference["id"] != target])


def _field(work: Workspace, draft: Draft, name: str) -> Field:
    if CORE_FIELDS.get(name) == draft.kind:
        return Field(name, (name,), None)
    try:
        declared = work.environment.structural_field(name)
    except errors.SchemaSymbolNotFound:
        if name in CORE_FIELDS:
            raise errors.StructuralReferenceInvalid(
                f"{name} is a reference of {CORE_FIELDS[name].value.capitalize()} records, "
                f"and {draft.id} is of kind {draft.kind.value}.",
                hint="Use a structural field declared for this type; LIST STRUCTURAL FIELDS shows them.",
            ) from None
        raise
    if declared.is_computed:
        raise errors.ConstraintViolation(f"The structural field {declared.symbol.name} is computed; nobody writes it.")
    check.structural_source(work, declared, draft)
    ref = declared.symbol.ref
    lineages = work.environment.group("structural_field", declared.symbol.lineage)
    structural: dict[str, Any] = draft.body.get("structural", {})
    for earlier in [key for key in structural if key != ref and lineage_of(key) in lineages]:
        structural.setdefault(ref, []).extend(structural.pop(earlier))
    return Field(declared.symbol.name, ("structural", ref), declared)


def _targets(
    work: Workspace, draft: Draft, field: Field, node: ast.DataValue, values: Values, rows: Sequence[Row]
) -> list[ElementId]:
    """One element, or, for a variable of the clause's WHERE, every one it is bound to beside this target."""
    if isinstance(node, ast.Variable) and rows and any(node.name in row for row in rows):
        beside = [row for row in rows if values.variable is None or row.get(values.variable) in (None, draft.id)]
        written: list[Any] = list(dict.fromkeys(bound_elements(beside, node.name)))
    else:
        written = [values.read(node)]
    kinds: Collection[Kind] | None = None if field.declared else CORE_TARGETS[field.name]
    path = f"structural.{field.name}"
    return [refs.reference(work, value, holder=draft.id, path=path, kinds=kinds) for value in written]


def _add(
    draft: Draft,
    field: Field,
    target: ElementId,
    options: Mapping[str, Any],
    placed: dict[int, ElementId],
) -> None:
    reference = {"id": target} | _role(field, options)
    position = _position(field, options)
    draft.claim((*field.path, target), True)
    if field.is_single:
        draft.claim(field.path, target)
        _store(draft, field, [reference])
        return
    present = _references(draft, field)
    known = next((other for other in present if other["id"] == target), None)
    if known is not None and (field.declared is None or field.declared.unique):
        if known.get("role") != reference.get("role"):
            raise errors.DuplicateMutationTarget(f"{target} is cited in two roles.", details={"element": draft.id})
        if position is None:
            return
        present.remove(known)
    if position is None:
        present.append(reference)
    else:
        if placed.setdefault(position, target) != target:
            raise errors.ConstraintViolation(f"Two references of {field.name} ask for place {position}.")
        if position > len(present):
            raise errors.ConstraintViolation(
                f"Place {position} of {field.name} lies outside 0 to {len(present)}.", details={"index": position}
            )
        present.insert(position, reference)
    _store(draft, field, present)


def _role(field: Field, options: Mapping[str, Any]) -> dict[str, Any]:
    unknown = set(options) - {"index", "role"}
    if unknown:
        raise errors.ConstraintViolation(f"A structural reference takes no option {', '.join(sorted(unknown))}.")
    if field.declared is not None or field.name != "evidence":
        if "role" in options:
            raise errors.ConstraintViolation(f"References of {field.name} have no role.")
        return {}
    role = options.get("role", "support")
    if role not in ROLES:
        raise errors.ConstraintViolation(
            f"Evidence is not cited in the role {role!r}.", hint=f"Roles are {', '.join(ROLES)}."
        )
    return {"role": role}


def _position(field: Field, options: Mapping[str, Any]) -> int | None:
    if "index" not in options:
        return None
    position = options["index"]
    if not field.is_ordered:
        raise errors.ConstraintViolation(f"The references of {field.name} have no order.")
    if isinstance(position, bool) or not isinstance(position, int) or position < 0:
        raise errors.TypeMismatch("The index of a reference is a whole number from 0.", details={"found": position})
    return position


def _references(draft: Draft, field: Field) -> list[dict[str, Any]]:
    holder: Any = draft.body
    for name in field.path:
        holder = holder.get(name, {} if name != field.path[-1] else [])
    return [holder] if isinstance(holder, dict) else list(holder)


def _store(draft: Draft, field: Field, references: list[dict[str, Any]]) -> None:
    if field.declared is None:
        if field.name == "generated_by":
            draft.body.pop("generated_by", None)
            draft.body |= {"generated_by": references[0]} if references else {}
        elif references or field.name in ("inputs", "outputs"):
            draft.body[field.name] = references
        else:
            draft.body.pop(field.name, None)
        return
    structural: dict[str, Any] = draft.body.setdefault("structural", {})
    structural[field.path[-1]] = references
    if not references:
        del structural[field.path[-1]]
    if not structural:
        del draft.body["structural"]
