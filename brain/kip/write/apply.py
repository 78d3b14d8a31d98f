"""SET and UNSET of fields, attributes and Facets on a working copy (KIP 2.0 §18, §54, §58.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from brain import errors
from brain.ids import lineage_of
from brain.kip import ast
from brain.kip.validate import check_timestamp
from brain.kip.write.planes import NO_VALUE
from brain.kip.write.values import SKIP, Values
from brain.kip.write.work import Draft, Workspace
from brain.store.base import Kind

_PROTECTED: Mapping[str, type[errors.KipError]] = {
    "_system": errors.ProtectedSystemField,
    "governance": errors.ProtectedGovernanceField,
    "merged_into": errors.ProtectedGovernanceField,
    "space_id": errors.ProtectedSystemField,
    "space_seq": errors.ProtectedSystemField,
}

Reader = Callable[[Any, str], Any]
"""Checks a field's value and gives it as it is stored; NO_VALUE leaves the field out."""


def assigned(values: Values, node: ast.ObjectLiteral) -> dict[str, Any]:
    """The members of an assignment object; SKIP stands for an expression without result.

    raises DuplicateMutationTarget for a name given two different values, the protected-field errors
    """
    result: dict[str, Any] = {}
    for member in node.members:
        refuse_protected(member.name)
        value = values.read(member.value)
        if member.name in result and result[member.name] != value:
            raise errors.DuplicateMutationTarget(f"{member.name} is given two values in one clause.")
        result[member.name] = value
    return result


def refuse_protected(name: str) -> None:
    """Members that the engine or Governance alone writes."""
    if name in _PROTECTED:
        raise _PROTECTED[name](f"{name} is not written by statements.")


def set_fields(draft: Draft, members: Mapping[str, Any], readers: Mapping[str, Reader]) -> None:
    """Write Core fields, each through its reader; a field of another kind is SchemaFieldNotFound."""
    unknown = [name for name in members if name not in readers]
    if unknown:
        raise errors.SchemaFieldNotFound(
            f"{_a(draft.kind)} has no field {', '.join(sorted(unknown))} to set.",
            hint=f"It has {', '.join(sorted(readers))}.",
            details={"fields": sorted(unknown)},
        )
    for name, value in members.items():
        if value is SKIP:
            continue
        draft.stated.add(name)
        draft.put((name,), readers[name](value, name))


def set_attributes(draft: Draft, members: Mapping[str, Any]) -> None:
    for name, value in members.items():
        if value is not SKIP:
            draft.put(("attributes", name), value)


def unset_attributes(draft: Draft, names: tuple[str, ...]) -> None:
    for name in names:
        refuse_protected(name)
        draft.put(("attributes", name), NO_VALUE)


def set_facet(work: Workspace, draft: Draft, name: str, members: Mapping[str, Any]) -> None:
    """Merge members into a Facet, stored under the symbol elements are written with now (§18.1)."""
    ref = _writable_facet(work, draft, name)
    draft.stated.add(f"facets.{ref}")
    for member, value in members.items():
        if value is not SKIP:
            draft.put(("facets", ref, member), value)


def unset_facet(work: Workspace, draft: Draft, name: str, members: tuple[str, ...]) -> None:
    ref = _writable_facet(work, draft, name)
    for member in members:
        draft.put(("facets", ref, member), NO_VALUE)


def _writable_facet(work: Workspace, draft: Draft, name: str) -> str:
    facet = work.environment.facet(name)
    if facet.is_computed:
        raise errors.ConstraintViolation(f"The Facet {facet.symbol.name} is computed; nobody writes it.")
    facets: dict[str, Any] = draft.body.get("facets", {})
    lineages = work.environment.group("facet", facet.symbol.lineage)
    earlier = [ref for ref in facets if ref != facet.symbol.ref and lineage_of(ref) in lineages]
    for ref in earlier:
        facets.setdefault(facet.symbol.ref, {}).update(facets.pop(ref))
    return facet.symbol.ref


# --- readers of Core fields -------------------------------------------------------------------------------------------


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise errors.TypeMismatch(f"{name} is a string.", details={"field": name, "found": value})
    return value


def filled_text(value: Any, name: str) -> str:
    if not text(value, name):
        raise errors.ConstraintViolation(f"{name} is not empty.", details={"field": name})
    return str(value)


def text_or_null(value: Any, name: str) -> Any:
    return NO_VALUE if value is None else filled_text(value, name)


def names(value: Any, name: str) -> list[str]:
    if not isinstance(value, list):
        raise errors.TypeMismatch(f"{name} is an array of strings.", details={"field": name})
    return [filled_text(item, name) for item in value]


def timestamp_or_null(value: Any, name: str) -> Any:
    return NO_VALUE if value is None else check_timestamp(value, name)


def one_of(*allowed: str) -> Reader:
    """A reader for a closed list of words."""

    def read(value: Any, name: str) -> str:
        if text(value, name) not in allowed:
            raise errors.ConstraintViolation(
                f"{name} cannot be {value!r}.",
                hint=f"It is one of {', '.join(sorted(allowed))}.",
                details={"field": name, "found": value, "allowed": sorted(allowed)},
            )
        return str(value)

    return read


def sha256(value: Any, name: str) -> str:
    written = text(value, name)
    _, _, hexadecimal = written.partition("sha256:")
    if len(hexadecimal) != 64 or set(hexadecimal) - set("0123456789abcdef"):
        raise errors.ConstraintViolation(
            f"{name} is not a sha256 digest: {written!r}.", hint="Write sha256: and 64 lower-case hex digits."
        )
    return written


def _a(kind: Kind) -> str:
    return f"An {kind.value}".capitalize() if kind.value[0] in "aeiou" else f"A {kind.value}"
