"""Read plans of the language as single statements of Cypher: exactly what their steps answer one by one, or nothing.

`query.py` is a statement on the way, `steps.py` makes patterns of steps, `answers.py` puts a block or a count together
and reads its rows. Imported with the first plan: a process can listen before.
"""

from brain.store.neo4j.plans.answers import Statement, shown, statement_of
from brain.store.neo4j.plans.query import NotPushable

__all__ = ["NotPushable", "Statement", "shown", "statement_of"]
