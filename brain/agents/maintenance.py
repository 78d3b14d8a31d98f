"""Maintenance: what the host settled becomes an assessment, and a model may tidy what needs judgement, behind its gate.

A cycle that finds nothing safe to do ends with a truthful sentence and no change.
"""

from __future__ import annotations

from anyio.to_thread import run_sync

from brain.agents.door import Door, WriteContext
from brain.agents.execute import ExecuteKip
from brain.agents.formation import CommitGuard
from brain.agents.jobs import MaintenanceJob, Place, RunResult
from brain.agents.loop import Budget, run_loop
from brain.agents.model import Usage
from brain.agents.prompts import system_prompt
from brain.agents.reading import ReadFailed, Reading
from brain.agents.reference import KipReference
from brain.agents.telling import maintenance_text
from brain.agents.turns import MaintenanceTurn
from brain.agents.words import read_vocabulary
from brain.gate.facts import MaintenanceFacts
from brain.gate.gate import maintenance_session, reader_session
from brain.times import timestamp

BUDGET = Budget(rounds=200, total_ms=30 * 60_000)


async def maintain(place: Place, job: MaintenanceJob) -> RunResult:
    """Run one cycle. Every way it can end is a RunResult, but for a lost lease.

    raises  LeaseLost when another worker has taken the Space over
    """
    now = timestamp(place.clock.now_ms())
    reading = Reading(place.engine, reader_session("agent:maintenance"))
    try:
        vocabulary = await run_sync(read_vocabulary, reading)
    except ReadFailed as failed:
        return RunResult("", f"memory_unavailable: {failed}", Usage(), place.model.name, 0, "failed")
    guard = CommitGuard(job.commit_review)
    facts = MaintenanceFacts(place.self_id, frozenset(job.settlement.get("archive_candidates") or ()))
    session = maintenance_session(facts, now, guard)
    door = Door(
        engine=place.engine,
        origin=f"maintenance:{now}",
        read_session=reading.session,
        before_write=lambda: WriteContext(session, None, {}),
        after_define=lambda _kind, _ref: None,
        raise_if_lost=guard.raise_if_lost,
        bindings={"now": now, "self": {"id": place.self_id}},
    )
    turn = MaintenanceTurn(job.scope, job.trigger, job.settlement, vocabulary, now)
    prompt = system_prompt("maintenance", vocabulary)
    end = await run_loop(
        place.model,
        system=prompt.text,
        user=maintenance_text(turn, place.self_id),
        tools=(ExecuteKip(door), KipReference()),
        budget=BUDGET,
        task=turn,
        transcript=place.transcript,
    )
    return RunResult(
        content=end.content,
        failed_reason=end.failed_reason,
        usage=end.usage,
        model=end.model,
        rounds=end.rounds,
        stopped=end.stopped,
        committed=tuple(door.committed),
        ids=tuple(door.ids),
        prompt_digest=prompt.digest,
    )
