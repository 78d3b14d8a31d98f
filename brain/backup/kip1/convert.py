"""Write what an export becomes into a new Space: in a place of its own first, so that nobody meets half of it.

Every row is noted when it is done, beside the row as it was, and writing one twice makes nothing twice: a conversion
that was cut off goes on where it was. Only a whole one comes into the store.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from brain.backup.kip1 import mapping
from brain.backup.kip1.mapping import PACKAGE, RECORD, ConceptPlan, LinkPlan, Plan, Sorted
from brain.backup.kip1.refused import ConversionRefused
from brain.backup.kip1.script import Malformed, Named, Row, rows_of
from brain.backup.work import copy
from brain.kip.library import PackageLibrary
from brain.kip.strength import HALF_LIFE_30D, HALF_LIFE_30D_DIGEST
from brain.service.hosting import SELF_KEY, HostRefused, host_write
from brain.service.spaces import OpenSpace, Spaces
from brain.store.base import ElementId, SpaceExists, SpaceStore, Store
from brain.store.sqlite import SqliteStore
from brain.times import Clock

KEPT = "kip_legacy_v1"
"""The namespace, beside the graph, in which a Space keeps the rows it was made of."""

_CHECKPOINT = "checkpoint"
_STRENGTH_POLICY = {"artifact_ref": HALF_LIFE_30D, "content_digest": HALF_LIFE_30D_DIGEST}
_MOST_WORDS = 512

_DRAFT = b"2.1.0"
_OF_DRAFT = "it is of the KIP 2.1.0 draft, which is not read here; tools/migrate-draft-space of its project is for it"


def convert(
    store: Store, file: Path, space_id: str, *, owner: str, tier: int, packages: tuple[str, ...], clock: Clock
) -> dict[str, int]:
    """Make a Space of an export; how many rows became what.

    packages  the vocabulary the Space has beside the Profile and the package of old records
    raises    ConversionRefused, OSError; SpaceExists. There is no such Space then; what was done is kept in a folder
              beside the file, and the same call goes on with it
    """
    if store.exists(space_id):
        raise SpaceExists(space_id)
    raw = file.read_bytes()
    try:
        rows = rows_of(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise ConversionRefused("the export is no UTF-8 text") from None
    except Malformed as malformed:
        is_of_draft = raw.lstrip().startswith(b"{") and _DRAFT in raw[:4096]
        raise ConversionRefused(_OF_DRAFT if is_of_draft else str(malformed)) from None
    plan, told = mapping.plan_of(rows), hashlib.sha256(raw).hexdigest()
    folder = file.with_name(f"{file.name}.converting")
    scratch = SqliteStore(folder, clock=clock)
    try:
        spaces = Spaces(scratch, _library(), clock=clock, packages=(*packages, PACKAGE))
        if not scratch.exists(space_id):
            spaces.create(space_id, owner=owner, tier=tier)
        with spaces.use(space_id) as space:
            counts = _Conversion(space, rows, plan, clock).run(told)
        spaces.let_go(space_id, 0)
        copy(scratch, store, space_id)
    finally:
        scratch.close()
    shutil.rmtree(folder)
    return counts


def _library() -> PackageLibrary:
    library = PackageLibrary()
    library.install(mapping.package())
    return library


class _Conversion:
    """One export on its way into one Space."""

    def __init__(self, space: OpenSpace, rows: list[Row], plan: Plan, clock: Clock) -> None:
        self._space = space
        self._rows = rows
        self._plan = plan
        self._clock = clock
        self._ids: dict[Named, ElementId] = {}
        self._claims: dict[int, ElementId] = {}
        self._done = Counter[str]()

    def run(self, told: str) -> dict[str, int]:
        self._begin(told)
        self._define()
        for concept in self._plan.concepts:
            self._ids[concept.what] = self._row(concept.line, partial(self._concept, concept))
        successors = self._successors()
        for link in self._plan.links:
            if link.meta.is_superseded and link.number not in successors:
                self._note(link.number, "archived", "it was superseded, by what cannot be told")
                continue
            self._claims[link.number] = self._row(link.line, partial(self._link, link))
            self._note(link.number, "claim", self._claims[link.number])
        for old, new in successors.items():
            self._write('TRANSITION :old TO "superseded" BY :new', old=self._claims[old], new=self._claims[new])
        for number, reason in self._plan.archived.items():
            self._note(number, "archived", reason)
        for number, row in enumerate(self._rows):
            if isinstance(row.what, Named) and row.what in self._ids:
                self._note(number, "concept", self._ids[row.what])
        self._note_end()
        return dict(self._done)

    # --- steps --------------------------------------------------------------------------------------------------------

    def _begin(self, told: str) -> None:
        with self._space.transaction() as tx:
            found = tx.get(KEPT, _CHECKPOINT)
            if found is not None and found["file"] != told:
                raise ConversionRefused("the export has changed since its conversion began; remove the folder beside")
            tx.set(KEPT, _CHECKPOINT, {"file": told, "rows": len(self._rows), "began_at": self._clock.now_ms()})

    def _define(self) -> None:
        """Define the export's own words: those no package has."""
        types = {concept.type: concept.line for concept in self._plan.concepts}
        predicates = {link.predicate: link.line for link in self._plan.links}
        missing = [("type", name, line) for name, line in types.items() if not self._knows("TYPE", name)]
        missing += [("predicate", n, line) for n, line in predicates.items() if not self._knows("PREDICATE", n)]
        if len(missing) > _MOST_WORDS:
            raise ConversionRefused(f"the export has {len(missing)} words of its own, a Space at most {_MOST_WORDS}")
        for kind, name, line in missing:
            self._row(line, partial(self._define_one, kind, name))

    def _define_one(self, kind: str, name: str) -> None:
        meaning = self._plan.meanings.get((kind, name)) or f"{name}, as a KIP 1.x Space used it."
        what = "CONCEPT TYPE" if kind == "type" else "PREDICATE"
        self._write(f"DEFINE {what} {_quoted(name)} {{description: :meaning}}", meaning=meaning)

    def _concept(self, concept: ConceptPlan) -> ElementId:
        if concept.what == Named("Person", SELF_KEY):
            return self._space.self_id
        name = concept.what.name
        # Keys that begin with $ are the host's.
        key = f"kip1:{name}" if name.startswith("$") else name
        clauses, values = _facets(concept.meta, concept.aside)
        if concept.attributes:
            clauses.insert(0, f"SET ATTRIBUTES {_bound('attribute', concept.attributes, values)}")
        answer = self._write(
            f"UPSERT CONCEPT ?c {{ MATCH {{type: :type, key: :key}} SET FIELDS {{name: :name}} {' '.join(clauses)} }}",
            type=concept.type,
            key=key,
            name=concept.name,
            **values,
        )
        made = ElementId(answer["handles"]["c"])
        self._retain(made, concept.meta)
        return made

    def _link(self, link: LinkPlan) -> ElementId:
        try:
            return self._claim(link, link.predicate)
        except HostRefused as refused:
            if refused.error["code"] not in ("ConstraintViolation", "TypeMismatch"):
                raise
        # The word is known here and means something narrower: a word of its own keeps what was meant there.
        own = f"legacy_{link.predicate}"
        if not self._knows("PREDICATE", own):
            self._define_one("predicate", own)
        return self._claim(link, own)

    def _claim(self, link: LinkPlan, predicate: str) -> ElementId:
        meta = link.meta
        clauses, values = _facets(meta, link.aside, is_claim=True)
        fields = 'proposition: ?p, asserted_by: :by, stance: "support", mode: "imported"'
        for name, value in (
            ("confidence", meta.confidence),
            ("asserted_at", meta.observed_at),
            ("valid_time", meta.valid),
        ):
            if value or value == 0:
                fields += f", {name}: :{name}"
                values[name] = value
        begin = ""
        if meta.source is not None:
            begin = (
                'CREATE EVIDENCE ?e { CLIENT KEY :source_key SET FIELDS {evidence_class: "document", payload: :source'
                f"{', observed_at: :observed_at' if meta.observed_at else ''}}} }}"
            )
            source = f"{meta.source}\n{meta.observed_at or ''}"
            values |= {"source": meta.source, "source_key": f"kip1:{hashlib.sha256(source.encode()).hexdigest()[:32]}"}
            values |= {"observed_at": meta.observed_at} if meta.observed_at else {}
            clauses.append('SET STRUCTURAL { ("evidence", ?e) {role: "support"} }')
        answer = self._write(
            f"MUTATE {{ {begin} ENSURE PROPOSITION ?p (:subject, {_quoted(predicate)}, :object)"
            f" CREATE ASSERTION ?a {{ CLIENT KEY :key SET FIELDS {{{fields}}} {' '.join(clauses)} }} }}",
            subject=_ref(self._ids[link.subject]),
            object=_ref(self._ids[link.object]),
            by=_ref(self._author(meta)),
            key=f"kip1:{link.number}",
            **values,
        )
        made = ElementId(answer["handles"]["a"])
        self._retain(made, meta)
        if meta.is_retracted:
            self._write('TRANSITION :claim TO "retracted"', claim=made)
        return made

    def _author(self, meta: Sorted) -> ElementId:
        """Whose claim it was, where the export has them as a Person; else the Brain's own."""
        person = None if meta.author is None else self._ids.get(Named("Person", meta.author))
        return person or self._space.self_id

    def _retain(self, element: ElementId, meta: Sorted) -> None:
        members = {"retention_class": "pinned"} if meta.is_pinned else {}
        if meta.expires_at is not None:
            members["expires_at"] = meta.expires_at
        if members:
            names = ", ".join(f"{name}: :{name}" for name in members)
            self._write(f"SET RETENTION :element {{{names}}}", element=_ref(element), **members)

    def _successors(self) -> dict[int, int]:
        """For each claim that was superseded, the one that did it: its author's only other word on the same."""
        live: dict[tuple[Named, str, str | None], list[int]] = {}
        for link in self._plan.links:
            if not link.meta.is_superseded and not link.meta.is_retracted:
                live.setdefault((link.subject, link.predicate, link.meta.author), []).append(link.number)
        found = {}
        for link in self._plan.links:
            others = live.get((link.subject, link.predicate, link.meta.author), [])
            if link.meta.is_superseded and len(others) == 1:
                found[link.number] = others[0]
        return found

    # --- how ----------------------------------------------------------------------------------------------------------

    def _write(self, command: str, **values: Any) -> Any:
        return host_write(self._space.engine, command, values)

    def _knows(self, kind: str, name: str) -> bool:
        try:
            self._write(f"DESCRIBE {kind} :name", name=name)
        except HostRefused as refused:
            if refused.error["code"] == "SchemaSymbolNotFound":
                return False
            raise
        return True

    def _row(self, line: int, do: Callable[[], Any]) -> Any:
        """Do what a row asks for; ConversionRefused with its line when it cannot be written."""
        try:
            return do()
        except HostRefused as refused:
            raise ConversionRefused(f"line {line}: {refused.error['message']}") from refused

    def _note(self, number: int, became: str, what: str) -> None:
        """Keep a row as it was, with what became of it."""
        row = self._rows[number]
        kept = {"kind": "concept" if isinstance(row.what, Named) else "proposition", **asdict(row)}
        with self._space.transaction(durable=False) as tx:
            tx.set(KEPT, f"row.{number:09d}", {"row": kept, "became": became, "what": what})
        self._done[became] += 1

    def _note_end(self) -> None:
        with self._space.transaction() as tx:
            found = tx.get(KEPT, _CHECKPOINT) or {}
            tx.set(KEPT, _CHECKPOINT, {**found, "ended_at": self._clock.now_ms(), "counts": dict(self._done)})


