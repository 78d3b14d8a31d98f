"""Words the offline model knows, as tables: people's names, places, roles, kinds of options, relatives, languages."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a table, written with white space between them."""
    return frozenset(text.split())
