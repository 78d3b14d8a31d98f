"""What operators are told."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from brain.service.outputs.common import Wire


class Alive(TypedDict):
    alive: Literal[True]


class Ready(TypedDict):
    """Whether requests should be sent, with every check."""

    ready: bool
    checks: Wire
