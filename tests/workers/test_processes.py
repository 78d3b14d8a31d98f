"""`brain serve` as it is installed, with the model it has without a key or one behind a network, through hard times."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from bisect import bisect
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from tests.agents.openai_server import serving, status, tool_call
from tests.service.processes import ROOT, ServerProcess, started, wait_for
from tests.service.world import OWNER, World, store_of, world

pytestmark = pytest.mark.slow

THINGS = 'FIND(?o.name, ?a.evidence) WHERE { ?p (?s, "owns", ?o) ?a ASSERTION {proposition: ?p} }'
ENDS = {"completed", "failed", "cancelled"}


def serve(folder: Path, *arguments: str, **settings: Any) -> Any:
    return started(folder, "serve", *arguments, module="brain", **settings)


def look(folder: Path, *create: str) -> World:
    found = world(folder)
    for space in create:
        found.create(space)
    return found


def make(folder: Path, *spaces: str) -> Path:
    look(folder, *spaces).application.spaces.close()
    return folder


def claimed(home: World, space: str = "home") -> list[str]:
    """The thing of each claim, in the order the words it rests on were put down."""
    rows = [(name, int(evidence[0]["id"].removeprefix("E-"))) for name, evidence in home.find(THINGS, space)]
    return [name for name, _ in sorted(rows, key=lambda row: row[1])]


def said(home: World, space: str = "home") -> list[str]:
    """The words put down as evidence, one row a piece, in no order."""
    return [row[0]["payload"]["inline"] for row in home.find("FIND(?e) WHERE { ?e EVIDENCE {} }", space)]


def overtaken(places: list[int]) -> int:
    """How many have to be taken out of a list for the rest to be in order."""
    ends: list[int] = []
    for place in places:
        at = bisect(ends, place)
        ends[at : at + 1] = [place]
    return len(places) - len(ends)


def has_formed(server: ServerProcess, space: str, last: int) -> bool:
    told = server.get(f"/v1/{space}/formation_status")
    return not told["formation_processing"] and told["formation_processed_id"] >= last


def lines_of(server: ServerProcess) -> list[dict[str, Any]]:
    return [json.loads(line) for line in server.said.read_text().splitlines() if line.startswith("{")]


@pytest.mark.requirement("BR-LIFE-012", "BR-FORM-031", "BR-SPACE-001")
def test_two_servers_share_a_folder_and_two_spaces_and_each_input_is_one_claim_in_its_place(tmp_path: Path) -> None:
    folder = make(tmp_path / "spaces", "home", "away")
    expected: dict[str, list[str]] = {"home": [], "away": []}
    with serve(folder) as one, serve(folder) as two:
        for number in range(40):
            space = "home" if number % 4 < 2 else "away"
            conversation = (one, two)[number % 2].form(f"I own a {space}thing{number}.", space)
            expected[space].append(f"{space}thing{number}")
            assert conversation == len(expected[space])
        for space in expected:
            wait_for(lambda space=space: has_formed(one, space, 20) and has_formed(two, space, 20), 30)
        assert (one.stop(), two.stop()) == (0, 0)
        ended = [line for server in (one, two) for line in lines_of(server) if line["event"] == "pass_ended"]
        formed = [(line["space"], line["conversation"]) for line in ended if line["collection"] == "formation"]
        assert sorted(formed) == sorted((space, number) for space in expected for number in range(1, 21))
    home = look(folder)
    for space, things in expected.items():
        assert home.statuses(space_id=space) == ["completed"] * 20
        assert claimed(home, space) == things
        assert sorted(said(home, space)) == sorted(f"I own a {thing}." for thing in things)
    home.application.spaces.close()


@pytest.mark.requirement("BR-FORM-032", "BR-FORM-034", "BR-FORM-037", "BR-LIFE-011")
def test_killed_while_it_accepts_and_forms_it_keeps_every_input_and_forms_none_twice(tmp_path: Path) -> None:
    folder = make(tmp_path / "spaces", "home")
    accepted: dict[int, str] = {}
    posted = 0
    chance = random.Random(29)
    end = time.monotonic() + 45
    kills = 0

    def post(server: ServerProcess) -> None:
        nonlocal posted
        while True:
            posted += 1
            thing = f"thing{posted}"
            try:
                accepted[server.form(f"I own a {thing}.")] = thing
            except httpx.HTTPError:
                return  # whether it was accepted is not known

    while kills < 12 and time.monotonic() < end:
        with serve(folder) as server:
            poster = threading.Thread(target=post, args=(server,))
            poster.start()
            # How far it comes is counted in inputs, as no two machines are equally fast; the pause hits any step of it.
            enough = len(accepted) + chance.randint(1, 8)
            wait_for(lambda enough=enough: len(accepted) >= enough, 20)
            time.sleep(chance.uniform(0, 0.1))
            server.kill()
            kills += 1
            poster.join()
    assert kills >= 3
    with serve(folder) as server:
        last = max(accepted)
        wait_for(lambda: has_formed(server, "home", last), 60)
        assert server.stop() == 0
    lasted = time.monotonic() - end + 45

    home = look(folder)
    statuses = dict(enumerate(home.statuses(), start=1))
    assert set(accepted) <= set(statuses), "an accepted input is lost"
    # An input whose passes were cut short again and again waits for its next round; it stands in the queue.
    waiting = [number for number, status in statuses.items() if status not in ENDS]
    with home.application.spaces.use("home") as space, space.snapshot() as now:
        assert [work.payload["conversation"] for work in now.work("formation")] == waiting
    assert len(waiting) <= kills / 3
    claims, words = Counter(claimed(home)), Counter(said(home))
    assert max(claims.values()) == 1, "an input was formed twice"
    assert max(words.values()) == 1, "an input's words were put down twice"
    for number, thing in accepted.items():
        if statuses[number] == "completed":
            assert claims[thing] == 1
        else:
            assert home.record(number)["failed_reason"].startswith("interrupted")
    in_order = [accepted[number] for number in sorted(accepted) if statuses[number] == "completed"]
    formed = [in_order.index(thing) for thing in claimed(home) if thing in set(in_order)]
    # What was cut short three times waits a minute for its next round, and has been overtaken when that is over.
    assert overtaken(formed) <= (kills / 3 if lasted > 60 else 0)
    with home.application.spaces.get("home").snapshot() as now:
        assert now.lease("pass") is None
    home.application.spaces.close()


def remembers(thing: str, *, after: float = 0) -> dict[str, Any]:
    document = {
        "claims": [{"msg": 1, "subject": "I", "predicate": "owns", "object": thing, "object_type": "Thing"}],
        "done": True,
        "summary": "Kept 1 claim.",
    }
    return {**({"hang": after} if after else {}), **tool_call("remember", json.dumps(document))}


def provider_settings(url: str, key: str = "sk-test") -> dict[str, Any]:
    return {"model_family": "openai", "model_name": "fake", "model_api_base": url, "model_api_key": key}


@pytest.mark.requirement("BR-LIFE-009", "BR-FORM-034")
@pytest.mark.parametrize(
    ("answer_s", "grace_ms", "left"), [(1.0, 10_000, ["completed", "submitted"]), (24.0, 400, ["submitted"] * 2)]
)
def test_sigterm_while_a_provider_thinks_ends_in_time_and_what_is_left_is_formed_by_the_next(
    tmp_path: Path, answer_s: float, grace_ms: int, left: list[str]
) -> None:
    folder = make(tmp_path / "spaces", "home")
    with serving() as provider:
        settings = provider_settings(provider.url)
        provider.steps = [remembers("thing1", after=answer_s)]
        with serve(folder, shutdown_grace_ms=grace_ms, **settings) as server:
            server.form("I own a thing1.")
            server.form("I own a thing2.")
            wait_for(lambda: provider.asked, 30)
            begun = time.monotonic()
            assert server.stop() == 0
            # A busy machine needs seconds to end a process; whoever waited for the slow answer would need far more.
            assert time.monotonic() - begun < min(answer_s, grace_ms / 1000) + 15
            assert lines_of(server)[-1]["event"] == "stopped"
        home = look(folder)
        assert home.statuses() == left
        home.application.spaces.close()

        provider.steps = [remembers(f"thing{number}") for number, was in enumerate(left, start=1) if was != "completed"]
        with serve(folder, **settings) as server:
            wait_for(lambda: has_formed(server, "home", 2), 90)
            assert server.stop() == 0
    home = look(folder)
    assert home.statuses() == ["completed"] * 2
    assert claimed(home) == ["thing1", "thing2"]
    home.application.spaces.close()


@pytest.mark.requirement("BR-FORM-034", "BR-AGENT-003", "BR-DIAG-027")
def test_a_start_forms_the_backlog_of_every_space_unasked_without_litellm_and_logs_no_words(tmp_path: Path) -> None:
    spaces = [f"space{number}" for number in range(5)]
    things = [f"plumthing{number}" for number in range(3)]
    home = look(tmp_path / "spaces", *spaces)
    for space in spaces:
        anyio.run(partial(home.submit, *(f"I own a {thing}." for thing in things), space_id=space))
    # Until they are formed the server is asked about no Space, which could be what wakes it.
    with serve(tmp_path / "spaces", pythonprofileimporttime=1) as server:
        wait_for(lambda: all(home.statuses(space_id=space) == ["completed"] * 3 for space in spaces), 90)
        assert [claimed(home, space) for space in spaces] == [things] * 5
        home.application.spaces.close()
        answer = server.post(f"/v1/{spaces[0]}/recall", {"query": "What does Ana own?"})
        assert "plumthing" in answer["content"]
        assert server.stop() == 0
    told = server.said.read_text()
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in told.splitlines()
        if line.startswith("import time:")
    }
    assert "brain" in imported
    assert not imported & {"litellm", "openai", "anthropic", "tiktoken", "aiohttp"}
    lines = [line for line in told.splitlines() if not line.startswith("import time:")]
    for line in lines:
        assert {"event", "level", "at"} <= set(json.loads(line)), line
        assert "plum" not in line
        assert "Ana" not in line


@pytest.mark.requirement("BR-HTTP-026", "BR-DIAG-027")
def test_a_provider_that_quotes_the_key_and_the_words_has_them_told_to_nobody(tmp_path: Path) -> None:
    key = "sekret-5be2f0a97c"
    folder = make(tmp_path / "spaces", "home")
    with serving() as provider:
        provider.steps = [status(401, f"Incorrect API key provided: {key}; asked about zanzibarthing")] * 20
        with serve(folder, log_level="debug", **provider_settings(provider.url, key)) as server:
            server.form("I own a zanzibarthing.")
            shown = [httpx.post(f"{server.url}/v1/home/recall", json={"query": "zanzibarthing?"}, timeout=60).text]
            wait_for(lambda: "failed_reason" in server.get("/v1/home/conversations/1"), 60)
            shown += [
                httpx.get(f"{server.url}{path}", timeout=10).text
                for path in (
                    "/info",
                    "/v1/home/info",
                    "/v1/home/formation_status",
                    "/v1/home/memory_status",
                    "/v1/home/conversations/1?collection=formation",
                    "/v1/home/conversations/1?collection=recall",
                )
            ]
            assert server.stop() == 0
            logged = server.said.read_text()
    assert provider.asked
    assert "not_configured: the model provider refused the credentials" in shown[0]
    for text in (*shown, logged):
        assert key not in text
        assert "sekret" not in text
    assert "zanzibar" not in logged
    for line in logged.splitlines():
        json.loads(line)
    assert not any(key.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_memory_storage_serves_says_that_nothing_is_kept_and_keeps_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "spaces"
    for _ in range(2):
        with serve(folder, storage="memory") as server:
            assert httpx.get(f"{server.url}/v1/home/info", timeout=10).status_code == 404
            server.post("/admin/create_space", {"user": OWNER, "space_id": "home", "tier": 1})
            server.form("I own a thing1.")
            wait_for(lambda: has_formed(server, "home", 1), 20)
            assert "thing1" in server.post("/v1/home/recall", {"query": "What does Ana own?"})["content"]
            assert server.stop() == 0
            warned = [line for line in lines_of(server) if line["level"] == "warning"]
            assert [line["event"] for line in warned] == ["no_authentication", "memory_storage"]
            assert re.search(r"lost|nothing", warned[1]["meaning"])
    assert not folder.exists()


@pytest.mark.requirement("BR-LIFE-012", "BR-OPS-013")
def test_the_command_line_reads_and_writes_a_space_that_a_server_has_open(tmp_path: Path) -> None:
    folder = make(tmp_path / "spaces", "home")

    def kip(text: str) -> tuple[int, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "brain", "kip", "home", text, "--db", str(folder)],
            cwd=ROOT,
            env=os.environ | {name.upper(): value for name, value in store_of(folder).items()},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    with serve(folder) as server:
        server.form("I own a thing1.")
        wait_for(lambda: has_formed(server, "home", 1), 20)
        code, answer = kip('FIND(?o.name) WHERE { ?p (?s, "owns", ?o) }')
        assert (code, answer["results"][0]["result"]) == (0, ["thing1"])
        code, answer = kip('UPSERT CONCEPT ?c { MATCH {type: "Person", key: "mia"} SET FIELDS {name: "Mia"} }')
        assert (code, answer["status"]) == (0, "succeeded")
        assert kip("FIND(?x")[0] == 1
        found = httpx.post(
            f"{server.url}/v1/home/execute_kip_readonly",
            json={"command": 'FIND(?c.name) WHERE { ?c {type: "Person", key: "mia"} }'},
            timeout=10,
        ).json()
        assert found["results"][0]["result"] == ["Mia"]
