"""Cases as data, and how they are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def cases(name: str) -> Any:
    """The cases of a file beside this one."""
    return json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
