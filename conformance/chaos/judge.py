"""What is there at the end, beside what was sent: nothing lost, nothing doubled, nothing left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brain.app import Application, build
from brain.service import conversations
from brain.service.entries import FORMATION, MAINTENANCE, PASS_LEASE
from brain.service.hosting import HOST
from brain.settings import Settings
from conformance.chaos.clients import Sent

CLAIMS = 'FIND(?o.name, ?a.id) WHERE { ?p (?s, "owns", ?o) ?a ASSERTION {proposition: ?p} } LIMIT 5000'
EVIDENCE = "FIND(?e.id, ?e.payload.inline) WHERE { ?e EVIDENCE {} } LIMIT 5000"

_ENDED = frozenset({"completed", "failed", "cancelled"})


@dataclass
class Verdict:
    """One run.

    facts   what happened, by name
    faults  what must not have, by name; all zero in a good run
    """

    title: str
    facts: dict[str, object] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    details: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost, doubled or left, and something was done."""
        return not any(self.faults.values()) and bool(self.facts["accepted"]) and bool(self.facts["kills"])

    def table(self) -> str:
        """For people."""
        rows = [*self.facts.items(), *((f"FAULT {name}", count) for name, count in self.faults.items())]
        width = max(len(name) for name, _ in rows)
        lines = [self.title, *(f"  {name:<{width}}  {value}" for name, value in rows), *self.details[:40]]
        return "\n".join([*lines, "good" if self.is_good else "NOT GOOD"])


def judge(
    settings: Settings,
    sent: Sequence[Sent],
    *,
    missing: int,
    store: str,
    seed: int,
    kills: Mapping[str, int],
    killing_s: float,
    settled_s: float | None,
    away_s: float = 0.0,
) -> Verdict:
    """Look at every Space; no process may be at work any more.

    missing    inputs that nobody accepted in time
    away_s     of the time of killing, how long the database was killed or starting
    settled_s  None when conversations were left that had not ended in time
    """
    application = build(settings)
    try:
        verdict = Verdict(f"chaos: {store}, seed {seed}")
        totals: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        for space in sorted({one.space for one in sent}):
            mine = [one for one in sent if one.space == space]
            _Look(application, space, mine, totals, reasons, verdict.details).judge()
    finally:
        application.spaces.close()
    accepted = sum(one.conversation is not None for one in sent)
    verdict.facts = {
        "seconds of killing": round(killing_s, 1),
        "  of these the database was away": round(away_s, 1),
        "seconds until all had ended": "never" if settled_s is None else round(settled_s, 1),
        "kills": sum(kills.values()),
        **{f"  {name}": count for name, count in sorted(kills.items())},
        "requests": len(sent),
        "accepted": accepted,
        "without an answer": len(sent) - accepted,
        "  of these accepted": totals["unanswered and there"],
        "formed": totals["completed"],
        "reported as failed": totals["failed"],
        **{f"  {reason}": count for reason, count in sorted(reasons.items())},
        "formed out of order": totals["out of order"],
    }
    faults = (
        "accepted and lost",
        "not ended",
        "failed without a reason",
        "formed and not remembered",
        "claims doubled",
        "words put down twice",
        "accepted as something else",
        "records nobody sent",
        "entries left in a queue",
        "leases left",
    )
    verdict.faults = {"not accepted in time": missing, **{name: totals[name] for name in faults}}
    return verdict


class _Look:
    """At one Space."""

    def __init__(
        self,
        application: Application,
        space: str,
        sent: Sequence[Sent],
        totals: Counter[str],
        reasons: Counter[str],
        details: list[str],
    ) -> None:
        self._space = application.spaces.get(space)
        self._sent = sent
        self._totals = totals
        self._reasons = reasons
        self._details = details

    def judge(self) -> None:
        """Count what is there."""
        claims = Counter(str(row[0]) for row in self._rows(CLAIMS))
        words = self._rows(EVIDENCE)
        self._count_doubles("claims doubled", claims)
        self._count_doubles("words put down twice", Counter(str(row[1]) for row in words))
        with self._space.snapshot() as now:
            count = conversations.count(now, FORMATION)
            records = {number: conversations.read(now, FORMATION, number) for number in range(1, count + 1)}
            inputs = {number: conversations.input_of(now, FORMATION, number) for number in records}
            commits = {number: conversations.commits_of(now, FORMATION, number) for number in records}
            left = [*now.work(FORMATION), *now.work(MAINTENANCE)]
            lease = now.lease(PASS_LEASE)
        self._fault("entries left in a queue", len(left), f"{len(left)} entries")
        self._fault("leases left", int(lease is not None), "a lease")
        accepted = {one.conversation: one for one in self._sent if one.conversation is not None}
        unanswered = {one.things: one for one in self._sent if one.conversation is None}
        for number in accepted.keys() - records.keys():
            self._fault("accepted and lost", 1, f"conversation {number}")
        for number, record in records.items():
            if record is None:
                self._fault("accepted and lost", 1, f"conversation {number}")
                continue
            things = _things(inputs[number])
            one = accepted.get(number) or unanswered.get(things)
            if one is None:
                self._fault("records nobody sent", 1, f"conversation {number}")
            elif one.things != things:
                self._fault("accepted as something else", 1, f"conversation {number}")
            else:
                self._totals["unanswered and there"] += number not in accepted
                self._judge_record(number, record, things, claims)
        self._count_order(commits)

    def _judge_record(
        self, number: int, record: Mapping[str, Any], things: Sequence[str], claims: Counter[str]
    ) -> None:
        status, reason = record["status"], record.get("failed_reason")
        if status not in _ENDED:
            self._fault("not ended", 1, f"conversation {number} is {status}: {reason}")
        elif status == "completed":
            self._totals["completed"] += 1
            missing = [thing for thing in things if claims[thing] != 1]
            self._fault("formed and not remembered", len(missing), f"conversation {number}: {missing}")
        else:
            self._totals["failed"] += 1
            self._reasons[str(reason).partition(";")[0]] += 1
            self._fault("failed without a reason", int(not reason), f"conversation {number}")

    def _count_order(self, commits: Mapping[int, Sequence[int]]) -> None:
        """How many inputs were formed after one that was accepted later."""
        last = 0
        for _, seqs in sorted(commits.items()):
            if seqs:
                self._totals["out of order"] += seqs[0] < last
                last = max(last, seqs[0])

    def _count_doubles(self, name: str, found: Counter[str]) -> None:
        for what, count in found.items():
            self._fault(name, int(count > 1), f"{what}: {count} times")

    def _fault(self, name: str, count: int, detail: str) -> None:
        if count:
            self._totals[name] += count
            self._details.append(f"  {self._space.id}: {name}: {detail}")

    def _rows(self, command: str) -> list[list[Any]]:
        rows: list[list[Any]] = []
        cursor = None
        while True:
            text = command if cursor is None else f'{command} CURSOR "{cursor}"'
            answer = self._space.engine.run(text, session=HOST).response["results"][0]
            if answer["status"] != "succeeded":
                raise RuntimeError(f"the judge cannot read {self._space.id}: {answer['error']['code']}")
            rows += answer["result"]
            cursor = answer.get("next_cursor")
            if cursor is None:
                return rows


def _things(stored: Mapping[str, Any] | None) -> tuple[str, ...]:
    """What the messages of an input that was accepted name."""
    texts = [str(message["content"]) for message in (stored or {}).get("messages", ())]
    return tuple(text.removeprefix("I own a ").removesuffix(".") for text in texts)
