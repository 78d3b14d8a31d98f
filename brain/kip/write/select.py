"""The WHERE of a mutation: which elements its variables stand for before anything is changed (KIP 2.0 §58.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from brain.kip import ast
from brain.kip.match import solutions
from brain.kip.write.work import Workspace

Row: TypeAlias = Mapping[str, Any]
"""Variable to the id of the element or the JSON value it is bound to; None when an OPTIONAL left it unbound."""


def rows_of(work: Workspace, where: ast.Where) -> list[Row]:
    """The solutions of a WHERE over the state the transaction had before the statement."""
    return list(solutions(where, replace(work.run, snapshot=work.seen)))
