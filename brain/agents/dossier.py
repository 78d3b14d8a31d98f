"""The dossier: who and what a text is likely to be about, and what memory holds of them, before the model is asked.

It saves the grounding turns a model would otherwise spend. It is data read from memory: it is fenced where it is shown
and gives no orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from brain.agents.reading import Query, Reading, ref_id
from brain.agents.spoken import as_said, first_instant, spoken
from brain.agents.standing import Testimony, actor_of, begun, start_key, weigh
from brain.agents.stated import read_stated
from brain.agents.turns import DossierEntry, KnownClaim, KnownCommitment, KnownVoice, Ref
from brain.names import are_alike, fold, occurs, places_of, sound, spelled_alike, words, worth_searching
from brain.store.base import ElementId
from brain.times import Timestamp

MAX_ENTRIES = 12
_SEARCH_WORDS, _SEARCH_LIMIT = 12, 40
_SEARCH = f"SEARCH CONCEPT :text LIMIT {_SEARCH_LIMIT}"
_UNNAMED_TYPES = frozenset({"Commitment", "Event", "Insight", "SleepTask", "Watch", "Skill", "SkillRevision"})
"""Types whose Concepts are not called by name in conversation."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A Concept as read."""

    id: ElementId
    type: str
    name: str
    key: str | None
    aliases: tuple[str, ...]

    @property
    def ref(self) -> Ref:
        return Ref(self.id, self.name, self.type)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in (self.name, *self.aliases) if name)


def entity_of(view: Mapping[str, Any]) -> Entity:
    """A Concept's element view as an Entity."""
    attributes = view.get("attributes") or {}
    aliases = [*(view.get("aliases") or ()), *(attributes.get("aliases") or ()), attributes.get("display_name")]
    return Entity(
        view["id"],
        str(view.get("schema_ref") or "").rpartition("/")[2],
        str(view.get("name") or attributes.get("summary") or view.get("key") or view["id"]),
        view.get("key"),
        tuple(dict.fromkeys(alias for alias in aliases if isinstance(alias, str) and alias)),
    )


# --- whom a text names ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Named:
    """Concepts a text names, and others it could be taken to name."""

    mentioned: tuple[Entity, ...]
    alike: tuple[Entity, ...]


def find_named(texts: Sequence[str], reading: Reading) -> Named:
    """Look up the names in some texts.

    A Concept is mentioned when one of its names stands in a text as whole words, a Person also by first name, where
    that is not the beginning of somebody's full name. A Person of whom a first name there only reminds, in sound or as
    part of another's full name, is a look-alike. Order is that of search: best first.
    """
    text = "\n".join(texts)
    folded = fold(text)
    terms = worth_searching(text)
    heard = {sound(term) for term in terms}
    queries: list[Query] = []
    for start in range(0, len(terms), _SEARCH_WORDS):
        part = terms[start : start + _SEARCH_WORDS]
        also = [other for term in part for other in spelled_alike(term)]
        queries += [(_SEARCH, {"text": " ".join(asked)}) for asked in (part, also) if asked]
    found: dict[ElementId, Entity] = {}
    for answer in reading.ask_all(queries) if queries else []:
        for hit in answer["hits"]:
            found.setdefault(hit["id"], entity_of(hit["element"]))
    told_apart = _full_names(found.values(), folded)
    mentioned, alike = [], []
    for entity in found.values():
        if entity.type in _UNNAMED_TYPES:
            continue
        first = _first_names(entity)
        if any(occurs(name, folded) for name in entity.names) or any(
            place not in told_apart.get(part, ()) for part in first for place in places_of(part, folded)
        ):
            mentioned.append(entity)
        elif any(sound(part) in heard for part in first):
            alike.append(entity)
    return Named(tuple(mentioned), tuple(alike))


def _first_names(entity: Entity) -> list[str]:
    return [part for name in entity.names for part in words(name)[:1]] if entity.type == "Person" else []


def _full_names(people: Iterable[Entity], folded: str) -> dict[str, set[int]]:
    """Where somebody's full name stands in a folded text, by the first name it begins with: whoever else is called so
    is not meant there."""
    places: dict[str, set[int]] = {}
    for entity in people:
        for name in entity.names if entity.type == "Person" else ():
            first, *others = words(name) or [""]
            if others:
                places.setdefault(first, set()).update(places_of(name, folded))
    return places


