"""Recall: an answer from memory, with what it rests on.

Most questions are answered from the dossier without a tool. Citations are never the model's to give: they are the
elements that bound the rows its reads returned, and the dossier's claims the answer speaks of. A model may say which of
them carry its answer; it cannot add one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
from anyio.to_thread import run_sync

from brain import errors
from brain.agents.citations import cite
from brain.agents.execute import ExecuteKipReadonly
from brain.agents.jobs import Citation, Place, RecallJob, RecallResult, RunResult
from brain.agents.loop import Budget, run_loop
from brain.agents.model import Usage
from brain.agents.prompts import system_prompt
from brain.agents.reading import ReadFailed, Reading
from brain.agents.recollection import recall_turn
from brain.agents.reference import KipReference
from brain.agents.selfreport import SelfReport, take_report
from brain.agents.since import erased_since
from brain.agents.telling import recall_text
from brain.agents.turns import KnownClaim, RecallTurn, Ref
from brain.gate.facts import PERSON
from brain.gate.gate import reader_session
from brain.kip import ast
from brain.kip.context import Outcome
from brain.names import fold, occurs
from brain.store.base import ElementId
from brain.times import Seq, timestamp

CONTEXT_MS = 5_000
MAX_CITATIONS = 32
_ROWS_CITED = 32
_NO_ANSWER = "No answer was reached."
_CHANGED = "memory_changed: something this answer was to rest on was erased meanwhile; ask again"


async def recall(place: Place, job: RecallJob) -> RecallResult:
    """Answer one question. Every way it can end is a RecallResult; it commits nothing."""
    reading = Reading(place.engine, reader_session("agent:recall"))
    now = timestamp(place.clock.now_ms())

    def look() -> tuple[Seq, RecallTurn]:
        return place.engine.space.head(), recall_turn(job, now, reading)

    try:
        with anyio.fail_after(min(CONTEXT_MS, job.timeout_ms) / 1000):
            began, turn = await run_sync(look, abandon_on_cancel=True)
    except TimeoutError:
        return _failed(place, "context_timeout: memory could not be read in time")
    except ReadFailed as failed:
        return _failed(place, f"memory_unavailable: {failed}")
    prompt = system_prompt("recall", turn.vocabulary)
    trace = _Trace(reading, turn, most_rows=None if job.planning is None else _ROWS_CITED)
    end = await run_loop(
        place.model,
        system=prompt.text,
        user=recall_text(turn),
        tools=(ExecuteKipReadonly(trace.ask, trace.see), KipReference()),
        budget=_budget(job),
        task=turn,
        transcript=place.transcript,
    )
    answer, report = take_report(end.content)
    run = RunResult(
        content=answer or (_NO_ANSWER if end.failed_reason else ""),
        failed_reason=end.failed_reason,
        usage=end.usage,
        model=end.model,
        rounds=end.rounds,
        stopped=end.stopped,
        prompt_digest=prompt.digest,
    )

    def look_back() -> tuple[tuple[Citation, ...], bool]:
        cited = trace.citations(answer, report)
        # A budgeted answer is packed by the host, which looks again by itself.
        return cited, job.planning is None and erased_since(place.engine, began, trace.met)

    cited, is_void = await run_sync(look_back)
    if is_void:
        return RecallResult(replace(run, content="", failed_reason=_CHANGED, stopped="failed"), None, None, ())
    read = () if job.planning is None else trace.read([citation.element_id for citation in cited])
    return RecallResult(run, report.found, report.uncertainty, cited, read)


def _budget(job: RecallJob) -> Budget:
    """What a run may use; a budgeted one may use less (BR-RECALL-007)."""
    if job.planning is None:
        return Budget(rounds=job.max_rounds, total_ms=job.timeout_ms, tool_calls=64, calls_per_turn=8)
    return Budget(
        rounds=job.max_rounds,
        total_ms=job.timeout_ms,
        tool_calls=16,
        calls_per_turn=4,
        context_tokens=job.planning.context_tokens,
        count=job.planning.count,
    )


class _Trace:
    """The reads of one Recall: how they are made, and what their rows rested on."""

    def __init__(self, reading: Reading, turn: RecallTurn, most_rows: int | None = None) -> None:
        self._reading = reading
        self._most_rows = most_rows
        self._turn = turn
        self._bound: dict[ElementId, None] = {}
        claims = [claim for entry in turn.dossier for claim in entry.claims]
        self._behind = {claim.assertion_id: claim.rests_on for claim in claims}
        self._shown = {i for c in claims for i in (c.assertion_id, *c.rests_on, *(v.assertion_id for v in c.voices))}
        self._shown |= {event.id for event in turn.events} | {known.id for known in turn.commitments}
        self._shown |= {rule.id for rule in turn.rules}
        self._bindings: dict[str, Any] = {"now": turn.now, "at": turn.at}
        if turn.asked_by and turn.asked_by.id:
            self._bindings["asker"] = {"id": turn.asked_by.id}

    def ask(self, commands: Sequence[str], parameters: Mapping[str, Any]) -> Outcome:
        """One request of the model's; KipError when it is refused as a whole."""
        forged = sorted(set(self._bindings) & set(parameters))
        if forged:
            raise errors.NotAuthorized(f":{forged[0]} is bound by the host.", hint="Leave it out of parameters.")
        values = {**self._bindings, **parameters}
        outcome = self._reading.run([(command, values) for command in commands])
        if self._most_rows is not None:
            for result in outcome.response.get("results") or ():
                rows = result.get("result")
                if isinstance(rows, list) and len(rows) > self._most_rows:
                    more = {"code": "RowsLeftOut", "message": f"{len(rows) - self._most_rows} more rows were left out."}
                    result["result"] = rows[: self._most_rows]
                    result["warnings"] = [*result.get("warnings", ()), more]
        return outcome

    def see(self, outcome: Outcome) -> None:
        """Note what bound the rows of an answer."""
        for trace in outcome.operations:
            if isinstance(trace.statement, ast.Find):
                for row in trace.bound[:_ROWS_CITED]:
                    self._bound |= dict.fromkeys(sorted(row, key=lambda i: (i[0], int(i[2:]))))

    @property
    def met(self) -> frozenset[ElementId]:
        """Every element the run was shown or read."""
        return frozenset(self._shown) | frozenset(self._bound)

    def read(self, cited: Sequence[ElementId]) -> tuple[ElementId, ...]:
        """Everything the run came upon: what its answer rests on, what its reads bound, what it was shown before."""
        shown = sorted(self._shown - set(cited) - set(self._bound), key=lambda i: (i[0], int(i[2:])))
        return tuple(dict.fromkeys([*cited, *self._bound, *shown]))

    def citations(self, answer: str, report: SelfReport) -> tuple[Citation, ...]:
        """What the answer rests on; nothing when it says that nothing was found.

        A report that names elements narrows what was read to those, with what a claim among them is told from; it adds
        none.
        """
        if report.found is False or not answer:
            return ()
        named = [i for i in report.rests_on if i in self._shown or i in self._bound]
        named = [i for carrier in named for i in (carrier, *self._behind.get(carrier, ()))]
        ids = list(dict.fromkeys(named or [*self._spoken_of(answer), *self._bound]))[:MAX_CITATIONS]
        try:
            return cite(ids, self._reading)
        except ReadFailed:
            return ()

    def _spoken_of(self, answer: str) -> list[ElementId]:
        """Claims and happenings of the dossier whose people and values the answer names."""
        said, asked = fold(answer), fold(self._turn.question)
        ids = [
            assertion_id
            for entry in self._turn.dossier
            for claim in entry.claims
            if self._speaks_of(claim, said, asked)
            for assertion_id in (claim.assertion_id, *claim.rests_on)
        ]
        for event in self._turn.events:
            words = [word for word in fold(event.summary).split() if len(word) > 3]
            if words and sum(occurs(word, said) for word in words) * 2 > len(words):
                ids.append(event.id)
        for known in self._turn.commitments:
            words = [word for word in fold(known.summary).split() if len(word) > 3]
            if words and sum(occurs(word, said) for word in words) * 2 > len(words):
                ids.append(known.id)
        return ids

    def _speaks_of(self, claim: KnownClaim, said: str, asked: str) -> bool:
        asker = self._turn.asked_by
        subject, value = claim.subject, claim.object
        is_about = self._named(subject, said) or self._named(subject, asked) or bool(asker and asker.id == subject.id)
        names_value = self._named(value, said) or (self._named(value, asked) and self._named(subject, said))
        return is_about and names_value

    def _named(self, ref: Ref, text: str) -> bool:
        """Whether a text names something, by its name, an alias, or a person's first name."""
        names = [
            ref.name,
            *(alias for entry in self._turn.dossier if entry.who.id == ref.id for alias in entry.aliases),
        ]
        if ref.type == PERSON and ref.name.strip():
            names.append(ref.name.split(maxsplit=1)[0])
        return any(occurs(name, text) for name in names if name)


def _failed(place: Place, reason: str) -> RecallResult:
    run = RunResult("", reason, Usage(), place.model.name, 0, "failed")
    return RecallResult(run, None, None, ())
