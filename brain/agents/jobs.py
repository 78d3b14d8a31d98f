"""What the service hands to an agent and what it gets back; the seam between `service/` and `agents/`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from brain.agents.model import Model, Usage
from brain.kip.context import Review
from brain.store.base import ElementId
from brain.times import Clock, Seq, Timestamp

if TYPE_CHECKING:
    from brain.gate.facts import Speaker
    from brain.kip.pipeline import Engine  # takes a while to import; a service can say who it is without it

Attribution = Literal["speaker", "named", "open"]
"""Whom a Formation claim may name as its actor (BR-GATE-032)."""


@dataclass(frozen=True, slots=True)
class Place:
    """The Space an agent works in.

    space_id        its id
    engine          the only way to its graph
    self_id         the Concept that stands for this Brain
    model           who answers
    transcript      called after every turn with the run's messages so far, in the wire shape of
                    `/conversations/{id}` (`messages[]`), so that a run can be read while it goes on
    """

    space_id: str
    engine: Engine
    self_id: ElementId
    model: Model
    clock: Clock
    attribution: Attribution
    transcript: Callable[[Sequence[Mapping[str, Any]], Usage], None]


@dataclass(frozen=True, slots=True)
class Said:
    """One message as it came in.

    content             its text; parts are joined by the door
    name                the speaker's name, if the message had one
    observed_at         its observation time: its own timestamp, else the request's, else when it was accepted
    utc_offset_minutes  of the clock it was said by, east positive: what "today" and "at nine" are told by
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    name: str | None
    observed_at: Timestamp
    utc_offset_minutes: int = 0


WINDOW = 16
"""The most messages one pass may cite."""

CONTEXT = 8
"""The most messages before them that it is shown."""


@dataclass(frozen=True, slots=True)
class Window:
    """The messages a pass may cite: `messages[first:end]`. Those before them were read by the pass before."""

    first: int
    end: int


def windows_of(messages: int) -> tuple[Window, ...]:
    """The passes of an input with so many messages, in order.

    The last has the newest sixteen (BR-FORM-012), each before it the sixteen before, the first what is left.
    """
    ends = range(messages, 0, -WINDOW)
    return tuple(Window(max(0, end - WINDOW), end) for end in reversed(ends))


@dataclass(frozen=True, slots=True)
class FormationJob:
    """One pass over an accepted input; a long input takes several, one for each of its windows.

    conversation  its id; Evidence identity hangs on it, so that a second run mints nothing twice
    messages      all of the input that are not blank
    window        those this pass may cite; None for the newest sixteen
    used_rounds   model calls that passes before this one made of what the whole run may take, in used_ms
    sender        who is heard where a message names nobody and no counterparty or agent is known; None for an
                  unnamed person of the conversation
    commit_review called inside every write transaction of the pass (after the gate): checks the lease's fencing token
                  and notes what was committed with the conversation
    """

    conversation: int
    messages: tuple[Said, ...]
    counterparty: str | None
    agent: str | None
    source: str | None
    topic: str | None
    accepted_at: Timestamp
    commit_review: Review
    window: Window | None = None
    used_rounds: int = 0
    used_ms: int = 0
    sender: Speaker | None = None

    @property
    def citable(self) -> Window:
        """The messages this pass may cite."""
        return self.window or (windows_of(len(self.messages)) or (Window(0, 0),))[-1]

    @property
    def shown(self) -> Window:
        """The messages this pass is shown."""
        return Window(max(0, self.citable.first - CONTEXT), self.citable.end)


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run of any agent ended.

    content        the agent's last words, shown to the caller
    failed_reason  a stable code and short text when it failed, without provider bodies or keys; None otherwise
    committed      the sequences it committed
    ids            elements it created or changed
    model          who answered
    rounds         model calls made
    stopped        why it stopped: done, turns, time, failed, refused
    """

    content: str
    failed_reason: str | None
    usage: Usage
    model: str
    rounds: int
    stopped: str
    committed: tuple[Seq, ...] = ()
    ids: tuple[ElementId, ...] = ()
    prompt_digest: str | None = None


@dataclass(frozen=True, slots=True)
class Planning:
    """What a Recall may use whose answer the host packs from what was read.

    context_tokens  of everything its model is sent, summed over the calls of the run, system text included
    count           tokens of a text
    """

    context_tokens: int
    count: Callable[[str], int]


@dataclass(frozen=True, slots=True)
class RecallJob:
    """One question.

    at           the instant the answer is about; None is now
    max_rounds   model calls at most (1 to 50, default 7)
    planning     of a budgeted Recall; None for one that answers in words
    """

    query: str
    counterparty: str | None = None
    agent: str | None = None
    source: str | None = None
    topic: str | None = None
    at: Timestamp | None = None
    max_rounds: int = 7
    timeout_ms: int = 180_000
    planning: Planning | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """An element an answer rests on, taken from the rows its reads returned, in the wire shape of MemoryCitation."""

    element_id: ElementId
    wire: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecallResult:
    """An answer.

    found        whether memory held what was asked; None when the model did not report
    uncertainty  0 to 1; None when not reported
    read         elements the run was shown or read, what its answer rests on first; of a budgeted Recall only
    """

    run: RunResult
    found: bool | None
    uncertainty: float | None
    citations: tuple[Citation, ...]
    read: tuple[ElementId, ...] = ()


@dataclass(frozen=True, slots=True)
class MaintenanceJob:
    """One cycle; `settlement` is what deterministic work before the model found and did."""

    scope: Literal["daydream", "full", "quick"]
    trigger: str
    formation_id: int
    settlement: Mapping[str, Any]
    commit_review: Review
    parameters: Mapping[str, Any] = field(default_factory=dict)
