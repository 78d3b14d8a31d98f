"""`brain doctor`: look at a deployment before it is started, or while it runs, and say what to fix."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brain.doctor.finding import Finding
    from brain.settings import Settings

Commands = Any
"""What `add_subparsers` gives."""


def add_parsers(commands: Commands) -> list[argparse.ArgumentParser]:
    """The command; settings are still to be added to it."""
    doctor = commands.add_parser("doctor", help="look at a deployment and say what to fix; nothing is written")
    doctor.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    doctor.set_defaults(run=run)
    return [doctor]


def run(asked: argparse.Namespace, settings: Settings) -> int:
    """0 where the service can work, warnings or not; 1 where something keeps it from that."""
    found = list(examine(settings))
    is_well = all(finding.level != "fault" for finding in found)
    if asked.json:
        sys.stdout.write(json.dumps({"well": is_well, "findings": [asdict(one) for one in found]}, indent=2) + "\n")
    else:
        for finding in found:
            sys.stdout.write(f"{finding.level:<8} {finding.subject:<10} {finding.text}\n")
            if finding.fix:
                sys.stdout.write(f"{'':<19} → {finding.fix}\n")
    return 0 if is_well else 1


def examine(settings: Settings) -> Iterator[Finding]:
    """Every finding, the cheapest looks first. Settings themselves were checked when they were read."""
    from brain.doctor import machine, packages, services
    from brain.doctor.finding import ok

    yield ok("settings", "every setting fits, and they fit together")
    yield from packages.chosen(settings)
    yield from machine.who_may_call(settings)
    yield from machine.folder(settings)
    yield from machine.clock(settings)
    yield from machine.limits()
    yield from machine.ports(settings)
    yield from services.texts(settings)
    yield from services.store(settings)
    yield from services.broker(settings)
    yield from services.bucket(settings)
    yield from services.models(settings)
