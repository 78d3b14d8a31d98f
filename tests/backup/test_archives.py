"""Backups: a Space in a file and back, by the commands an operator types, while others write to it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brain.app import spaces_for
from brain.backup import archive
from brain.backup.work import backup
from brain.commands import main
from brain.service.hosting import HOST
from brain.service.spaces import OpenSpace
from brain.settings import Settings
from brain.store.dump import DamagedDump, tally_of
from brain.store.sqlite import SqliteStore
from tests.service.world import settings_for
from tests.store.building import concept, write

NAMES = 'FIND(?s.name) WHERE { ?s {type: "Person"} } ORDER BY ?s.name'
ADD = 'UPSERT CONCEPT ?p { MATCH {type: "Person", key: :key} SET FIELDS {name: :key} }'


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_for(tmp_path / "db")


def with_space(settings: Settings, space_id: str, do: Callable[[OpenSpace], Any], *, make: bool = False) -> Any:
    """What `do` gives for a Space that is open only for it."""
    spaces = spaces_for(settings)
    try:
        if make:
            spaces.create(space_id, owner="ana", tier=1)
        with spaces.use(space_id) as space:
            return do(space)
    finally:
        spaces.close()


def add(*keys: str) -> Callable[[OpenSpace], None]:
    def do(space: OpenSpace) -> None:
        for key in keys:
            outcome = space.engine.run(ADD, {"key": key}, session=HOST)
            assert outcome.response["status"] == "succeeded", outcome.response

    return do


def names(space: OpenSpace) -> list[str]:
    found: list[str] = space.engine.run(NAMES, session=HOST).response["results"][0]["result"]
    return found


def run(settings: Settings, *words: str) -> int:
    return main([*words, "--local-db-path", str(settings.local_db_path)])


def the_archive(folder: Path) -> Path:
    [path] = folder.glob("*.brain")
    return path


@pytest.fixture
def made(settings: Settings, tmp_path: Path) -> Path:
    """An archive of the Space `home` with Ana and Bo in it; Cleo came later."""
    with_space(settings, "home", add("Ana", "Bo"), make=True)
    assert run(settings, "backup", "home", "--to", str(tmp_path / "kept")) == 0
    with_space(settings, "home", add("Cleo"))
    return the_archive(tmp_path / "kept")


@pytest.mark.requirement("BR-LIFE-025", "BR-OPS-013")
class TestBackupAndRestore:
    def test_a_space_comes_back_as_it_was_when_it_was_backed_up(self, settings: Settings, made: Path) -> None:
        (settings.local_db_path / "home.db").unlink()
        assert run(settings, "restore", str(made)) == 0
        assert with_space(settings, "home", names) == ["Ana", "Bo", "Brain"]
        with_space(settings, "home", add("Dora"))
        assert with_space(settings, "home", names) == ["Ana", "Bo", "Brain", "Dora"]

    def test_a_space_that_is_there_is_replaced_only_on_demand(
        self, settings: Settings, made: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(settings, "restore", str(made)) == 1
        assert "--replace" in capsys.readouterr().err
        assert with_space(settings, "home", names) == ["Ana", "Bo", "Brain", "Cleo"]
        assert run(settings, "restore", str(made), "--replace") == 0
        assert with_space(settings, "home", names) == ["Ana", "Bo", "Brain"]

    def test_a_space_somebody_has_open_is_not_replaced(
        self, settings: Settings, made: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def while_open(space: OpenSpace) -> list[str]:
            assert run(settings, "restore", str(made), "--replace") == 1
            assert "is open" in capsys.readouterr().err
            add("Dora")(space)
            return names(space)

        assert with_space(settings, "home", while_open) == ["Ana", "Bo", "Brain", "Cleo", "Dora"]
        assert run(settings, "restore", str(made), "--replace") == 0
        assert sorted(path.name for path in settings.local_db_path.iterdir()) == ["home.db"]

    def test_a_file_that_is_damaged_is_replaced_by_its_backup(self, settings: Settings, made: Path) -> None:
        (settings.local_db_path / "home.db").write_bytes(b"no database" * 1000)
        assert run(settings, "restore", str(made), "--replace") == 0
        assert with_space(settings, "home", names) == ["Ana", "Bo", "Brain"]

    def test_a_restored_space_may_have_another_name(self, settings: Settings, made: Path) -> None:
        assert run(settings, "restore", str(made), "--as", "other") == 0
        add_and_name = with_space(settings, "other", lambda space: (add("Eve")(space), names(space))[1])
        assert add_and_name == ["Ana", "Bo", "Brain", "Eve"]
        found = with_space(
            settings,
            "other",
            lambda space: space.engine.run("HISTORY ELEMENT :id", {"id": space.self_id}, session=HOST).response[
                "status"
            ],
        )
        assert found == "succeeded"
        assert with_space(settings, "home", names) == ["Ana", "Bo", "Brain", "Cleo"]

    def test_every_space_is_backed_up_and_what_fails_is_told(
        self, settings: Settings, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with_space(settings, "second", add("Kim"), make=True)
        (settings.local_db_path / "broken.db").write_bytes(b"no database")
        assert run(settings, "backup", "--all", "--to", str(tmp_path / "all")) == 1
        told = capsys.readouterr()
        assert "broken" in told.err
        assert [path.name.partition("-")[0] for path in sorted((tmp_path / "all").iterdir())] == ["home", "second"]
        assert "sha256-sum:" in told.out

    def test_an_archive_is_for_its_owner_and_overwrites_nothing(self, settings: Settings, made: Path) -> None:
        assert made.stat().st_mode & 0o777 == 0o600
        store = SqliteStore(settings.local_db_path)
        first = backup(store, "home", made.parent, 1_000)
        with pytest.raises(FileExistsError):
            backup(store, "home", made.parent, 1_999)
        store.close()
        assert first.path.name == "home-19700101T000001Z.brain"
        assert {path.suffix for path in made.parent.iterdir()} == {".brain"}

    def test_a_backup_under_load_is_of_one_moment(self, settings: Settings, tmp_path: Path) -> None:
        with_space(settings, "home", add("Ana"), make=True)
        code = (
            "import sys; from brain.store.sqlite import SqliteStore; from tests.store.building import *\n"
            "space = SqliteStore(sys.argv[1]).open('home')\n"
            "print('up', flush=True)\n"
            "for n in range(100000):\n"
            "    with space.transaction() as tx:\n"
            "        tx.set('n', 'last', {'seq': tx.seq + 1})\n"
            "        write_in(tx, [concept(f'C-{n + 100}', name='x' * 500)])\n"
        )
        writer = subprocess.Popen([sys.executable, "-c", code, str(settings.local_db_path)], stdout=subprocess.PIPE)
        try:
            assert writer.stdout is not None
            writer.stdout.readline()
            for _ in range(3):
                store = SqliteStore(settings.local_db_path)
                for path in (tmp_path / "kept").glob("*"):
                    path.unlink()
                written = backup(store, "home", tmp_path / "kept", 0)
                store.close()
                assert main(["restore", str(written.path), "--local-db-path", str(tmp_path / "other")]) == 0
                other = SqliteStore(tmp_path / "other")
                with other.open("home").snapshot() as snapshot:
                    last = snapshot.get("n", "last")
                    assert last is None or last["seq"] == snapshot.seq
                other.delete("home")
                other.close()
        finally:
            writer.kill()
            writer.communicate()


@pytest.mark.requirement("BR-LIFE-024", "BR-LIFE-025")
class TestDamage:
    @pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
    def test_an_archive_that_was_cut_off_is_refused(self, settings: Settings, made: Path, part: float) -> None:
        whole = made.read_bytes()
        made.write_bytes(whole[: int(len(whole) * part)])
        self.refused(settings, made)

    @pytest.mark.parametrize("part", [0.0, 0.2, 0.5, 0.8, 1.0])
    def test_an_archive_with_a_changed_byte_is_refused(self, settings: Settings, made: Path, part: float) -> None:
        whole = bytearray(made.read_bytes())
        # The first bytes after the magic number, and the last, hold nothing that is read.
        whole[min(int(len(whole) * part), len(whole) - 5)] ^= 0x10
        made.write_bytes(bytes(whole))
        self.refused(settings, made)

    @pytest.mark.parametrize(
        "change",
        [
            lambda lines: [*lines[:5], *lines[6:]],
            lambda lines: [*lines[:6], *lines[5:]],
            lambda lines: lines[:-1],
            lambda lines: [*lines, lines[-1]],
            lambda lines: [lines[0].replace(b'"home"', b'"else"'), *lines[1:]],
            lambda lines: [lines[0].replace(b'"version":1', b'"version":2'), *lines[1:]],
            lambda lines: [line.replace(b"Ana", b"Eva") for line in lines],
            lambda lines: [b"[]\n", *lines],
            lambda lines: [lines[0], b"{}\n", *lines[1:]],
            lambda lines: [lines[0], b"[\n", *lines[1:]],
        ],
        ids=["lost", "doubled", "endless", "after the end", "renamed", "newer", "edited", "before", "ended", "no json"],
    )
    def test_an_archive_whose_lines_were_changed_is_refused(
        self, settings: Settings, made: Path, change: Callable[[list[bytes]], list[bytes]]
    ) -> None:
        lines = gzip.decompress(made.read_bytes()).splitlines(keepends=True)
        made.write_bytes(gzip.compress(b"".join(change(lines))))
        self.refused(settings, made)

    @pytest.mark.parametrize(
        "junk",
        [b"", b"junk", gzip.compress(b""), gzip.compress(b"{}\n"), b"\x1f\x8b" + b"0" * 50],
        ids=["nothing", "text", "no lines", "another line", "no gzip"],  # a gzip header holds the time
    )
    def test_what_is_no_archive_is_refused(self, settings: Settings, made: Path, junk: bytes) -> None:
        made.write_bytes(junk)
        self.refused(settings, made)

    def refused(self, settings: Settings, path: Path) -> None:
        before = sorted(settings.local_db_path.iterdir())
        assert run(settings, "restore", str(path), "--replace") == 1
        assert run(settings, "restore", str(path), "--as", "other") == 1
        assert sorted(settings.local_db_path.iterdir()) == before
        assert with_space(settings, "home", names) == ["Ana", "Bo", "Brain", "Cleo"]

    def test_rows_of_any_shape_are_refused_in_words(self, made: Path) -> None:
        lines = [json.loads(line) for line in gzip.decompress(made.read_bytes()).splitlines()]
        for place in range(1, len(lines) - 1):
            for changed in ([], [1], ["x"], lines[place][:-1], [*lines[place], 1], [lines[place][0], *[None] * 20]):
                text = "\n".join(json.dumps(line) for line in [*lines[:place], changed, *lines[place + 1 :]])
                made.write_bytes(gzip.compress(text.encode() + b"\n"))
                with pytest.raises(DamagedDump), archive.opened(made) as opened:
                    tally_of(opened.rows)


@pytest.mark.requirement("BR-LIFE-026", "BR-OPS-013")
class TestCopies:
    def test_a_space_moves_between_stores_and_back_with_one_digest(
        self, settings: Settings, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def copy(*words: str) -> str:
            assert run(settings, "migrate", "copy", *words) == 0
            return capsys.readouterr().out.split("\t")[1]

        there, again = f"local:{tmp_path / 'there'}", f"local:{tmp_path / 'again'}"
        capsys.readouterr()
        first = copy("home", "--from", "local", "--to", there)
        assert copy("--all", "--from", there, "--to", again) == first
        assert with_space(settings_for(tmp_path / "again"), "home", names) == ["Ana", "Bo", "Brain", "Cleo"]
        assert run(settings, "migrate", "copy", "home", "--from", "local", "--to", there) == 1

    @pytest.mark.parametrize(
        "words",
        [
            ("home", "--from", "local", "--to", "local"),
            ("home", "--from", "memory", "--to", "local:x"),
            ("home", "--from", "local:", "--to", "local:x"),
            ("--all", "--from", "local", "--to", "local:x", "--as", "one"),
            ("home", "--from", "local", "--to", "bolt://x"),
        ],
    )
    def test_stores_that_are_none_are_refused(self, settings: Settings, words: tuple[str, ...]) -> None:
        assert run(settings, "migrate", "copy", *words) == 2


@pytest.mark.requirement("BR-LIFE-025")
def test_memory_does_not_grow_with_the_space(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "db", durability="normal")
    peaks = []
    for number, elements in enumerate((500, 5_000)):
        space = store.create(f"s{number}", now_ms=0)
        for first in range(1, elements, 100):
            write(space, *(concept(f"C-{n}", name="n" * 300) for n in range(first, first + 100)))
        tracemalloc.start()
        backup(store, f"s{number}", tmp_path / "kept", 0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    store.close()
    assert peaks[1] < 2 * peaks[0] + 2_000_000
