"""The words a Space made for itself, until a host promotes them (KIP 2.0 §20.16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brain.errors import KipError, Retry
from brain.service.failures import InvalidInput
from brain.service.hosting import HOST
from brain.service.spaces import OpenSpace

if TYPE_CHECKING:
    from brain.kip.schema.definitions import SymbolKind

_KINDS: dict[SymbolKind, str] = {"concept_type": "ConceptType", "predicate": "PredicateType"}


def schema_drafts(space: OpenSpace) -> dict[str, Any]:
    """SchemaDrafts: every drafted type and predicate, in the order they were drafted, with its definition.

    promoted_to  on symbols that were promoted: the lineage they count as since
    """
    from brain.kip.schema import DRAFT_ID, DRAFT_REF  # part of the engine, which is there by now

    with space.snapshot() as now:
        environment = space.engine.environment(now)
    promoted: dict[tuple[str, str], str] = {
        (entry.kind, entry.source): entry.target for entry in environment.promotions
    }
    symbols = []
    for kind, shown in _KINDS.items():
        for name, definition in environment.drafts.get(kind, {}).items():
            symbol = {"kind": shown, "name": name, "ref": f"{DRAFT_REF}/{name}", "definition": definition}
            target = promoted.get((kind, f"{DRAFT_ID}/{name}"))
            symbols.append(symbol if target is None else {**symbol, "promoted_to": target})
    return {"package_ref": DRAFT_REF, "schema_environment_version": environment.version, "symbols": symbols}


def promote(space: OpenSpace, kind: str, source: str, target: str) -> dict[str, Any]:
    """Make a draft symbol and an installed one match as one; which two, and the version in which they do.

    raises  InvalidInput for what is no draft, a target that is none or not the only one, and a second promotion
    """
    from brain.kip.activation import promote_symbol

    [symbol_kind] = [known for known, shown in _KINDS.items() if shown == kind]
    try:
        promoted, to, version = promote_symbol(space.engine, HOST, symbol_kind, source, target)
    except KipError as refused:
        if refused.retry == Retry.SAFE_SAME_REQUEST:
            raise
        raise InvalidInput(f"{refused.message} {refused.hint or ''}".strip(), refused.to_wire()) from refused
    return {"promoted": promoted, "to": to, "schema_environment_version": version}
