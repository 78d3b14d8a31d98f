"""What may be added to a Space's vocabulary, and by which requests (BR-GATE-019 to 021, 038)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from brain import errors
from brain.kip import ast
from brain.kip.schema.drafts import PREDICATE_MEMBERS
from brain.store.base import Kind

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

MAX_DEFINITIONS = 8
"""DEFINE statements of one request."""

MAX_SYMBOLS = 512
"""Symbols a Space may hold of its own (BR-SPACE-015)."""

MAX_DESCRIPTION = 200

_TYPE_NAME = re.compile(r"[A-Z][A-Za-z0-9]{0,63}", re.ASCII)
_PREDICATE_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)

RESERVED = frozenset(
    {
        "activity",
        "actor_binding",
        "assertion",
        "belief",
        "capsule",
        "clearance",
        "concept",
        "delegation",
        "evidence",
        "governance",
        "grant",
        "group",
        "legal_hold",
        "memory_space",
        "permission",
        "policy",
        "principal",
        "proposition",
        "quarantine",
        "receipt",
        "retention",
        "role_binding",
        "schema",
        "self",
        "space",
        "system",
        "transaction",
        "trust",
    }
)
"""Notions of Core and of Governance, spelled as words: nothing a message says may give them a second meaning."""


def review_key(kind: str, ref: str) -> str:
    """Client key of the task that has a drafted symbol reviewed (§20.16); `kind` is ConceptType or PredicateType."""
    return f"review_schema:{kind}:{ref}"


def unreviewed(engine: Engine) -> list[tuple[str, str]]:
    """Kind and exact reference of every draft for which there is no such task."""
    with engine.space.snapshot() as now:
        return [
            (kind, ref)
            for kind, ref in engine.environment(now).draft_symbols()
            if now.by_client_key(Kind.CONCEPT, review_key(kind, ref)) is None
        ]


def check_batch(statements: Sequence[ast.Statement]) -> None:
    """A request that defines symbols does nothing else, and not too much of it."""
    defining = sum(isinstance(statement, ast.Define) for statement in statements)
    if not defining:
        return
    if defining != len(statements):
        raise errors.NotAuthorized(
            "A request that defines vocabulary may hold DEFINE statements only.",
            hint="Send the DEFINE statements first, the rest in the next request.",
        )
    if defining > MAX_DEFINITIONS:
        raise errors.NotAuthorized(
            f"{defining} definitions in one request are more than {MAX_DEFINITIONS}.",
            hint="Look for existing words first; define only what is needed now.",
        )


def check_definition(clause: ast.Define) -> None:
    """One DEFINE: name, description and members, all of them in the text."""
    if not isinstance(clause.name, ast.Literal) or not isinstance(clause.name.value, str):
        raise errors.NotAuthorized("DEFINE needs its name in the text.", hint="Quote the name.")
    if any(_parameters_in(member.value) for member in clause.definition.members):
        raise errors.NotAuthorized("DEFINE needs its body in the text.", hint="Write the values instead of parameters.")
    name = clause.name.value
    shape, example = (
        (_TYPE_NAME, "an UpperCamelCase name such as MusicalInstrument")
        if clause.kind == "concept_type"
        else (_PREDICATE_NAME, "a snake_case name such as main_instrument")
    )
    if not shape.fullmatch(name):
        raise errors.ConstraintViolation(
            f"{name[:64]!r} cannot name this symbol.", hint=f"Use {example}, 64 characters at most."
        )
    if _words(name) in RESERVED:
        raise errors.NotAuthorized(
            f"{name} names a notion of the memory system itself.", hint="Choose a word for what people talk about."
        )
    members = {member.name: member.value for member in clause.definition.members}
    _check_description(name, members.get("description"))
    if clause.kind == "predicate":
        _check_predicate(name, members)


def _check_description(name: str, value: ast.DataValue | None) -> None:
    text = value.value if isinstance(value, ast.Literal) else None
    if not isinstance(text, str) or not text.strip():
        raise errors.ConstraintViolation(f"{name} needs a description.", hint="Say in one sentence what it means.")
    if len(text) > MAX_DESCRIPTION or any(unicodedata.category(character).startswith("C") for character in text):
        raise errors.ConstraintViolation(
            f"The description of {name} must be one line of at most {MAX_DESCRIPTION} characters.",
            hint="Say what the symbol means, and nothing else.",
        )


def _check_predicate(name: str, members: dict[str, ast.DataValue]) -> None:
    unknown = sorted(set(members) - PREDICATE_MEMBERS)
    if unknown:
        raise errors.ConstraintViolation(
            f"{name} may not state {', '.join(unknown)}.",
            hint="Members are description, subject, object, functional, functional_by, boolean_completeness and "
            "temporal_conflict.",
        )
    for member, claim in (("open_world", False), ("complete", True)):
        value = members.get(member)
        if isinstance(value, ast.Literal) and value.value is claim:
            raise errors.ConstraintViolation(
                f"{name} may not claim {member}: {str(claim).lower()}.",
                hint="Leave it out; only an installed package may close the world.",
            )


def _parameters_in(value: ast.DataValue) -> bool:
    match value:
        case ast.ArrayLiteral():
            return any(_parameters_in(item) for item in value.items)
        case ast.ObjectLiteral():
            return any(_parameters_in(member.value) for member in value.members)
    return not isinstance(value, ast.Literal)


def _words(name: str) -> str:
    """`MemorySpace` and `memory_space` as one spelling."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def check_size(schema: Mapping[str, Any]) -> None:
    """Whether a `schema` control document still holds an admissible number of drafts."""
    drafted = sum(len(symbols) for symbols in (schema.get("drafts") or {}).values())
    if drafted > MAX_SYMBOLS:
        raise errors.ResourceExhausted(
            f"This Space holds {MAX_SYMBOLS} words of its own, which is all it may hold.",
            hint="Use an existing word, or ask the owner to promote drafts.",
        )
