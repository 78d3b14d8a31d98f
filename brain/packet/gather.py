"""Everything a packet may hold, best first: words, likeness, graph and time, each ranked by itself and then made one.

All reads go through KIP with the caller's own session, at one sequence. What is hidden from the caller is not met, not
counted and not missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brain.agents.citations import read_views
from brain.agents.dossier import entity_of
from brain.agents.reading import Reading, ref_id
from brain.agents.spoken import first_instant
from brain.agents.standing import actor_of
from brain.gate.facts import PERSON
from brain.names import fold, is_reserved, occurs, words
from brain.packet.claims import MOST_WEIGHED, Claim, Claims
from brain.packet.fuse import Ranking, fused
from brain.packet.items import (
    Item,
    Shown,
    claim_item,
    concept_item,
    evidence_item,
    label,
    links_of,
    long_attributes,
    procedure_item,
    type_of,
)
from brain.packet.question import Period, Question
from brain.packet.required import Required, read_required
from brain.packet.search import Found, by_relation, search
from brain.store.base import Document, ElementId
from brain.times import Seq, Timestamp

MOST_ITEMS = 256
MOST_BYTES = 1_048_576
"""Of the text of all items."""

_ANCHORS, _RING = 8, 6
_UNNAMED = frozenset({"Commitment", "Event", "Insight", "SleepTask", "Watch", "Skill", "SkillRevision"})
_NO_RING = frozenset({"Food", "Drink", "Place", "Topic", "Role"})
"""Types whose own claims seldom answer a question about somebody who is linked to them."""

_RECENCY = 0.05
"""Weight of being new: enough to decide between neighbours."""

_TELLING = 0.5
"""Overlap from which on a claim is what the question's words name, not merely something of the same kind."""

_HEAVY = 4_000
"""Characters from which on an optional item goes last: it would keep many others out."""

_ASKER = "FIND(?c) WHERE { ?c {type: :type, key: :key} } LIMIT 1"
_INVOLVING = (
    'FIND(?c) WHERE { ?who {state: ?s} FILTER(IN(?who.id, :ids)) STRUCTURAL (?c, "involves", ?who) '
    '?c {type: "Event"} } ORDER BY ?c._system.created_at DESC LIMIT 16'
)
_TOLD = (
    "FIND(?c.id, ?e.id, ?e.observed_at) WHERE { ?c {state: ?s} FILTER(IN(?c.id, :ids)) "
    'STRUCTURAL (?x, "outputs", ?c) STRUCTURAL (?x, "inputs", ?e) ?e EVIDENCE {} } LIMIT 512'
)
_ORDER = {"accepted": 0, "disputed": 1, "planned": 2, "hearsay": 3, "was": 4, "denied": 5}


class ProcedureIncomplete(Exception):
    """A procedure that was found could not be read with all its checks."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What one snapshot holds for a question.

    required  indivisible; constraints first, then promises, then warnings
    optional  best first
    left_out  ids by the reason they never came into question
    channels  how each way of looking went
    """

    seq: Seq
    required: tuple[Item, ...]
    optional: tuple[Item, ...]
    left_out: Mapping[str, Sequence[ElementId]]
    channels: Mapping[str, str]


@dataclass(slots=True)
class _Pool:
    """Candidates by id, and the rankings they stand in."""

    views: dict[ElementId, Document] = field(default_factory=dict)
    claims: dict[ElementId, Claim] = field(default_factory=dict)
    rankings: list[Ranking] = field(default_factory=list)

    def rank(self, name: str, ids: Sequence[ElementId], weight: float = 1.0) -> None:
        if ids:
            self.rankings.append(Ranking(name, ids, weight))


def gather(question: Question, reading: Reading, *, read: Sequence[ElementId] = ()) -> Gathered:
    """Read what may belong into a packet.

    reading  pinned to a sequence
    read     elements that a planner's reads came upon, most important first

    raises  ReadFailed, RequiredReadIncomplete, ProcedureIncomplete
    """
    assert reading.seq is not None  # noqa: S101 - a packet is of one snapshot
    periods = question.periods()
    found = search(question, periods, reading)
    asker = _asker(question, reading)
    pool = _Pool()
    concepts = found.of("keyword:concept", "semantic:concept")
    named = _named(question, concepts)
    pool.views |= {view["id"]: view for view in found.of(*found.views)}
    read_by_planner = read_views(list(dict.fromkeys(read))[:MOST_ITEMS], reading)
    pool.views |= read_by_planner
    things = [v["id"] for v in concepts if type_of(v) not in _UNNAMED]
    anchors = list(dict.fromkeys([*([asker] if asker else []), *named, *things]))[:_ANCHORS]
    everybody = [] if named or asker else by_relation(question, reading)
    claims = _claims(question, anchors, [*found.of("keyword:proposition"), *everybody], found, read_by_planner, reading)
    _rank_claims(pool, claims, question, periods)
    happened = reading.ask(_INVOLVING, ids=anchors) if anchors else []
    pool.views |= {view["id"]: view for view in happened}
    required = read_required(anchors, list(pool.views), reading)
    pool.views |= read_views([i for i in anchors if i not in pool.views], reading)
    _rank(pool, found, anchors, happened, read_by_planner)
    _rank_by_time(pool, periods)
    return _told(pool, required, claims, found, reading)


