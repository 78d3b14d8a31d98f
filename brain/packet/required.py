"""What a packet may not leave out: open promises, standing rules, and warnings about itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brain.agents.reading import Query, ReadFailed, Reading
from brain.packet.items import Item, warning_item
from brain.store.base import Document, ElementId

WHOLE = 24
"""Open Commitments, and constraints, up to which all of them are required, whatever is asked. Of more, those that
concern what is asked about are, and the packet says so."""

MOST = 128
"""Of those that concern it; with more the packet would be no bounded one, and none is given."""

_OPEN = '?c {type: "Commitment"} FILTER(IN(?c.attributes.status, ["pending", "blocked"]))'
_RULE = '?c {type: "Insight"} FILTER(?c.attributes.insight_class == "constraint")'
_WHO = "?who {state: ?s} FILTER(IN(?who.id, :ids))"
_KINDS = {
    "commitments": (_OPEN, ("committed_to", "owed_to", "about")),
    "constraints": (_RULE, ("about",)),
}
_NO_SUCH_TYPE = "SchemaSymbolNotFound"


class RequiredReadIncomplete(Exception):
    """What has to be in a packet could not be read whole."""


@dataclass(frozen=True, slots=True)
class Required:
    """The views of what has to be there, oldest first, and warnings."""

    constraints: tuple[Document, ...]
    commitments: tuple[Document, ...]
    warnings: tuple[Item, ...]

    @property
    def ids(self) -> frozenset[ElementId]:
        return frozenset(view["id"] for view in (*self.constraints, *self.commitments))


def read_required(about: Sequence[ElementId], found: Sequence[ElementId], reading: Reading) -> Required:
    """Everything open and every rule; of many those about these Concepts, and those that were found by words.

    found   what the question led to by itself

    raises  RequiredReadIncomplete, ReadFailed
    """
    warnings: list[Item] = []
    read: dict[str, tuple[Document, ...]] = {}
    for name, (pattern, fields) in _KINDS.items():
        views = _rows(reading, [(f"FIND(?c) WHERE {{ {pattern} }} LIMIT {WHOLE + 1}", {})])
        if len(views) > WHOLE:
            views = _about(pattern, fields, about, found, reading)
            warnings.append(_scoped(name))
        read[name] = tuple(sorted(views.values(), key=lambda view: int(str(view["id"])[2:])))
    return Required(read["constraints"], read["commitments"], tuple(warnings))


def _about(
    pattern: str, fields: Sequence[str], about: Sequence[ElementId], found: Sequence[ElementId], reading: Reading
) -> dict[ElementId, Document]:
    ids = [i for i in found if i.startswith("C-")]
    queries: list[Query] = []
    if about:
        queries += [
            (
                f'FIND(?c) WHERE {{ {_WHO} STRUCTURAL (?c, "{field}", ?who) {pattern} }} LIMIT {MOST + 1}',
                {"ids": list(about)},
            )
            for field in fields
        ]
    if ids:
        queries.append((f"FIND(?c) WHERE {{ {pattern} FILTER(IN(?c.id, :ids)) }} LIMIT {MOST + 1}", {"ids": ids}))
    views = _rows(reading, queries)
    if len(views) > MOST:
        raise RequiredReadIncomplete
    return views


def _rows(reading: Reading, queries: Sequence[Query]) -> dict[ElementId, Document]:
    views: dict[ElementId, Document] = {}
    for answer in reading.try_all(queries) if queries else ():
        if "error" in answer:
            if answer["error"]["code"] == _NO_SUCH_TYPE:
                continue  # a Space without that word has nothing of it
            raise ReadFailed(answer["error"]["code"])
        views |= {view["id"]: view for view in answer["result"]}
    return views


def _scoped(name: str) -> Item:
    what = "open commitments" if name == "commitments" else "constraints"
    return warning_item(
        f"recall_{name}_in_scope",
        f"There are more than {WHOLE} {what}. Those that concern what was asked about are here; others are not.",
    )
