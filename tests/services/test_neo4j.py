"""The Neo4j started here is a real one: it asks for its password and keeps its data. Its jars are fetched whole."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest
from neo4j.exceptions import AuthError

from deploy.services import ServiceError, Services, neo4j_server, packages, ports
from deploy.services.neo4j_server import Neo4jServer, jars, version


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """Services in a folder of their own, all gone afterwards."""
    monkeypatch.setenv("NEO4J_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
    services = Services(tmp_path / "services")
    yield services
    services.remove()


def ask(variables: dict[str, str], statement: str, password: str | None = None) -> list[list[object]]:
    """Rows of one statement."""
    auth = (variables["NEO4J_USER"], password or variables["NEO4J_PASSWORD"])
    with neo4j.GraphDatabase.driver(variables["NEO4J_URI"], auth=auth) as driver:
        answer = driver.execute_query(statement, database_=variables["NEO4J_DATABASE"])
        return [list(record.values()) for record in answer.records]


@pytest.mark.slow
@pytest.mark.requirement("BR-OPS-017", "BR-OPS-018")
def test_a_real_neo4j_asks_for_its_password_and_keeps_its_data_when_it_is_killed(services: Services) -> None:
    variables = services.start("neo4j")
    assert ask(variables, "CALL dbms.components() YIELD versions, edition RETURN versions[0], edition") == [
        [version(), "community"]
    ]
    with pytest.raises(AuthError):
        ask(variables, "RETURN 1", password="neo4j")
    ask(variables, "CREATE (:Kept {through: 'a kill'})")
    services.kill("neo4j")
    assert not services.state("neo4j").ready
    assert services.start("neo4j") == variables
    assert ask(variables, "MATCH (n:Kept) RETURN n.through") == [["a kill"]]
    setting = "SHOW SETTINGS 'server.bolt.listen_address' YIELD value RETURN split(value, ':')[0]"
    assert ask(variables, setting) == [[ports.LOOPBACK]]
    services.stop("neo4j")
    log = services.folder / "neo4j" / "home" / "logs" / "neo4j.log"
    assert log.read_text("utf-8").rstrip().endswith("Stopped.")


def maven(place: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a `mvn` first on the search path: what is tested is what becomes of the cache when Maven does this."""
    program = place / "bin" / "mvn"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nfor word in "$@"; do target="${{word#-DoutputDirectory=}}"; done\n{script}\n', "ascii"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))


def test_jars_that_came_in_part_are_never_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(tmp_path, monkeypatch, 'echo half >"$target/neo4j.jar"; echo "no such host"; exit 1')
    with pytest.raises(ServiceError, match=rf"(?s)Maven could not fetch the jars of Neo4j {version()}.*no such host"):
        jars()
    assert not (tmp_path / "cache" / "brain" / f"neo4j-{version()}").exists()


def test_jars_are_fetched_once_however_many_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(tmp_path, monkeypatch, f'echo called >>"{tmp_path}/calls"; sleep 0.3; echo whole >"$target/neo4j.jar"')
    found: list[Path] = []
    askers = [threading.Thread(target=lambda: found.append(jars())) for _ in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert {folder / "neo4j.jar" for folder in found} == {
        tmp_path / "cache" / "brain" / f"neo4j-{version()}" / "neo4j.jar"
    }
    assert (found[0] / "neo4j.jar").read_text("ascii") == "whole\n"
    assert (tmp_path / "calls").read_text("ascii") == "called\n"
    assert jars() == found[0]


def test_what_a_killed_fetch_left_is_cleared_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(tmp_path, monkeypatch, 'echo whole >"$target/neo4j.jar"')
    left = tmp_path / "cache" / "brain" / f"neo4j-{version()}.abc.part"
    left.mkdir(parents=True)
    assert jars().is_dir()
    assert not left.exists()


def test_no_suitable_java_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neo4j_server, "JAVA_VERSIONS", ("1",))
    monkeypatch.setattr(packages, "may_install", lambda: False)
    with pytest.raises(ServiceError, match=r"Neo4j needs Java 1: install one, or name it with JAVA_HOME"):
        Neo4jServer().install()