def _asker(question: Question, reading: Reading) -> ElementId | None:
    """The person a caller asks for, by key."""
    if not question.counterparty or is_reserved(question.counterparty):
        return None
    rows = reading.ask(_ASKER, type=PERSON, key=question.counterparty)
    return rows[0]["id"] if rows else None


def _named(question: Question, concepts: Sequence[Document]) -> list[ElementId]:
    """Of some Concepts those one of whose names stands in the question, a Person also by first name."""
    text = fold(f"{question.text} {question.topic or ''}")
    named = []
    for entity in map(entity_of, concepts):
        first = [part for name in entity.names for part in words(name)[:1]] if entity.type == PERSON else []
        is_whole = any(occurs(name, text) for name in entity.names)
        if entity.type not in _UNNAMED and (is_whole or any(occurs(name, text) for name in first)):
            named.append((not is_whole, entity.id))
    return [element_id for _, element_id in sorted(named, key=lambda one: one[0])]


def _claims(
    question: Question,
    anchors: Sequence[ElementId],
    stated: Sequence[Document],
    found: Found,
    read_by_planner: Mapping[ElementId, Document],
    reading: Reading,
) -> Claims:
    """Claims about what the question names, about what that is linked to, and those the searches led to."""
    claims = Claims(reading, question.terms)
    claims.around(anchors, 1)
    claims.around(_ring(claims, anchors), 2)
    propositions = [view["id"] for view in stated]
    propositions += claims.citing([view["id"] for view in found.of("keyword:evidence", "semantic:evidence")])
    for element_id, view in read_by_planner.items():
        propositions += [i for i in (element_id, ref_id(view.get("proposition"))) if i and i.startswith("P-")]
    claims.of(propositions)
    return claims


def _ring(claims: Claims, anchors: Sequence[ElementId]) -> list[ElementId]:
    """What the claims found so far lead to, the best of them first."""
    ring: dict[ElementId, None] = {}
    for claim in claims.ranked():
        for end in (claim.subject, claim.object):
            far = ref_id(end)
            if far and far.startswith("C-") and far not in anchors and type_of(end) not in _NO_RING:
                ring.setdefault(far)
    return list(ring)[:_RING]


def _rank_claims(pool: _Pool, claims: Claims, question: Question, periods: Sequence[Period]) -> None:
    weighed = claims.weigh(claims.ranked()[:MOST_WEIGHED], question.at)
    if periods:
        claims.weigh_then(weighed, min(periods[0].last, question.now))
    told = [c for c in weighed if c.testimony is not None and c.testimony.standing != "withdrawn"]
    places = {claim.id: place for place, claim in enumerate(told)}
    told.sort(
        key=lambda c: (-c.overlap, c.hop or 1, _ORDER[c.testimony.standing if c.testimony else "was"], places[c.id])
    )
    pool.claims = {claim.id: claim for claim in told}
    pool.rank("graph", [claim.id for claim in told])
    # What the question's own words name goes before everything that merely stands near.
    pool.rank("relation", [claim.id for claim in told if claim.overlap >= _TELLING], 1.5)


def _rank(
    pool: _Pool,
    found: Found,
    anchors: Sequence[ElementId],
    happened: Sequence[Document],
    read_by_planner: Mapping[ElementId, Document],
) -> None:
    for name, views in found.views.items():
        # Propositions are found by their relation, which says little: they count as claims that were found.
        if not name.startswith("time:") and not name.endswith(":proposition"):
            pool.rank(name, [view["id"] for view in views])
    pool.rank("named", anchors)
    pool.rank("involved", [view["id"] for view in happened], 0.5)
    planned = [ref_id(view.get("proposition")) or i for i, view in read_by_planner.items()]
    pool.rank("planner", planned, 2.0)


def _rank_by_time(pool: _Pool, periods: Sequence[Period]) -> None:
    """What lies in a time the question names, the shortest first; without one, the newest of what was found."""
    spans = {i: _span(pool, i) for i in (*pool.claims, *pool.views)}
    if periods:
        inside = [
            i for i, span in spans.items() if any(span[:2] != (None, None) and p.touches(*span[:2]) for p in periods)
        ]
        pool.rank("time", sorted(inside, key=lambda i: (spans[i][0] is None or spans[i][1] is None, spans[i][2], i)))
    ranked = {i for ranking in pool.rankings for i in ranking.ids}
    newest = sorted((i for i in spans if i in ranked), key=lambda i: (spans[i][2], i), reverse=True)
    pool.rank("recency", newest, _RECENCY)


