"""Texts that parameters gave, told apart from what a statement says: what a plan that is asked again may change.

A statement asked many times differs in its keys and ids, and its plan in no more than these. While a plan is made to be
used again, a text that only fills a place of it stands there as a `Given`; a parameter whose value decides anything
about the plan is noted as such (`brain/kip/templates.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeAlias, cast

from brain.ids import is_element_id
from brain.store.base import ElementId, Json

_LONGEST_ID = 14
"""Ids that every store can look up; longer ones no Space gave out."""

_LONGEST_TYPE = 256

Make: TypeAlias = Callable[[Any], str]


def _itself(value: str) -> str:
    return value


class Given(str):
    """A text of a plan that came from a parameter; equal to the plain text.

    parameter    whose value it is made of
    make         the text for a value of it that has the same shape
    is_compared  whether something in the plan came of what it says
    """

    __slots__ = ("is_compared", "make", "parameter")

    parameter: str
    make: Make
    is_compared: bool

    def __new__(cls, text: str, parameter: str, make: Make = _itself) -> Given:
        made = super().__new__(cls, text)
        made.parameter, made.make, made.is_compared = parameter, make, False
        return made

    def of(self, values: Mapping[str, Json]) -> str:
        """The text that stands here with these values."""
        return self.make(values[self.parameter])


class GivenIds(frozenset[ElementId]):
    """The ids of elements that a parameter listed.

    parameter    whose value they are
    is_compared  as of `Given`
    """

    __slots__ = ("is_compared", "parameter")

    parameter: str
    is_compared: bool

    def of(self, values: Mapping[str, Json]) -> frozenset[ElementId]:
        """The ids that stand here with these values."""
        return frozenset(values[self.parameter])


class ListedIds(list[ElementId]):
    """A list of ids that came from a parameter, and the set of them that may take its place."""

    __slots__ = ("ids",)

    ids: GivenIds


@dataclass(slots=True)
class Uses:
    """What became of the parameters while a plan was made.

    deciding  parameters of which any part of the plan may depend
    filling   those that stand where only the shape of a value matters
    listing   those that stand where ids are listed
    given     what fills places of the plan; each has to be found in it again
    """

    deciding: set[str] = field(default_factory=set)
    filling: set[str] = field(default_factory=set)
    listing: set[str] = field(default_factory=set)
    given: list[Given | GivenIds] = field(default_factory=list)

    def fills(self, name: str, value: Json, make: Make = _itself) -> Json:
        """A parameter's value where nothing but its shape matters; `make` what stands there instead of a text."""
        self.filling.add(name)
        if shape_of(value) is None:
            return make(value) if isinstance(value, str) else value
        if isinstance(value, str):
            return self._given(make(value), name, make)
        reference = cast("Mapping[str, str]", value)
        member = "id" if "id" in reference else "key"
        return {**reference, member: self._given(reference[member], name, itemgetter(member))}

    def lists(self, name: str, value: Json) -> Json:
        """A parameter's value where ids are listed that elements are looked up by."""
        self.listing.add(name)
        if not lists_ids(value):
            return value
        listed = ListedIds(value)
        ids = listed.ids = GivenIds(value)
        ids.parameter, ids.is_compared = name, False
        self.given.append(ids)
        return listed

    def _given(self, text: str, name: str, make: Make) -> Given:
        made = Given(text, name, make)
        self.given.append(made)
        return made


def shape_of(value: Json) -> str | None:
    """What of a value a plan may depend on where it only fills a place; None when that is all of it.

    Texts are ids or none; `{id}` and `{type, key}` are references.
    """
    if isinstance(value, str):
        if not is_element_id(value):
            return "text"
        return "id" if len(value) <= _LONGEST_ID else None
    if isinstance(value, Mapping) and all(isinstance(member, str) for member in value.values()):
        if value.keys() == {"id"} and shape_of(value["id"]) == "id":
            return "{id}"
        if value.keys() == {"type", "key"} and len(value["type"]) <= _LONGEST_TYPE:
            return f"{{key}} {value['type']}"
    return None


def lists_ids(value: Json) -> bool:
    """Whether a value is a list of ids that every store can look up."""
    return isinstance(value, list) and all(isinstance(one, str) and shape_of(one) == "id" for one in value)


def in_both(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    """The texts of both sets, as plain ones: which these are depends on what they say, and so does the plan then."""
    for texts in (one, other):
        if isinstance(texts, GivenIds):
            texts.is_compared = True
        for text in texts:
            if type(text) is Given:
                text.is_compared = True
    return frozenset(str(text) for text in one & other)
