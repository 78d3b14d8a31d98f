"""`brain cwt`: make a key pair, and tokens signed with it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from brain.auth.credentials import Scope
from brain.times import SystemClock

_PRIVATE = "private "


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its two actions."""
    cwt = commands.add_parser("cwt", help="make keys and tokens for callers")
    actions = cwt.add_subparsers(dest="action", metavar="ACTION", required=True)
    keys = actions.add_parser("keys", help="print a fresh key pair; the public half goes into ED25519_PUBKEYS")
    keys.set_defaults(act=_keys)
    sign = actions.add_parser("sign", help="print a token")
    sign.add_argument(
        "--key-file",
        required=True,
        help="file with the private key, as `keys` printed it, in base64 or PEM; - for standard input",
    )
    sign.add_argument("--sub", required=True, help="whom it is for: the name its bearer is known by")
    sign.add_argument("--aud", required=True, help="id of the Space it is good in; * for all")
    sign.add_argument("--scope", required=True, choices=[scope.value for scope in Scope], help="what it allows")
    sign.add_argument("--expires-in", type=int, metavar="SECONDS", help="how long it is good; for ever without")
    sign.set_defaults(act=_sign)


def run(asked: argparse.Namespace) -> int:
    """The exit code: 0 done, 2 for a key that cannot be read."""
    code: int = asked.act(asked)
    return code


def _private_half(text: str) -> str:
    """The key of a file as `keys` printed it; any other text as it is."""
    for line in text.splitlines():
        if line.startswith(_PRIVATE):
            return line.removeprefix(_PRIVATE)
    return text


def _keys(_: argparse.Namespace) -> int:
    from brain.auth.cwt import new_key_pair

    private, public = new_key_pair()
    sys.stdout.write(f"{_PRIVATE}{private}\npublic {public}\n")
    return 0


def _sign(asked: argparse.Namespace) -> int:
    from brain.auth.cwt import KeyUnreadable, read_private_key, sign

    try:
        # A file and no option: what stands on a command line can be read by everybody on the machine.
        text = sys.stdin.read() if asked.key_file == "-" else Path(asked.key_file).read_text()
        key = read_private_key(_private_half(text))
    except (OSError, UnicodeDecodeError, KeyUnreadable) as fault:
        sys.stderr.write(f"--key-file: {getattr(fault, 'strerror', None) or fault}\n")
        return 2
    issued = SystemClock().now_ms() // 1000
    expires = None if asked.expires_in is None else issued + asked.expires_in
    scope = Scope(asked.scope)
    token = sign(key, subject=asked.sub, audience=asked.aud, scope=scope, issued_s=issued, expires_s=expires)
    sys.stdout.write(f"{token}\n")
    return 0
