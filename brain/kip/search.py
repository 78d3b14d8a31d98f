"""What SEARCH takes, as a statement and as a pattern: kind, words, filters, mode, threshold (KIP 2.0 §43.8, §66)."""

from __future__ import annotations

from typing import Any

from brain import errors
from brain.kip import ast
from brain.kip.context import Run
from brain.kip.resolve import Binder, shown
from brain.kip.values import is_number
from brain.store.base import Kind, SearchQuery

DEFAULT_MODE = "keyword"
"""The mode of a search that names none."""

KNOWN_MODES = frozenset({"hybrid", "keyword", "semantic"})
OFFERED_MODES = frozenset({"keyword"})


def search_query(binder: Binder, node: ast.SearchPattern | ast.Search, limit: int) -> tuple[SearchQuery, str]:
    """The store's query and the mode it runs in.

    raises  ConstraintViolation for a word that is no mode and a threshold outside 0 to 1, SearchModeUnsupported for a
            mode not offered, TypeMismatch for a wrong type, SchemaSymbolNotFound and SchemaSymbolAmbiguous
    """
    lineages = None
    if node.type is not None:
        lineages = binder.symbol("concept_type", binder.text(node.type, "WITH TYPE")).lineages
    elif node.predicate is not None:
        lineages = binder.symbol("predicate", binder.text(node.predicate, "WITH PREDICATE")).lineages
    mode = search_mode(binder, node.mode)
    text = binder.text(node.text, "The text of a SEARCH")
    query = SearchQuery(Kind(node.kind.lower()), text, lineages, limit, threshold(binder, node.threshold))
    return query, mode


def search_mode(binder: Binder, node: ast.Scalar | None) -> str:
    """The mode to search in."""
    if node is None:
        return DEFAULT_MODE
    mode = binder.text(node, "MODE")
    if mode not in KNOWN_MODES:
        raise errors.ConstraintViolation(
            f"{shown(mode)} is no search mode.", hint='Use MODE "keyword", or leave MODE out.'
        )
    if mode not in OFFERED_MODES:
        raise errors.SearchModeUnsupported(f"MODE {shown(mode)} is not offered here.")
    return mode


def threshold(binder: Binder, node: ast.Scalar | None) -> float:
    """The least score a hit may have; 0 without the clause."""
    if node is None:
        return 0.0
    value = binder.scalar(node)
    if not is_number(value):
        raise errors.TypeMismatch(f"THRESHOLD is a number from 0 to 1, not {shown(value)}.")
    if not 0 <= value <= 1:
        raise errors.ConstraintViolation(f"THRESHOLD lies between 0 and 1, and {value} does not.")
    return float(value)


def search_context(run: Run, mode: str) -> dict[str, Any]:
    """What a result says of the search in it (§66.5): our index is written in the same transaction as the elements."""
    return {
        "mode": mode,
        "index_seq": run.snapshot.seq,
        "current_space_seq": run.snapshot.seq,
        "consistency": "synchronous",
        "score_semantics": "bm25_relevance_0_to_1_ordinal",
    }
