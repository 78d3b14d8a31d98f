"""What a question is likely to need, read before the model is asked: people and things, happenings, promises, rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain.agents.dossier import (
    MAX_ENTRIES,
    Entity,
    Named,
    build_entries,
    entity_of,
    find_named,
    read_claims,
    read_commitments,
)
from brain.agents.jobs import RecallJob
from brain.agents.reading import Query, Reading
from brain.agents.spoken import as_said, span_as_said
from brain.agents.telling import fitted
from brain.agents.texts import clean, one_line
from brain.agents.turns import KnownClaim, KnownCommitment, KnownEvent, KnownRule, RecallTurn, Ref, Vocabulary
from brain.agents.words import read_vocabulary, terms_of_relations, without_relations
from brain.gate.facts import PERSON
from brain.names import is_reserved, worth_searching
from brain.store.base import ElementId
from brain.times import Timestamp

RECALL_TOKENS = 2_000
_QUESTION = 8_000
_EVENTS, _COMMITMENTS, _RULES = 16, 16, 12
_INVOLVED_SHOWN = 8
_RING, _PEOPLE = 10, 6
_SEARCH_COMMITMENTS = (
    'FIND(?c, ?by) WHERE { ?c SEARCH CONCEPT :text WITH TYPE "Commitment" LIMIT 8 '
    'OPTIONAL { STRUCTURAL (?c, "committed_to", ?by) } }'
)
_NO_RING = frozenset({"Food", "Drink", "Place", "Topic", "Role"})
"""Types whose own claims seldom answer a question about somebody who is linked to them."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What the question's words led to, by type."""

    events: tuple[Mapping[str, Any], ...]
    commitments: tuple[KnownCommitment, ...]
    rules: tuple[Mapping[str, Any], ...]
    subjects: tuple[Entity, ...]


def recall_turn(job: RecallJob, now: Timestamp, reading: Reading) -> RecallTurn:
    """The turn of a Recall. ReadFailed when memory does not answer."""
    at = job.at or now
    vocabulary = read_vocabulary(reading)
    asker = _asker(job, reading)
    named = find_named([job.query, job.topic or ""], reading)
    found = _search(job.query, reading, vocabulary if named.mentioned or asker else None)
    first = _once([*([asker] if asker else []), *named.mentioned, *found.subjects])[:MAX_ENTRIES]
    claims = read_claims(first, at, reading, is_recall=True)
    ring = _ring(first, claims)
    told = read_claims(ring, at, reading, is_recall=True)
    claims |= {i: found for i, found in told.items() if len(found) > 1}
    entities = [*first, *(entity for entity in ring if entity.id in claims)]
    people = [entity for entity in first if entity.type == PERSON][:_PEOPLE]
    entries = build_entries([], entities, Named((), named.alike), claims)
    dossier, cut = fitted(entries, RECALL_TOKENS)
    commitments = _once_by_id([*read_commitments(people, reading), *found.commitments])
    return RecallTurn(
        question=clean(job.query, _QUESTION),
        at=at,
        now=now,
        asked_by=asker.ref if asker else _stranger(job),
        topic=job.topic,
        dossier=dossier,
        events=_events(first, found, reading),
        commitments=tuple(commitments[:_COMMITMENTS]),
        rules=_rules(asker, found, reading)[:_RULES],
        vocabulary=vocabulary,
        cut=cut,
    )


def _asker(job: RecallJob, reading: Reading) -> Entity | None:
    """The person a caller asks for, by key."""
    if not job.counterparty or is_reserved(job.counterparty):
        return None
    rows = reading.ask(
        "FIND(?c) WHERE { ?c {type: :type, key: :key} } LIMIT 1", type=PERSON, key=one_line(job.counterparty, 200)
    )
    return entity_of(rows[0]) if rows else None


def _stranger(job: RecallJob) -> Ref | None:
    if not job.counterparty or is_reserved(job.counterparty):
        return None
    return Ref(None, one_line(job.counterparty, 120), PERSON)


def _search(question: str, reading: Reading, vocabulary: Vocabulary | None) -> _Found:
    """What the words of a question lead to.

    vocabulary  of a Space in which the question names somebody or something: what is known of those is read, and not
                of everybody who stands in the relation it asks for
    """
    words = worth_searching(question, 24)
    if not words:
        return _Found((), (), (), ())
    asked = {"text": " ".join(words)}
    queries: list[Query] = [
        ('FIND(?c) WHERE { ?c SEARCH CONCEPT :text WITH TYPE "Event" LIMIT 8 }', asked),
        (_SEARCH_COMMITMENTS, asked),
        ('FIND(?c) WHERE { ?c SEARCH CONCEPT :text WITH TYPE "Insight" LIMIT 8 }', asked),
    ]
    if vocabulary is not None:
        relations = terms_of_relations(predicate.name for predicate in vocabulary.predicates)
        asked = {"text": without_relations(words, relations)}
    if asked["text"]:
        queries.append(("FIND(?s) WHERE { ?p SEARCH PROPOSITION :text LIMIT 8 ?p (?s, ?r, ?o) }", asked))
    events, commitments, insights, *stated = reading.ask_all(queries)
    return _Found(
        tuple(events),
        tuple(_commitment(view, by) for view, by in commitments),
        tuple(insights),
        tuple(
            entity_of(view)
            for rows in stated
            for view in rows
            if isinstance(view, Mapping) and view["id"].startswith("C-")
        ),
    )


