"""What an export may be told: `EXPORT CAPSULE … WITH {…}` (KIP 2.0 §40.3, §63.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from brain import errors
from brain.ids import MAX_SAFE_INTEGER
from brain.kip import ast
from brain.kip.context import Run
from brain.kip.resolve import Binder, shown

Closure: TypeAlias = Literal["closed", "referential", "selective"]

CLOSURES: tuple[Closure, ...] = ("closed", "referential", "selective")
MAX_PROVENANCE = 64
"""Deepest walk back through Activities; a larger depth is walked as this one."""


@dataclass(frozen=True, slots=True)
class Options:
    """An export's options.

    closure  `closed`: everything the roots lead to; `referential`: what it takes to say what the roots say;
             `selective`: the roots alone. What stays outside is named, and `closed` leaves nothing outside
    provenance_depth  steps back from what is exported to the Activities it came out of and what went into them
    include_blobs     bytes kept outside of records have to come along
    include_schema    the Schema Packages come along, for whoever validates without having them
    """

    closure: Closure = "referential"
    provenance_depth: int = 0
    include_blobs: bool = False
    include_schema: bool = False


def read_options(run: Run, node: ast.ObjectLiteral | None) -> Options:
    """The options of an export.

    raises  SchemaFieldNotFound for one there is not, TypeMismatch and ConstraintViolation for a value it cannot have,
            UnsupportedCapability for proofs
    """
    given = {} if node is None else Binder.of(run).document(node)
    unknown = sorted(given.keys() - _MEMBERS)
    if unknown:
        raise errors.SchemaFieldNotFound(
            f"EXPORT CAPSULE has no option {unknown[0]}.", hint=f"Options: {', '.join(sorted(_MEMBERS))}."
        )
    if given.get("proof_profile") is not None:
        raise errors.UnsupportedCapability(
            "Capsules are not signed here.",
            hint="Leave proof_profile out; the digest proves that nothing was changed.",
            details={"capability": "capsule_signatures"},
        )
    closure = given.get("closure", "referential")
    if not isinstance(closure, str):
        raise errors.TypeMismatch(f"closure is a string, not {shown(closure)}.")
    if closure not in CLOSURES:
        raise errors.ConstraintViolation(f"closure is {', '.join(CLOSURES[:-1])} or {CLOSURES[-1]}, not {closure!r}.")
    for name in ("include_blobs", "include_schema"):
        if not isinstance(given.get(name, False), bool):
            raise errors.TypeMismatch(f"{name} is true or false.")
    depth = given.get("provenance_depth", 0)
    if isinstance(depth, bool) or not isinstance(depth, int) or not 0 <= depth <= MAX_SAFE_INTEGER:
        raise errors.TypeMismatch(f"provenance_depth is a whole number from 0 on, not {shown(depth)}.")
    return Options(
        closure,
        min(depth, MAX_PROVENANCE),
        given.get("include_blobs", False),
        given.get("include_schema", False),
    )


_MEMBERS = frozenset({"closure", "include_blobs", "include_schema", "proof_profile", "provenance_depth"})
