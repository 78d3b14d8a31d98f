"""`brain`, and `python -m brain`: the way into `brain/commands.py`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from brain import collector


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code (`brain.commands.main`)."""
    collector.look_seldom()  # before the imports, which make nothing but what stays: a sixth of a start's time
    from brain.commands import main as command

    try:
        code = command(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has seen enough (`brain kip … | head`)
        # What is left in the buffer is written at the interpreter's end, and needs a place to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