_BY_ID = "FIND(?c) WHERE { ?c {state: ?s} FILTER(IN(?c.id, :ids)) }"


def read_entities(ids: Iterable[ElementId], reading: Reading) -> dict[ElementId, Entity]:
    """Concepts by id, active or not; those that are not there are left out."""
    wanted = list(dict.fromkeys(ids))
    views = {view["id"]: view for view in reading.ask(_BY_ID, ids=wanted)} if wanted else {}
    return {i: entity_of(views[i]) for i in wanted if i in views}


# --- what is known of them --------------------------------------------------------------------------------------------


def read_claims(
    entities: Sequence[Entity], at: Timestamp, reading: Reading, *, is_recall: bool = False
) -> dict[ElementId, tuple[KnownClaim, ...]]:
    """What is held of each entity at `at`, as subject and as object: accepted first, then newest said first.

    Former values come last ended first, and after them those whose end nobody knows. Of an entity with more claims than
    are told, those last spoken of are.

    is_recall  whether claims that were taken back are told too
    """
    stated = read_stated([entity.id for entity in entities], at, reading)
    rows: dict[ElementId, list[tuple[Ref, Mapping[str, Any], Any, Testimony]]] = {}
    known: dict[ElementId, Mapping[str, Any]] = {}
    actors: set[ElementId] = set()
    for entity in entities:
        rows[entity.id] = []
        for one in stated[entity.id]:
            known |= {assertion["id"]: assertion for assertion in one.assertions}
            testimony = weigh(one.belief, one.assertions, at, ref_id(one.proposition["subject"]))
            if testimony is None or (testimony.standing == "withdrawn" and not is_recall):
                continue
            actors.update((*testimony.by, *testimony.against, *filter(None, map(actor_of, testimony.voices))))
            rows[entity.id].append((entity.ref, one.proposition, one.other, testimony))
    people = {entity.id: entity.ref for entity in entities}
    people |= {i: entity.ref for i, entity in read_entities(sorted(actors - set(people)), reading).items()}
    enders = {i for found in rows.values() for *_, testimony in found for i in testimony.ended_by}
    known |= _read_assertions(enders - set(known), reading)
    claims = {i: [_claim(*row, people, known) for row in found] for i, found in rows.items()}
    return {i: tuple(sorted(found, key=_rank)) for i, found in claims.items()}


_ASSERTIONS = "FIND(?a) WHERE { ?a ASSERTION {} FILTER(IN(?a.id, :ids)) }"


def _read_assertions(ids: Iterable[ElementId], reading: Reading) -> dict[ElementId, Mapping[str, Any]]:
    wanted = sorted(ids)
    return {view["id"]: view for view in reading.ask(_ASSERTIONS, ids=wanted)} if wanted else {}


def _claim(
    entity: Ref,
    proposition: Mapping[str, Any],
    other: Any,
    testimony: Testimony,
    people: Mapping[ElementId, Ref],
    assertions: Mapping[ElementId, Mapping[str, Any]],
) -> KnownClaim:
    far = entity_of(other).ref if isinstance(other, Mapping) and "id" in other else Ref(None, _literal(other), None)
    is_subject = ref_id(proposition["subject"]) == entity.id or far.id is None
    said_by = [people.get(i, Ref(i, i, None)) for i in testimony.by]
    until = testimony.until
    enders = sorted((assertions[i] for i in testimony.ended_by if i in assertions), key=start_key)
    if enders:  # it ended where what followed it began, as precisely as that was said
        until = begun(enders[0])
    return KnownClaim(
        subject=entity if is_subject else far,
        predicate=str(proposition["predicate_ref"]).rpartition("/")[2],
        object=far if is_subject else entity,
        standing=testimony.standing,
        since=first_instant(testimony.since),
        until=first_instant(until),
        said_at=testimony.said_at,
        by=said_by[0] if said_by else None,
        assertion_id=testimony.carrier,
        proposition_id=proposition["id"],
        since_text=spoken(testimony.since),
        until_text=spoken(until),
        against=tuple(people.get(i, Ref(i, i, None)) for i in testimony.against),
        rests_on=(*testimony.behind, *(ender["id"] for ender in enders[:1])),
        voices=tuple(_voice(assertion, people) for assertion in testimony.voices[:_MOST_VOICES]),
        is_over=testimony.is_over,
        followed_by=enders[0]["id"] if enders else None,
    )


