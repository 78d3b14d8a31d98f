"""The benchmark runs and measures every read it names on both sides; how fast is nobody's business here."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance import places
from conformance.bench import main
from conformance.bench.floor import READS as BARE
from conformance.bench.floor import Floor
from conformance.bench.growth import bench_growth
from conformance.bench.people import READS, parameters_of


def test_the_floor_answers_every_read_of_the_engine() -> None:
    assert set(BARE) == set(READS)
    floor = Floor(200)
    for name, command in READS.items():
        rows = floor.read(name, parameters_of(command, 7))
        assert rows or name in {"filter, no match"}, name
    floor.close()


@pytest.fixture(params=places.STORES)
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a store; the Neo4j is that of the test run."""
    if request.param == "neo4j":
        service: Mapping[str, str] = request.getfixturevalue("neo4j_service")
        monkeypatch.setattr(places, "_neo4j", lambda: service)
    return str(request.param)


def test_every_read_is_measured_and_printed_beside_the_least_it_could_take(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ["100", "200"] if store == "sqlite" else ["100"]
    assert main(["engine", "--store", store, "--sizes", ",".join(sizes)]) == 0
    printed = capsys.readouterr().out
    for name in (*READS, "ASSERT, one a transaction"):
        rows = [line.split() for line in printed.splitlines() if line.startswith(f"  {name} ")]
        assert len(rows) == len(sizes) + (name in READS and len(sizes) > 1), name
        for row in rows[: len(sizes)]:
            ours, least, ratio = map(float, row[-3:])
            assert min(ours, least) > 0
            assert ratio == pytest.approx(ours / least, rel=0.1, abs=0.01)
    assert ("growth from 100 to 200" in printed) is (store == "sqlite")


def test_growth_measures_after_every_step_of_its_claims(capsys: pytest.CaptureFixture[str]) -> None:
    bench_growth(500, 200, "sqlite", concepts=30)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["200", "400", "500"]
    assert all(float(figure) > 0 for line in lines[2:] for figure in line.split())


def test_writers_of_several_spaces_are_measured_together_in_processes_of_their_own(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["writers", "--store", store, "--spaces", "1,3", "--processes", "2", "--seconds", "0.3"]) == 0
    title, names, *lines = capsys.readouterr().out.splitlines()
    assert f"writers on {store}" in title
    assert "2 processes" in title
    assert ("bare trip" in title) is (store == "neo4j")
    assert [len(line.split()) for line in lines] == [8 if store == "neo4j" else 7] * 2, names
    assert [line.split()[0] for line in lines] == ["1", "3"]
    for line in lines:
        spaces, pace, of_each, median, late, *spent = map(float, line.split())
        assert of_each == pytest.approx(pace / spaces, abs=1)
        assert 0 < median <= late
        assert all(figure > 0 for figure in spent)


def test_a_part_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nonsense"])
    assert "nonsense" in capsys.readouterr().err