def kept_rows(space: SpaceStore) -> Iterator[Mapping[str, Any]]:
    """The rows a Space was made of, in their order, each with what became of it."""
    with space.snapshot() as now:
        yield from [row for key, row in now.scan_state(KEPT) if key.startswith("row.")]


def _facets(meta: Sorted, aside: Mapping[str, Any], *, is_claim: bool = False) -> tuple[list[str], dict[str, Any]]:
    """Clauses that set what stands beside an element, and the values they bind."""
    values: dict[str, Any] = {}
    clauses = []
    mnemonic: dict[str, Any] = {}
    if meta.salience is not None:
        mnemonic["salience"] = meta.salience
    if meta.strength is not None:
        # A strength is that of a moment: without one it has faded for an unknown time, and is none.
        mnemonic |= {"memory_strength": meta.strength, "strength_policy": _STRENGTH_POLICY}
        mnemonic["last_metabolized_at"] = meta.metabolized_at
    if mnemonic and not is_claim and (meta.strength is None or meta.metabolized_at is not None):
        clauses.append(f'SET FACET "MnemonicState" {_bound("mnemonic", mnemonic, values)}')
    elif mnemonic:
        aside = {**aside, "metadata": {**aside.get("metadata", {}), **mnemonic}}
    if aside:
        clauses.append(f"SET FACET {_quoted(RECORD)} {_bound('aside', aside, values)}")
    return clauses, values


def _bound(prefix: str, members: Mapping[str, Any], values: dict[str, Any]) -> str:
    """An object whose members are parameters; their values are added to `values`."""
    parts = []
    for number, (name, value) in enumerate(members.items()):
        values[f"{prefix}_{number}"] = value
        parts.append(f"{_quoted(name)}: :{prefix}_{number}")
    return "{" + ", ".join(parts) + "}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _ref(element: ElementId) -> dict[str, str]:
    return {"id": element}
