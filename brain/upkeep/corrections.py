"""What was taken back or put right since the last settlement, told once, with what was built on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brain.store.base import Document, ElementId, Transaction
from brain.times import Seq
from brain.upkeep.parts import Work

_STATE = ("upkeep", "corrections")
_COMMITS, _CLAIMED, _ROOTS, _DEPENDENTS, _DEPTH = 500, 200, 20, 20, 2
_REVISED = frozenset({"corrected", "retracted", "superseded"})


@dataclass(frozen=True, slots=True)
class Scan:
    """One run over the commits since the last.

    corrections   Assertions superseded in them
    roots         claims and Evidence that no longer stand
    claimed       propositions that were spoken to, for a look at conflicts
    through_seq   the last commit read
    is_incomplete whether commits are left for the next cycle
    by_actor      corrections of each actor, over all settlements
    """

    corrections: int
    roots: tuple[ElementId, ...]
    claimed: tuple[ElementId, ...]
    through_seq: Seq
    is_incomplete: bool
    by_actor: dict[ElementId, int]


def scan(work: Work) -> Scan:
    """Read the commits since the last scan and move its cursor, in one transaction, so that each is told once."""
    with work.space.transaction() as tx:
        work.check_lease(tx)
        state = tx.get(*_STATE) or {"through_seq": 0, "by_actor": {}, "total": 0}
        commits = tx.commits(after=state["through_seq"], limit=_COMMITS)
        superseded: list[ElementId] = []
        roots: dict[ElementId, None] = {}
        claimed: dict[ElementId, None] = {}
        for commit in commits:
            for change in commit.envelope["changes"]:
                _note(change, superseded, roots, claimed)
        through = commits[-1].seq if commits else state["through_seq"]
        by_actor = dict(state["by_actor"])
        for actor in _actors(superseded, tx):
            by_actor[actor] = by_actor.get(actor, 0) + 1
        tx.set(*_STATE, {"through_seq": through, "by_actor": by_actor, "total": state["total"] + len(superseded)})
        return Scan(
            len(superseded),
            tuple(roots),
            tuple(claimed)[-200:],
            through,
            through < tx.seq,
            dict(sorted(by_actor.items())),
        )


def _note(
    change: Document, superseded: list[ElementId], roots: dict[ElementId, None], claimed: dict[ElementId, None]
) -> None:
    state = change.get("state") or {}
    if change["op"] == "lifecycle" and state.get("to") in _REVISED:
        roots[change["id"]] = None
        if change["kind"] == "assertion" and state["to"] == "superseded":
            superseded.append(change["id"])
    elif change["op"] == "create" and change["kind"] == "assertion":
        claimed[change["refs"]["proposition"]] = None


def _actors(assertions: list[ElementId], tx: Transaction) -> list[ElementId]:
    found = tx.elements(assertions)
    return [found[i].body["asserted_by"]["id"] for i in assertions if i in found and found[i].body.get("asserted_by")]


def revised_roots(work: Work, roots: tuple[ElementId, ...]) -> list[dict[str, Any]]:
    """Roots that something was derived from, with their dependents; each gets a review task, and nothing is edited."""
    told = []
    for root in roots[:_ROOTS]:
        found = _derived_from(work, root)
        if not found:
            continue
        dependents = found[:_DEPENDENTS]
        told.append({"root": root, "dependents": dependents, "is_truncated": len(found) > _DEPENDENTS})
        links = " ".join(f'("about", :d{number})' for number in range(len(dependents)))
        work.write(
            'CREATE CONCEPT ?t { TYPE "SleepTask" CLIENT KEY :key SET ATTRIBUTES {task_class: "review_derived", '
            f'status: "pending", summary: :summary}} SET STRUCTURAL {{ {links} }} }}',
            key=f"review_derived:{root}",
            summary=f"{root} no longer stands; look at what was derived from it.",
            **{f"d{number}": {"id": dependent} for number, dependent in enumerate(dependents)},
        )
    return told


def _derived_from(work: Work, root: ElementId) -> list[ElementId]:
    """Concepts derived from a root, nearest first, two steps deep; what replaced it is not derived from it."""
    found: dict[ElementId, None] = {}
    frontier = [root]
    for _ in range(_DEPTH):
        reached: list[ElementId] = []
        for element_id in frontier[:_DEPENDENTS]:
            rows = work.read(f"LIST DEPENDENTS :id LIMIT {_DEPENDENTS + 1}", id=element_id)
            reached += [row["id"] for row in rows if not _is_revision(work, row["via"]["activity"])]
        found |= dict.fromkeys(i for i in reached if i.startswith("C-"))
        frontier = reached
    return list(found)


def _is_revision(work: Work, activity: ElementId) -> bool:
    classes = work.read("FIND(?x.activity_class) WHERE { ?x ACTIVITY {id: :id} }", id=activity)
    return bool(classes == ["belief_revision"])
