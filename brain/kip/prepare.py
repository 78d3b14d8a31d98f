"""What is known of an operation before it runs: its statement, its language, and whether it may run at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brain import errors
from brain.kip import ast
from brain.kip.context import Session
from brain.kip.envelope import Operation, Request
from brain.kip.parser import Language, parsed
from brain.kip.tokens import Look, unhurried


@dataclass(frozen=True, slots=True)
class Prepared:
    """An operation and its statement, or why it will not run."""

    operation: Operation
    statement: ast.Statement | None = None
    language: Language | None = None
    error: errors.KipError | None = None

    @property
    def writes(self) -> bool:
        """Whether it opens a write transaction on the graph, as everything of KML but DEFINE does (§71.1)."""
        return self.language == "KML" and not isinstance(self.statement, ast.Define)


def prepare(request: Request, session: Session, look: Look = unhurried) -> list[Prepared]:
    """Each operation parsed and judged; a request whose ingestion context fits no write is refused as a whole.

    look    an operation that comes past the deadline is refused by it, as any other
    raises  InvalidRequestEnvelope (§71.1, §75.3)
    """
    prepared = [_prepared(operation, request, session, look) for operation in request.operations]
    _check_ingest(request, prepared)
    if request.mode == "atomic" and len(prepared) > 1:
        for entry in prepared:
            if isinstance(entry.statement, ast.Define):
                raise errors.InvalidRequestEnvelope(
                    "DEFINE stands alone; an atomic request holds nothing beside it.",
                    hint="Send DEFINE first, in a request of its own.",
                )
    return prepared


def _prepared(operation: Operation, request: Request, session: Session, look: Look) -> Prepared:
    statement = language = None
    try:
        look()
        found = parsed(operation.command, look)
        statement, language = found.statement, found.language
        if operation.language not in (None, language):
            raise errors.LanguageMismatch(
                f"The operation is labelled {operation.language}, and its command is {language}."
            )
        if session.readonly and language == "KML":
            raise errors.ReadonlyViolation()
        ingested = {entry.key for entry in request.ingest}
        for name in found.parameters:
            if name not in operation.parameters and name not in ingested:
                raise errors.ReferenceError(
                    f"The parameter :{name} is used and the request does not bind it.",
                    details={"parameter": name},
                )
        if session.admit is not None:
            session.admit(statement, operation.parameters)
    except errors.KipError as error:
        return Prepared(operation, statement, language, error)
    return Prepared(operation, statement, language)


def _check_ingest(request: Request, prepared: Sequence[Prepared]) -> None:
    if not request.ingest:
        return
    writes = sum(entry.writes for entry in prepared)
    if writes == 0 and not any(entry.statement is None for entry in prepared):
        raise errors.InvalidRequestEnvelope(
            "The request brings observations and no operation writes them down.",
            hint="Add the write that cites them; DEFINE mints nothing.",
        )
    if writes > 1 and request.mode != "atomic":
        bare = [entry.key for entry in request.ingest if entry.client_key is None]
        if bare:
            raise errors.InvalidRequestEnvelope(
                f"With several writes in one request, each observation needs a client_key; {', '.join(bare)} has none.",
                hint="Add client_key to every ingest entry, or put the writes into one MUTATE.",
            )
