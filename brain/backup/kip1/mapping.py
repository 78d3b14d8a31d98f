"""What rows of KIP 1.x become in 2.0: each member sorted by what it meant, and set aside where it has no place here.

Nothing is invented. A 1.x fact did not say who held it: it becomes a claim of its author, where that is a Person of the
export, else of the Brain, in mode `imported`. What had been taken back or replaced there does not hold here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from brain.backup.kip1.script import ConceptRow, Linked, LinkRow, Named, Row
from brain.service.failures import InvalidInput
from brain.service.inputs import moment_of
from brain.times import Timestamp

PACKAGE = "kip://legacy/nexus@1.1.0"
RECORD = f"{PACKAGE}/LegacyRecord"

_META_TYPES = {"$ConceptType": "type", "$PropositionType": "predicate"}
"""Concepts by which 1.x described its own vocabulary; here that is no memory."""

_STANDARD = ("Commitment", "Event", "Insight", "Person", "SleepTask")
"""Types that 2.0 has too: their known fields are taken over, and a record that does not fit comes under `Legacy…`."""

_ALWAYS_ASIDE = (
    "Action",
    "ActionAttempt",
    "Evaluation",
    "Experience",
    "ExperienceStep",
    "Outcome",
    "Preference",
    "SelfModel",
    "Skill",
    "SkillRevision",
    "Trial",
    "Watch",
    "WorkingState",
)
"""Types whose 2.0 namesakes carry standing, leases or rules that no 1.x record met."""

_SUMMARIES = ("summary", "content_summary", "description", "content", "statement", "text", "title")
_STATUSES = {
    "Commitment": {"blocked", "cancelled", "expired", "fulfilled", "pending"},
    "SleepTask": {"blocked", "cancelled", "completed", "failed", "pending"},
}
_SAME_STATUS = {"completed": "fulfilled", "done": "fulfilled", "open": "pending", "active": "pending"}
_TASK_CLASSES = frozenset(
    {
        "consolidate",
        "inspect_quarantine",
        "refresh_self_model",
        "resolve_identity",
        *(f"review_{what}" for what in ("conflict", "derived", "retention", "schema", "skill")),
    }
)
_INSTANTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Commitment": {"due_at": ("due_at", "due_date", "deadline"), "created_at": ("created_at",)},
    "Event": {"started_at": ("started_at", "start_time", "timestamp", "time"), "ended_at": ("ended_at", "end_time")},
    "Insight": {"created_at": ("created_at",)},
    "SleepTask": {"created_at": ("created_at",), "not_before": ("not_before",)},
}
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "Event": ("event_class", "context_summary", "outcome_summary"),
    "Insight": ("scope", "task_family"),
    "Person": ("description", "display_name"),
}
_UNTRUE = frozenset({"archived", "deleted", "deprecated", "invalid", "retracted", "superseded"})


@dataclass(frozen=True, slots=True)
class Sorted:
    """The metadata of a row, by what it meant.

    rest  what has no place of its own
    """

    confidence: float | None
    author: str | None
    source: str | None
    observed_at: Timestamp | None
    valid: Mapping[str, Timestamp]
    expires_at: Timestamp | None
    is_pinned: bool
    strength: float | None
    salience: float | None
    metabolized_at: Timestamp | None
    is_retracted: bool
    is_superseded: bool
    rest: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ConceptPlan:
    """A Concept to be made, by the first row it is told in. `aside` is kept beside it as a LegacyRecord."""

    line: int
    what: Named
    type: str
    name: str
    attributes: Mapping[str, Any]
    meta: Sorted
    aside: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """A claim to be made. `number` is that of its row, and what makes the claim once."""

    number: int
    line: int
    subject: Named
    predicate: str
    object: Named
    meta: Sorted
    aside: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything an export becomes.

    meanings  of its own words, by kind and name
    archived  rows that are kept as they were and become nothing, each with the reason
    """

    concepts: tuple[ConceptPlan, ...]
    links: tuple[LinkPlan, ...]
    meanings: Mapping[tuple[str, str], str]
    archived: Mapping[int, str]


