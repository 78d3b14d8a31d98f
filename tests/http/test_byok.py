"""A Space's own model: set by its managers, its key kept sealed, asked in place of the service's."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from brain.app import build
from brain.auth.sealing import Sealer
from brain.commands import main
from brain.service.byok import Byok, ModelConfigInput
from brain.service.failures import InvalidInput
from brain.settings import SettingsError, load_settings
from brain.times import SystemClock
from tests.agents.openai_server import ScriptedServer, serving, status, text
from tests.http.conftest import Door, holding, opened, said
from tests.http.test_access import cwt, guarded
from tests.service.world import OWNER, served, settings_for, store_of, world

pytestmark = pytest.mark.anyio

PATH = "/v1/home/management/space_byok"
KEYS = [base64.b64encode(bytes([number]) * 32).decode() for number in (1, 2)]
SECRET = "sk-never-to-be-seen-0123456789"


@pytest.fixture(scope="module")
def provider() -> Iterator[ScriptedServer]:
    with serving() as server:
        yield server


def config(provider: ScriptedServer | None = None, **more: Any) -> dict[str, Any]:
    chosen = {"family": "openai", "model": "own-1", "api_base": "", "api_key": SECRET}
    return {**chosen, **({} if provider is None else {"api_base": provider.url}), **more}


def keyed(**more: Any) -> dict[str, Any]:
    return {"space_secret_keys": ",".join(KEYS), "byok_allowed_hosts": ("127.0.0.1",), **more}


async def patch(door: Door, body: Any) -> httpx.Response:
    return await door.client.patch(PATH, json=body)


async def shown(door: Door) -> Any:
    return (await door.client.get(PATH)).json()["result"]


@pytest.mark.requirement("BR-CONF-030", "BR-CONF-031", "BR-EP-042")
async def test_a_key_is_kept_sealed_and_only_its_beginning_is_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with opened(tmp_path, **keyed(log_level="debug")) as door:
        assert await shown(door) is None
        asked = config(label="ours", effort="low", stream=True, context_window=8_000, max_output=500)
        assert (await patch(door, asked)).json() == {"result": True}
        told = await shown(door)
        assert told == {**asked, "api_key": "sk-n…", "disabled": False}
        assert SECRET not in (await door.get("info")).text
        assert not holding(tmp_path, SECRET)
        assert holding(tmp_path, "own-1")  # it is where we looked
    assert SECRET not in "".join(capfd.readouterr())


@pytest.mark.requirement("BR-EP-042", "BR-CONF-031")
async def test_only_a_managers_cwt_reads_or_sets_it(tmp_path: Path) -> None:
    async with guarded(tmp_path, **keyed()) as door:
        assert await door.managed("PATCH", PATH, config()) is True
        known = door.credentials["home"]
        for method, body in (("GET", None), ("PATCH", config()), ("DELETE", None)):
            for name in ("token *", "token write", "token read", "cwt read", "nobody", "other Space's cwt"):
                assert (await door.ask(method, PATH, known[name], body)).status_code == 401, (method, name)
        assert (await door.managed("GET", PATH))["api_key"] == "sk-n…"
        assert await door.managed("DELETE", PATH) is True
        assert await door.managed("DELETE", PATH) is False
        assert (await door.ask("GET", "/v1/nowhere/management/space_byok", cwt("*", "*"))).status_code == 404


@pytest.mark.requirement("BR-CONF-030", "BR-CONF-031")
async def test_the_kept_key_goes_with_its_family_and_address_and_no_others(tmp_path: Path) -> None:
    async with opened(tmp_path, **keyed()) as door:
        assert (await patch(door, config(api_key=None))).status_code == 400  # there is none yet
        await patch(door, config(api_base="https://one.example.com/v1"))
        same = await shown(door)
        for key in (same["api_key"], "", None):
            assert (await patch(door, {**same, "api_key": key, "model": "own-2"})).status_code == 200
        for elsewhere in ({"api_base": "https://two.example.com/v1"}, {"api_base": ""}, {"family": "mistral"}):
            refused = await patch(door, {**same, **elsewhere})
            assert refused.status_code == 400
            assert "api_key" in refused.json()["error"]["message"]
        assert (await shown(door)) == {**same, "model": "own-2"}


@pytest.mark.requirement("BR-CONF-030")
async def test_what_a_space_may_not_choose_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, **keyed()) as door:
        await patch(door, config())
        before = await shown(door)
        bad: list[Any] = [
            *({"family": family} for family in ("bedrock", "vertex", "azure", "ollama", "", "openai/x")),
            *({"api_base": base} for base in ("http://api.openai.com/v1", "https://10.0.0.1", "https://redis/", "x")),
            *({"model": model} for model in ("", " ", "../x", "a b", "x" * 257)),
            *({"api_key": key} for key in ("a\nb", "a b", "ключ", 7)),
            {"effort": "huge"},
            {"context_window": 10},
            {"max_output": 0},
            {"stream": "yes"},
            {"family": "openai-compatible", "api_base": ""},
            {"family": "gemini", "api_base": "https://example.com"},
        ]
        for members in bad:
            answer = await patch(door, config(**members))
            assert answer.status_code == 400, members
            assert SECRET not in answer.text
        assert (await patch(door, [])).status_code == 400
        assert await shown(door) == before


@pytest.mark.requirement("BR-CONF-031")
async def test_without_a_sealing_key_no_key_is_taken(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        refused = await patch(door, config())
        assert refused.status_code == 400
        assert "SPACE_SECRET_KEYS" in refused.json()["error"]["message"]
        assert await shown(door) is None


@pytest.mark.requirement("BR-CONF-030", "BR-CONF-032")
async def test_recall_formation_and_maintenance_ask_the_spaces_model_until_it_is_off_or_gone(
    tmp_path: Path, provider: ScriptedServer
) -> None:
    async with opened(tmp_path, **keyed()) as door:
        await door.client.post("/admin/create_space", json={"user": OWNER, "space_id": "other", "tier": 3})

        async def who_answers() -> str:
            provider.steps, provider.asked = [text("As you say.")] * 3, []
            answer = await door.result("recall", {"query": "Where does Ana live?"})
            return str(answer["model"])

        service = await who_answers()
        assert service == "builtin/offline"
        await patch(door, config(provider, max_output=300, effort="max"))
        assert await who_answers() == "openai/own-1"
        asked = provider.asked[0]
        assert asked["model"] == "own-1"
        assert 300 in (asked.get("max_tokens"), asked.get("max_completion_tokens"))
        assert asked["reasoning_effort"] == "high"

        provider.steps = [text("Nothing to keep.")] * 5
        accepted = await door.result("formation", {"messages": [said("I like tea.")]})
        assert accepted["model"] == "openai/own-1"
        assert (await door.ended(accepted["conversation"]))["model"] == "openai/own-1"
        cycle = await door.result("maintenance", {"scope": "quick"})
        assert cycle["model"] == "openai/own-1"
        assert (await door.ended(cycle["conversation"], "maintenance"))["model"] == "openai/own-1"

        elsewhere = await Door(door.client, "other").result("recall", {"query": "Where does Ana live?"})
        assert elsewhere["model"] == service  # another Space's is its own business
        await patch(door, {**await shown(door), "disabled": True})
        assert await who_answers() == service
        await patch(door, {**await shown(door), "disabled": False})
        assert await who_answers() == "openai/own-1"
        await door.client.delete(PATH)
        assert await who_answers() == service


@pytest.mark.requirement("BR-CONF-030")
async def test_a_call_goes_to_no_other_place_than_was_set(tmp_path: Path, provider: ScriptedServer) -> None:
    async with opened(tmp_path, **keyed()) as door:
        await patch(door, config(provider))
        moved = {"status": 307, "body": "elsewhere", "headers": {"location": f"{provider.url}/chat/completions"}}
        provider.steps, provider.asked = [moved, moved, moved, text("followed")], []
        answer = await door.result("recall", {"query": "Where does Ana live?"})
        assert "followed" not in json.dumps(answer)
        assert answer["failed_reason"].startswith("provider_error")


@pytest.mark.requirement("BR-CONF-030")
async def test_a_listed_host_is_looked_at_again_at_every_call(tmp_path: Path, provider: ScriptedServer) -> None:
    async with opened(tmp_path, **keyed()) as door:
        await patch(door, config(provider))
    async with served(build(settings_for(tmp_path, **keyed(byok_allowed_hosts=())))) as client:
        provider.steps, provider.asked = [text("reached")] * 3, []
        answer = await Door(client, "home").result("recall", {"query": "Where does Ana live?"})
        assert answer["failed_reason"].startswith("provider_error")
        assert provider.asked == []


@pytest.mark.requirement("BR-CONF-031", "BR-CONF-032")
async def test_a_key_that_does_not_open_asks_nobody(tmp_path: Path, provider: ScriptedServer) -> None:
    async with opened(tmp_path, **keyed()) as door:
        await patch(door, config(provider))
    other = base64.b64encode(b"\x09" * 32).decode()
    for keys in ("", other):
        async with served(build(settings_for(tmp_path, **keyed(space_secret_keys=keys)))) as client:
            door = Door(client, "home")
            answer = await door.result("recall", {"query": "Where does Ana live?"})
            assert (answer["model"], answer["content"]) == ("openai/own-1", "No answer was reached.")
            assert answer["failed_reason"].startswith("not_configured")


@pytest.mark.requirement("BR-CONF-031")
def test_keys_are_sealed_anew_after_a_change_of_the_sealing_key(tmp_path: Path) -> None:
    home = world(tmp_path)
    home.create()
    spaces = home.application.spaces

    def byok(*keys: str) -> Byok:
        return Byok(spaces, Sealer.of_texts(keys), (), SystemClock())

    byok(KEYS[0]).set("home", ModelConfigInput.model_validate(config()))
    with pytest.raises(InvalidInput):
        byok(KEYS[1]).reseal("home")
    both = byok(KEYS[1], KEYS[0])
    assert [both.reseal("home"), both.reseal("home"), byok(KEYS[1]).reseal("home")] == [True, False, False]
    spaces.close()


@pytest.mark.requirement("BR-CONF-031")
def test_the_command_seals_every_space_anew_and_names_those_it_cannot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = world(tmp_path, space_secret_keys=KEYS[0])
    for space_id in ("attic", "home"):
        home.create(space_id)
    home.application.byok.set("home", ModelConfigInput.model_validate(config()))
    home.application.spaces.close()
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    for name, value in store_of(tmp_path).items():
        monkeypatch.setenv(name.upper(), value)
    store = ["--db", str(tmp_path), "--storage", store_of(tmp_path).get("storage", "local")]
    for keys, code, told in (
        (KEYS[1], 1, "attic\tnothing to do"),
        (f"{KEYS[1]},{KEYS[0]}", 0, "attic\tnothing to do\nhome\tsealed anew"),
        (KEYS[1], 0, "attic\tnothing to do\nhome\tnothing to do"),
    ):
        monkeypatch.setenv("SPACE_SECRET_KEYS", keys)
        assert main(["reseal", "--all", *store]) == code
        out, err = capsys.readouterr()
        assert out.strip() == told
        assert ("home:" in err) == bool(code)
    monkeypatch.setenv("SPACE_SECRET_KEYS", "")
    assert main(["reseal", "home", *store]) == 2


@pytest.mark.requirement("BR-CONF-018")
def test_a_sealing_key_that_is_none_stops_the_start_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_SECRET_KEYS", f"{KEYS[0]},swordfish")
    with pytest.raises(SettingsError, match="SPACE_SECRET_KEYS") as refused:
        load_settings()
    assert "swordfish" not in str(refused.value)


@pytest.mark.requirement("BR-CONF-030")
async def test_a_request_over_the_context_window_is_not_sent(tmp_path: Path, provider: ScriptedServer) -> None:
    async with opened(tmp_path, **keyed()) as door:
        await patch(door, config(provider, context_window=1_024))
        provider.steps, provider.asked = [text("sent")], []
        answer = await door.result("recall", {"query": "Where does Ana live?"})
        assert answer["failed_reason"].startswith("too_long")
        assert provider.asked == []


async def test_a_provider_that_fails_is_told_in_our_words(tmp_path: Path, provider: ScriptedServer) -> None:
    async with opened(tmp_path, **keyed()) as door:
        await patch(door, config(provider))
        provider.steps = [status(401)]
        answer = await door.result("recall", {"query": "Where does Ana live?"})
        assert answer["failed_reason"].startswith("not_configured")
        assert "leak" not in json.dumps(answer)
