"""Workers over Redis do the work of a deployment: its API processes accept, and each input has its effect once."""

from __future__ import annotations

import subprocess
import sys
import time
from base64 import b64decode
from collections import Counter
from functools import partial
from pathlib import Path

import anyio
import httpx
import orjson
import pytest

from tests.service.processes import ROOT
from tests.workers.fleet import Fleet, fleet, statuses, when
from workers.kinds import Kind

pytestmark = pytest.mark.slow

HOUR_MS = 3_600_000


def accept(home: Fleet, *texts: str, space: str = "home") -> None:
    """Accept inputs, and wake nobody."""
    found = home.look()
    anyio.run(partial(found.submit, *texts, space_id=space))
    found.application.spaces.close()


@pytest.mark.requirement(
    "BR-FORM-031", "BR-FORM-032", "BR-LIFE-012", "BR-OPS-002", "BR-OPS-009", "BR-STORE-017", "BR-HTTP-029"
)
def test_two_api_processes_and_two_workers_form_every_input_of_two_spaces_once_and_in_order(tmp_path: Path) -> None:
    with fleet(tmp_path, "home", "away") as home:
        one, two = home.api(), home.api()
        first, second = home.keeper(), home.keeper()
        texts: dict[str, dict[int, str]] = {"home": {}, "away": {}}
        for number in range(40):
            space = ("home", "away")[number // 2 % 2]
            texts[space][(one, two)[number % 2].form(f"number {number}", space)] = f"number {number}"
        for space in texts:
            when(lambda space=space: statuses(home, space) == ["completed"] * 20)
        assert not home.formed(one) + home.formed(two), "an API process did a pass"
        formed = home.formed(first) + home.formed(second)
        assert sorted(formed) == sorted((space, number) for space in texts for number in range(1, 21))
        accepted = {line["request_id"] for worker in (first, second) for line in home.told(worker, "pass_ended")}
        assert None not in accepted
        assert len(accepted) == 40
        seen = home.look()
        for space, said in texts.items():
            assert seen.kept(space) == [said[number] for number in sorted(said)]
            assert len(seen.find("FIND(?e.id) WHERE { ?e EVIDENCE {} }", space)) == 20
        seen.application.spaces.close()
        assert (one.stop(), two.stop(), first.stop(), second.stop()) == (0, 0, 0, 0)


@pytest.mark.requirement("BR-FORM-034", "BR-LIFE-011", "BR-OPS-013")
def test_a_start_forms_the_backlog_of_every_space_without_a_wake_up_or_a_clock(tmp_path: Path) -> None:
    with fleet(tmp_path, "space0", "space1", "space2") as home:
        for number in range(3):
            accept(home, "I own a boat.", "I own a car.", space=f"space{number}")
        home.worker()
        for number in range(3):
            when(lambda number=number: statuses(home, f"space{number}") == ["completed"] * 2)


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-006")
def test_lost_doubled_and_forged_wake_ups_change_nothing(tmp_path: Path) -> None:
    with fleet(tmp_path, "home") as home:
        worker = home.keeper()
        beats = [home.beat(), home.beat()]
        accept(home, *(f"number {number}" for number in range(6)))
        for _ in range(25):
            home.send(Kind.FORMATION, "home")
        for arguments in ([], ["home", "away"], ["../../etc"], [7], [["home"]], [{"space": "home"}], ["x" * 65]):
            home.send(Kind.FORMATION, *arguments)
        home.send(Kind.SWEEP, "home")
        home.send(Kind.FORMATION, "nobody_made_this")
        when(lambda: statuses(home) == ["completed"] * 6)
        when(lambda: len(home.told(worker, "message_refused")) == 8)
        assert home.formed(worker) == [("home", number) for number in range(1, 7)]
        # Nobody wakes for these but the clock.
        accept(home, "number 6")
        when(lambda: statuses(home) == ["completed"] * 7)
        assert worker.process.poll() is None
        assert [beat.stop() for beat in beats] == [0, 0]
        for process in (worker, *beats):
            assert "../etc" not in process.said.read_text()
        # Nor does what no Celery ever sent: it is gone, and what comes after it is worked on.
        home.redis.client().lpush("brain.formation", b"no message at all")
        when(lambda: len(home.told(worker, "message_refused")) == 9)
        accept(home, "number 7")
        home.send(Kind.FORMATION, "home")
        when(lambda: statuses(home) == ["completed"] * 8)
        assert worker.process.poll() is None


@pytest.mark.requirement("BR-OPS-001")
def test_a_message_carries_a_space_id_and_nothing_else(tmp_path: Path) -> None:
    with fleet(tmp_path, "home") as home:
        api = home.api()
        api.form("a plum is a secret")
        api.post("/v1/home/maintenance", {})
        redis = home.redis.client()
        when(lambda: redis.llen("brain.formation") and redis.llen("brain.maintenance"))
        for kind in (Kind.FORMATION, Kind.MAINTENANCE):
            (raw,) = redis.lrange(kind.queue, 0, -1)
            message = orjson.loads(raw)
            assert message["content-type"] == "application/json"
            assert message["headers"]["task"] == kind.task
            arguments, named, _ = orjson.loads(b64decode(message["body"]))
            assert (arguments, named) == (["home"], {})
            assert b"plum" not in raw


@pytest.mark.requirement("BR-OPS-002", "BR-MAINT-012")
def test_workers_take_the_kinds_they_were_started_for_and_formation_waits_for_maintenance(tmp_path: Path) -> None:
    with fleet(tmp_path, "home") as home:
        api = home.api()
        former = home.worker("--queues", "formation,sweep", "--concurrency", "1")
        api.post("/v1/home/maintenance", {"scope": "quick"})
        api.form("I own a boat.")
        time.sleep(3)
        assert statuses(home) == ["submitted"], "formation went before the maintenance that was asked for"
        keeper = home.worker("--queues", "maintenance")
        when(lambda: statuses(home) == ["completed"])
        assert [line["collection"] for line in home.told(keeper, "pass_ended")] == ["maintenance"]
        assert [line["collection"] for line in home.told(former, "pass_ended")] == ["formation"]


@pytest.mark.requirement("BR-MAINT-011", "BR-OPS-006")
def test_the_clock_begins_maintenance_of_a_space_nobody_asks_for(tmp_path: Path) -> None:
    with fleet(tmp_path, "home") as home:
        worker = home.keeper()
        accept(home, "I own a boat.")
        home.send(Kind.SWEEP)
        when(lambda: statuses(home) == ["completed"])
        home.send(Kind.CLOCK)
        (tmp_path / "clock").write_text(str(25 * HOUR_MS))
        home.send(Kind.CLOCK)
        home.send(Kind.CLOCK)
        when(lambda: home.told(worker, "pass_ended")[1:])
        time.sleep(2)
        assert [line["collection"] for line in home.told(worker, "pass_ended")] == ["formation", "maintenance"]


@pytest.mark.requirement("BR-STORE-003")
def test_vectors_follow_what_workers_wrote(tmp_path: Path) -> None:
    with fleet(tmp_path, "home", embedding_family="builtin") as home:
        api = home.api(embedding_family="builtin")
        home.worker(embedding_family="builtin")
        api.form("I own a velvet boat.")

        asked = {"command": 'SEARCH CONCEPT "velvt boat" MODE "semantic" LIMIT 5'}

        def hits() -> list[object]:
            answer = httpx.post(f"{api.url}/v1/home/execute_kip_readonly", json=asked, timeout=10).json()
            # Until the first vectors are there, such a search is refused.
            found: list[object] = answer["results"][0].get("result", {}).get("hits", [])
            return found

        when(hits)


@pytest.mark.requirement("BR-OPS-027")
def test_a_process_that_accepts_imports_no_celery_before_it_listens() -> None:
    code = (
        "import sys; from brain.app import build; from brain.settings import Settings;"
        "build(Settings(_env_file=None, work_queue='celery'));"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'celery', 'kombu', 'redis', 'billiard'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "settings", "told"),
    [
        (["worker"], {"WORK_QUEUE": "embedded"}, "WORK_QUEUE"),
        (["beat"], {"WORK_QUEUE": "embedded"}, "WORK_QUEUE"),
        (["worker", "--queues", "formation,nonsense"], {}, "--queues takes formation"),
        (["worker", "--queues", ""], {}, "--queues takes formation"),
        (["worker"], {"STORAGE": "memory"}, "STORAGE"),
        (["serve"], {"STORAGE": "memory"}, "STORAGE"),
        (["worker"], {"REDIS_URL": "http://do-not-tell"}, "REDIS_URL"),
        (["worker"], {"WORKER_SOFT_LIMIT_MS": "5000", "WORKER_HARD_LIMIT_MS": "5000"}, "WORKER_HARD_LIMIT_MS"),
        (["worker"], {"CELERY_BROKER_URL": "redis://do-not-tell"}, "CELERY_BROKER_URL is no setting; REDIS_URL is"),
    ],
)
@pytest.mark.requirement("BR-CONF-017", "BR-CONF-018")
def test_settings_that_do_not_fit_stop_the_start_and_are_named(
    arguments: list[str], settings: dict[str, str], told: str, tmp_path: Path
) -> None:
    environment = {"PATH": "/usr/bin", "WORK_QUEUE": "celery", "LOCAL_DB_PATH": str(tmp_path), **settings}
    done = subprocess.run(
        [sys.executable, "-m", "brain", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert told in done.stderr
    assert "do-not-tell" not in done.stderr
    assert Counter(done.stderr)["\n"] == 1