def _commitment(view: Mapping[str, Any], by: Any) -> KnownCommitment:
    attributes = view.get("attributes") or {}
    return KnownCommitment(
        view["id"],
        str(attributes.get("summary") or ""),
        str(attributes.get("status") or "pending"),
        entity_of(by).ref if isinstance(by, Mapping) else None,
        (),
        attributes.get("due_at"),
        as_said(attributes.get("due"), attributes.get("due_at")),
    )


def _ring(entities: Sequence[Entity], claims: Mapping[ElementId, Sequence[KnownClaim]]) -> list[Entity]:
    """Things linked to the first ones by what holds now: the pet of the person asked about, the project of another."""
    known = {entity.id for entity in entities}
    linked: dict[ElementId, Entity] = {}
    for entity in entities:
        for claim in claims.get(entity.id, ()):
            far = claim.object if claim.subject.id == entity.id else claim.subject
            if far.id and far.id not in known and far.type not in _NO_RING and claim.standing == "accepted":
                linked.setdefault(far.id, Entity(far.id, far.type or "", far.name, None, ()))
    return list(linked.values())[:_RING]


_INVOLVING = (
    'FIND(?c) WHERE { ?who {state: ?s} FILTER(IN(?who.id, :ids)) STRUCTURAL (?c, "involves", ?who) '
    '?c {type: "Event"} } ORDER BY ?c._system.created_at DESC LIMIT 64'
)
_INVOLVED = (
    'FIND(?c.id, ?who) WHERE { ?c {state: ?s} FILTER(IN(?c.id, :ids)) STRUCTURAL (?c, "involves", ?who) } LIMIT 256'
)

_TOLD = (
    "FIND(?c.id, ?e.observed_at) WHERE { ?c {state: ?s} FILTER(IN(?c.id, :ids)) "
    'STRUCTURAL (?x, "outputs", ?c) STRUCTURAL (?x, "inputs", ?e) ?e EVIDENCE {} } LIMIT 256'
)


def _events(entities: Sequence[Entity], found: _Found, reading: Reading) -> tuple[KnownEvent, ...]:
    """Events the words led to, and the newest these people and things took part in; newest first."""
    ids = [entity.id for entity in entities]
    views = {view["id"]: view for view in found.events}
    involving = sorted(reading.ask(_INVOLVING, ids=ids) if ids else (), key=_when, reverse=True)
    views |= {view["id"]: view for view in involving}
    newest = sorted(list(views.values())[:_EVENTS], key=_when, reverse=True)
    who: dict[ElementId, list[Any]] = {view["id"]: [] for view in newest}
    told: dict[ElementId, Timestamp] = {}
    involved, sources = reading.ask_all([(_INVOLVED, {"ids": [*who]}), (_TOLD, {"ids": [*who]})]) if who else ((), ())
    for event_id, person in involved:
        who[event_id].append(person)
    for event_id, observed_at in sources:
        told[event_id] = min(observed_at, told.get(event_id, observed_at))
    return tuple(_event(view, who[view["id"]][:_INVOLVED_SHOWN], told.get(view["id"])) for view in newest)


def _when(view: Mapping[str, Any]) -> tuple[str, str]:
    created = (view.get("_system") or {}).get("created_at")
    return str((view.get("attributes") or {}).get("started_at") or created or ""), str(view["id"])


def _event(view: Mapping[str, Any], who: Sequence[Any], told: Timestamp | None) -> KnownEvent:
    attributes = view.get("attributes") or {}
    return KnownEvent(
        view["id"],
        str(attributes.get("summary") or ""),
        attributes.get("started_at"),
        attributes.get("ended_at"),
        tuple(entity_of(person).ref for person in who if isinstance(person, Mapping)),
        told or (view.get("_system") or {}).get("created_at"),
        span_as_said(attributes.get("when"), attributes.get("started_at"), attributes.get("ended_at")),
    )


def _rules(asker: Entity | None, found: _Found, reading: Reading) -> tuple[KnownRule, ...]:
    """Standing rules of whoever asks, then lessons the words led to."""
    views = {view["id"]: view for view in found.rules}
    if asker is not None:
        about = reading.ask(
            'FIND(?c) WHERE { ?c {type: "Insight"} STRUCTURAL (?c, "about", :who) } LIMIT 24', who={"id": asker.id}
        )
        views = {view["id"]: view for view in about} | views
    return tuple(
        KnownRule(
            view["id"],
            str((view.get("attributes") or {}).get("summary") or ""),
            (view.get("attributes") or {}).get("insight_class") == "constraint",
        )
        for view in views.values()
    )


def _once(entities: Sequence[Entity]) -> list[Entity]:
    return list({entity.id: entity for entity in entities}.values())


def _once_by_id(commitments: Sequence[KnownCommitment]) -> list[KnownCommitment]:
    unique: dict[ElementId, KnownCommitment] = {}
    for known in commitments:
        unique.setdefault(known.id, known)
    return list(unique.values())