def _span(pool: _Pool, element_id: ElementId) -> tuple[Timestamp | None, Timestamp | None, Timestamp]:
    """When something was so, as far as that is known, and when it was said or recorded."""
    claim = pool.claims.get(element_id)
    if claim is not None and claim.testimony is not None:
        return first_instant(claim.testimony.since), first_instant(claim.testimony.until), claim.said_last
    view = pool.views.get(element_id) or {}
    attributes = view.get("attributes") or {}
    first = attributes.get("started_at") or attributes.get("due_at") or view.get("observed_at")
    created = str((view.get("_system") or {}).get("created_at") or "")
    return first, attributes.get("ended_at") or first, str(first or created)


# --- items ------------------------------------------------------------------------------------------------------------


def _told(pool: _Pool, required: Required, claims: Claims, found: Found, reading: Reading) -> Gathered:
    """The candidates as items, in their order."""
    order = [i for i in fused(pool.rankings) if i not in required.ids][:MOST_ITEMS]
    views = [pool.views[i] for i in order if i in pool.views and i not in pool.claims]
    revisions = _revisions(views, reading)
    shown = _shown([*required.constraints, *required.commitments, *views], list(pool.claims.values()), reading)
    musts = (
        *(concept_item(view, shown, required=True) for view in (*required.constraints, *required.commitments)),
        *required.warnings,
    )
    light, heavy, size = list[Item](), list[Item](), 0
    left_out: dict[str, list[ElementId]] = {}
    for element_id in order:
        item = _item(element_id, pool, revisions, shown)
        if item is None:
            continue
        size += len(item.text.encode("utf-8", "surrogatepass"))
        if size > MOST_BYTES:
            left_out.setdefault("content_limit", []).append(element_id)
        else:
            (heavy if len(item.text) > _HEAVY else light).append(item)
    if claims.crowded:
        left_out["too_many_claims_about"] = list(dict.fromkeys(claims.crowded))
    return Gathered(reading.seq or 0, musts, (*light, *heavy), left_out, dict(found.channels) | {"graph": "complete"})


def _item(element_id: ElementId, pool: _Pool, revisions: Mapping[ElementId, Document], shown: Shown) -> Item | None:
    if element_id in pool.claims:
        return claim_item(pool.claims[element_id], shown)
    view = pool.views.get(element_id)
    if view is None or (view.get("_system") or {}).get("state") != "active":
        return None
    if element_id.startswith("E-"):
        return evidence_item(view, shown)
    if not element_id.startswith("C-"):
        return None  # a Proposition that nobody speaks for any more, an Activity: no memory by themselves
    if type_of(view) == "Skill":
        return procedure_item(view, revisions[element_id], shown)
    return concept_item(view, shown)


def _revisions(views: Sequence[Document], reading: Reading) -> dict[ElementId, Document]:
    """The current revision of each Skill among some views; ProcedureIncomplete when one is not there to read."""
    current = {v["id"]: links_of(v).get("current_revision", [""])[0] for v in views if type_of(v) == "Skill"}
    found = read_views([i for i in dict.fromkeys(current.values()) if i], reading)
    whole = {i: found[r] for i, r in current.items() if r in found and found[r]["_system"]["state"] == "active"}
    if len(whole) < len(current):
        raise ProcedureIncomplete
    return whole


def _shown(views: Sequence[Document], claims: Sequence[Claim], reading: Reading) -> Shown:
    """Names, sources and required members of what is told."""
    labels: dict[ElementId, Document] = {}
    for claim in claims:
        for end in (claim.subject, claim.object):
            if isinstance(end, Mapping) and "schema_ref" in end:
                labels[end["id"]] = label(end)
    wanted: dict[ElementId, None] = {}
    for claim in claims:
        voices = claim.testimony.voices if claim.testimony else ()
        wanted |= dict.fromkeys(i for assertion in voices if (i := actor_of(assertion)))
    for view in views:
        wanted |= dict.fromkeys(i for ids in links_of(view).values() for i in ids)
        wanted |= dict.fromkeys(i for source in view.get("source") or () if (i := ref_id(source)))
    unknown = [i for i in wanted if i not in labels]
    labels |= {i: label(view) for i, view in read_views(unknown, reading).items() if "schema_ref" in view}
    artifacts = [view["id"] for view in views if type_of(view) in _UNNAMED]
    told: dict[ElementId, list[tuple[ElementId, str]]] = {}
    for thing, evidence, at in reading.ask(_TOLD, ids=artifacts) if artifacts else ():
        told.setdefault(thing, []).append((evidence, str(at)))
    return Shown(labels, told, _essential(views, reading))


def _essential(views: Sequence[Document], reading: Reading) -> dict[str, frozenset[str]]:
    """The attributes that the types of some Concepts require, looked up where a long one may be left out."""
    refs = {str(view["schema_ref"]) for view in views if "schema_ref" in view and long_attributes(view)}
    essential: dict[str, frozenset[str]] = {}
    for ref in sorted(refs):
        fields: Mapping[str, Any] = reading.ask("DESCRIBE TYPE :ref", ref=ref)["definition"]["attributes"]["fields"]
        essential[ref] = frozenset(name for name, declared in fields.items() if declared.get("required"))
    return essential
