"""How a known claim stands: one projection and the Assertions behind it, as a standing, times and people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain.agents.turns import Standing
from brain.store.base import ElementId
from brain.times import Timestamp

_DAY, _MONTH, _YEAR = 10, 7, 4


@dataclass(frozen=True, slots=True)
class Testimony:
    """What one proposition's Assertions come to.

    since, until  endpoints as stored: an instant, a bound or None
    carrier       the Assertion to cite
    by, against   actors for it and against it, newest first
    """

    standing: Standing
    since: Any
    until: Any
    said_at: Timestamp | None
    carrier: ElementId
    by: tuple[ElementId, ...]
    against: tuple[ElementId, ...]


def weigh(belief: Mapping[str, Any], assertions: Sequence[Mapping[str, Any]], at: Timestamp) -> Testimony | None:
    """How a proposition stands at `at`; None when nothing on record speaks to it any more.

    belief      its projection under the memory policy at `at`
    assertions  every Assertion about it, whatever their status
    """
    active = sorted((a for a in assertions if _is_active(a)), key=_said, reverse=True)
    support = [a for a in active if a.get("stance") == "support"]
    reject = [a for a in active if a.get("stance") == "reject"]
    if not active:
        retracted = sorted((a for a in assertions if _status(a) == "retracted"), key=_said, reverse=True)
        return _testimony("withdrawn", retracted[0], retracted, [], None) if retracted else None
    standing = _standing(belief, support, reject, at)
    if standing is None:
        return None
    until = None
    if standing == "was":
        ends = [a for a in reject if _by(a) in {_by(s) for s in support}]
        until = _end(ends[0]) if ends else None
    lead = (support or reject or active)[0]
    for_it = {_by(a) for a in support}
    against = [a for a in reject if support and _by(a) not in for_it]
    return _testimony(standing, lead, support or active, against, until)


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
    until: Any,
) -> Testimony:
    valid = lead.get("valid_time") or {}
    return Testimony(
        standing,
        valid.get("from"),
        valid.get("until") or until,
        lead.get("asserted_at"),
        lead["id"],
        tuple(dict.fromkeys(i for a in speaking if (i := _by(a)))),
        tuple(dict.fromkeys(i for a in against if (i := _by(a)))),
    )


def _end(reject: Mapping[str, Any]) -> Any:
    return (reject.get("valid_time") or {}).get("from") or {"latest": reject.get("asserted_at")}


def _begins_after(assertion: Mapping[str, Any], at: Timestamp) -> bool:
    begun = (assertion.get("valid_time") or {}).get("from")
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
    """An endpoint to the precision known: `2024-03-20`, `2024-03`, `2024`, `by 2024-03-20`; empty when unknown."""
    if point is None:
        return ""
    if not isinstance(point, Mapping):
        return f"{point[:_DAY]}" if point.endswith("T00:00:00.000Z") else f"{point[:16].replace('T', ' ')}"
    earliest, latest = point.get("earliest"), point.get("latest")
    if earliest is None:
        return f"by {latest[:_DAY]}" if latest else ""
    if latest is None:
        return f"from {earliest[:_DAY]}"
    for width, begins in ((_DAY, "T00:00"), (_MONTH, "-01T00:00"), (_YEAR, "-01-01T00:00")):
        if earliest[:width] == latest[:width] and earliest[width:].startswith(begins):
            return str(earliest[:width])
    return f"{earliest[:_DAY]} to {latest[:_DAY]}"
