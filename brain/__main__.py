"""`brain`, and `python -m brain`: the way into `brain/commands.py`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from brain import collector


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code (`brain.commands.main`)."""
    collector.look_seldom()  # before the imports, which make nothing but what stays: a sixth of a start's time
    from brain.commands import main as command

    return command(arguments)


if __name__ == "__main__":
    sys.exit(main())