def plan_of(rows: Iterable[Row]) -> Plan:
    """What the rows of an export become."""
    told: dict[Named, ConceptRow] = {}
    meanings: dict[tuple[str, str], str] = {}
    archived: dict[int, str] = {}
    links: list[tuple[int, LinkRow]] = []
    for number, row in enumerate(rows):
        if isinstance(row, LinkRow):
            links.append((number, row))
        elif row.what.type in _META_TYPES:
            meanings[_META_TYPES[row.what.type], row.what.name] = _meaning(row)
            archived[number] = "it described the vocabulary"
        else:
            before = told.get(row.what)
            told[row.what] = row if before is None else _merged(before, row)
    plans: list[LinkPlan] = []
    for number, link in links:
        reason = _why_archived(link.what)
        if reason is not None:
            archived[number] = reason
            continue
        for end in (link.what.subject, link.what.object):
            assert isinstance(end, Named)  # noqa: S101 - others were archived
            told.setdefault(end, ConceptRow(link.line, end, {}, {}))
            plans += _link(number, link) if end is link.what.object else ()
    return Plan(tuple(_concept(row) for row in told.values()), tuple(plans), meanings, archived)


def _merged(before: ConceptRow, row: ConceptRow) -> ConceptRow:
    """The same Concept told of again: later members win, as they did there."""
    return ConceptRow(
        before.line, before.what, {**before.attributes, **row.attributes}, {**before.metadata, **row.metadata}
    )


def _why_archived(link: Linked) -> str | None:
    ends = (link.subject, link.object)
    if any(isinstance(end, Linked) for end in ends):
        return "it was a link of a link"
    if any(isinstance(end, Named) and end.type in _META_TYPES for end in ends):
        return "it described the vocabulary"
    return None


def _link(number: int, link: LinkRow) -> list[LinkPlan]:
    subject, target = link.what.subject, link.what.object
    assert isinstance(subject, Named)  # noqa: S101 - as above
    assert isinstance(target, Named)  # noqa: S101
    meta = sorted_metadata(link.metadata)
    aside = _aside(attributes=link.attributes, metadata=meta.rest)
    return [LinkPlan(number, link.line, subject, link.what.predicate, target, meta, aside)]


def _concept(row: ConceptRow) -> ConceptPlan:
    kind, attributes, rest = _fitted(row)
    meta = sorted_metadata(row.metadata)
    name = _text(row.attributes.get("display_name")) or _text(row.attributes.get("name")) or row.what.name
    aside = _aside(attributes=rest, metadata=meta.rest, type=row.what.type)
    return ConceptPlan(row.line, row.what, kind, name, attributes, meta, aside)


def _aside(**members: Any) -> dict[str, Any]:
    kept = {name: value for name, value in members.items() if value}
    return kept if set(kept) - {"type"} else {}


