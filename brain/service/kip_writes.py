"""Callers' own KIP that writes: what Formation's tools may say, said by the caller (gate, `writer_session`).

The host binds what a claim needs and no request may forge: `:me` the caller's Person, `:msg1` … the sources as
Evidence, `:at1` … their times, `:now`. A source is kept when something cites it, in the transaction that does.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import orjson

from brain import errors
from brain.agents.hostwrites import HostWriteFailed
from brain.auth.credentials import Scope
from brain.gate import vocabulary
from brain.gate.facts import Captured, FormationFacts, Speaker
from brain.gate.gate import writer_session
from brain.gate.statements import blindly
from brain.kip import ast, respond
from brain.kip.context import Outcome, WriteSet, check_deadline
from brain.kip.parser import Parsed, parsed
from brain.service import probe
from brain.service.callers import Caller
from brain.service.hosting import HostRefused
from brain.service.records import record_of
from brain.service.replays import Keyed
from brain.service.room import check_room_for_kip
from brain.service.spaces import OpenSpace
from brain.service.write_inputs import MOST_SOURCES, WriteInput
from brain.service.writers import host_writes, writer_of
from brain.store.base import Json, Transaction
from brain.times import Clock, Timestamp, timestamp

ROUTE = "execute_kip"
MOST_COMMANDS = 32
"""Commands of one request, as in a call of Formation's tool."""

_BOUND = re.compile(r"me|now|(?:msg|at)(?:[1-9]|1[0-6])")
_KINDS = {"concept_type": "ConceptType", "predicate": "PredicateType"}


def execute_kip(space: OpenSpace, asked: WriteInput, caller: Caller, clock: Clock, deadline_ms: int) -> dict[str, Any]:
    """The KIP response of a request. Refusals are in it, those of the gate too; nothing of them is written.

    raises  InvalidInput for a request of another shape
    """
    envelope = asked.envelope(deadline_ms=deadline_ms)
    try:
        return _Request(space, asked, caller, clock, envelope).answer()
    except errors.KipError as refused:
        return respond.refused(refused, envelope)
    except HostRefused as refused:
        return _as_refused(refused.error, envelope)
    except HostWriteFailed as failed:
        return _as_refused(failed.error, envelope)


def _as_refused(error: Mapping[str, Any], envelope: Mapping[str, Any]) -> dict[str, Any]:
    return {**respond.refused(errors.InternalError(), envelope), "error": dict(error)}


@dataclass(frozen=True, slots=True)
class _Source:
    """What `:msgN` stands for."""

    text: str
    observed_at: Timestamp
    evidence_class: str


