"""Which elements a caller may know of, and how much of each (KIP 2.0 §29.1, §29.2, §30.4).

What cannot be spoken of without another element is hidden with it: a Proposition with its ends, a claim with its
Proposition, its actor and its contexts. Other references to something hidden are left out of what is shown. A verdict
is always about the element as it stands now, so that the past shows no more than the present does (§48.5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from brain.ids import is_element_id
from brain.kip.governance.authority import Authority
from brain.store.base import Document, Element, ElementId, Json, Kind, Snapshot

KEPT = 100_000
"""Standings held at most."""

_WITHOUT_REFERENCES = frozenset(
    {
        "aliases",
        "asserted_by",
        "attributes",
        "canonical_id",
        "context_refs",
        "id",
        "key",
        "kind",
        "name",
        "object",
        "payload",
        "predicate_ref",
        "proposition",
        "schema_ref",
        "space_id",
        "subject",
    }
)
"""Members that are content or that the element is hidden with."""

_PLAIN = frozenset(
    {
        "created_at",
        "created_tx",
        "origin",
        "plane_versions",
        "space_seq",
        "state",
        "updated_at",
        "updated_tx",
        "version",
    }
)
"""Members of `_system` that name no element."""

_ALWAYS_LISTS = frozenset({"inputs", "outputs"})


class Verdict(IntEnum):
    """HIDDEN is as good as absent, KNOWN shows that it is there, READ shows it."""

    HIDDEN = 0
    KNOWN = 1
    READ = 2


class Standing(NamedTuple):
    """All that was decided about one element.

    withheld    paths of it that are not shown
    searchable  whether a search may find it: all of its text is shown (§29.3)
    """

    verdict: Verdict
    withheld: frozenset[str] = frozenset()
    searchable: bool = False


_HIDDEN, _KNOWN = Standing(Verdict.HIDDEN), Standing(Verdict.KNOWN)


class Sight:
    """The verdicts of one authority in one operation.

    head      the Space as it stands now
    projects  judge for projection: what may be weighed, shown or not (§29.4)
    left_out  elements that are hidden whatever the authority says
    """

    def __init__(
        self,
        authority: Authority,
        head: Snapshot,
        *,
        projects: bool = False,
        left_out: Collection[ElementId] = frozenset(),
    ) -> None:
        self.authority = authority
        self._left_out = left_out
        self._head = head
        self._projects = projects
        self._standings: dict[ElementId, Standing] = {}

    def judge(self, ids: Iterable[ElementId], at_hand: Iterable[Element] = ()) -> None:
        """Settle the verdicts of these elements with few reads.

        at_hand  elements as of now that were read already
        """
        if len(self._standings) > KEPT:
            self._standings.clear()
        known = {element.id: element for element in at_hand}
        wanted = (set(ids) | known.keys()) - self._standings.keys()
        found: dict[ElementId, Element] = {}
        waves = []
        while wanted:
            unread = wanted - known.keys()
            found |= {element_id: known[element_id] for element_id in wanted & known.keys()}
            found |= self._head.elements(unread) if unread else {}
            waves.append(wanted)
            here = (found[element_id] for element_id in wanted if element_id in found)
            wanted = {end for element in here for end in essential(element)} - self._standings.keys() - found.keys()
            wanted -= set().union(*waves)
        for wave in reversed(waves):
            for element_id in wave:
                self._settle(element_id, found)

    def judge_one(self, element: Element) -> None:
        """Settle the verdict of an element as of now that was read already."""
        if element.id in self._standings:
            return
        if element.kind in (Kind.ASSERTION, Kind.PROPOSITION):
            self.judge((), (element,))
        else:
            self._standings[element.id] = self._own(element)

    def of(self, element_id: ElementId) -> Verdict:
        """The verdict on one element; `judge` a batch first."""
        return self._of(element_id).verdict

    def withheld(self, element_id: ElementId) -> frozenset[str]:
        """Paths of a readable element that are not shown."""
        return self._of(element_id).withheld

    def sees(self, element_id: ElementId) -> bool:
        return self.of(element_id) is not Verdict.HIDDEN

    def reads(self, element_id: ElementId) -> bool:
        return self.of(element_id) is Verdict.READ

    def searches(self, element_id: ElementId) -> bool:
        return self._of(element_id).searchable

    def reads_whole(self, element_id: ElementId) -> bool:
        """Whether nothing of it is kept from the caller, so that writing to it tells nothing new."""
        standing = self._of(element_id)
        return standing.verdict is Verdict.READ and not standing.withheld

    def may(self, permission: str, element_id: ElementId) -> bool:
        """Whether a permission may be used on a visible element, whatever of it is shown."""
        found = self._head.elements([element_id]).get(element_id)
        return found is not None and self.sees(element_id) and self.authority.may(permission, found.body)

    def _of(self, element_id: ElementId) -> Standing:
        if element_id not in self._standings:
            self.judge((element_id,))
        return self._standings[element_id]

    def _settle(self, element_id: ElementId, found: Mapping[ElementId, Element]) -> Standing:
        """Ends come from elements made earlier, so this goes down a finite chain."""
        if element_id in self._standings:
            return self._standings[element_id]
        element = found.get(element_id)
        if element is None or any(self._settle(end, found).verdict is Verdict.HIDDEN for end in essential(element)):
            standing = _HIDDEN
        else:
            standing = self._own(element)
        self._standings[element_id] = standing
        return standing

    def _own(self, element: Element) -> Standing:
        body, may = element.body, self.authority.may
        if element.id in self._left_out or not may("discover", body):
            return _HIDDEN
        if self._projects:
            weighed = element.kind not in (Kind.ASSERTION, Kind.PROPOSITION) or may("project", body)
            return Standing(Verdict.READ) if weighed else _HIDDEN
        if not may("read", body):
            return _KNOWN
        withheld = self.authority.hidden_fields(body)
        return Standing(Verdict.READ, withheld, searchable=not withheld and may("search", body))


def essential(element: Element) -> Iterator[ElementId]:
    """The elements without which this one says nothing."""
    body = element.body
    if element.kind is Kind.PROPOSITION:
        named: tuple[Json, ...] = (body.get("subject"), body.get("object"))
    elif element.kind is Kind.ASSERTION:
        named = (body.get("proposition"), body.get("asserted_by"), *body.get("context_refs", ()))
    else:
        return
    for reference in named:
        if isinstance(reference, Mapping) and isinstance(reference.get("id"), str):
            yield reference["id"]


def mentioned(body: Document, *, facets: bool) -> set[ElementId]:
    """The elements a body refers to beside those it is hidden with.

    facets  look into Facets too
    """
    found: set[ElementId] = set()
    for name, value in body.items():
        if name == "_system":
            for member, item in value.items():
                if member not in _PLAIN:
                    _collect(item, found)
        elif name not in _WITHOUT_REFERENCES and (facets or name != "facets"):
            _collect(value, found)
    return found


def without(body: Document, hidden: Collection[ElementId], *, facets: bool) -> dict[str, Any]:
    """The body as if these elements had never been referred to; what is left empty by that is left out."""
    shown: dict[str, Any] = {}
    for name, value in body.items():
        if name in _WITHOUT_REFERENCES or (name == "facets" and not facets):
            shown[name] = value
            continue
        kept = _pruned(value, hidden)
        if kept is _GONE or (value and not kept and kept != value and name not in _ALWAYS_LISTS):
            continue
        shown[name] = kept
    return shown


def identity_only(body: Document) -> dict[str, Any]:
    """What is shown of an element that may be known of and not read."""
    system = body["_system"]
    return {
        **{name: body[name] for name in ("id", "kind", "space_id") if name in body},
        "governance": {},
        "_system": {name: system[name] for name in ("state", "version") if name in system},
    }


def without_fields(body: Document, paths: Iterable[str]) -> dict[str, Any]:
    """The body without some paths, `attributes.salary` or `name`."""
    shown = dict(body)
    for path in paths:
        *parents, last = path.split(".")
        holder = shown
        for parent in parents:
            below = holder.get(parent)
            if not isinstance(below, Mapping):
                break
            holder[parent] = holder = dict(below)
        else:
            holder.pop(last, None)
    return shown


_GONE: Any = object()


def _collect(value: Json, found: set[ElementId]) -> None:
    if isinstance(value, str):
        if value[1:2] == "-" and is_element_id(value):
            found.add(value)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if name[1:2] == "-" and is_element_id(name):
                found.add(name)
            _collect(item, found)
    elif isinstance(value, list | tuple):
        for item in value:
            _collect(item, found)


def _pruned(value: Json, hidden: Collection[ElementId]) -> Any:
    """A value without what mentions a hidden element: the reference itself, its place in a list, its record."""
    if isinstance(value, str):
        return _GONE if value in hidden else value
    if isinstance(value, Mapping):
        if any(isinstance(item, str) and item in hidden for item in value.values()):
            return _GONE
        kept = {name: _pruned(item, hidden) for name, item in value.items() if name not in hidden}
        return {name: item for name, item in kept.items() if item is not _GONE and not _emptied(value[name], item)}
    if isinstance(value, list | tuple):
        return [kept for item in value if (kept := _pruned(item, hidden)) is not _GONE]
    return value


def _emptied(before: Json, after: Json) -> bool:
    return isinstance(after, list | dict) and not after and bool(before)
