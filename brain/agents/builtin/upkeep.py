"""What the offline model makes of a maintenance cycle: nothing, said truthfully."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brain.agents.turns import MaintenanceTurn

_COUNTED: tuple[tuple[str, str, str], ...] = (
    ("revised_roots", "revised root", "revised roots"),
    ("due_commitments", "promise due", "promises due"),
    ("conflicts", "contradiction", "contradictions"),
    ("identity_candidates", "name held by several people", "names held by several people"),
    ("drafts_without_review", "drafted word without review", "drafted words without review"),
    ("archive_candidates", "element that may be archived", "elements that may be archived"),
)


def report_of(turn: MaintenanceTurn) -> str:
    """What the settlement before this cycle did and found; judging it is left to others."""
    done, open_ = _done(turn.assessment), _open(turn.assessment)
    said = ["Settlement: " + (", ".join(done) if done else "nothing to do") + "."]
    if open_:
        said.append(f"Left for judgement: {', '.join(open_)}. The built-in model changes nothing by itself.")
    else:
        said.append("Nothing needs judgement.")
    errors = turn.assessment.get("settlement_errors")
    if isinstance(errors, Mapping) and errors:
        said.append(f"Parts that failed: {', '.join(sorted(map(str, errors)))}.")
    return " ".join(said)


def _done(assessment: Mapping[str, Any]) -> list[str]:
    found = []
    corrections = _number(assessment.get("new_corrections"))
    if corrections:
        found.append(_count(corrections, "correction noted", "corrections noted"))
    for name, member, one, many in (
        ("commitments", "raised", "promise raised", "promises raised"),
        ("watches", "fired", "watch fired", "watches fired"),
        ("retention", "archived", "expired record archived", "expired records archived"),
    ):
        part = assessment.get(name)
        number = _number(part.get(member)) if isinstance(part, Mapping) else 0
        if number:
            found.append(_count(number, one, many))
    return found


def _open(assessment: Mapping[str, Any]) -> list[str]:
    found = []
    for name, one, many in _COUNTED:
        value = assessment.get(name)
        number = len(value) if isinstance(value, (Sequence, Mapping)) and not isinstance(value, str) else _number(value)
        if number:
            found.append(_count(number, one, many))
    return found


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
