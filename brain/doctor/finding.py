"""What a look at a deployment comes to: one finding for each thing looked at, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "fault"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    level    `fault` keeps the service from working, `warning` is going to hurt
    subject  what was looked at
    text     how it is, without a secret
    fix      what to do; empty where there is nothing to do
    """

    level: Level
    subject: str
    text: str
    fix: str = ""


def ok(subject: str, text: str) -> Finding:
    """It is as it should be."""
    return Finding("ok", subject, text)


def warning(subject: str, text: str, fix: str) -> Finding:
    """It works, and should be different."""
    return Finding("warning", subject, text, fix)


def fault(subject: str, text: str, fix: str) -> Finding:
    """It does not work."""
    return Finding("fault", subject, text, fix)
