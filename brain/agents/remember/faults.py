"""What is wrong with an item of a document, said so that it can be put right without asking again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Fault:
    """One item that was not kept.

    at        which one: `claims[2]`, or `document`
    problem   what is wrong; `remedy` what to send instead
    choices   what was probably meant, in short rows
    """

    at: str
    problem: str
    remedy: str
    choices: tuple[Mapping[str, Any], ...] = ()

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"at": self.at, "problem": self.problem, "remedy": self.remedy}
        if self.choices:
            wire["choices"] = list(self.choices)
        return wire


class Wrong(Exception):
    """An item cannot be kept; becomes a Fault where its place is known."""

    def __init__(self, problem: str, remedy: str, choices: tuple[Mapping[str, Any], ...] = ()) -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.choices = problem, remedy, choices

    def at(self, place: str) -> Fault:
        return Fault(place, self.problem, self.remedy, self.choices)
