"""How the statements of a store write the comparisons of the language."""

from __future__ import annotations

from collections.abc import Mapping

from brain.kip.algebra import Operator

SIGNS: Mapping[Operator, str] = {"==": "=", "!=": "<>", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
"""An operator in SQL, and in Cypher."""

FLIPPED: Mapping[Operator, Operator] = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The operator that says the same with its operands the other way round."""
