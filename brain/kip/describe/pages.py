"""One page of an answer: limits, cursors, and the snapshot a traversal is pinned to (KIP 2.0 §44.8, §63.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from brain import errors
from brain.kip import ast, cursor
from brain.kip.context import Answer, Run
from brain.kip.cursor import Cursor, Family
from brain.kip.describe.sight import run_at
from brain.kip.resolve import Binder
from brain.store.base import Document, Json
from brain.times import Seq


@dataclass(frozen=True, slots=True)
class Traversal:
    """A walk through the rows of one query, over as many pages as it takes.

    statement the query; a cursor goes on with no other
    after     where the walk stopped: a count of rows or the last sequence, as its family counts
    seq       the sequence the walk is pinned to
    ranking   of a search by likeness, as in `Cursor`
    """

    family: Family
    statement: ast.List | ast.History | ast.Search
    after: int
    seq: Seq
    ranking: Json = None

    def cursor(self, run: Run, after: int) -> str:
        """The token that goes on after `after`."""
        identity = cursor.identity_of(self.statement, run.parameters)
        token = Cursor(self.family, run.space_uri, self.seq, identity, after, self.ranking)
        return cursor.issue(token, run.cursor_key)


def traversal(run: Run, family: Family, statement: ast.List | ast.History | ast.Search) -> Traversal:
    """The walk a statement is part of: a new one at the present, or the one its cursor goes on with.

    raises  CursorInvalid, CursorTypeMismatch, CursorMismatch for a cursor of somewhere else, CursorExpired for one of a
            state that is gone
    """
    if statement.cursor is None:
        return Traversal(family, statement, 0, run.snapshot.seq)
    found = read_token(run, family, statement.cursor)
    cursor.require(found, cursor.identity_of(statement, run.parameters))
    if found.seq > run.snapshot.seq:
        raise errors.CursorExpired(
            "The state this cursor shows pages of is not one of this Space any more.",
            details={"family": family, "reason": "expired"},
        )
    return Traversal(family, statement, int(found.position), found.seq, found.ranking)


def read_token(run: Run, family: Family, node: ast.Scalar) -> Cursor:
    """The continuation a statement's cursor stands for."""
    return cursor.read(Binder.of(run).scalar(node), run.cursor_key, family=family, space_uri=run.space_uri)


def page_limit(run: Run, node: ast.Scalar | None) -> int:
    """How many rows a page may have: LIMIT, at most `limits.meta_page`, which is also the default."""
    if node is None:
        return run.limits.meta_page
    return min(Binder.of(run).whole_number(node, "LIMIT"), run.limits.meta_page)


def list_page(
    run: Run, statement: ast.List, rows: Callable[[Run], Sequence[Document]], *, context: Document | None = None
) -> Answer:
    """The rows a LIST asks for, from where its cursor stopped.

    rows  all rows at the snapshot the traversal is pinned to
    """
    limit = page_limit(run, statement.limit)
    walk = traversal(run, "list", statement)
    with run_at(run, walk.seq, is_continued=True) as pinned:
        found = rows(pinned)
    here = list(found[walk.after : walk.after + limit])
    cut = bool(here) and walk.after + limit < len(found)
    return Answer(here, next_cursor=walk.cursor(run, walk.after + limit) if cut else None, context=context or {})
