"""META over time: snapshots, transactions, history and the change stream (KIP 2.0 §36, §68)."""

from __future__ import annotations

from typing import Any

from brain import errors
from brain.kip import ast, cursor
from brain.kip.context import Answer, Run
from brain.kip.cursor import Cursor
from brain.kip.describe.pages import page_limit, read_token, traversal
from brain.kip.describe.sight import environment_at, seq_of
from brain.kip.govern import authorization_view, permit
from brain.kip.outcomes import transaction_of
from brain.kip.resolve import Binder, present_id
from brain.kip.validate import check_timestamp
from brain.store.base import Commit, Document
from brain.times import Seq, milliseconds

FURTHER = "brain/commit"
"""Where a Commit Record's further members stand in the result context of DESCRIBE TRANSACTION."""


def describe_snapshot(statement: ast.Describe, run: Run) -> Answer:
    """DESCRIBE SNAPSHOT [AS OF SEQ n | AT TIME t]: `{space_id, space_seq, tx_id, committed_at, …}`.

    An instant leads to the last commit at or before it, to sequence 0 before the first. tx_id and committed_at are null
    at sequence 0, which nobody committed.

    raises  HistoricalSnapshotUnavailable for a sequence that was not reached; TypeMismatch, ConstraintViolation for a
            misspelt instant
    """
    if statement.at_time is not None:
        moment = check_timestamp(Binder.of(run).scalar(statement.at_time), "AT TIME")
        commit = run.snapshot.commit_at(moment)
        seq = commit.seq if commit else 0
    else:
        seq = run.snapshot.seq if statement.as_of is None else seq_of(run, statement.as_of)
        commit = run.snapshot.commit(seq)
    return Answer(
        {
            "space_id": run.space_uri,
            "space_seq": seq,
            "tx_id": commit.tx_id if commit else None,
            "committed_at": commit.committed_at if commit else None,
            "schema_environment_version": _environment_version(run, seq, commit),
            "snapshot_token": snapshot_token(run.space_uri, seq),
        }
    )


def snapshot_token(space_uri: str, seq: Seq) -> str:
    """What pins a request's reads to a sequence, as `read.snapshot_token` of its envelope."""
    return f"kip:snapshot:{space_uri}:{seq}".encode().hex()


def describe_transaction(statement: ast.Describe, run: Run) -> Answer:
    """DESCRIBE TRANSACTION id, or BY IDEMPOTENCY KEY key: the commit's envelope with snapshot_seq and status.

    The Commit Record's digests and origin stand in the result context, under `extensions`.

    raises  TransactionUnknown for an id or key that stands for no outcome here, with `details.expired` when it once did
    """
    assert statement.value is not None  # noqa: S101 - the grammar requires it
    named = Binder.of(run).text(statement.value, "DESCRIBE TRANSACTION")
    tx_id = named
    if statement.by_idempotency_key:
        tx_id, seq = transaction_of(run.snapshot, run.session, named, milliseconds(run.now))
        if seq is None:
            return Answer(
                {"kip": "2.0", "space_id": run.space_uri, "tx_id": tx_id, "status": "no_effect", "changes": []}
            )
    commit = run.snapshot.commit_by_tx(tx_id)
    if commit is None:
        raise errors.TransactionUnknown("No transaction of this Space has that identity.")
    record = dict(commit.record)
    shown = {name: value for name, value in commit.envelope.items() if name != "coverage"}
    return Answer(
        {**shown, "snapshot_seq": record.get("snapshot_seq", commit.seq - 1), "status": "committed"},
        context={"extensions": {FURTHER: {name: value for name, value in record.items() if name not in shown}}},
    )


