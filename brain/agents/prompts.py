"""The agents' texts: read from `prompts/`, put together so that what never changes comes first.

A system text is the role's own Markdown, the same for every Space, then the words of the Space, fenced as data since
people coined some of them. Everything of one pass stands in the user turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from brain import bundled
from brain.agents.texts import block
from brain.agents.turns import Vocabulary
from brain.agents.words import vocabulary_lines
from brain.ids import digest

AgentRole = Literal["formation", "maintenance", "recall"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system text and the digest of its fixed part, which is recorded with the run."""

    text: str
    digest: str


def system_prompt(role: AgentRole, vocabulary: Vocabulary) -> Prompt:
    """The system text of a role in a Space with this vocabulary."""
    fixed = role_text(role)
    words = block("the words of this Space", [f"- {line}" for line in vocabulary_lines(vocabulary)])
    return Prompt(f"{fixed}\n\n{words}\n", digest(fixed.encode()))


def role_text(role: AgentRole) -> str:
    """The fixed part of a role's system text."""
    return bundled.text("prompts", f"{role}.md").rstrip()


def review_text() -> str:
    """What Formation is asked after a long input."""
    return bundled.text("prompts", "formation_review.md").rstrip()


def estimated_tokens(text: str) -> int:
    """About how many tokens a text takes: four letters of an alphabet each, other characters a little less than one."""
    plain = len(text.encode("ascii", "ignore"))
    return plain // 4 + (len(text) - plain) * 4 // 5
