"""One page of an answer: limits, cursors, and the snapshot a traversal is pinned to (KIP 2.0 §44.8, §63.3)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from brain import errors
from brain.ids import digest
from brain.kip import ast
from brain.kip.context import Answer, Run
from brain.kip.describe.sight import run_at
from brain.kip.resolve import Binder
from brain.store.base import Document
from brain.times import Seq

Family: TypeAlias = Literal["changes", "history", "list", "search"]


@dataclass(frozen=True, slots=True)
class Traversal:
    """A walk through the rows of one query, over as many pages as it takes.

    family  cursors of one kind of statement are no use to another
    query   digest of the statement's operands, without LIMIT and CURSOR
    after   where the walk stopped: a count of rows or the last sequence, as its family counts
    seq     the sequence the walk is pinned to
    """

    family: Family
    query: str
    after: int
    seq: Seq

    def cursor(self, run: Run, after: int) -> str:
        """The token that goes on after `after`."""
        state = {"family": self.family, "query": self.query, "after": after, "seq": self.seq}
        body = json.dumps(state, separators=(",", ":"), sort_keys=True).encode()
        return base64.urlsafe_b64encode(_mac(run, body) + body).decode().rstrip("=")


def traversal(run: Run, family: Family, operands: Document, cursor: ast.Scalar | None) -> Traversal:
    """The walk a statement is part of: a new one at the present, or the one its cursor goes on with.

    raises  CursorInvalid for a text this Space did not issue for this family; CursorMismatch for another query's
    """
    query = digest(dict(operands))
    if cursor is None:
        return Traversal(family, query, 0, run.snapshot.seq)
    state = _open(run, Binder.of(run).scalar(cursor))
    if state is None or state["family"] != family:
        raise errors.CursorInvalid(f"This is no {family} cursor of this Space.", details={"family": family})
    if state["query"] != query:
        raise errors.CursorMismatch(
            "This cursor goes on with another query.",
            hint="Send the query that issued it, or start this one without a cursor.",
            details={"family": family},
        )
    return Traversal(family, query, state["after"], state["seq"])


def page_limit(run: Run, node: ast.Scalar | None) -> int:
    """How many rows a page may have: LIMIT, at most `limits.meta_page`, which is also the default."""
    if node is None:
        return run.limits.meta_page
    return min(Binder.of(run).whole_number(node, "LIMIT"), run.limits.meta_page)


def list_page(
    run: Run,
    statement: ast.List,
    rows: Callable[[Run], Sequence[Document]],
    *,
    operands: Document | None = None,
    context: Document | None = None,
) -> Answer:
    """The rows a LIST asks for, from where its cursor stopped.

    rows      all rows at the snapshot the traversal is pinned to
    operands  what tells this list from others of its subject
    """
    limit = page_limit(run, statement.limit)
    walk = traversal(run, "list", {"list": statement.subject, **(operands or {})}, statement.cursor)
    with run_at(run, walk.seq) as pinned:
        found = rows(pinned)
    here = list(found[walk.after : walk.after + limit])
    cut = bool(here) and walk.after + limit < len(found)
    return Answer(here, next_cursor=walk.cursor(run, walk.after + limit) if cut else None, context=context or {})


def _open(run: Run, token: Any) -> dict[str, Any] | None:
    if not isinstance(token, str) or not token:
        return None
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        if not hmac.compare_digest(raw[:16], _mac(run, raw[16:])):
            return None
        state: dict[str, Any] = json.loads(raw[16:])
    except ValueError:
        return None
    return state


def _mac(run: Run, body: bytes) -> bytes:
    return hmac.new(run.cursor_key, run.space_uri.encode() + b"\0" + body, hashlib.sha256).digest()[:16]
