"""Packets of a real Space."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from brain.agents.builtin.model import OfflineModel
from brain.kip.context import Session
from brain.packet.pack import Packet
from brain.packet.packet import Reader, packet_for
from brain.packet.question import Question
from brain.packet.tokens import count
from brain.times import timestamp
from tests.agents.space import TestSpace, open_space, said

READER = Session("tester", "test", readonly=True, default_policy="kip:memory-default", recalls=True)


@pytest.fixture(autouse=True, scope="session")
def _counted_before() -> None:
    """The encoding is read once, outside of anything that is timed."""
    count("")


@dataclass
class Memory:
    """A Space and what is asked of it."""

    space: TestSpace

    def tell(self, text: str, name: str = "Ana Ruiz", **how: Any) -> None:
        """Form a message by the key-free model."""
        result = self.space.form(OfflineModel(), said(text, name, **how))
        assert result.failed_reason is None, result

    def packet(self, query: str, max_tokens: int = 4_096, **more: Any) -> Packet:
        now = timestamp(self.space.clock.now_ms())
        session = more.pop("session", READER)
        given = {name: more.pop(name) for name in ("read", "warnings") if name in more}
        question = replace(Question(query, now, now), **more)
        return packet_for(question, Reader(self.space.engine, session, count), max_tokens=max_tokens, **given)

    def items(self, query: str, kind: str | None = None, **more: Any) -> list[dict[str, Any]]:
        packet = self.packet(query, **more)
        assert packet.is_usable, packet
        found: list[dict[str, Any]] = json.loads(packet.text)["items"]
        return [item for item in found if kind in (None, item["kind"])]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_space(tmp_path / "spaces") as opened:
        yield Memory(opened)


def told(claim: dict[str, Any]) -> str:
    """A claim in a line: `Ana Ruiz lives_in Lisbon: accepted`."""
    ends = [end["name"] if isinstance(end, dict) else str(end) for end in (claim["subject"], claim["object"])]
    return f"{ends[0]} {claim['predicate']} {ends[1]}: {claim['standing']}"
