"""The operations of one request, from prepared statement to result (KIP 2.0 §32.3, §34, §75)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from brain import errors
from brain.ids import digest
from brain.kip import ast, commit, outcomes, respond
from brain.kip.context import Answer, OperationTrace, Run, Session, WriteSet
from brain.kip.envelope import Request
from brain.kip.outcomes import Kept, Key
from brain.kip.prepare import Prepared
from brain.kip.schema import Environment
from brain.kip.write import IngestEntry, Ledger, run_kml
from brain.store.base import ElementId, Snapshot, Transaction
from brain.times import Seq, timestamp

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine


class _Undo(Exception):
    """Leaves a transaction without keeping anything of it."""


@dataclass(frozen=True, slots=True)
class Done:
    """What one operation came to: its wire result and what the host may know besides."""

    result: dict[str, Any]
    trace: OperationTrace


class Operator:
    """Runs the operations of one request.

    receipt          of the one transaction of an atomic request
    outcome_unknown  whether a write may or may not have become durable
    environment_version  the vocabulary last seen, for the response's context
    """

    def __init__(self, engine: Engine, request: Request, session: Session) -> None:
        self.engine = engine
        self.request = request
        self.session = session
        self.receipt: Mapping[str, Any] | None = None
        self.outcome_unknown = False
        self.environment_version: int | None = None
        self._deadline_ms = None if request.deadline_ms is None else monotonic() * 1000 + request.deadline_ms
        self._minted: dict[str, Any] = {}
        self._expected_seq = request.expected_seq
        self._expected_environment = request.expected_environment

    def one(self, prepared: Prepared, part: int | None = None) -> Done:
        """One operation with a snapshot or transaction of its own; a refusal is its result.

        part  its place when several operations of the request commit one by one
        """
        try:
            self._require_runnable(prepared)
            if prepared.language == "KML":
                done = self._write(prepared, part)
            elif isinstance(prepared.statement, ast.Preview) and prepared.statement.subject == "KML":
                done = self._preview(prepared, prepared.statement)
            else:
                done = self._read(prepared)
            return _named(done, prepared)
        except Exception as error:  # noqa: BLE001 - whatever it was, the operation has a result
            return self._failed(prepared, error)

    def all_or_none(self, prepared: Sequence[Prepared]) -> list[Done]:
        """Every operation in one transaction, each seeing the ones before it; one failure undoes them all (§75.3)."""
        request_digest = self._digest(prepared)
        key = Key(self.request.idempotency_key) if self.request.idempotency_key is not None else None
        done: list[Done] = []
        sealed = False
        try:
            with self._transaction() as tx:
                kept = self._recall(tx, key, request_digest)
                if kept is not None:
                    self.receipt = kept.receipt
                    return [_named(_replayed(entry, kept, place), entry) for place, entry in enumerate(prepared)]
                self._batch(tx, prepared, request_digest, key, done)
                sealed = True
        except _Undo:
            pass
        except Exception as error:  # noqa: BLE001 - as above
            if sealed and self._is_durable(error):
                return done
            self.receipt = None
            failed = self._failed(prepared[len(done)] if len(done) < len(prepared) else prepared[-1], error)
            undone = [Done({"status": "rolled_back"}, OperationTrace(e.statement)) for e in prepared[: len(done)]]
            if len(done) == len(prepared):
                undone.pop()
            rest = prepared[len(undone) + 1 :]
            return [*undone, failed, *(skipped(entry) for entry in rest)]
        return done

    # --- reading ------------------------------------------------------------------------------------------------------

    def _read(self, prepared: Prepared) -> Done:
        seq = self.engine.read_seq(prepared, self.request.snapshot_token)
        with self.engine.space.snapshot(seq, timeout_ms=self._remaining_ms()) as snapshot:
            environment = self._environment(snapshot)
            self._check_preconditions(self.engine.space.head() if seq is not None else snapshot.seq, environment)
            run = self._run(prepared, snapshot, environment)
            answer = self.engine.answer(prepared.statement, run)
        trace = OperationTrace(prepared.statement, bound=answer.bound)
        return Done(respond.succeeded(answer, _context(run)), trace)

    def _preview(self, prepared: Prepared, statement: ast.Preview) -> Done:
        """PREVIEW KML: the text runs in a transaction of which nothing is kept (§69.3)."""
        try:
            with self._transaction() as tx:
                environment = self._environment(tx)
                run = self._run(prepared, tx, environment)
                answer = self.engine.preview(statement, run, tx)
                raise _Undo
        except _Undo:
            return Done(respond.succeeded(answer, _context(run)), OperationTrace(prepared.statement))

    # --- writing ------------------------------------------------------------------------------------------------------

    def _write(self, prepared: Prepared, part: int | None) -> Done:
        request_digest = self._digest([prepared])
        key = self._key(prepared, part)
        sealed: Done | None = None
        try:
            with self._transaction() as tx:
                kept = self._recall(tx, key, request_digest)
                if kept is not None:
                    return self._replay(prepared, kept)
                environment = self._environment(tx)
                self._check_preconditions(tx.seq, environment)
                run = self._run(prepared, tx, environment)
                ledger = _ledger(run, tx)
                answer, write_set = self._statement(prepared, run, tx, ledger, self.request.ingest)
                version = _environment_after(write_set, environment)
                receipt = self._finish(tx, run, ledger, [answer], write_set, request_digest, version)
                status = "succeeded" if receipt["status"] == "committed" else "no_effect"
                answer = _with_controls(answer, prepared, receipt)
                result = respond.succeeded(answer, _context(run), status=status, receipt=receipt)
                trace = OperationTrace(prepared.statement, seq=receipt.get("space_seq"), ids=_ids(write_set))
                done = Done(result, trace)
                if self.request.dry_run:
                    raise _Undo
                self._keep(tx, key, request_digest, receipt, [done], ledger)
                sealed = done
        except _Undo:
            return done
        except Exception as error:
            if sealed is None or not self._is_durable(error, sealed.result["receipt"]):
                self._minted.clear()
                raise
        self._moved(receipt, version)
        return done

    def _batch(
        self, tx: Transaction, prepared: Sequence[Prepared], request_digest: str, key: Key | None, done: list[Done]
    ) -> None:
        environment = self._environment(tx)
        self._check_preconditions(tx.seq, environment)
        written = WriteSet()
        answers: list[Answer] = []
        run = self._run(prepared[0], tx, environment)
        ledger = _ledger(run, tx)
        for entry in prepared:
            self._require_runnable(entry)
            run = self._run(entry, tx, self._environment(tx))
            if entry.language != "KML":
                answer = self.engine.answer(entry.statement, run)
                trace = OperationTrace(entry.statement, bound=answer.bound)
                done.append(_named(Done(respond.succeeded(answer, _context(run)), trace), entry))
                continue
            ingest = () if self._minted else self.request.ingest
            answer, write_set = self._statement(entry, run, tx, ledger, ingest)
            commit.apply(write_set, tx, ledger)
            written.controls |= write_set.controls
            answers.append(answer)
            status = "no_effect" if write_set.is_empty else "succeeded"
            trace = OperationTrace(entry.statement, seq=None if write_set.is_empty else ledger.seq, ids=_ids(write_set))
            done.append(_named(Done(respond.succeeded(answer, _context(run), status=status), trace), entry))
        written.changes = commit.overall_changes(tx, run, ledger)
        version = _environment_after(written, environment)
        self.receipt = self._finish(tx, run, ledger, answers, written, request_digest, version, applied=True)
        if self.request.dry_run:
            raise _Undo
        self._keep(tx, key, request_digest, self.receipt, done, ledger)

    def _statement(
        self,
        prepared: Prepared,
        run: Run,
        tx: Transaction,
        ledger: Ledger,
        ingest: Sequence[IngestEntry],
    ) -> tuple[Answer, WriteSet]:
        statement: Any = prepared.statement
        op_id = prepared.operation.op_id
        answer, write_set = run_kml(statement, run, tx, ledger=ledger, ingest=ingest, op_id=op_id, bind=self._minted)
        if self.session.review is not None:
            self.session.review(write_set, tx)
        return answer, write_set

    def _finish(
        self,
        tx: Transaction,
        run: Run,
        ledger: Ledger,
        answers: Sequence[Answer],
        write_set: WriteSet,
        request_digest: str,
        version: int,
        *,
        applied: bool = False,
    ) -> dict[str, Any]:
        """The receipt of a transaction, which is recorded when it changed something."""
        sweep = _sweep(answers)
        changed = bool(write_set.changes or write_set.controls)
        if not changed or self.request.dry_run:
            return commit.no_effect(run, tx.seq, request_digest, run.environment.version, sweep)
        if not applied:
            commit.apply(write_set, tx, ledger)
        return commit.record(
            tx,
            run,
            ledger,
            changes=write_set.changes,
            controls=tuple(write_set.controls),
            request_digest=request_digest,
            results=[answer.result for answer in answers],
            environment_version=version,
            sweep=sweep,
        )

    # --- outcomes -----------------------------------------------------------------------------------------------------

    def _recall(self, tx: Transaction, key: Key | None, request_digest: str) -> Kept | None:
        """The retained outcome, looked up before anything else is (§32.3)."""
        if key is None or self.request.dry_run:
            return None
        kept = outcomes.recall(tx, self.session, key, self.engine.clock.now_ms())
        if kept is not None:
            outcomes.require_same(kept, request_digest)
        return kept

    def _replay(self, prepared: Prepared, kept: Kept) -> Done:
        self._moved(kept.receipt, None)
        done = _replayed(prepared, kept, 0)
        done.result["receipt"] = dict(kept.receipt)
        return done

    def _keep(
        self,
        tx: Transaction,
        key: Key | None,
        request_digest: str,
        receipt: Mapping[str, Any],
        done: Sequence[Done],
        ledger: Ledger,
    ) -> None:
        if key is None:
            return
        results = tuple({"status": one.result["status"], "result": one.result["result"]} for one in done)
        kept = Kept(request_digest, receipt, results, tuple(sorted(ledger.asked)))
        outcomes.keep(tx, self.session, key, kept, now_ms=self.engine.clock.now_ms(), limits=self.engine.limits)

    def _key(self, prepared: Prepared, part: int | None) -> Key | None:
        own = prepared.operation.idempotency_key
        if own is not None:
            return Key(own)
        shared = self.request.idempotency_key
        return None if shared is None else Key(shared, part)

    def _digest(self, prepared: Sequence[Prepared]) -> str:
        """What makes two requests one: their commands, values and observations; not how they are sent (§34.4)."""
        return digest(
            {
                "space": self.engine.space_uri,
                "operations": [
                    {"command": entry.operation.command, "parameters": dict(entry.operation.parameters)}
                    for entry in prepared
                ],
                "ingest": [dict(entry) for entry in self.request.ingested],
            }
        )

    def _is_durable(self, error: Exception, receipt: Mapping[str, Any] | None = None) -> bool:
        """Whether a commit whose end was an error took place after all; OutcomeUnknown when nobody can say (§80.3)."""
        receipt = receipt or self.receipt
        if receipt is None or receipt["status"] != "committed":
            return False
        try:
            with self.engine.space.snapshot() as snapshot:
                found = snapshot.commit_by_tx(receipt["tx_id"])
        except Exception:  # noqa: BLE001 - the fate stays unknown, whatever the reason
            self.engine.report(error)
            self.outcome_unknown = True
            raise errors.OutcomeUnknown() from error
        return found is not None and found.record.get("receipt_digest") == receipt["receipt_digest"]

    # --- what every operation needs -----------------------------------------------------------------------------------

    def _transaction(self) -> Any:
        return self.engine.space.transaction(timeout_ms=self._remaining_ms())

    def _environment(self, snapshot: Snapshot) -> Environment:
        environment = self.engine.environment(snapshot)
        self.environment_version = environment.version
        return environment

    def _run(self, prepared: Prepared, snapshot: Snapshot, environment: Environment) -> Run:
        return Run(
            snapshot=snapshot,
            environment=environment,
            parameters={**prepared.operation.parameters, **self._minted},
            session=self.session,
            now=timestamp(self.engine.clock.now_ms()),
            space_uri=self.engine.space_uri,
            limits=self.engine.limits,
            cursor_key=self.engine.cursor_key,
            open_at=self.engine.space.snapshot,
            deadline_ms=self._deadline_ms,
            purpose=self.request.purpose,
            risk=self.request.risk,
        )

    def _require_runnable(self, prepared: Prepared) -> None:
        if prepared.error is not None:
            raise prepared.error
        self._remaining_ms()

    def _check_preconditions(self, seq: Seq, environment: Environment) -> None:
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

    def _moved(self, receipt: Mapping[str, Any], version: int | None) -> None:
        if self._expected_seq is not None and "space_seq" in receipt:
            self._expected_seq = receipt["space_seq"]
        if version is not None:
            self.environment_version = version
            if self._expected_environment is not None:
                self._expected_environment = version

    def _remaining_ms(self) -> int | None:
        if self._deadline_ms is None:
            return None
        remaining = int(self._deadline_ms - monotonic() * 1000)
        if remaining <= 0:
            raise errors.ExecutionTimeout(retry=errors.Retry.SAFE_SAME_REQUEST)
        return remaining

    def _failed(self, prepared: Prepared, error: Exception) -> Done:
        fault = error if isinstance(error, errors.KipError) else self.engine.report(error)
        return _named(Done(respond.failed(fault), OperationTrace(prepared.statement)), prepared)


def skipped(prepared: Prepared) -> Done:
    """An operation that was not started."""
    return _named(Done({"status": "skipped"}, OperationTrace(prepared.statement)), prepared)


def _named(done: Done, prepared: Prepared) -> Done:
    op_id = prepared.operation.op_id
    return done if op_id is None else Done({"op_id": op_id, **done.result}, done.trace)


def _replayed(prepared: Prepared, kept: Kept, place: int) -> Done:
    receipt = kept.receipt
    result = {
        **kept.results[place],
        "context": {"space_id": receipt["space_id"], "snapshot_seq": receipt["snapshot_seq"]},
    }
    return Done(result, OperationTrace(prepared.statement, seq=receipt.get("space_seq")))


def _ledger(run: Run, tx: Transaction) -> Ledger:
    return Ledger(tx.seq + 1, f"{run.space_uri}#{tx.seq + 1}")


def _context(run: Run) -> dict[str, Any]:
    return {
        "space_id": run.space_uri,
        "snapshot_seq": run.snapshot.seq,
        "schema_environment_version": run.environment.version,
    }


def _ids(write_set: WriteSet) -> tuple[ElementId, ...]:
    return tuple(entry["id"] for entry in write_set.changes)


def _sweep(answers: Sequence[Answer]) -> dict[str, int]:
    """`matched` and `updated` of the sweeps among some answers, summed."""
    found: dict[str, int] = {}
    for answer in answers:
        for name, count in answer.counted.items():
            found[name] = found.get(name, 0) + count
    return found


def _environment_after(write_set: WriteSet, environment: Environment) -> int:
    schema = write_set.controls.get("schema")
    return environment.version if schema is None else int(schema["version"])


def _with_controls(answer: Answer, prepared: Prepared, receipt: Mapping[str, Any]) -> Answer:
    """A committed DEFINE tells of the control change it made."""
    if not isinstance(prepared.statement, ast.Define) or receipt["status"] != "committed":
        return answer
    change = {"kind": "schema", "version": str(receipt["space_seq"])}
    return replace(answer, result={**answer.result, "control_changes": [change]})
