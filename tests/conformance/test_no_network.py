"""The engine opens no connection, whatever the content names (KIP 2.0 §62, §85.5, §88.7)."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest

from conformance.engine import EngineAdapter
from conformance.fixtures import fixtures_of, run_fixture
from conformance.scenarios.world import World
from tests.conformance.test_cases import FOLDER


@pytest.fixture
def spied(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every attempt to leave the process, which fails."""
    attempts: list[Any] = []

    def attempt(*given: Any, **_: Any) -> NoReturn:
        attempts.append(given)
        raise AssertionError("the engine reached for the network")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, attempt)
    for name in ("getaddrinfo", "create_connection", "gethostbyname"):
        monkeypatch.setattr(socket, name, attempt)
    return attempts


@pytest.mark.requirement("KI-SEC-007", "KI-KML-041")
@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_no_case_reaches_for_the_network(file: Path, spied: list[Any]) -> None:
    with EngineAdapter() as engine:
        for fixture in fixtures_of(file):
            assert all(result.outcome == "passed" for result in run_fixture(engine, fixture, file.stem))
    assert spied == []


@pytest.mark.requirement("KI-SEC-007", "KI-KML-041", "KI-EVID-002")
def test_addresses_are_data(spied: list[Any]) -> None:
    with World() as world:
        digest = "sha256:" + "0" * 64
        world.run(
            """MUTATE {
              CREATE EVIDENCE ?a {SET FIELDS {evidence_class: "web_resource", payload: "https://example.org/a"}}
              CREATE EVIDENCE ?b {SET FIELDS {evidence_class: "web_resource", content_digest: :digest,
                payload: {mode: "external", content_ref: "https://example.org/b"}}}
              CREATE CONCEPT ?c {TYPE "Topic" NAME "http://example.org" SET FIELDS {canonical_id: "https://example.org/c"}}
            }""",
            digest=digest,
        )
        world.run('SEARCH EVIDENCE "example"')
        world.run("FIND(?e.payload) WHERE { ?e EVIDENCE {} }")
    assert spied == []
