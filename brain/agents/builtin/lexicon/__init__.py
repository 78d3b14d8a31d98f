"""Words the offline model knows, as tables: people's names, places, roles, kinds of options, relatives, languages."""

from __future__ import annotations

from collections.abc import Mapping


def words(text: str) -> frozenset[str]:
    """The words of a table, written with white space between them."""
    return frozenset(text.split())


def ordered(text: str) -> tuple[str, ...]:
    """The words of a table in their order."""
    return tuple(text.split())


def by_name(table: Mapping[str, str]) -> dict[str, str]:
    """A table turned round: each of the names after a value, which commas part, with that value."""
    return {name.strip(): value for value, names in table.items() for name in names.split(",")}
