"""The operations of one request, each from prepared statement to result (KIP 2.0 §32.3, §34, §75).

`Operator` runs an operation in a snapshot or transaction of its own; `atomic.py` runs several in one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from brain import errors
from brain.ids import digest
from brain.kip import ast, commit, exports
from brain.kip.context import Answer, Run, Session, WriteSet
from brain.kip.done import Done, answered, outcome_of, refused, replayed, written
from brain.kip.envelope import Request
from brain.kip.governance import approvals
from brain.kip.governance.access import Access, access_of, revalidate
from brain.kip.outcomes import Keeper, Kept, Key
from brain.kip.prepare import Prepared
from brain.kip.schema import Environment
from brain.kip.search import embed_ahead
from brain.kip.write import IngestEntry, Ledger, run_kml
from brain.store.base import Overtaken, Snapshot, SpaceMissing, Transaction
from brain.times import Seq, timestamp

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine
    from brain.store.embedding import EmbeddingFailure

_NONE: Mapping[str, Any] = {}
T = TypeVar("T")


class Undo(Exception):
    """Leaves a transaction without keeping anything of it."""


class Operator:
    """Runs the operations of one request.

    receipt              of the one transaction of an atomic request
    outcome_unknown      whether a write may or may not have become durable
    environment_version  the vocabulary last seen, for the response's context
    minted               parameters that name the observations minted so far

    deadline_ms  monotonic milliseconds when the request's time is up, None when it has no end
    """

    def __init__(self, engine: Engine, request: Request, session: Session, deadline_ms: float | None) -> None:
        self.engine = engine
        self.request = request
        self.session = session
        self.receipt: Mapping[str, Any] | None = None
        self.outcome_unknown = False
        self.environment_version: int | None = None
        self.minted: dict[str, Any] = {}
        self._deadline_ms = deadline_ms
        self._expected_seq = request.expected_seq
        self._expected_environment = request.expected_environment
        self._sequence_environment: int | None = None

    def one(self, prepared: Prepared, part: int | None = None) -> Done:
        """One operation with a snapshot or transaction of its own; a refusal is its result.

        part  its place when several operations of the request commit one by one
        """
        try:
            self.require_runnable(prepared)
            if prepared.language == "KML":
                return self._write(prepared, part)
            if isinstance(prepared.statement, ast.Preview) and prepared.statement.subject == "KML":
                return self._preview(prepared, prepared.statement)
            return self.read(prepared, self.engine.read_seq(prepared, self.request.snapshot_token))
        except SpaceMissing:
            raise
        except Exception as error:  # noqa: BLE001 - whatever else it was, the operation has a result
            return self.failed(prepared, error)

    def read(self, prepared: Prepared, seq: Seq | None) -> Done:
        """An operation that reads, at a sequence or at the head."""
        vectors = embed_ahead(prepared.statement, prepared.operation.parameters, self.engine.embedder)
        run, answer = self._unless_overtaken(partial(self._read, prepared, seq, vectors))
        if isinstance(prepared.statement, ast.ExportCapsule) and not (self.session.readonly or self.request.dry_run):
            with self.transaction() as tx:
                exports.note(tx, answer, run)
        return answered(prepared, run, answer)

    def _read(
        self,
        prepared: Prepared,
        seq: Seq | None,
        vectors: Mapping[str, list[float] | EmbeddingFailure],
        *,
        assumed: bool,
    ) -> tuple[Run, Answer]:
        opened = self.engine.space.snapshot(seq, timeout_ms=self._remaining_ms(), assumed=assumed)
        with opened as snapshot, self._head(seq, snapshot) as head:
            environment = self.environment(snapshot)
            self.check_preconditions(head.seq, environment)
            if seq is None:
                self._check_unmoved(environment)
            run = self.run(prepared, environment, self.access(snapshot, head), vectors)
            return run, self.engine.answer(prepared.statement, run)

    def _unless_overtaken(self, act: Callable[..., T]) -> T:
        """Act on the Space as it was last known, and again on what is there if that is no longer so."""
        minted, environment = dict(self.minted), self._sequence_environment
        try:
            return act(assumed=True)
        except Overtaken:
            self.minted, self._sequence_environment = minted, environment
            return act(assumed=False)

    def _preview(self, prepared: Prepared, statement: ast.Preview) -> Done:
        """PREVIEW KML: the text runs in a transaction of which nothing is kept (§69.3)."""
        try:
            with self.transaction() as tx:
                run = self.run(prepared, self.environment(tx), self.access(tx))
                answer = self.engine.preview(statement, run, tx)
                raise Undo
        except Undo:
            return answered(prepared, run, answer)

    def _write(self, prepared: Prepared, part: int | None) -> Done:
        return self._unless_overtaken(partial(self._write_once, prepared, part))

    def _write_once(self, prepared: Prepared, part: int | None, *, assumed: bool) -> Done:
        keeper = self.keeper([prepared], self._key(prepared, part))
        minted = dict(self.minted)
        receipt: dict[str, Any] = {"status": "pending"}
        try:
            with self.transaction(assumed=assumed) as tx:
                access = self.access(tx)
                kept = keeper.recall(tx, access.session)
                if kept is not None:
                    return self._replayed(prepared, kept)
                environment = self.environment(tx)
                self.check_preconditions(tx.seq, environment)
                self._check_unmoved(environment)
                run = self.run(prepared, environment, access)
                ledger = ledger_of(run, tx)
                answer, write_set = self.statement(prepared, run, tx, ledger, self.request.ingest)
                self.revalidate(access, ledger)
                approval = self.approval(tx, access, ledger, keeper.request_digest)
                if not self.request.dry_run:
                    commit.apply(write_set, tx, ledger)
                sealed = commit.finish(
                    tx,
                    run,
                    ledger,
                    [answer],
                    write_set,
                    request_digest=keeper.request_digest,
                    dry_run=self.request.dry_run,
                )
                done = written(prepared, run, answer, write_set, ledger, receipt=sealed, dry_run=self.request.dry_run)
                if self.request.dry_run:
                    raise Undo
                approvals.spend(tx, approval)
                keeper.keep(tx, sealed, [outcome_of(done)], ledger.asked)
                receipt = sealed
        except Undo:
            self.minted = minted
            return done
        except errors.RequiresApproval as refused:
            self.minted = minted
            self.file(refused, [prepared], keeper.request_digest, write_set.changes)
            raise
        except Overtaken:
            raise
        except Exception as error:
            if not self.is_durable(receipt, error):
                self.minted = minted
                raise
        self._moved(receipt)
        self._sequence_environment = receipt["schema_environment_version"]
        return done

    def _replayed(self, prepared: Prepared, kept: Kept) -> Done:
        self._moved(kept.receipt)
        done = replayed(prepared, kept, 0)
        return Done({**done.result, "receipt": dict(kept.receipt)}, done.trace)

    def _key(self, prepared: Prepared, part: int | None) -> Key | None:
        own = prepared.operation.idempotency_key
        if own is not None:
            return Key(own)
        shared = self.request.idempotency_key
        return None if shared is None else Key(shared, part)

    # --- what single and atomic operations share ----------------------------------------------------------------------

    def keeper(self, prepared: Sequence[Prepared], key: Key | None) -> Keeper:
        """The keeper of an outcome. What makes two requests one are their commands, values and observations (§34.4).

        A request that may write nothing has nothing to keep: its reads are simply made again.
        """
        asked = {
            "space": self.engine.space_uri,
            "operations": [
                {"command": entry.operation.command, "parameters": dict(entry.operation.parameters)}
                for entry in prepared
            ],
            "ingest": [dict(entry) for entry in self.request.ingested],
        }
        bound = None if self.request.dry_run or self.session.readonly else key
        return Keeper(self.session, bound, digest(asked), self.engine.clock.now_ms(), self.engine.limits)

    def statement(
        self, prepared: Prepared, run: Run, tx: Transaction, ledger: Ledger, ingest: Sequence[IngestEntry]
    ) -> tuple[Answer, WriteSet]:
        """A KML statement's answer and writes, judged by whoever stands before this caller."""
        statement: Any = prepared.statement
        op_id = prepared.operation.op_id
        answer, write_set = run_kml(statement, run, tx, ledger=ledger, ingest=ingest, op_id=op_id, bind=self.minted)
        if self.session.review is not None:
            self.session.review(write_set, tx)
        return answer, write_set

    def transaction(self, *, assumed: bool = False) -> AbstractContextManager[Transaction]:
        return self.engine.space.transaction(timeout_ms=self._remaining_ms(), assumed=assumed)

    def environment(self, snapshot: Snapshot) -> Environment:
        environment = self.engine.environment(snapshot)
        self.environment_version = environment.version
        return environment

    def access(self, snapshot: Snapshot, head: Snapshot | None = None) -> Access:
        """What the caller may do and see in a snapshot, by the protected state of now.

        head  the Space as it stands, when the snapshot looks back
        """
        return access_of(self.engine.planes, self.session, snapshot, head or snapshot, self.engine.clock)

    def revalidate(self, access: Access, ledger: Ledger) -> None:
        """Whether what the writes needed is still held now that they are about to commit (§28.6)."""
        revalidate(self.engine.planes, access, self.session, ledger.asked, self.engine.clock)

    def approval(self, tx: Transaction, access: Access, ledger: Ledger, request_digest: str) -> str | None:
        """The approval the writes use up, None when they need none; RequiresApproval when it is missing (§29.11)."""
        return approvals.require(tx, access.plane, self.session, ledger.asked, request_digest)

    def file(
        self,
        refused: errors.RequiresApproval,
        prepared: Sequence[Prepared],
        request_digest: str,
        changes: Sequence[Mapping[str, Any]],
    ) -> None:
        """Keep what waits for a second principal, for that principal to see."""
        filed = approvals.Filed(
            refused.details["approval_id"],
            self.session.principal_id,
            request_digest,
            tuple(refused.details["permissions"]),
            tuple(entry.operation.command for entry in prepared),
            tuple(changes),
            timestamp(self.engine.clock.now_ms()),
            self.engine.clock.now_ms() + self.engine.limits.idempotency_retention_ms,
        )
        if not self.request.dry_run:
            with self.transaction() as tx:
                approvals.file(tx, filed)

    def run(
        self,
        prepared: Prepared,
        environment: Environment,
        access: Access,
        vectors: Mapping[str, list[float] | EmbeddingFailure] = _NONE,
    ) -> Run:
        """What one operation runs with."""
        return Run(
            snapshot=access.snapshot,
            environment=environment,
            parameters={**prepared.operation.parameters, **self.minted},
            session=access.session,
            now=timestamp(self.engine.clock.now_ms()),
            space_uri=self.engine.space_uri,
            limits=self.engine.limits,
            cursor_key=self.engine.cursor_key,
            open_at=access.opened(self.engine.space.snapshot),
            deadline_ms=self._deadline_ms,
            purpose=self.request.purpose,
            risk=self.request.risk,
            embedder=self.engine.embedder,
            vectors=vectors,
            sight=access.sight,
            weighed=access.weighed,
            plane=access.plane,
            templates=self.engine.templates,
        )

    def require_runnable(self, prepared: Prepared) -> None:
        """Raise what preparation found, or that the time is up."""
        if prepared.error is not None:
            raise prepared.error
        self._remaining_ms()

    def check_preconditions(self, seq: Seq, environment: Environment) -> None:
        """The Space and vocabulary the request expects, apart from what its own earlier operations changed (§35.4)."""
        for name, expected, found in (
            ("space_seq", self._expected_seq, seq),
            ("schema_environment_version", self._expected_environment, environment.version),
        ):
            if expected is not None and expected != found:
                raise errors.PreconditionFailed(
                    f"The request expects {name} {expected}, and it is {found}.",
                    details={"precondition": name, "expected": expected, "found": found},
                )

    def _check_unmoved(self, environment: Environment) -> None:
        """The operations of a sequence build on each other: they mean what they say in one vocabulary, which only they
        themselves may add to while they run (§35.4, decision D-12)."""
        if self.request.mode != "sequence":
            return
        first = self._sequence_environment
        if first is not None and environment.version != first:
            raise errors.SchemaEnvironmentChanged(
                f"The vocabulary went from version {first} to {environment.version} between two operations.",
                details={"expected": first, "found": environment.version},
            )
        self._sequence_environment = environment.version

    def is_durable(self, receipt: Mapping[str, Any], error: Exception) -> bool:
        """Whether a transaction that ended in an error committed after all (§80.3).

        raises  OutcomeUnknown when nobody can say
        """
        try:
            return commit.took_place(self.engine.space, receipt)
        except Exception:  # noqa: BLE001 - the fate stays unknown, whatever the reason
            self.engine.report(error)
            self.outcome_unknown = True
            raise errors.OutcomeUnknown() from error

    def failed(self, prepared: Prepared, error: Exception) -> Done:
        """The result of an operation that was refused or broke off."""
        return refused(prepared, error if isinstance(error, errors.KipError) else self.engine.report(error))

    # --- inside -------------------------------------------------------------------------------------------------------

    def _head(self, seq: Seq | None, snapshot: Snapshot) -> AbstractContextManager[Snapshot]:
        """The Space as it stands, beside a snapshot that may look back."""
        if seq is None:
            return nullcontext(snapshot)
        return self.engine.space.snapshot(timeout_ms=self._remaining_ms())

    def _moved(self, receipt: Mapping[str, Any]) -> None:
        """Let the request's expectations follow its own commit."""
        version = receipt["schema_environment_version"]
        self.environment_version = version
        if self._expected_seq is not None:
            self._expected_seq = receipt.get("space_seq", self._expected_seq)
        if self._expected_environment is not None:
            self._expected_environment = version

    def _remaining_ms(self) -> int | None:
        if self._deadline_ms is None:
            return None
        remaining = int(self._deadline_ms - monotonic() * 1000)
        if remaining <= 0:
            raise errors.ExecutionTimeout(retry=errors.Retry.SAFE_SAME_REQUEST)
        return remaining


def ledger_of(run: Run, tx: Transaction) -> Ledger:
    """The empty ledger of a transaction."""
    return Ledger(tx.seq + 1, f"{run.space_uri}#{tx.seq + 1}")
