"""Spaces: born whole or not at all, opened once, closed when idle, apart from each other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.service.failures import InvalidInput, SpaceNotFound, SpaceTaken, Unavailable
from brain.service.records import change_record, record_of
from brain.service.spaces import Spaces
from brain.store.base import SpaceStore
from brain.store.sqlite import SqliteStore
from brain.times import FixedClock
from tests.service.world import OWNER, world


class CountingStore(SqliteStore):
    opened = 0

    def open(self, space_id: str) -> SpaceStore:  # type: ignore[override]
        self.opened += 1
        return super().open(space_id)


@pytest.fixture
def store(tmp_path: Path) -> CountingStore:
    return CountingStore(tmp_path, durability="normal")


@pytest.fixture
def spaces(store: CountingStore, clock: FixedClock) -> Iterator[Spaces]:
    made = Spaces(store, PackageLibrary.bundled(), clock=clock, packages=("general", "everyday"))
    yield made
    made.close()


@pytest.mark.requirement("BR-SPACE-002")
@pytest.mark.parametrize("space_id", ["A", "a-b", "a" * 65, "", "a b", "../a", "ä", "a\n", "a\x00"])
def test_what_is_no_id_is_refused(spaces: Spaces, space_id: str) -> None:
    for ask in (lambda: spaces.create(space_id, owner=OWNER, tier=0), lambda: spaces.get(space_id)):
        with pytest.raises(InvalidInput, match="space_id"):
            ask()
    assert spaces.all_ids() == []


@pytest.mark.parametrize("tier", [-1, 13])
def test_a_tier_lies_within_its_bounds(spaces: Spaces, tier: int) -> None:
    with pytest.raises(InvalidInput, match="tier"):
        spaces.create("a_1", owner=OWNER, tier=tier)


@pytest.mark.requirement("BR-SPACE-004", "BR-SPACE-005")
def test_a_space_is_born_with_owner_self_and_vocabulary_and_only_once(spaces: Spaces) -> None:
    space = spaces.create("a_1", owner=OWNER, tier=2)
    with space.snapshot() as now:
        record = record_of(now)
        assert (record["owner"], record["tier"]["tier"], record["public"]) == (OWNER, 2, False)
        assert list(now.elements([space.self_id])) == [space.self_id]
        schema = now.control("schema")
        assert schema is not None
        assert "kip://profiles/cognitive-memory@2.0.0" in str(schema)
    with pytest.raises(SpaceTaken, match="already exists"):
        spaces.create("a_1", owner="other", tier=5)
    with spaces.get("a_1").snapshot() as now:
        assert record_of(now) == record


def test_a_space_whose_birth_was_cut_short_is_whole_at_its_next_opening(
    store: CountingStore, spaces: Spaces, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("brain.service.spaces.ensure_self", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            spaces.create("a_1", owner=OWNER, tier=2)
    later = Spaces(store, PackageLibrary.bundled(), clock=clock, packages=())
    with later.use("a_1") as space, space.snapshot() as now:
        assert record_of(now)["owner"] == OWNER
        assert space.self_id == "C-1"


def test_a_space_whose_birth_the_store_refused_is_not_there_and_can_be_made_later(
    spaces: Spaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("brain.service.spaces.ensure_self", _full)
        with pytest.raises(Unavailable):
            spaces.create("a_1", owner=OWNER, tier=2)
    assert spaces.all_ids() == []
    assert spaces.create("a_1", owner=OWNER, tier=2).self_id == "C-1"


def _full(_: Engine) -> None:
    raise Unavailable("the disk is full")


def test_a_changed_record_takes_no_sequence_number_and_stays(spaces: Spaces) -> None:
    space = spaces.create("a_1", owner=OWNER, tier=2)
    before = space.store.head()
    with space.transaction() as tx:
        change_record(tx, lambda record: record.update(public=True))
    with space.snapshot() as now:
        assert record_of(now)["public"] is True
        assert now.seq == before


@pytest.mark.requirement("BR-LIFE-003")
def test_fifty_first_calls_at_once_open_a_space_once(spaces: Spaces, store: CountingStore, clock: FixedClock) -> None:
    spaces.create("a_1", owner=OWNER, tier=2)
    fresh = Spaces(store, PackageLibrary.bundled(), clock=clock, packages=())
    before, barrier = store.opened, threading.Barrier(50)

    def ask(_: int) -> int:
        barrier.wait()
        return id(fresh.get("a_1"))

    with ThreadPoolExecutor(50) as pool:
        assert len(set(pool.map(ask, range(50)))) == 1
    assert store.opened == before + 1
    fresh.close()


def test_asking_for_spaces_that_do_not_exist_leaves_nothing_behind(spaces: Spaces) -> None:
    for number in range(200):
        with pytest.raises(SpaceNotFound):
            spaces.get(f"nobody_{number}")
    assert spaces.resident() == []
    assert len(spaces._gates) == 64


@pytest.mark.requirement("BR-LIFE-005", "BR-LIFE-006")
def test_an_idle_space_is_closed_unless_somebody_holds_it_and_opens_again(spaces: Spaces, clock: FixedClock) -> None:
    spaces.create("idle", owner=OWNER, tier=2)
    spaces.create("held", owner=OWNER, tier=2)
    spaces.create("used", owner=OWNER, tier=2)
    with spaces.use("held"):
        clock.advance(1_000)
        spaces.get("used")
        assert spaces.evict_idle(1_000) == ["idle"]
        assert spaces.resident() == ["held", "used"]
    clock.advance(1_000)
    assert spaces.evict_idle(1_000) == ["held", "used"]
    with spaces.use("idle") as space, space.snapshot() as now:
        assert record_of(now)["owner"] == OWNER


def test_looking_into_a_space_neither_opens_it_for_good_nor_keeps_it_open(spaces: Spaces, clock: FixedClock) -> None:
    head = spaces.create("idle", owner=OWNER, tier=2).store.head()
    clock.advance(1_000)
    assert spaces.peek("idle", lambda store: store.head()) == head
    assert spaces.evict_idle(1_000) == ["idle"]
    assert spaces.peek("idle", lambda store: store.head()) == head
    assert spaces.resident() == []
    with pytest.raises(SpaceNotFound):
        spaces.peek("nobody", lambda store: store.head())


def test_spaces_are_opened_and_closed_under_load_without_anybody_noticing(spaces: Spaces, clock: FixedClock) -> None:
    names = [f"s{number}" for number in range(6)]
    heads = {spaces.create(name, owner=OWNER, tier=2).store.head() for name in names}
    is_over = threading.Event()

    def evict() -> None:
        while not is_over.is_set():
            spaces.evict_idle(0)

    def read(number: int) -> int:
        with spaces.use(names[number % 6]) as space, space.snapshot() as now:
            return now.seq

    evictor = threading.Thread(target=evict)
    evictor.start()
    try:
        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(read, range(400))) == heads
    finally:
        is_over.set()
        evictor.join()


def test_a_space_deleted_by_another_process_is_not_found_and_can_be_made_anew(
    spaces: Spaces, store: CountingStore, tmp_path: Path
) -> None:
    spaces.create("gone", owner=OWNER, tier=2)
    SqliteStore(tmp_path).delete("gone")
    with pytest.raises(SpaceNotFound), spaces.use("gone") as space, space.snapshot():
        pass
    spaces.create("gone", owner="new", tier=1)
    with spaces.get("gone").snapshot() as now:
        assert record_of(now)["owner"] == "new"


@pytest.mark.requirement("BR-CONF-021")
def test_a_space_that_was_just_being_opened_when_it_was_barred_is_let_go_too(
    spaces: Spaces, store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    spaces.create("a", owner=OWNER, tier=0)
    spaces.let_go("a", 5)
    has_begun, may_end, opens = threading.Event(), threading.Event(), store.open

    def slowly(space_id: str) -> SpaceStore:
        opened = opens(space_id)
        has_begun.set()
        assert may_end.wait(10)
        return opened

    monkeypatch.setattr(store, "open", slowly)
    with ThreadPoolExecutor(2) as threads:
        opening = threads.submit(spaces.get, "a")
        assert has_begun.wait(10)
        with spaces.barred("a"):
            letting_go = threads.submit(spaces.let_go, "a", 5)
            threading.Timer(0.2, may_end.set).start()
            letting_go.result(10)
            assert opening.exception(10) is None or isinstance(opening.exception(), Unavailable)
            assert not spaces.is_open("a")


def test_memory_storage_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    home = world(tmp_path / "unused", storage="memory")
    home.create()
    assert len(list(tmp_path.glob("brain-memory-*/home.db"))) == 1
    home.application.spaces.close()
    assert list(tmp_path.iterdir()) == []
