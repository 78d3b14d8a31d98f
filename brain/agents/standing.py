"""How a known claim stands: one projection and the Assertions behind it, as a standing, times and people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain.agents.turns import Standing
from brain.store.base import ElementId
from brain.times import Timestamp


@dataclass(frozen=True, slots=True)
class Testimony:
    """What one proposition's Assertions come to.

    since, until  endpoints as stored: an instant, a bound or None; `until` is None where another claim ended it
    ended_by      Assertions whose start ended it by succession (§25.4)
    carrier       the Assertion to cite
    by, against   actors for it and against it, whom it is about first, then newest first; of a denial `by` denies
    behind        further Assertions this rests on: of those against it, and what dates it
    voices        the Assertion of each actor and stance, the carrier first
    is_over       whether what it tells is over
    """

    standing: Standing
    since: Any
    until: Any
    ended_by: tuple[ElementId, ...]
    said_at: Timestamp | None
    carrier: ElementId
    by: tuple[ElementId, ...]
    against: tuple[ElementId, ...]
    behind: tuple[ElementId, ...]
    voices: tuple[Mapping[str, Any], ...]
    is_over: bool


@dataclass(frozen=True, slots=True)
class _Spoken:
    """Active Assertions about one proposition by stance, whom it is about first, then newest first.

    inside  ids of those that hold at the instant asked about
    """

    subject: ElementId | None
    support: Sequence[Mapping[str, Any]]
    reject: Sequence[Mapping[str, Any]]
    unsure: Sequence[Mapping[str, Any]]
    inside: frozenset[ElementId]

    @property
    def is_own_word(self) -> bool:
        """Whether whom it is about says or said that it is so."""
        return self.subject is not None and any(actor_of(a) == self.subject for a in self.support)

    def holding(self, those: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """Those that hold at the instant; all where none does."""
        return [a for a in those if a["id"] in self.inside] or those

    @property
    def is_former_by_own_word(self) -> bool:
        own = [a for a in self.support if actor_of(a) == self.subject]
        return self.is_own_word and not any(a["id"] in self.inside for a in own)


def weigh(
    belief: Mapping[str, Any], assertions: Sequence[Mapping[str, Any]], at: Timestamp, subject: ElementId | None
) -> Testimony | None:
    """How a proposition stands at `at`; None when nothing on record speaks to it any more.

    belief      its projection under the memory policy at `at`, explained by its ledger
    assertions  every Assertion about it, whatever their status
    subject     whom or what it is about: of several who say the same, this one's own word is told
    """
    active = sorted((a for a in assertions if _is_active(a)), key=_said, reverse=True)
    if not active:
        retracted = sorted((a for a in assertions if _status(a) == "retracted"), key=_said, reverse=True)
        return _testimony("withdrawn", retracted, [], (), ()) if retracted else None
    active.sort(key=lambda a: actor_of(a) != subject)
    ledger = belief.get("explanation") or {}
    inside = frozenset(told["id"] for told in ledger.get("eligible") or () if told["standing"] == "inside")
    said = _Spoken(subject, _of(active, "support"), _of(active, "reject"), _of(active, "uncertain"), inside)
    standing = _standing(belief, said, at)
    if standing is None:
        return None
    speaking, against = _sides(standing, said)
    is_over = standing == "was" or (standing == "disputed" and belief.get("status") == "rejected")
    enders = {told["id"]: tuple(told["ended_by"]) for told in ledger.get("succession") or ()}
    ended_by = enders.get(speaking[0]["id"], ()) if is_over else ()
    return _testimony(standing, speaking, against, ended_by, active, is_over=is_over)


def _of(assertions: Sequence[Mapping[str, Any]], stance: str) -> list[Mapping[str, Any]]:
    return [a for a in assertions if a.get("stance") == stance]


def _standing(belief: Mapping[str, Any], said: _Spoken, at: Timestamp) -> Standing | None:
    status = belief.get("status")
    if status == "accepted":
        return "accepted"
    if status == "contested":
        return "disputed"
    if status == "rejected":
        return _standing_of_rejected(said, at)
    support = said.support
    if not support:
        return "hearsay" if status == "uncertain" else None
    if all(_begins_after(a, at) for a in support):
        return "planned"
    if status != "uncertain":
        return "was"
    uncertainty = belief.get("uncertainty") or {}
    reasons = uncertainty.get("reasons") or ()
    changed_mind = bool({actor_of(a) for a in support} & {actor_of(a) for a in said.reject})
    is_over = changed_mind or any((a.get("valid_time") or {}).get("until") for a in support)
    if is_over and "temporal_indeterminate" in reasons:
        return "was"
    # What somebody says of themselves is over outlasts what others still say of them.
    return "was" if "outranked" in reasons and said.is_former_by_own_word else "hearsay"


def _standing_of_rejected(said: _Spoken, at: Timestamp) -> Standing | None:
    """Of what nobody says holds now and somebody says does not, or what another value rules out."""
    support, deniers = said.support, {actor_of(a) for a in said.reject}
    if not support:
        if not deniers:
            return "hearsay" if said.unsure else None
        passed_on = {actor_of(a) for a in said.unsure} - deniers
        return "disputed" if passed_on and said.subject not in deniers else "denied"
    if all(_begins_after(a, at) for a in support):
        last_denied = max(map(_said, said.reject), default=("", 0))
        return "planned" if max(map(_said, support)) > last_denied else "denied"
    if deniers - {actor_of(a) for a in support} and not said.is_own_word:
        return "disputed"
    return "was"


def _sides(standing: Standing, said: _Spoken) -> tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
    """Whose word is told, and who says otherwise."""
    if standing == "denied":
        return said.holding(said.reject), ()
    speaking = said.holding(said.support) or said.holding(said.unsure)
    if standing == "disputed":
        return speaking, [a for a in said.reject if a["id"] in said.inside]
    if standing in ("was", "planned"):
        speaking = said.support
    for_it = {actor_of(a) for a in said.support}
    return speaking or said.reject, [a for a in said.reject if for_it and actor_of(a) not in for_it]


def _testimony(
    standing: Standing,
    speaking: Sequence[Mapping[str, Any]],
    against: Sequence[Mapping[str, Any]],
    ended_by: tuple[ElementId, ...],
    active: Sequence[Mapping[str, Any]],
    *,
    is_over: bool = False,
) -> Testimony:
    lead = speaking[0]
    valid = lead.get("valid_time") or {}
    # Who repeats a claim without its date has not taken the date back.
    dated = next((a for a in speaking if actor_of(a) == actor_of(lead) and names_start(_from(a))), lead)
    voices: dict[tuple[ElementId | None, Any], Mapping[str, Any]] = {}
    for assertion in (lead, *active):
        voices.setdefault((actor_of(assertion), assertion.get("stance")), assertion)
    return Testimony(
        standing,
        _from(dated),
        valid.get("until"),
        () if valid.get("until") else ended_by,
        lead.get("asserted_at"),
        lead["id"],
        tuple(dict.fromkeys(i for a in speaking if (i := actor_of(a)))),
        tuple(dict.fromkeys(i for a in against if (i := actor_of(a)))),
        tuple(a["id"] for a in (*against, *([dated] if dated is not lead else []))),
        tuple(voices.values()),
        is_over,
    )


def begun(assertion: Mapping[str, Any]) -> Any:
    """The start of a claim as an endpoint: as written, else the bound that its being said is (§25.2)."""
    return _from(assertion) or {"latest": assertion.get("asserted_at")}


def _from(assertion: Mapping[str, Any]) -> Any:
    return (assertion.get("valid_time") or {}).get("from")


def names_start(start: Any) -> bool:
    """Whether a start says when something began, not merely by when it had."""
    return start is not None and not (isinstance(start, Mapping) and start.get("earliest") is None)


def start_key(assertion: Mapping[str, Any]) -> Timestamp:
    """The latest instant by which a claim says to have begun (§25.4)."""
    start = begun(assertion)
    return str((start.get("latest") if isinstance(start, Mapping) else start) or assertion.get("asserted_at") or "")


def _begins_after(assertion: Mapping[str, Any], at: Timestamp) -> bool:
    begun = _from(assertion)
    first = begun.get("earliest") if isinstance(begun, Mapping) else begun
    return first is not None and first > at


def _is_active(assertion: Mapping[str, Any]) -> bool:
    system = assertion.get("_system") or {}
    return (
        _status(assertion) == "active"
        and system.get("state", "active") == "active"
        and system.get("recording_validity", "valid") != "invalidated"
    )


def _status(assertion: Mapping[str, Any]) -> str:
    return str((assertion.get("lifecycle") or {}).get("status", "active"))


def actor_of(assertion: Mapping[str, Any]) -> ElementId | None:
    actor = assertion.get("asserted_by")
    return actor.get("id") if isinstance(actor, Mapping) else None


def _said(assertion: Mapping[str, Any]) -> tuple[str, int]:
    return str(assertion.get("asserted_at") or ""), int(assertion["id"][2:])