def history(statement: ast.History, run: Run) -> Answer:
    """HISTORY ELEMENT id or HISTORY SPACE [FROM SEQ a] [TO SEQ b]: envelopes oldest first, both ends included.

    An element's history keeps only its own entries of each envelope.

    raises  InvalidIdentifier for a text that is no id, NotFoundOrNotVisible for an element that is not there
    """
    permit(run.session, "read_history")
    binder = Binder.of(run)
    first = 1 if statement.from_seq is None else binder.whole_number(statement.from_seq, "FROM SEQ")
    last = None if statement.to_seq is None else binder.whole_number(statement.to_seq, "TO SEQ")
    element = None
    if statement.element is not None:
        element = present_id(run, binder.text(statement.element, "HISTORY ELEMENT"), "The element")
    limit = page_limit(run, statement.limit)
    walk = traversal(run, "history", statement)
    until = walk.seq if last is None else min(last, walk.seq)
    after = max(first - 1, walk.after)
    found = _commits(run, element, after, until, limit + 1) if limit and after < until else []
    here = found[:limit]
    envelopes = [_narrowed(commit, element) for commit in here]
    cut = len(found) > limit
    return Answer(envelopes, next_cursor=walk.cursor(run, here[-1].seq) if cut else None)


def changes(statement: ast.Changes, run: Run) -> Answer:
    """CHANGES AFTER SEQ n or SINCE cursor: envelopes in order, each with the coverage of the whole answer.

    The result context carries the coverage too, so that a follower who is up to date knows how far it got, and the
    cursor to go on with.

    raises  CursorInvalid for a text this Space did not issue as a change cursor; CursorExpired for one of a history
            that is no longer this Space's, as when it was brought back from a copy: commits of other content may stand
            where the reader has been, so that going on would leave some out
    """
    permit(run.session, "read_history")
    if statement.after_seq is not None:
        after = Binder.of(run).whole_number(statement.after_seq, "AFTER SEQ")
    else:
        assert statement.since is not None  # noqa: S101 - the grammar requires one of the two
        after = _position(run, statement.since)
    limit = page_limit(run, statement.limit)
    found = run.snapshot.commits(after=after, limit=limit + 1) if limit else []
    here = found[:limit]
    cut = len(found) > limit
    through = here[-1].seq if cut else max(after, run.snapshot.seq) if limit else after
    through = min(through, run.snapshot.seq)
    coverage = {"through_seq": through, "authorization_view": authorization_view(run.session), "complete": True}
    token = Cursor("changes", run.space_uri, through, _mark(run, through), max(through, after))
    following = cursor.issue(token, run.cursor_key)
    return Answer(
        [{**_narrowed(commit, None), "coverage": coverage} for commit in here],
        next_cursor=following if cut else None,
        context={"cursor": following, "extensions": {"brain/coverage": coverage}},
    )


def _position(run: Run, node: ast.Scalar) -> Seq:
    """How far the reader of a change cursor got, in this very history."""
    token = read_token(run, "changes", node)
    mark = _mark(run, token.seq)
    if token.seq > run.snapshot.seq or (token.identity and mark and token.identity != mark):
        raise errors.CursorExpired(
            "This cursor is of a history this Space no longer has.",
            hint="Go on with CHANGES AFTER SEQ and the last sequence you have recorded and know to be here.",
            details={"family": "changes", "reason": "expired", "current_space_seq": run.snapshot.seq},
        )
    return int(token.position)


def _mark(run: Run, seq: Seq) -> str:
    """What tells a commit from any other that could stand at its sequence; empty when it cannot be seen."""
    commit = run.snapshot.commit(seq)
    found = "" if commit is None else commit.record.get("receipt_digest", "")
    return str(found)


def _environment_version(run: Run, seq: Seq, commit: Commit | None) -> int:
    stated = commit.envelope.get("schema_environment_version") if commit else None
    if stated is not None:
        return int(stated)
    first = run.snapshot.commit(1)
    if seq == 0 and first is not None and run.open_at is None:
        return int(first.envelope.get("schema_environment_version", run.environment.version))
    with environment_at(run, seq) as environment:
        return environment.version


def _commits(run: Run, element: str | None, after: Seq, until: Seq, limit: int) -> list[Commit]:
    if element is None:
        return run.snapshot.commits(after=after, until=until, limit=limit)
    touched = [seq for seq, _ in run.snapshot.versions(element) if after < seq <= until]
    found = (run.snapshot.commit(seq) for seq in touched[:limit])
    return [commit for commit in found if commit is not None]


def _narrowed(commit: Commit, element: str | None) -> dict[str, Any]:
    envelope: Document = commit.envelope
    shown = {name: value for name, value in envelope.items() if name != "coverage"}
    if element is not None:
        shown["changes"] = [entry for entry in envelope["changes"] if entry["id"] == element]
    return shown
