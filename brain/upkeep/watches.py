"""Armed Watches against the change stream: each fires once, or ends, or waits on (Cognitive Memory Profile §5.11).

Firing is one commit: the Activity that says so, under a key that names the arming and what was seen, and the change of
the Watch's status under its version. It draws attention and does nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brain import errors
from brain.gate.gate import host_session
from brain.kip import govern
from brain.kip.context import Session, WriteSet
from brain.kip.governance.access import access_of
from brain.kip.watches import ARMED, Condition, Match, arming, condition_of, fire_key, first_match, silence_key
from brain.store.base import Element, ElementId, Snapshot, Transaction
from brain.times import Seq, Timestamp
from brain.upkeep.parts import Refused, Work

_WATCHES, _CHANGES = 20, 200
_MOST_ARMED = 10_000
_PROGRESS = "upkeep.watches"
_NEXT = "next"
OUTCOMES = ("fired", "conflicted", "disarmed", "deferred")

_FIRE = """MUTATE {
  CREATE ACTIVITY ?fired { CLIENT KEY :key
    SET FIELDS {activity_class: "watch_fire", status: "completed"}
    SET STRUCTURAL { ("inputs", :watch) %s } }
  UPDATE :watch SET ATTRIBUTES {status: "fired", fired_at: :now} EXPECT VERSION :version
}"""
_EXPIRE = 'UPDATE :watch SET ATTRIBUTES {status: "expired"} EXPECT VERSION :version'


def advance(work: Work) -> dict[str, int]:
    """Bring up to twenty armed Watches as far as the stream goes; how many came to which end.

    fired       drew attention
    conflicted  moved on while they were looked at; they are looked at again
    disarmed    waited for silence and were answered in time
    deferred    cannot be decided here: a text, a condition that is none, or a view that changed since they were armed
    """
    counts = dict.fromkeys(OUTCOMES, 0)
    for watch in _turn(work):
        try:
            outcome = _Evaluation(work, watch).run()
        except Refused:
            outcome = "deferred"
        if outcome is not None:
            counts[outcome] += 1
    return counts


def _turn(work: Work) -> list[ElementId]:
    """The armed Watches whose turn it is, in a round that goes on with the next cycle."""
    armed: list[ElementId] = work.read(
        'FIND(?w.id) WHERE { ?w {type: "Watch"} FILTER(?w.attributes.status == :armed) } '
        f"ORDER BY ?w.id LIMIT {_MOST_ARMED}",
        armed=ARMED,
    )
    armed.sort(key=_number)
    with work.space.snapshot() as snapshot:
        last = int((snapshot.get(_PROGRESS, _NEXT) or {"after": 0})["after"])
    turn = [*(w for w in armed if _number(w) > last), *(w for w in armed if _number(w) <= last)][:_WATCHES]
    after = _number(turn[-1]) if len(armed) > _WATCHES else 0
    if turn and after != last:
        with work.space.transaction() as tx:
            work.check_lease(tx)
            tx.set(_PROGRESS, _NEXT, {"after": after})
    return turn


def _number(element_id: ElementId) -> int:
    return int(element_id[2:])


@dataclass(frozen=True, slots=True)
class _Seen:
    """How far the stream was read for an arming, and what of it was wanted.

    through  every change up to this commit was looked at
    due      the last commit of the time a silence has, None while that runs
    """

    through: Seq
    due: Seq | None
    match: Match | None
    changed: ElementId | None


class _Evaluation:
    """One Watch, looked at once."""

    def __init__(self, work: Work, watch: ElementId) -> None:
        self.work, self.watch = work, watch

    def run(self) -> str | None:
        """What came of it; None when it waits on."""
        with self.work.space.snapshot() as snapshot:
            found = snapshot.elements([self.watch]).get(self.watch)
            armed = arming(snapshot.versions(self.watch))
            if found is None or armed is None:
                return None
            attributes = found.body["attributes"]
            due_at: Timestamp | None = attributes.get("due_at")
            is_silence = attributes["watch_class"] == "silence"
            progress = snapshot.get(_PROGRESS, self.watch) or {}
            if progress.get("generation") != armed.generation:
                progress = {"generation": armed.generation, "consumed_seq": armed.seq, "view": self._view(snapshot)}
            condition = self._condition(attributes["condition"], snapshot)
            if condition is None or progress["view"] != self._view(snapshot) or (is_silence and due_at is None):
                return "deferred"
            seen = self._read(condition, snapshot, progress["consumed_seq"], due_at if is_silence else None)
        if seen is None:
            return "deferred"
        outcome = self._conclude(found, armed.generation, seen, due_at if is_silence else None)
        if outcome is None and seen.through != progress["consumed_seq"]:
            with self.work.space.transaction() as tx:
                self.work.check_lease(tx)
                tx.set(_PROGRESS, self.watch, {**progress, "consumed_seq": seen.through})
        return outcome

    def _view(self, snapshot: Snapshot) -> str:
        """The authority the stream is read under."""
        engine = self.work.space.engine
        access = access_of(engine.planes, self.work.session, snapshot, snapshot, engine.clock)
        return govern.authorization_view(access.session)

    def _condition(self, value: Any, snapshot: Snapshot) -> Condition | None:
        try:
            return condition_of(value, self.work.space.engine.environment(snapshot))
        except errors.KipError:
            return None

    def _read(self, condition: Condition, snapshot: Snapshot, consumed: Seq, due_at: Timestamp | None) -> _Seen | None:
        """Look through one page of the stream; None when it has a gap, which is no silence."""
        due = None
        if due_at is not None and due_at <= self.work.now:
            last = snapshot.commit_at(due_at)
            due = last.seq if last else 0
        end = snapshot.seq if due is None else min(due, snapshot.seq)
        page = snapshot.commits(after=consumed, until=end, limit=_CHANGES)
        through = page[-1].seq if len(page) == _CHANGES else max(end, consumed)
        if len(page) != through - consumed:
            return None
        engine = self.work.space.engine
        shown = access_of(engine.planes, self.work.session, snapshot, snapshot, engine.clock).snapshot
        match = first_match(condition, shown.commits(after=consumed, until=through), shown)
        changed = None if match is None else shown.elements([match.element]).get(match.element)
        is_there = changed is not None and changed.state != "purged"
        return _Seen(through, due, match, changed.id if changed is not None and is_there else None)

    def _conclude(self, watch: Element, generation: int, seen: _Seen, due_at: Timestamp | None) -> str | None:
        if seen.match is not None and due_at is not None:
            return self._write(_EXPIRE, watch, "disarmed")
        if seen.match is not None:
            key = fire_key(self.watch, generation, seq=seen.match.seq)
            return self._write(_fire(seen.changed), watch, "fired", key=key, **_input(seen.changed))
        if due_at is None or seen.due is None or seen.through < seen.due:
            return None
        key = silence_key(self.watch, generation, due_at=due_at)
        session = self._still_silent(due_at, seen.through)
        return self._write(_fire(None), watch, "fired", session, key=key)

    def _write(self, command: str, watch: Element, outcome: str, session: Session | None = None, **values: Any) -> str:
        named = {"watch": {"id": watch.id}, "version": watch.version, **values}
        if "fired_at" in command:
            named["now"] = self.work.now
        try:
            self.work.write_as(session or self.work.session, command, **named)
        except Refused as refused:
            if refused.args[0] in ("ClientKeyConflict", "PreconditionFailed", "VersionConflict"):
                return "conflicted"
            raise
        return outcome

    def _still_silent(self, due_at: Timestamp, through: Seq) -> Session:
        """A session whose write goes through only while nothing more was committed in the time the silence has."""

        def check(_: WriteSet, tx: Transaction) -> None:
            self.work.check_lease(tx)
            last = tx.commit_at(due_at)
            if last is not None and last.seq > through:
                raise errors.PreconditionFailed("Something was committed in time after all.")

        return host_session("upkeep", check)


def _fire(changed: ElementId | None) -> str:
    return _FIRE % ('("inputs", :changed)' if changed is not None else "")


def _input(changed: ElementId | None) -> dict[str, Any]:
    return {} if changed is None else {"changed": {"id": changed}}
