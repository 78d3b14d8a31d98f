"""`python -m deploy.services start|stop|status|env|install`, from the project's root."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import shlex
import sys
from pathlib import Path

from deploy.services.errors import ServiceError
from deploy.services.manager import ROOT, SERVERS, Services


def main(arguments: list[str] | None = None) -> int:
    """Do one command. 0: done; 1: a service failed, or `status` found one not answering; 2: a wrong command line."""
    given = _parser().parse_args(arguments)
    services = Services(given.dir)
    try:
        return COMMANDS[given.command](services, given)
    except ServiceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _start(services: Services, given: argparse.Namespace) -> int:
    for name in given.names or SERVERS:
        services.start(name)
        print(f"{name}: ready, process {services.state(name).pid}", file=sys.stderr)
    return _env(services, given)


def _stop(services: Services, given: argparse.Namespace) -> int:
    for name in given.names or SERVERS:
        print(f"{name}: {'stopped' if services.stop(name, now=given.now) else 'was not running'}")
    return 0


def _status(services: Services, given: argparse.Namespace) -> int:
    states = [services.state(name) for name in given.names or SERVERS]
    for state in states:
        condition = "ready" if state.ready else "starting or not answering" if state.pid else "not running"
        print(f"{state.name}: {condition}" + (f", process {state.pid}" if state.pid else ""))
    return 0 if all(state.ready for state in states) else 1


def _env(services: Services, given: argparse.Namespace) -> int:
    for name in given.names or SERVERS:
        state = services.state(name)
        for variable, value in state.variables.items() if state.pid else ():
            print(f"export {variable}={shlex.quote(value)}")
    return 0


def _install(services: Services, given: argparse.Namespace) -> int:
    del services
    for name in given.names or SERVERS:
        SERVERS[name].install()
    return 0


def _guard(services: Services, given: argparse.Namespace) -> int:
    with contextlib.suppress(FileNotFoundError), given.owner.open("r+") as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
    services.remove()
    return 0


COMMANDS = {"start": _start, "stop": _stop, "status": _status, "env": _env, "install": _install, "guard": _guard}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m deploy.services", description=__doc__)
    place = Path(os.environ.get("SERVICES_DIR") or ROOT / ".services")
    parser.add_argument("--dir", type=Path, default=place, help="folder of data and processes (default: %(default)s)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, text in (
        ("start", "start services, wait until they answer, print the settings to reach them"),
        ("stop", "stop services that were started in this folder; their data stay"),
        ("status", "say which services run"),
        ("env", "print the settings of running services, to be read by a shell's eval"),
        ("install", "get what the services need, without starting them"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("names", nargs="*", choices=[[], *SERVERS], metavar="neo4j|redis", help="default: both")
        if name == "stop":
            command.add_argument("--now", action="store_true", help="with SIGKILL")
    guard = commands.add_parser("guard")  # started by Services.end_with
    guard.add_argument("owner", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main())
