"""The Person a caller writes as: made of its credential by the host, and of nothing a request says.

Its key is one of the Brain's own (`$cwt:…`, `$space_token:…`), so that no message and no counterparty speaks as it, and
callers whose credentials are of different kinds are different people whatever they are called.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from brain.agents.hostwrites import HostWrites
from brain.agents.texts import one_line
from brain.gate.facts import PERSON, Speaker
from brain.gate.gate import host_session
from brain.ids import digest
from brain.service.callers import Caller
from brain.service.hosting import host_write
from brain.unicode import normalize

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

_LONGEST = 200
_KNOWN = "FIND(?c.id) WHERE { ?c {type: :type, key: :key, state: ?s} } LIMIT 1"


def host_writes(engine: Engine, channel: str) -> HostWrites:
    """What the host itself writes around a caller's request."""
    return HostWrites(engine, host_session(channel))


def known_writer(engine: Engine, caller: Caller) -> Speaker:
    """The caller as a speaker, without an id while it is new here."""
    key = key_of(caller)
    known = host_write(engine, _KNOWN, {"type": PERSON, "key": key})
    return Speaker(known[0] if known else None, key, one_line(caller.principal, _LONGEST) or caller.kind)


def writer_of(engine: Engine, caller: Caller) -> Speaker:
    """The caller as a speaker, stored when it is new here.

    raises  HostWriteFailed, HostRefused, Unavailable when the store does not take it
    """
    writer = known_writer(engine, caller)
    if writer.id is not None:
        return writer
    return replace(writer, id=host_writes(engine, caller.channel).store_speakers([writer])[writer.key or ""])


def key_of(caller: Caller) -> str:
    """The key of its Person; different for different callers, also where their names look alike."""
    identity = caller.identity
    # Memory takes texts that differ in their composition only for the same.
    if one_line(identity, _LONGEST) == identity == normalize("NFC", identity):
        return f"${identity}"
    named = digest(identity.encode("utf-8", "surrogatepass").hex()).removeprefix("sha256:")[:32]
    return f"${caller.kind}#{named}"  # no name can make it one of the others
