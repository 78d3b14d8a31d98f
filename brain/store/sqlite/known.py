"""What is known of a Space as of one sequence, whichever command or thread found it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from brain.store.base import Document, ElementId
from brain.times import Seq


@dataclass(slots=True)
class Known:
    """What nearly every command asks of a Space, as it is after commit `seq`: read once a commit, not once a command.

    No two commits have one sequence, and what a commit left is never changed but by the next: at the same sequence the
    same is true in every snapshot of every thread.

    controls  control documents by name; None for what does not exist
    merges    as `Snapshot.merges`; None until somebody asked
    """

    seq: Seq
    controls: dict[str, Document | None] = field(default_factory=dict)
    merges: Mapping[ElementId, ElementId] | None = None