@dataclass(slots=True)
class _Request:
    """One request of a caller, from its wire shape to its answer."""

    space: OpenSpace
    asked: WriteInput
    caller: Caller
    clock: Clock
    envelope: dict[str, Any]
    _used: frozenset[str] = field(default=frozenset())

    def answer(self) -> dict[str, Any]:
        ends = monotonic() + self.envelope["options"]["deadline_ms"] / 1000
        statements = self._judged(ends)
        keyed = self._keyed()
        writes = [one for one in statements if one.language == "KML"]
        if writes:
            with self.space.snapshot() as now:
                check_room_for_kip(now, record_of(now))
        writer = writer_of(self.space.engine.until(ends), self.caller) if writes else None
        while True:
            with self.space.snapshot() as now:
                kept = None if keyed is None else keyed.found(now, self.clock.now_ms())
            outcome = self._sent(kept or self._first(keyed), keyed, writer, statements, ends)
            if kept is not None or keyed is None or not _has_conflict(outcome):
                break
            with self.space.snapshot() as now:
                if keyed.found(now, self.clock.now_ms()) is None:
                    break
            # The same request came in twice at once: what the other has written is this one's answer too.
        self._review_words(outcome)
        return outcome.response

    # --- before anything runs -----------------------------------------------------------------------------------------

    def _judged(self, ends: float) -> list[Parsed]:
        """The statements that can be read; one that cannot is refused by the engine, in its own place."""
        operations = self.asked.entries()
        if len(operations) > MOST_COMMANDS:
            raise errors.InvalidRequestEnvelope(
                f"A request that writes holds at most {MOST_COMMANDS} commands.",
                hint="Send fewer; one MUTATE may hold many clauses.",
            )
        statements = []
        for operation in operations:
            if operation.get("idempotency_key") is not None:
                raise errors.InvalidRequestEnvelope(
                    "One key stands for the whole request here.", hint="Set execution.idempotency_key instead."
                )
            self._check_bindings(operation.get("parameters"))
            command = operation.get("command")
            try:
                if isinstance(command, str):
                    statements.append(parsed(command, lambda: check_deadline(ends * 1000)))
            except errors.ExecutionTimeout:
                raise
            except errors.KipError:
                continue
        self._check_bindings(self.asked.parameters)
        vocabulary.check_batch([one.statement for one in statements])
        used = frozenset(name for one in statements for name in one.parameters if _BOUND.fullmatch(name))
        self._used = used
        self._check_sources()
        return statements

    def _check_bindings(self, parameters: object) -> None:
        forged = sorted(name for name in parameters if _BOUND.fullmatch(name)) if isinstance(parameters, dict) else []
        if forged:
            raise errors.NotAuthorized(
                f"{', '.join(f':{name}' for name in forged)} is bound by the host.", hint="Leave it out of parameters."
            )

    def _check_sources(self) -> None:
        count = 1 if self.asked.sources is None else len(self.asked.sources)
        for number in range(1, MOST_SOURCES + 1):
            is_used = bool({f"msg{number}", f"at{number}"} & self._used)
            if number > count and is_used:
                raise errors.ReferenceError(
                    f"The request has no source {number}.", hint="Add it to sources, or cite another one."
                )
            if self.asked.sources is not None and number <= count and f"msg{number}" not in self._used:
                raise errors.InvalidRequestEnvelope(
                    f"Nothing cites the source {number}, and so it would not be kept.",
                    hint=f"Cite it as evidence: :msg{number}, or leave it out.",
                )

    def _keyed(self) -> Keyed | None:
        key = (self.asked.execution or {}).get("idempotency_key")
        if not isinstance(key, str) or self.asked.dry_run:
            return None
        content = self.asked.model_dump(mode="json", exclude_none=True)
        content["execution"] = {
            name: value for name, value in content["execution"].items() if name != "idempotency_key"
        }
        return Keyed.of(ROUTE, self.caller, key, content)

    def _first(self, keyed: Keyed | None) -> dict[str, Any]:
        """What stays the same when the request comes again: when it was made, and what its Evidence is known by."""
        known_by = uuid.uuid4().hex if keyed is None else keyed.place
        return {"now": timestamp(self.clock.now_ms()), "known_by": known_by}

    # --- the request as the engine gets it ----------------------------------------------------------------------------

    def _sent(
        self,
        kept: Mapping[str, Any],
        keyed: Keyed | None,
        writer: Speaker | None,
        statements: list[Parsed],
        ends: float,
    ) -> Outcome:
        sources = self._sources(kept["now"])
        request = dict(self.envelope)
        bindings: dict[str, Json] = {"now": kept["now"]}
        bindings |= {f"at{number}": source.observed_at for number, source in sources.items()}
        may_read = self.caller.scope.satisfies(Scope.READ)
        if writer is None:
            session = self.caller.reader()
            session = session if may_read else replace(session, admit=blindly(lambda *_: None))
        else:
            captured = [
                Captured(f"msg{number}", f"{ROUTE}:{kept['known_by']}:{number}", writer, one.observed_at, one.text)
                for number, one in sources.items()
            ]
            assert writer.id is not None  # noqa: S101 - it was stored
            bindings["me"] = {"id": writer.id}
            facts = FormationFacts(writer.id, "speaker", tuple(captured))
            session = writer_session(
                facts,
                principal_id=self.caller.principal,
                channel=self.caller.channel,
                may_read=may_read,
                commit_review=self._reviewer(keyed, kept),
            )
            session = replace(session, holder=self.caller.holder)
            cited = [
                _entry(one, sources[int(one.binding[3:])], writer.id) for one in captured if one.binding in self._used
            ]
            if cited and any(not isinstance(one.statement, ast.Define) for one in statements if one.language == "KML"):
                request["ingest"] = {"evidence": cited}
        given = {name: value for name, value in bindings.items() if name in self._used}
        if given:
            request["parameters"] = {**(self.asked.parameters or {}), **given}
        return self.space.engine.until(ends).execute(request, session)

    def _sources(self, now: Timestamp) -> dict[int, _Source]:
        if self.asked.sources is None:
            return {1: _Source(self._as_said(), now, "agent_statement")}
        return {
            number: _Source(source.content, source.seen_at(now), "external_record")
            for number, source in enumerate(self.asked.sources, start=1)
        }

    def _as_said(self) -> str:
        """The request itself, which is what the caller said: its commands and the values they were sent with."""
        lines = []
        for operation in self.asked.entries():
            lines.append(str(operation.get("command", "")))
            values = {**(self.asked.parameters or {}), **(operation.get("parameters") or {})}
            if values:
                lines.append(orjson.dumps(values).decode())
        return "\n".join(lines)

    def _reviewer(self, keyed: Keyed | None, kept: Mapping[str, Any]) -> Callable[[WriteSet, Transaction], None]:
        def review(written: WriteSet, tx: Transaction) -> None:
            if not written.is_empty:
                probe.forget_misses(tx)
            if keyed is not None:
                keyed.keep(tx, dict(kept), self.clock.now_ms())

        return review

    # --- afterwards ---------------------------------------------------------------------------------------------------

    def _review_words(self, outcome: Outcome) -> None:
        """A drafted word is put up for review, as Formation's are; its task has a key, so once."""
        for trace, result in zip(outcome.operations, outcome.response.get("results") or (), strict=False):
            if isinstance(trace.statement, ast.Define) and trace.seq is not None and result["status"] == "succeeded":
                host = host_writes(self.space.engine, self.caller.channel)
                host.review_symbol(_KINDS[trace.statement.kind], result["result"]["ref"])


def _entry(message: Captured, source: _Source, writer_id: str) -> dict[str, Any]:
    return {
        "key": message.binding,
        "evidence_class": source.evidence_class,
        "payload": source.text,
        "media_type": "text/plain",
        "observed_at": source.observed_at,
        "client_key": message.client_key,
        "source_actor": {"id": writer_id},
    }


def _has_conflict(outcome: Outcome) -> bool:
    faults = [outcome.response.get("error"), *(one.get("error") for one in outcome.response.get("results") or ())]
    return any(fault is not None and fault["code"] == errors.IdempotencyConflict.__name__ for fault in faults)
