"""Where a question's words, likeness and dates lead: one request of searches, and what each of them came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain.agents.reading import Query, ReadFailed, Reading
from brain.agents.words import without_relations
from brain.packet.claims import relation_terms
from brain.packet.question import Period, Question
from brain.store.base import Document

HITS = 32
"""Hits of one search."""

_LIKE = 12
_LIKE_ENOUGH = 0.35
"""The least likeness that counts as a hit: something is always nearest to any vector."""

_DATED = 16

_FOUND = {
    "concept": "FIND(?x) WHERE {{ ?x SEARCH CONCEPT :words {mode}LIMIT {limit} }}",
    "proposition": "FIND(?x) WHERE {{ ?x SEARCH PROPOSITION :words {mode}LIMIT {limit} }}",
    "evidence": "FIND(?x) WHERE {{ ?x SEARCH EVIDENCE :words {mode}LIMIT {limit} }}",
}
_SEMANTIC = f'MODE "semantic" THRESHOLD {_LIKE_ENOUGH} '
_HAPPENED = (
    'FIND(?x) WHERE {{ ?x {{type: "{type}"}} '
    "FILTER(?x.attributes.{member} >= :first && ?x.attributes.{member} <= :last) }} "
    "ORDER BY ?x.attributes.{member} DESC LIMIT {limit}"
)
_DATES = (("Event", "started_at"), ("Commitment", "due_at"))


@dataclass(frozen=True, slots=True)
class Found:
    """Views by the search that led to them, best first, and how each way of looking went: `complete`, `off` or
    `unavailable`."""

    views: Mapping[str, Sequence[Document]]
    channels: Mapping[str, str]

    def of(self, *names: str) -> list[Document]:
        """What several searches found, each once, in the order of the names."""
        return list({view["id"]: view for name in names for view in self.views.get(name, ())}.values())


def search(question: Question, periods: Sequence[Period], reading: Reading) -> Found:
    """Look by words, by likeness where an embedder is configured, and by date where the question names one.

    A search by likeness that cannot be made leaves its channel out, and says so; any other failure is ReadFailed.
    """
    words = question.words
    literal = without_relations(words.split(), relation_terms(reading))
    queries: dict[str, Query] = {}
    channels = {"keyword": "complete" if words else "off", "semantic": "off", "time": "complete"}
    if words:
        for kind, text in _FOUND.items():
            asked = literal if kind == "proposition" else words
            if asked:
                queries[f"keyword:{kind}"] = (text.format(mode="", limit=HITS), {"words": asked})
    if reading.engine.embedder is not None:
        channels["semantic"] = "complete"
        # What a relation is called is short and tells little by likeness, and Propositions outnumber all else.
        for kind in ("concept", "evidence"):
            text = _FOUND[kind]
            queries[f"semantic:{kind}"] = (text.format(mode=_SEMANTIC, limit=_LIKE), {"words": question.text})
    for number, period in enumerate(periods):
        for type_name, member in _DATES:
            text = _HAPPENED.format(type=type_name, member=member, limit=_DATED)
            queries[f"time:{number}:{type_name}"] = (text, {"first": period.first, "last": period.last})
    views: dict[str, list[Document]] = {}
    for name, answer in zip(queries, reading.try_all(list(queries.values())) if queries else (), strict=True):
        if "error" in answer:
            _excuse(name, answer["error"], channels)
        else:
            views[name] = list(answer["result"])
    return Found(views, channels)


def by_relation(question: Question, reading: Reading) -> list[Document]:
    """Propositions whose relation the question's words name, whoever they are about; ReadFailed.

    For a question that names nobody and nothing: where it does, what is known of those is read, and not of everybody.
    """
    words = question.words
    return reading.ask(_FOUND["proposition"].format(mode="", limit=HITS), words=words) if words else []


def _excuse(name: str, error: Mapping[str, Any], channels: dict[str, str]) -> None:
    """A search that may fail; ReadFailed for any other."""
    channel = name.partition(":")[0]
    if channel == "semantic":
        channels[channel] = "unavailable"
    elif not (channel == "time" and error["code"] == "SchemaSymbolNotFound"):
        raise ReadFailed(error["code"])
