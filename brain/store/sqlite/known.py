"""What is known of a Space as of one sequence, whichever command or thread found it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from brain.store.base import Document, ElementId
from brain.times import Seq

MOST_TERMS = 1_024


@dataclass(slots=True)
class Known:
    """What nearly every command asks of a Space, as it is after commit `seq`: read once a commit, not once a command.

    No two commits have one sequence, and what a commit left is never changed but by the next: at the same sequence the
    same is true in every snapshot of every thread.

    controls  control documents by name; None for what does not exist
    merges    as `Snapshot.merges`; None until somebody asked
    holders   how many texts hold a term of the keyword index, by kind and term, of the first `MOST_TERMS` asked about
    corpus    how many texts of a kind there are, and their terms
    """

    seq: Seq
    controls: dict[str, Document | None] = field(default_factory=dict)
    merges: Mapping[ElementId, ElementId] | None = None
    holders: dict[tuple[int, str], int] = field(default_factory=dict)
    corpus: dict[int, tuple[int, int]] = field(default_factory=dict)

    def note_holders(self, kind: int, counts: Mapping[str, int]) -> None:
        """Keep counts of one kind, as long as there is room."""
        if len(self.holders) + len(counts) <= MOST_TERMS:
            self.holders.update({(kind, term): count for term, count in counts.items()})
