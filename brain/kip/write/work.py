"""The tentative state a statement builds: working copies of elements, handles, and look-ups that see both it and the
transaction underneath (KIP 2.0 §32.5, §32.6, §53)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brain import errors
from brain.ids import lineage_of, object_key
from brain.kip import ast, govern
from brain.kip.context import Run
from brain.kip.write.planes import NO_VALUE, same
from brain.store.base import Element, ElementId, Kind, Scan, Snapshot, Transaction, TupleScan
from brain.times import Seq, Timestamp

HELD_STATES = frozenset({"active", "archived", "merged", "tombstoned"})
"""States in which a Concept still holds its key; a purged one has given it back."""

_ACTIVE = frozenset({"active"})
_IDENTIFYING = frozenset({"canonical_id", "key"})


class Broken(Exception):
    """A clause uses the handle of another clause that failed; the other's error is the one to report."""


@dataclass(slots=True)
class Draft:
    """A working copy of one element.

    before      the element as the statement found it; None for one it creates
    body        the new content, in wire shape, changed in place
    claims      the final value each path was given in this statement; NO_VALUE for a removed one
    client_key  of a creation that carries one
    stands_for  a retried creation fills a draft that is compared with this earlier element and then dropped
    stated      members whose default the engine supplies and that this creation wrote out
    """

    id: ElementId
    kind: Kind
    before: Element | None
    body: dict[str, Any]
    claims: dict[tuple[str, ...], Any] = field(default_factory=dict)
    client_key: str | None = None
    stands_for: ElementId | None = None
    stated: set[str] = field(default_factory=set)

    @property
    def state(self) -> str:
        return str(self.body["_system"]["state"])

    def claim(self, path: tuple[str, ...], value: Any) -> None:
        """Demand a final value; a different demand for the same path is a conflict, whatever the order (§53.4)."""
        if path in self.claims and not same(self.claims[path], value):
            raise errors.DuplicateMutationTarget(
                f"{'.'.join(path)} of {self.id} is given two different final values.",
                details={"element": self.id, "path": ".".join(path)},
            )
        self.claims[path] = value

    def put(self, path: tuple[str, ...], value: Any) -> None:
        """Claim and write `body[path]`; NO_VALUE removes it."""
        self.claim(path, value)
        *parents, name = path
        holders = [self.body]
        for parent in parents:
            if value is NO_VALUE and parent not in holders[-1]:
                return
            holders.append(holders[-1].setdefault(parent, {}))
        if value is not NO_VALUE:
            holders[-1][name] = value
            return
        holders[-1].pop(name, None)
        for parent, holder, above in zip(reversed(parents), reversed(holders), reversed(holders[:-1]), strict=False):
            if not holder:
                del above[parent]


@dataclass(slots=True)
class Ledger:
    """What one transaction has changed so far, over all its statements.

    seq, tx_id  of the commit this transaction will make
    originals   every changed element as the transaction found it, None when it created it
    asked       permissions the writes needed, which a replay of the outcome needs as well
    binding     the ActorBinding a claim was made under, None for none
    """

    seq: Seq
    tx_id: str
    originals: dict[ElementId, Element | None] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    binding: str | None = None