_MOST_VOICES = 6
_SIDES: Mapping[str, Literal["for", "against", "unsure"]] = {"support": "for", "reject": "against"}


def _voice(assertion: Mapping[str, Any], people: Mapping[ElementId, Ref]) -> KnownVoice:
    actor = actor_of(assertion)
    who = people.get(actor, Ref(actor, actor, None)) if actor else None
    side = _SIDES.get(str(assertion.get("stance")), "unsure")
    return KnownVoice(who, assertion.get("asserted_at"), assertion["id"], side)


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


_ORDER = {"accepted": 0, "disputed": 1, "planned": 2, "hearsay": 3, "was": 4, "denied": 5, "withdrawn": 6}


def _rank(claim: KnownClaim) -> tuple[int, bool, str, int]:
    is_end_known, when = claim.ended if claim.standing == "was" else (False, claim.said_at or "")
    newest_first = "".join(chr(0x10FFFF - ord(c)) for c in when)
    return _ORDER[claim.standing], not is_end_known, newest_first, int(claim.assertion_id[2:])


# --- commitments ------------------------------------------------------------------------------------------------------

_COMMITMENTS_OF_EACH = 40
_COMMITMENTS = (
    "FIND(?c, ?by, ?to) WHERE { ?who {state: ?s} FILTER(IN(?who.id, :ids)) STRUCTURAL (?c, :field, ?who) "
    '?c {type: "Commitment"} OPTIONAL { STRUCTURAL (?c, "committed_to", ?by) } '
    'OPTIONAL { STRUCTURAL (?c, "owed_to", ?to) } } ORDER BY ?c._system.created_at DESC LIMIT :most'
)


def read_commitments(entities: Sequence[Entity], reading: Reading) -> tuple[KnownCommitment, ...]:
    """Commitments these people made or are owed, open ones first, those due soonest before others.

    Of more than are read, the newest are.
    """
    ids = [entity.id for entity in entities]
    asked = {"ids": ids, "most": _COMMITMENTS_OF_EACH * len(ids)}
    queries: list[Query] = [(_COMMITMENTS, {**asked, "field": field}) for field in ("committed_to", "owed_to") if ids]
    found: dict[ElementId, KnownCommitment] = {}
    for rows in reading.ask_all(queries) if queries else []:
        for view, by, to in rows:
            attributes = view.get("attributes") or {}
            owed = (entity_of(to).ref,) if isinstance(to, Mapping) else ()
            earlier = found.get(view["id"])
            found[view["id"]] = KnownCommitment(
                view["id"],
                str(attributes.get("summary") or ""),
                str(attributes.get("status") or "pending"),
                entity_of(by).ref if isinstance(by, Mapping) else None,
                tuple(dict.fromkeys((*(earlier.to if earlier else ()), *owed))),
                attributes.get("due_at"),
                as_said(attributes.get("due"), attributes.get("due_at")),
            )
    open_first = ("pending", "blocked")
    return tuple(sorted(found.values(), key=lambda c: (c.status not in open_first, c.due or "9", int(c.id[2:]))))


# --- entries ----------------------------------------------------------------------------------------------------------


def build_entries(
    speakers: Sequence[Ref],
    stored_speakers: Sequence[Entity],
    named: Named,
    claims: Mapping[ElementId, Sequence[KnownClaim]],
) -> tuple[DossierEntry, ...]:
    """One entry per speaker and per mentioned thing, with look-alikes beside each."""
    entities = list({entity.id: entity for entity in (*stored_speakers, *named.mentioned)}.values())
    speaking = {ref.id for ref in speakers}
    everybody = [*entities, *named.alike]
    entries = [
        DossierEntry(
            entity.ref,
            entity.key,
            entity.aliases,
            entity.id in speaking,
            tuple(claims.get(entity.id, ())),
            _look_alikes(entity.ref, everybody),
        )
        for entity in entities
    ]
    entries += [
        DossierEntry(ref, None, (), True, (), _look_alikes(ref, everybody)) for ref in speakers if ref.id is None
    ]
    return tuple(entries)


_MOST_ALIKE = 4


def _look_alikes(who: Ref, others: Sequence[Entity]) -> tuple[Ref, ...]:
    if who.type != "Person":
        return ()
    alike = (o.ref for o in others if o.id != who.id and o.type == "Person" and are_alike(who.name, o.name))
    return tuple(islice(alike, _MOST_ALIKE))
