"""How a known claim stands: one projection and the Assertions behind it, as a standing, times and people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain.agents.turns import Standing
from brain.store.base import ElementId
from brain.times import Timestamp

_MINUTE, _DAY, _MONTH, _YEAR = 16, 10, 7, 4


@dataclass(frozen=True, slots=True)
class Testimony:
    """What one proposition's Assertions come to.

    since, until  endpoints as stored: an instant, a bound or None; `until` is None where another claim ended it
    ended_by      Assertions whose start ended it by succession (§25.4)
    carrier       the Assertion to cite
    by, against   actors for it and against it, newest first
    behind        further Assertions this rests on: of those against it, and what dates it
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


def weigh(belief: Mapping[str, Any], assertions: Sequence[Mapping[str, Any]], at: Timestamp) -> Testimony | None:
    """How a proposition stands at `at`; None when nothing on record speaks to it any more.

    belief      its projection under the memory policy at `at`, explained by its ledger
    assertions  every Assertion about it, whatever their status
    """
    active = sorted((a for a in assertions if _is_active(a)), key=_said, reverse=True)
    support = [a for a in active if a.get("stance") == "support"]
    reject = [a for a in active if a.get("stance") == "reject"]
    if not active:
        retracted = sorted((a for a in assertions if _status(a) == "retracted"), key=_said, reverse=True)
        return _testimony("withdrawn", retracted[0], retracted, [], ()) if retracted else None
    standing = _standing(belief, support, reject, at)
    if standing is None:
        return None
    ledger = belief.get("explanation") or {}
    inside = {told["id"] for told in ledger.get("eligible") or () if told["standing"] == "inside"}
    holding = [a for a in support if a["id"] in inside] if standing in ("accepted", "disputed") else support
    speaking = holding or support or active
    if standing == "disputed":
        against = [a for a in reject if a["id"] in inside]
    else:
        for_it = {_by(a) for a in support}
        against = [a for a in reject if support and _by(a) not in for_it]
    enders = {told["id"]: tuple(told["ended_by"]) for told in ledger.get("succession") or ()}
    lead = speaking[0]
    ended_by = enders.get(lead["id"], ()) if standing == "was" else ()
    return _testimony(standing, lead, speaking, against, ended_by)


def _standing(
    belief: Mapping[str, Any], support: Sequence[Mapping[str, Any]], reject: Sequence[Mapping[str, Any]], at: Timestamp
) -> Standing | None:
    status = belief.get("status")
    changed_mind = bool({_by(a) for a in support} & {_by(a) for a in reject})
    if status == "accepted":
        return "accepted"
    if status == "contested":
        return "disputed"
    if status == "rejected":
        return "was" if changed_mind else "denied"
    if not support:
        return "hearsay" if status == "uncertain" else None
    if all(_begins_after(a, at) for a in support):
        return "planned"
    is_over = changed_mind or any((a.get("valid_time") or {}).get("until") for a in support)
    if status == "uncertain":
        reasons = (belief.get("uncertainty") or {}).get("reasons") or ()
        return "was" if is_over and "temporal_indeterminate" in reasons else "hearsay"
    return "was"


def _testimony(
    standing: Standing,
    lead: Mapping[str, Any],
    speaking: Sequence[Mapping[str, Any]],
    against: Sequence[Mapping[str, Any]],
    ended_by: tuple[ElementId, ...],
) -> Testimony:
    valid = lead.get("valid_time") or {}
    # Who repeats a claim without its date has not taken the date back.
    dated = next((a for a in speaking if _by(a) == _by(lead) and names_start(_from(a))), lead)
    return Testimony(
        standing,
        _from(dated),
        valid.get("until"),
        () if valid.get("until") else ended_by,
        lead.get("asserted_at"),
        lead["id"],
        tuple(dict.fromkeys(i for a in speaking if (i := _by(a)))),
        tuple(dict.fromkeys(i for a in against if (i := _by(a)))),
        tuple(a["id"] for a in (*against, *([dated] if dated is not lead else []))),
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


def _by(assertion: Mapping[str, Any]) -> ElementId | None:
    actor = assertion.get("asserted_by")
    return actor.get("id") if isinstance(actor, Mapping) else None


def _said(assertion: Mapping[str, Any]) -> tuple[str, int]:
    return str(assertion.get("asserted_at") or ""), int(assertion["id"][2:])


# --- times as a person says them --------------------------------------------------------------------------------------


def first_instant(point: Any) -> Timestamp | None:
    """The earliest instant an endpoint may mean; its latest when it has no earliest."""
    if isinstance(point, Mapping):
        return point.get("earliest") or point.get("latest")
    return str(point) if point is not None else None


def spoken(point: Any) -> str:
    """An endpoint as a person would say it after "since" or "until", to the precision known.

    `2024-03-20`, `2024-03-20 15:00`, `2024-03`, `2024`; a span that is none of these `some time between … and …`. Of
    an end that is only known to lie before an instant nothing is said: that instant is when somebody spoke, no date of
    what they spoke about.
    """
    if point is None:
        return ""
    if not isinstance(point, Mapping):
        return f"{point[:_DAY]}" if point.endswith("T00:00:00.000Z") else f"{point[:_MINUTE].replace('T', ' ')}"
    earliest, latest = point.get("earliest"), point.get("latest")
    if earliest is None:
        return ""
    if latest is None:
        return f"some time from {earliest[:_DAY]} on"
    if earliest[:_MINUTE] == latest[:_MINUTE]:
        return str(earliest[:_MINUTE]).replace("T", " ")
    if earliest[:_DAY] == latest[:_DAY]:
        return str(earliest[:_DAY])
    # A month or year that was not over when it was named ends where it was said.
    for width, begins in ((_MONTH, "-01T00:00"), (_YEAR, "-01-01T00:00")):
        if earliest[:width] == latest[:width] and earliest[width:].startswith(begins):
            return str(earliest[:width])
    return f"some time between {earliest[:_DAY]} and {latest[:_DAY]}"