class Workspace:
    """One statement's tentative state over a transaction.

    seen  the transaction as the caller may know it; look-ups that answer the caller go there, or by `element`
    """

    def __init__(self, run: Run, tx: Transaction, ledger: Ledger, op_id: str | None = None) -> None:
        self.run = run
        self.tx = tx
        self.seen: Snapshot = tx if run.sight is None else run.snapshot
        self.ledger = ledger
        self.environment = run.environment
        self.op_id = op_id or ledger.tx_id
        self.drafts: dict[ElementId, Draft] = {}
        self.retries: list[Draft] = []
        self.handles: dict[str, ElementId] = {}
        self.broken: set[str] = set()
        self.pending: dict[str, Callable[[], None]] = {}
        self.controls: dict[str, dict[str, Any]] = {}
        self.guards: dict[ElementId, set[str]] = defaultdict(set)
        self.supplied: dict[ElementId, list[dict[str, Any]]] = defaultdict(list)
        self.warnings: list[dict[str, Any]] = []
        self.swept: set[ElementId] | None = None
        self.erasing: set[ElementId] = set()
        self._found: dict[ElementId, Element | None] = {}
        self._client_keys: dict[tuple[Kind, str], ElementId] = {}
        self._keys: dict[str, list[ElementId]] = defaultdict(list)
        self._tuples: dict[tuple[str, str, str], ElementId] = {}
        self._foreseen: dict[frozenset[str], set[tuple[str, str]]] = defaultdict(set)
        self._stored: dict[frozenset[str], dict[tuple[str, str], list[Element]]] = {}
        self._merges: dict[ElementId, ElementId] | None = None
        self._identity: dict[str, Any] | None = None

    @property
    def now(self) -> Timestamp:
        return self.run.now

    def permit(self, permission: str, element: Element | None = None) -> None:
        """Let a part of the write through, or raise NotAuthorized; what was asked is kept for replays."""
        govern.permit(self.run.session, permission, element)
        self.ledger.asked.add(permission)

    # --- elements ---------------------------------------------------------------------------------------------------

    def find(self, ids: Collection[ElementId]) -> None:
        """Read several elements at once, so that later look-ups cost nothing."""
        missing = [element_id for element_id in ids if element_id not in self._found and element_id not in self.drafts]
        if missing:
            found = self._visible(self.tx.elements(missing))
            self._found |= {element_id: found.get(element_id) for element_id in missing}

    def element(self, element_id: ElementId) -> Element | None:
        """An element as the transaction has it, without this statement's own changes; None for a hidden one."""
        if element_id not in self._found:
            self._found[element_id] = self._visible(self.tx.elements([element_id])).get(element_id)
        return self._found[element_id]

    def _visible(self, found: dict[ElementId, Element]) -> dict[ElementId, Element]:
        """Those the caller may know of, whole: a working copy is made of what is stored, never of what is shown."""
        sight = self.run.sight
        if sight is None:
            return found
        sight.judge((), found.values())
        return {element_id: element for element_id, element in found.items() if sight.sees(element_id)}

    def is_hidden(self, element_id: ElementId) -> bool:
        """Whether there is an element that the caller may not know of. Uniqueness and references count it all the
        same; what is said of them then names nothing."""
        return element_id not in self.drafts and self.run.sight is not None and not self.run.sight.sees(element_id)

    def is_closed(self, element_id: ElementId) -> bool:
        """Whether the caller may not learn what key or tuple an element holds, be it hidden or only unreadable."""
        sight = self.run.sight
        if sight is None or element_id in self.drafts:
            return False
        return not sight.reads(element_id) or not sight.withheld(element_id).isdisjoint(_IDENTIFYING)

    def body(self, element_id: ElementId) -> Mapping[str, Any] | None:
        """An element's content with this statement's changes, None when there is no such element."""
        draft = self.drafts.get(element_id)
        if draft is not None:
            return draft.body
        found = self.element(element_id)
        return found.body if found else None

    def draft(self, element_id: ElementId) -> Draft:
        """The working copy of an element that exists, made on first use."""
        draft = self.drafts.get(element_id)
        if draft is None:
            found = self.element(element_id)
            if found is None:
                raise errors.NotFoundOrNotVisible(f"There is no element {element_id}.")
            self._require_whole(found)
            draft = Draft(element_id, found.kind, found, copy_json(found.body))
            self.drafts[element_id] = draft
        return draft

    def _require_whole(self, element: Element) -> None:
        """What may not be read whole is not written to: its new content would tell of the old."""
        sight = self.run.sight
        if sight is not None and not sight.reads_whole(element.id):
            raise errors.NotAuthorized(
                f"Writing to {element.id} needs reading all of it.",
                details={"permission": "read", "element": element.id},
            )

    def create(self, kind: Kind, members: Mapping[str, Any], client_key: str | None = None) -> Draft:
        """A draft for a new element, or, for a client key that is known, one to be compared with the earlier element.

        Client keys are found in this transaction as well as in the Space, and stay when the element is purged (§7.5).
        """
        first = self._client_keys.get((kind, client_key)) if client_key else None
        if first is None and client_key:
            known = self.tx.by_client_key(kind, client_key)
            first = known.id if known else None
            if first is not None and self.is_closed(first):
                raise errors.ClientKeyConflict(f"The client key {client_key!r} is not free.")
        element_id = first or self.tx.new_ids(kind, 1)[0]
        draft = Draft(element_id, kind, None, self._blank(kind, element_id) | dict(members), client_key=client_key)
        if first is not None:
            draft.stands_for = first
            self.retries.append(draft)
            return draft
        self.drafts[element_id] = draft
        if client_key:
            self._client_keys[kind, client_key] = element_id
        return draft

    def _blank(self, kind: Kind, element_id: ElementId) -> dict[str, Any]:
        return {
            "id": element_id,
            "kind": kind.value,
            "space_id": self.run.space_uri,
            "governance": {"authority_class": "descriptive"},
            "_system": {"state": "active"},
        }

    # --- identity ---------------------------------------------------------------------------------------------------

    @property
    def merges(self) -> dict[ElementId, ElementId]:
        """Merged Concept to where it was merged, this statement's merges included."""
        if self._merges is None:
            self._merges = dict(self.seen.merges())
        return self._merges

    def canonical(self, element_id: ElementId) -> ElementId:
        """Where an id leads through merges (§11.1)."""
        merges = self.merges
        while element_id in merges:
            element_id = merges[element_id]
        return element_id

    def identity(self) -> dict[str, Any]:
        """The Space's identity document as this statement has it: version, self, merge decisions."""
        if "identity" in self.controls:
            return self.controls["identity"]
        if self._identity is None:
            self._identity = {"version": 0, "self": None, "decisions": {}, **(self.tx.control("identity") or {})}
        return self._identity

    def note_reference(self, holder: ElementId, path: str, supplied: ElementId, resolved: ElementId) -> None:
        """Keep what a write named when a merge led it elsewhere (§11.3)."""
        if supplied == resolved:
            return
        identity = self.identity()
        decision = identity["decisions"].get(supplied, {})
        reference = {
            "supplied": supplied,
            "resolved": resolved,
            "identity_version": identity["version"],
            "path": path,
            "op_id": self.op_id,
        }
        if "id" in decision:
            reference["decision_id"] = decision["id"]
        self.supplied[holder].append(reference)

    def is_pending(self, name: str) -> bool:
        """Whether a handle stands for what its clause has still to find."""
        return name not in self.handles and name in self.pending and name not in self.broken

    def is_direct(self, term: ast.Term) -> bool:
        """Whether a term names its element itself, not by way of a Proposition that is still to be found."""
        if isinstance(term, ast.Variable):
            return not self.is_pending(term.name)
        return not isinstance(term, ast.PropositionTuple)

    # --- look-ups ---------------------------------------------------------------------------------------------------

    def hold_key(self, draft: Draft, key: str) -> None:
        """Let look-ups of this statement find a Concept under the key it is given."""
        if draft.id not in self._keys[key]:
            self._keys[key].append(draft.id)

    def concepts_by_key(self, key: str, lineages: frozenset[str] | None) -> list[ElementId]:
        """Concepts that hold a key, of these type lineages or of any, by number; purged ones hold none.

        Those of which the caller may not know it are left out.
        """
        return [found for found in self.holders_of_key(key, lineages) if not self.is_closed(found)]

    def holders_of_key(self, key: str, lineages: frozenset[str] | None) -> list[ElementId]:
        """All of them, for uniqueness."""
        stored = self.tx.scan(Scan(Kind.CONCEPT, lineages=lineages, states=HELD_STATES, key=key))
        ids = []
        for element in stored:
            if not self.is_closed(element.id):
                self._found.setdefault(element.id, element)
            ids.append(element.id)
        for element_id in self._keys.get(key, ()):
            body = self.body(element_id)
            if element_id not in ids and body is not None and self._is_of(body, lineages):
                ids.append(element_id)
        return ids

    @staticmethod
    def _is_of(body: Mapping[str, Any], lineages: frozenset[str] | None) -> bool:
        return lineages is None or lineage_of(body["schema_ref"]) in lineages

    def proposition(self, ends: tuple[str, str], lineages: frozenset[str]) -> ElementId | None:
        """The active Proposition stored with exactly these canonical ends, in this statement or in the Space (§12.3).

        One that stands on a merged Concept is left to history; new writes land on the survivor (§11.2, §11.3).

        ends  `object_key` of both
        """
        own = self._tuples.get((ends[0], min(lineages), ends[1]))
        if own is not None or any(map(self._is_new, ends)):
            return own
        found = self._propositions(ends, lineages)
        for element in found:
            if self.is_closed(element.id):
                raise errors.NotAuthorized("This tuple is not yours to state.", details={"permission": "create"})
            self._found.setdefault(element.id, element)
        return found[0].id if found else None

    def foresee_tuple(self, ends: tuple[str, str], lineages: frozenset[str]) -> None:
        """Hear of a tuple that will be looked up; all that were heard of are read at once when the first is."""
        if lineages not in self._stored and not any(map(self._is_new, ends)):
            self._foreseen[lineages].add(ends)

    def _propositions(self, ends: tuple[str, str], lineages: frozenset[str]) -> list[Element]:
        stored = self._stored.get(lineages)
        if stored is None:
            foreseen = self._foreseen[lineages]
            stored = self._stored[lineages] = {pair: [] for pair in foreseen} if len(foreseen) > 1 else {}
            if stored:
                query = TupleScan(predicates=lineages, pairs=frozenset(stored), states=_ACTIVE)
                for element in self.tx.tuples(query):
                    stored[element.body["subject"]["id"], object_key(element.body["object"])].append(element)
        if ends not in stored:
            query = TupleScan(frozenset({ends[0]}), predicates=lineages, objects=frozenset({ends[1]}), states=_ACTIVE)
            stored[ends] = self.tx.tuples(query)
        return stored[ends]

    def _is_new(self, end: str) -> bool:
        """Whether this statement makes the element, so that nothing stored can refer to it."""
        draft = self.drafts.get(end)
        return draft is not None and draft.before is None

    def hold_tuple(self, ends: tuple[str, str], lineages: frozenset[str], element_id: ElementId) -> None:
        """Let later clauses of this statement find a Proposition it creates."""
        self._tuples[ends[0], min(lineages), ends[1]] = element_id


def copy_json(value: Any) -> Any:
    """A deep copy of a JSON value."""
    if isinstance(value, Mapping):
        return {name: copy_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [copy_json(item) for item in value]
    return value


def by_number(ids: Iterable[ElementId]) -> list[ElementId]:
    """Ids in the order of an envelope and of a capped sweep: by kind letter, then by number."""
    return sorted(set(ids), key=lambda element_id: (element_id[0], int(element_id[2:])))
