"""How a pass sends commands to the engine: always through its gated session, with the host's bindings beside the
model's parameters, and with its messages as Evidence in every write.

The door keeps count: what was committed, which elements came of it. Nobody has to believe a model about that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brain import errors
from brain.gate.gate import check_request
from brain.ids import digest
from brain.kip import ast, strict_json
from brain.kip.context import Outcome, Session
from brain.kip.parser import language_of
from brain.kip.pipeline import Engine
from brain.store.base import ElementId, Json
from brain.times import Seq

MAX_COMMANDS = 32


@dataclass(slots=True)
class Door:
    """A pass's way to the engine.

    origin        names the pass; idempotency keys begin with it
    bindings      parameters the host binds; a request may use them and may not bind them itself
    before_write  called before the first write: settles the speakers and gives the session and ingestion context of
                  all writes
    read_session  what reads run with
    after_define  called with (kind, exact ref) for every symbol the pass drafted
    raise_if_lost called after every write: raises when the pass may write no more
    """

    engine: Engine
    origin: str
    read_session: Session
    before_write: Callable[[], WriteContext]
    after_define: Callable[[str, str], None]
    raise_if_lost: Callable[[], None]
    bindings: dict[str, Json] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    committed: list[Seq] = field(default_factory=list)
    ids: dict[ElementId, None] = field(default_factory=dict)
    refused: int = 0
    _writing: WriteContext | None = None

    def run(self, commands: Sequence[str], parameters: Mapping[str, Json], *, is_trial: bool = False) -> Outcome:
        """One request of a model.

        is_trial  judge and answer as a write would, and keep nothing
        raises    KipError for a request that is refused as a whole
        """
        if not 1 <= len(commands) <= MAX_COMMANDS:
            raise errors.InvalidRequestEnvelope(
                f"A request holds 1 to {MAX_COMMANDS} commands.", hint="Send fewer; one MUTATE may hold many clauses."
            )
        strict_json.check([commands, parameters])
        forged = sorted((set(self.bindings) | self.reserved) & set(parameters))
        if forged:
            raise errors.NotAuthorized(
                f"{', '.join(f':{name}' for name in forged)} is bound by the host.", hint="Leave it out of parameters."
            )
        statements = check_request(commands)
        writes = any(language_of(s) == "KML" and not isinstance(s, ast.Define) for s in statements)
        defines = any(isinstance(s, ast.Define) for s in statements)
        return self._send(commands, parameters, writes=writes, defines=defines, is_trial=is_trial)

    def begin_writing(self) -> WriteContext:
        """Settle once what all writes need."""
        if self._writing is None:
            self._writing = self.before_write()
            self.bindings |= self._writing.bindings
        return self._writing

    def _send(
        self,
        commands: Sequence[str],
        parameters: Mapping[str, Json],
        *,
        writes: bool,
        defines: bool,
        is_trial: bool,
    ) -> Outcome:
        session = self.read_session
        request: dict[str, Any] = {
            "kip": "2.0",
            "operations": [{"command": command} for command in commands],
        }
        execution: dict[str, Any] = {"mode": "sequence"} if len(commands) > 1 else {}
        if writes or defines:
            writing = self.begin_writing()
            session = writing.session
            if writes and writing.ingest is not None:
                request["ingest"] = writing.ingest
            execution = {"mode": "sequence" if len(commands) > 1 else "independent"}
            if not is_trial:
                execution["idempotency_key"] = f"{self.origin}:{digest([list(commands), dict(parameters)])[7:39]}"
        if execution:
            request["execution"] = execution
        if is_trial:
            request["options"] = {"dry_run": True}
        request["parameters"] = {**self.bindings, **parameters}
        outcome = self.engine.execute(request, session)
        self.raise_if_lost()
        if not is_trial:
            self._note(outcome)
        return outcome

    def _note(self, outcome: Outcome) -> None:
        for trace, result in zip(outcome.operations, outcome.response.get("results") or [], strict=False):
            if result.get("status") == "failed":
                self.refused += 1
                continue
            if trace.seq is not None and trace.seq not in self.committed:
                self.committed.append(trace.seq)
            self.ids |= dict.fromkeys(trace.ids)
            if isinstance(trace.statement, ast.Define):
                kind = "ConceptType" if trace.statement.kind == "concept_type" else "PredicateType"
                self.after_define(kind, result["result"]["ref"])


@dataclass(frozen=True, slots=True)
class WriteContext:
    """What every write of a pass carries; `bindings` are those that exist only once the speakers are stored.

    ingest  the messages to capture, None in a pass that has none
    """

    session: Session
    ingest: Mapping[str, Any] | None
    bindings: Mapping[str, Json]


def is_success(outcome: Outcome) -> bool:
    """Whether every operation of a request was done."""
    results = outcome.response.get("results") or []
    return bool(results) and all(result.get("status") in ("succeeded", "no_effect") for result in results)


def first_error(outcome: Outcome) -> Mapping[str, Any]:
    """The error of the request, or of its first failed operation."""
    for result in outcome.response.get("results") or []:
        if "error" in result:
            error: Mapping[str, Any] = result["error"]
            return error
    return outcome.response.get("error") or {"code": "InternalError", "message": "nothing was answered", "hint": ""}
