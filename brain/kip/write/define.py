"""DEFINE: one more symbol in the Space's draft vocabulary (KIP 2.0 §20.16)."""

from __future__ import annotations

from typing import Any

from brain.kip import ast
from brain.kip.context import Answer, Run, WriteSet
from brain.kip.write.values import Values
from brain.kip.write.work import Ledger, Workspace
from brain.store.base import Transaction


def define(statement: ast.Define, run: Run, tx: Transaction, ledger: Ledger) -> tuple[Answer, WriteSet]:
    """Add a draft symbol: the next environment, to be committed alone.

    raises  SchemaSymbolConflict for a name that is taken, ConstraintViolation for what a draft may not declare
    """
    work = Workspace(run, tx, ledger)
    work.permit("propose_schema")
    values = Values(work)
    name: Any = values.scalar(statement.name)
    environment, ref = run.environment.with_draft(
        statement.kind, name if isinstance(name, str) else "", values.members(statement.definition)
    )
    result = {"ref": ref, "schema_environment_version": environment.version}
    return Answer(result), WriteSet(controls={"schema": environment.to_document()})
