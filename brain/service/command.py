"""`brain reseal`: seal what Spaces keep secret anew, after a change of SPACE_SECRET_KEYS."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brain.settings import Settings

Commands = Any
"""What `add_subparsers` gives."""


def add_parsers(commands: Commands) -> list[argparse.ArgumentParser]:
    """The command; settings are still to be added to it."""
    reseal = commands.add_parser("reseal", help="seal the secrets of Spaces anew with the first of SPACE_SECRET_KEYS")
    which = reseal.add_mutually_exclusive_group(required=True)
    which.add_argument("space", nargs="?", help="id of the Space")
    which.add_argument("--all", action="store_true", help="every Space of the store")
    reseal.set_defaults(run=run_reseal)
    return [reseal]


def run_reseal(asked: argparse.Namespace, settings: Settings) -> int:
    """Those whose secrets do not open are named, the others sealed anew all the same; 1 when there was one."""
    from brain.app import spaces_for
    from brain.auth.sealing import Sealer
    from brain.service.byok import Byok
    from brain.service.failures import ServiceFailure
    from brain.settings import SettingsError
    from brain.times import SystemClock

    if not settings.sealing_keys:
        raise SettingsError("SPACE_SECRET_KEYS is not set: there is nothing to seal with")
    spaces = spaces_for(settings)
    byok = Byok(spaces, Sealer.of_texts(settings.sealing_keys), settings.byok_allowed_hosts, SystemClock())
    failed = False
    try:
        for space_id in spaces.all_ids() if asked.all else [asked.space]:
            try:
                sys.stdout.write(f"{space_id}\t{'sealed anew' if byok.reseal(space_id) else 'nothing to do'}\n")
            except ServiceFailure as failure:
                sys.stderr.write(f"{space_id}: {failure.message}\n")
                failed = True
    finally:
        spaces.close()
    return int(failed)
