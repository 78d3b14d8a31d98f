"""What is due: promises to be raised once, records whose retention has run out."""

from __future__ import annotations

from typing import Any

from brain.upkeep.parts import Refused, Work

_COMMITMENTS, _ARCHIVED = 50, 200
NOTHING_ARCHIVED = {"archived": 0, "held": 0, "refused": 0, "remaining": 0}
_KINDS = ("?x {}", "?x ASSERTION {}", "?x EVIDENCE {}", "?x ACTIVITY {}")


def raise_commitments(work: Work) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Record, once per due time, that an open Commitment nobody watches is due; the Commitment stays as it is."""
    rows = work.read(
        'FIND(?c) WHERE { ?c {type: "Commitment"} FILTER(?c.attributes.due_at <= :now && '
        '(?c.attributes.status == "pending" || ?c.attributes.status == "blocked")) '
        'NOT { ?w {type: "Watch"} STRUCTURAL (?w, "watches", ?c) } } '
        f"ORDER BY ?c.attributes.due_at LIMIT {_COMMITMENTS}",
        now=work.now,
    )
    raised = 0
    for view in rows:
        raised += work.write(
            "CREATE ACTIVITY ?x { CLIENT KEY :key "
            'SET FIELDS {activity_class: "commitment_review", status: "completed"} '
            'SET STRUCTURAL { ("inputs", :commitment) } }',
            key=f"commitment_review:{view['id']}:{view['attributes']['due_at']}",
            commitment={"id": view["id"]},
        )
    due = [
        {"id": view["id"], "what": view["attributes"].get("summary"), "due_at": view["attributes"]["due_at"]}
        for view in rows
    ]
    return {"due": len(rows), "raised": raised}, due


def archive_expired(work: Work) -> dict[str, Any]:
    """Archive what is past `retention.expires_at`; what is on hold or pinned stays and is counted."""
    counts = dict(NOTHING_ARCHIVED)
    for pattern in _KINDS:
        rows = work.read(
            f"FIND(?x.id, ?x.retention) WHERE {{ {pattern} FILTER(?x.retention.expires_at <= :now) }}", now=work.now
        )
        for element_id, retention in rows:
            if retention.get("legal_hold") or retention.get("retention_class") == "pinned":
                counts["held"] += 1
            elif counts["archived"] >= _ARCHIVED:
                counts["remaining"] += 1
            else:
                counts[_archive(work, element_id)] += 1
    return counts


def _archive(work: Work, element_id: str) -> str:
    try:
        work.write('TRANSITION :id TO "archived"', id=element_id)
    except Refused:
        return "refused"
    return "archived"
