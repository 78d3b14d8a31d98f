"""Looking back: the run as it would have been at another sequence, vocabulary included (KIP 2.0 §48, §68)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from brain import errors
from brain.kip import ast
from brain.kip.context import Run
from brain.kip.govern import permit
from brain.kip.library import PackageLibrary
from brain.kip.resolve import Binder
from brain.kip.schema import Environment
from brain.times import Seq


def seq_of(run: Run, node: ast.Scalar, what: str = "AS OF SEQ") -> Seq:
    """A sequence this Space has reached; HistoricalSnapshotUnavailable for a later one."""
    seq = Binder.of(run).whole_number(node, what)
    if seq > run.snapshot.seq:
        raise errors.HistoricalSnapshotUnavailable(
            f"This Space stands at sequence {run.snapshot.seq}; it has not reached {seq}.",
            details={"seq": seq, "current_space_seq": run.snapshot.seq},
        )
    return seq


@contextmanager
def run_at(run: Run, seq: Seq, *, is_continued: bool = False) -> Iterator[Run]:
    """The same run over the Space as of `seq`; needs `read_history` for the past, unless a traversal goes on there."""
    if seq == run.snapshot.seq:
        yield run
        return
    if not is_continued:
        permit(run.session, "read_history")
    if run.open_at is None:
        raise errors.HistoricalSnapshotUnavailable(f"Sequence {seq} cannot be opened from here.", details={"seq": seq})
    with run.open_at(seq) as snapshot:
        document = snapshot.control("schema")
        if document is None:
            raise errors.HistoricalSchemaUnavailable(
                f"The vocabulary of sequence {seq} is not kept.", details={"seq": seq}
            )
        try:
            environment = Environment.load(document, PackageLibrary.bundled())
        except (errors.DigestMismatch, errors.SchemaPackageUnavailable) as error:
            raise errors.HistoricalSchemaUnavailable(
                f"The vocabulary of sequence {seq} is of packages that are no longer here.",
                details={"seq": seq, **error.details},
            ) from error
        yield replace(run, snapshot=snapshot, environment=environment)


@contextmanager
def environment_at(run: Run, seq: Seq) -> Iterator[Environment]:
    """The vocabulary as of `seq`."""
    with run_at(run, seq) as then:
        yield then.environment
