"""`python -m conformance COMMAND …`."""

from __future__ import annotations

import importlib
import sys

from brain import logs

COMMANDS = {
    "suite": "run fixtures: the published engine suite, or our own cases",
    "vectors": "play the published vectors",
    "oracle": "compare with recorded or live answers of the reference engine",
    "api": "run the black-box contract of the HTTP door against our servers",
    "fuzz": "send mutated commands: no crash, no hang, no write through a reader",
    "chaos": "accept and form inputs while processes, workers and Redis are killed at random",
    "bench": "measure parsing, engine and service, beside the floor and the reference engine",
    "load": "many clients at once on one API process: requests a second, statuses, percentiles",
    "requirements": "list requirements without a test and marks without a row",
}


def main() -> int:
    """Run one command and give its exit code."""
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        print("usage: python -m conformance COMMAND [arguments]")
        for name, meaning in COMMANDS.items():
            print(f"  {name:<13} {meaning}")
        return 2
    logs.configure("error", stream=sys.stderr)
    module = importlib.import_module(f"conformance.{sys.argv[1]}")
    code: int = module.main(sys.argv[2:])
    return code


if __name__ == "__main__":
    sys.exit(main())
