"""A server process for tests: the real one, with the keeper as its model (`python -m tests.service.server`)."""

from __future__ import annotations

import os
import sys

from brain import logs
from brain.app import build
from brain.serve import Server, bind
from brain.settings import load_settings
from tests.service.keeper import Keeper


def main() -> int:
    """Serve until told to stop."""
    settings = load_settings()
    logs.configure(settings.log_level)
    keeper = Keeper(pause_s=float(os.environ.get("KEEPER_PAUSE_S", "0.02")))
    with bind(settings) as listener:
        Server(settings, build(settings, model=keeper)).run(sockets=[listener])
    return 0


if __name__ == "__main__":
    sys.exit(main())
