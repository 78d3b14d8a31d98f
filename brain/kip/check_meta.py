"""Static rules of META."""

from __future__ import annotations

from brain import errors
from brain.kip import ast
from brain.kip.check import Check


def check_meta(check: Check, statement: ast.MetaStatement) -> None:
    """Options are plain data, and what EXPORT CAPSULE exports is bound by its own WHERE."""
    match statement:
        case ast.Describe(options=options) | ast.Validate(options=options):
            check.data(options)
        case ast.ExportCapsule(target=target, where=where, options=options):
            bound = check.block(where)
            check.data(options)
            if isinstance(target, ast.Variable) and target.name not in bound:
                check.refuse(target, f"WHERE does not bind ?{target.name}", error=errors.ReferenceError)
