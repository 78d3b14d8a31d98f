"""Read plans of the language as single statements of SQL: exactly what running them step by step answers, or nothing.

`query.py` is a statement on the way, `steps.py` makes joins of patterns, `members.py` and `expressions.py` say how
values compare, `positions.py` how rows are ordered, `columns.py` how they are read; `solutions.py`, `groups.py` and
`answers.py` are what becomes of a whole plan. Imported with the first plan: a process can listen before.
"""

from brain.store.sqlite.plans.answers import statement_of, steps_of
from brain.store.sqlite.plans.columns import Statement
from brain.store.sqlite.plans.query import NotPushable
from brain.store.sqlite.plans.steps import compares_ends, is_known

__all__ = ["NotPushable", "Statement", "compares_ends", "is_known", "statement_of", "steps_of"]
