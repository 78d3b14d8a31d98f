"""How far the run of one input has come.

An input of many messages is formed in several passes, one after the other, each over a window of at most sixteen. The
end of a pass is written down in one transaction with what it came to, so that a run that was cut short goes on with the
window after it. What a pass had committed when it was cut is known too (`conversations.commits_of`): a window in which
something was stored is not read again, the others are, and the record tells which it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from brain.agents.jobs import RunResult, Window, windows_of
from brain.agents.model import Usage
from brain.service.conversations import Collection, commits_of, read, usage_from_wire, usage_to_wire
from brain.store.base import Document, Reader, Transaction


@dataclass(frozen=True, slots=True)
class Progress:
    """What the passes of a run that have ended came to.

    read      messages they read, blank ones not counted
    commits   what they committed, as a number of commits
    shown     messages of the conversation's transcript that are theirs
    contents  their last words
    faults    why the run will end as failed although it went on
    """

    read: int = 0
    commits: int = 0
    shown: int = 0
    rounds: int = 0
    usage: Usage = field(default_factory=Usage)
    contents: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def after(self, window: Window, result: RunResult, *, commits: int, shown: int) -> Progress:
        """The same after one more pass."""
        return replace(
            self,
            read=window.end,
            commits=commits,
            shown=shown,
            rounds=self.rounds + result.rounds,
            usage=self.usage + result.usage,
            contents=(*self.contents, result.content) if result.content else self.contents,
            ids=tuple(dict.fromkeys((*self.ids, *result.ids))),
        )

    def merged(self, result: RunResult) -> RunResult:
        """The result of the whole run, `result` being that of its last pass."""
        if not self.read:
            return result
        return replace(
            result,
            content="\n".join(dict.fromkeys(text for text in (*self.contents, result.content) if text)),
            usage=self.usage + result.usage,
            rounds=self.rounds + result.rounds,
            ids=tuple(dict.fromkeys((*self.ids, *result.ids))),
        )

    def to_extra(self) -> dict[str, Any] | None:
        """What the record of a run tells that ended with its process; None when none of its passes had ended."""
        if not self.read:
            return None
        return {"content": "\n".join(self.contents), "rounds": self.rounds, "memory_refs": list(self.ids)}

    def to_document(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "read": self.read,
            "commits": self.commits,
            "shown": self.shown,
            "rounds": self.rounds,
            "usage": usage_to_wire(self.usage),
            "contents": list(self.contents),
            "ids": list(self.ids),
            "faults": list(self.faults),
        }


def progress_of(reader: Reader, collection: Collection, number: int) -> Progress:
    """How far a run has come; nothing read when none of its passes has ended."""
    found = reader.get(_namespace(collection), _key(number))
    if found is None:
        return Progress()
    lists = {name: tuple(found[name]) for name in ("contents", "ids", "faults")}
    return Progress(**{**found, **lists, "usage": usage_from_wire(found["usage"])})


def set_progress(tx: Transaction, collection: Collection, number: int, progress: Progress) -> None:
    tx.set(_namespace(collection), _key(number), progress.to_document())


def forget_progress(tx: Transaction, collection: Collection, number: int) -> None:
    """The run has ended; its conversation tells the rest."""
    tx.delete(_namespace(collection), _key(number))


def messages_of(stored: Document) -> list[Mapping[str, Any]]:
    """The messages of an input that there is something to read in."""
    return [message for message in stored.get("messages", ()) if message["content"].strip()]


def windows_left(stored: Document, progress: Progress) -> list[Window]:
    """The windows of an input that no pass has ended, in order; none for what has no messages."""
    return [window for window in windows_of(len(messages_of(stored))) if window.end > progress.read]


def has_committed(reader: Reader, collection: Collection, number: int) -> bool:
    """Whether the pass that a run is at has committed anything."""
    return len(commits_of(reader, collection, number)) > progress_of(reader, collection, number).commits


def note_pass(
    tx: Transaction, collection: Collection, number: int, stored: Document, window: Window, result: RunResult
) -> None:
    """Keep what a pass came to that has passes after it; a failed one is told at the end of the run."""
    before, record = progress_of(tx, collection, number), read(tx, collection, number)
    shown = len(record["messages"]) if record else before.shown
    progress = before.after(window, result, commits=len(commits_of(tx, collection, number)), shown=shown)
    if result.failed_reason is not None:
        fault = told_of(stored, result.failed_reason, window, None)
        progress = replace(progress, faults=(*progress.faults, fault))
    set_progress(tx, collection, number, progress)


def skip_pass(tx: Transaction, collection: Collection, number: int, stored: Document, reason: str) -> str | None:
    """Leave a pass that was cut with something stored, and go on with those after it.

    reason   what became of it, told at the end of the run
    returns  why the run ends when no pass comes after it, else None
    """
    progress, record = progress_of(tx, collection, number), read(tx, collection, number)
    left = windows_left(stored, progress)
    faults = (*progress.faults, told_of(stored, reason, left[0], None) if left else reason)
    if len(left) < 2:
        return "; ".join(faults)
    progress = replace(
        progress,
        read=left[0].end,
        commits=len(commits_of(tx, collection, number)),
        shown=len(record["messages"]) if record else progress.shown,
        usage=usage_from_wire(record["usage"]) if record else progress.usage,
        faults=faults,
    )
    set_progress(tx, collection, number, progress)
    return None


def ended_early(reader: Reader, collection: Collection, number: int, stored: Document, reason: str) -> str:
    """Why a run ends before its last pass did, with what it leaves unknown and unformed."""
    progress = progress_of(reader, collection, number)
    left = windows_left(stored, progress)
    if not left:
        return reason
    is_cut = has_committed(reader, collection, number)
    unformed = Window(left[0].end if is_cut else left[0].first, left[-1].end)
    return "; ".join((*progress.faults, told_of(stored, reason, left[0] if is_cut else None, unformed)))


def told_of(stored: Document, reason: str, unknown: Window | None, unformed: Window | None) -> str:
    """A reason with the messages it concerns, when these are not the whole input.

    unknown   those of which something may have been stored and something may be missing
    unformed  those of which nothing was kept
    """
    if len(windows_of(len(messages_of(stored)))) < 2:
        return reason
    places = [place for place, message in enumerate(stored["messages"], start=1) if message["content"].strip()]
    parts = [reason]
    if unknown is not None:
        told = f"{places[unknown.first]} to {places[unknown.end - 1]} of {len(stored['messages'])}"
        parts.append(f"this concerns messages {told}")
    if unformed is not None and unformed.first < unformed.end:
        parts.append(f"messages {places[unformed.first]} to {places[unformed.end - 1]} were not formed")
    return "; ".join(parts)


def _namespace(collection: str) -> str:
    return f"progress.{collection}"


def _key(number: int) -> str:
    return f"{number:012d}"
