"""Several operations as one transaction: all of them or none (KIP 2.0 §75.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brain import errors
from brain.kip import ast, commit, exports
from brain.kip.context import Answer, OperationTrace, WriteSet
from brain.kip.done import Done, answered, named, outcome_of, replayed, skipped, written
from brain.kip.governance import approvals
from brain.kip.governance.access import Access
from brain.kip.operate import Operator, Undo, ledger_of
from brain.kip.outcomes import Keeper, Kept, Key
from brain.kip.prepare import Prepared
from brain.store.base import SpaceMissing, Transaction


def all_or_none(operator: Operator, prepared: Sequence[Prepared]) -> list[Done]:
    """Each operation sees the ones before it; one failure undoes them all."""
    batch = Batch(operator, prepared)
    try:
        with operator.transaction() as tx:
            access = operator.access(tx)
            kept = batch.keeper.recall(tx, access.session)
            if kept is None:
                batch.run(tx, access)
    except Undo:
        return batch.done
    except errors.RequiresApproval as refused:
        operator.file(refused, prepared, batch.keeper.request_digest, batch.changes)
        return batch.broken_off(refused)
    except SpaceMissing:
        raise
    except Exception as error:  # noqa: BLE001 - whatever else it was, every operation has a result
        return batch.broken_off(error)
    return batch.done if kept is None else batch.replayed(kept)


class Batch:
    """The operations of one atomic request on their way.

    done    results so far, in order
    changes what the statements change, one after the other
    sealed  the receipt, once everything is written and only the commit is left
    """

    def __init__(self, operator: Operator, prepared: Sequence[Prepared]) -> None:
        key = operator.request.idempotency_key
        self.operator = operator
        self.prepared = prepared
        self.keeper: Keeper = operator.keeper(prepared, None if key is None else Key(key))
        self.done: list[Done] = []
        self.changes: list[dict[str, Any]] = []
        self.sealed: dict[str, Any] | None = None

    def run(self, tx: Transaction, access: Access) -> None:
        """Run them all and record the commit; a dry run leaves by Undo."""
        operator = self.operator
        dry_run = operator.request.dry_run
        environment = operator.environment(tx)
        operator.check_preconditions(tx.seq, environment)
        run = operator.run(self.prepared[0], environment, access)
        ledger = ledger_of(run, tx)
        total, answers = WriteSet(), list[Answer]()
        for entry in self.prepared:
            operator.require_runnable(entry)
            run = operator.run(entry, environment, operator.access(tx))
            if entry.language != "KML":
                answer = operator.engine.answer(entry.statement, run)
                if isinstance(entry.statement, ast.ExportCapsule) and not operator.session.readonly:
                    exports.note(tx, answer, run)
                self.done.append(answered(entry, run, answer))
                continue
            ingest = () if operator.minted else operator.request.ingest
            answer, write_set = operator.statement(entry, run, tx, ledger, ingest)
            commit.apply(write_set, tx, ledger)
            total.controls |= write_set.controls
            self.changes += write_set.changes
            answers.append(answer)
            self.done.append(written(entry, run, answer, write_set, ledger, receipt=None, dry_run=dry_run))
        operator.revalidate(access, ledger)
        approval = operator.approval(tx, access, ledger, self.keeper.request_digest)
        total.changes = commit.overall_changes(tx, run, ledger)
        digest = self.keeper.request_digest
        receipt = commit.finish(tx, run, ledger, answers, total, request_digest=digest, dry_run=dry_run)
        operator.receipt = receipt
        if dry_run:
            raise Undo
        approvals.spend(tx, approval)
        self.keeper.keep(tx, receipt, [self._outcome(place) for place in range(len(self.done))], ledger.asked)
        operator.environment_version = receipt["schema_environment_version"]
        self.sealed = receipt

    def replayed(self, kept: Kept) -> list[Done]:
        """The first outcome; what its reads saw is read again, at the commit they were part of."""
        operator = self.operator
        operator.receipt = kept.receipt
        seq = kept.receipt.get("space_seq", kept.receipt["snapshot_seq"])
        return [
            replayed(entry, kept, place) if "result" in kept.results[place] else operator.read(entry, seq)
            for place, entry in enumerate(self.prepared)
        ]

    def broken_off(self, error: Exception) -> list[Done]:
        """The results of a batch that ended in an error: undone, unless the commit took place after all."""
        operator = self.operator
        if self.sealed is not None:
            try:
                if operator.is_durable(self.sealed, error):
                    return self.done
            except errors.OutcomeUnknown as unknown:
                operator.receipt = None
                return [operator.failed(entry, unknown) for entry in self.prepared]
        operator.receipt = None
        failing = min(len(self.done), len(self.prepared) - 1)
        undone = [
            named(Done({"status": "rolled_back"}, OperationTrace(e.statement)), e) for e in self.prepared[:failing]
        ]
        rest = [skipped(entry) for entry in self.prepared[failing + 1 :]]
        return [*undone, operator.failed(self.prepared[failing], error), *rest]

    def _outcome(self, place: int) -> dict[str, Any]:
        done = self.done[place]
        return outcome_of(done) if self.prepared[place].language == "KML" else {"status": done.result["status"]}
