"""Read plans of the language as single statements of Cypher: exactly what their steps answer one by one, or nothing.

`query.py` is a statement on the way, `steps.py` makes patterns of steps, `members.py` and `expressions.py` say how
values compare; `blocks.py`, `counts.py`, `groups.py` and `solutions.py` are what becomes of a whole plan, `answers.py`
says which can be one statement, `record.py` what comes back. Imported with the first plan: a process can listen before.
"""

from brain.store.neo4j.plans.answers import Statement, shown, statement_of
from brain.store.neo4j.plans.query import NotPushable

__all__ = ["NotPushable", "Statement", "shown", "statement_of"]