def _fitted(row: ConceptRow) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The type a Concept comes under, its attributes there, and those that stay in its record."""
    kind, given = row.what.type, row.attributes
    if kind in _ALWAYS_ASIDE:
        return f"Legacy{kind}", {}, dict(given)
    if kind not in _STANDARD:
        return kind, dict(given), {}
    fitted: dict[str, Any] = {}
    for name in _TEXTS.get(kind, ()):
        if (text := _text(given.get(name))) is not None:
            fitted[name] = text
    for name, sources in _INSTANTS.get(kind, {}).items():
        found = [instant for source in sources if (instant := _instant(given.get(source))) is not None]
        if found:
            fitted[name] = found[0]
    if kind == "Person":
        aliases = given.get("aliases")
        if isinstance(aliases, list) and aliases and all(isinstance(alias, str) for alias in aliases):
            fitted["aliases"] = aliases
    else:
        fitted["summary"] = next((t for n in _SUMMARIES if (t := _text(given.get(n)))), row.what.name)
    if kind in _STATUSES:
        status = str(given.get("status", "pending")).lower()
        # A task somebody held a lease of is held by nobody here.
        status = "pending" if status in ("running", "in_progress") else _SAME_STATUS.get(status, status)
        status = "completed" if kind == "SleepTask" and status == "fulfilled" else status
        if status not in _STATUSES[kind] or (kind == "SleepTask" and given.get("task_class") not in _TASK_CLASSES):
            return f"Legacy{kind}", {}, dict(given)
        fitted["status"] = status
    if kind == "SleepTask":
        fitted["task_class"] = given["task_class"]
    used = {source for sources in _INSTANTS.get(kind, {}).values() for source in sources} | {*fitted, "name"}
    return kind, fitted, {name: value for name, value in given.items() if name not in used or fitted.get(name) != value}


def sorted_metadata(metadata: Mapping[str, Any]) -> Sorted:
    """Metadata by what it meant; a value that cannot mean that stays in the rest."""
    rest = dict(metadata)

    def share(name: str) -> float | None:
        value = metadata.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            return None
        del rest[name]
        return value

    def text(*names: str) -> str | None:
        for name in names:
            if (value := _text(metadata.get(name))) is not None:
                del rest[name]
                return value
        return None

    def instant(*names: str) -> Timestamp | None:
        for name in names:
            if (value := _instant(metadata.get(name))) is not None:
                del rest[name]
                return value
        return None

    status = str(metadata.get("status", "")).lower()
    is_superseded = status == "superseded" or bool(metadata.get("superseded") or metadata.get("superseded_by"))
    bounds = {"from": instant("valid_from"), "until": instant("valid_until")}
    return Sorted(
        confidence=share("confidence"),
        author=text("author"),
        source=text("source"),
        observed_at=instant("observed_at", "created_at"),
        valid={name: bound for name, bound in bounds.items() if bound is not None},
        expires_at=instant("expires_at"),
        is_pinned=rest.pop("pinned", None) is True,
        strength=share("memory_strength"),
        salience=share("salience"),
        metabolized_at=instant("last_metabolized_at", "last_accessed_at"),
        is_retracted=status in _UNTRUE and not is_superseded,
        is_superseded=is_superseded,
        rest=rest,
    )


def _meaning(row: ConceptRow) -> str:
    return _text(row.attributes.get("description")) or f"{row.what.name}, of a KIP 1.x Space."


def _text(value: object) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None


def _instant(value: object) -> Timestamp | None:
    if not isinstance(value, str):
        return None
    try:
        return moment_of(value).instant
    except InvalidInput:
        return None


def package() -> dict[str, Any]:
    """The package of what 2.0 has no place for, in its author's short form."""
    package_id, _, version = PACKAGE.partition("@")
    kept = {"description": "As it was.", "mutable": True, "required": False, "type": ["null", "object"]}
    return {
        "aliases": {},
        "canonicalization": {"profile": "kip-jcs-safe-v1"},
        "compatibility": {"readable_with": ["kip://core@2.0.0"]},
        "constraints": [],
        "definitions": {
            "concept_types": {
                f"Legacy{name}": {
                    "attributes": {"fields": {}, "open": True},
                    "description": f"A {name} of a KIP 1.x Space, kept for the record: it has no standing, holds no "
                    "lease and starts nothing.",
                }
                for name in (*_STANDARD, *_ALWAYS_ASIDE)
            },
            "facets": {
                "LegacyRecord": {
                    "applicable_to": {"kinds": ["Assertion", "Concept"]},
                    "closed": True,
                    "description": "What a record of KIP 1.x had beside what became of it. It says nothing here.",
                    "fields": {
                        "attributes": kept,
                        "metadata": kept,
                        "type": {**kept, "type": ["null", "string"]},
                    },
                }
            },
            "predicates": {},
            "structural_fields": {},
        },
        "dependencies": [
            {"package_id": "kip://core", "package_ref": "kip://core@2.0.0", "required": True, "version": "2.0.0"}
        ],
        "format": "KIP-Schema-Package",
        "manifest": {
            "description": "Records of KIP 1.x that have no counterpart in 2.0, under names of their own.",
            "executable": False,
            "name": "Records of KIP 1.x",
            "package_id": package_id,
            "publisher": "urn:brain:publisher:brain",
            "purpose": "compatibility",
            "stability": "stable",
            "version": version,
        },
        "migrations": [],
        "model_hints": {"summary": "Old records, to be read and not to be written."},
    }
