"""Who gets in where: every route, every kind of credential, public and private Spaces."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.routing import Route

from brain.app import Application, build
from brain.auth.credentials import Scope
from brain.auth.cwt import sign
from brain.http.auth import Failures, TooManyFailures, access_of
from brain.service.access import Access
from brain.settings import SettingsError, load_settings
from brain.times import SystemClock
from tests.http.conftest import holding
from tests.service.world import OWNER, served, settings_for

pytestmark = pytest.mark.anyio

KEY = Ed25519PrivateKey.from_private_bytes(b"\x07" * 32)
PUBLIC_KEY = base64.urlsafe_b64encode(KEY.public_key().public_bytes_raw()).decode()
MANAGER = "uuc56-gyb"
IN, OUT, CLOSED = "in", 401, 403


def cwt(audience: str, scope: str, subject: str = MANAGER) -> str:
    """A token that is good now."""
    issued = SystemClock().now_ms() // 1000
    return sign(KEY, subject=subject, audience=audience, scope=Scope(scope), issued_s=issued, expires_s=issued + 600)


@dataclass
class Guarded:
    """A service with authentication, a private Space `home` and a public one, `square`, each with Space tokens."""

    application: Application
    client: httpx.AsyncClient
    credentials: dict[str, dict[str, str | None]]

    async def ask(self, method: str, path: str, credential: str | None, body: Any = None) -> httpx.Response:
        headers = {} if credential is None else {"authorization": f"Bearer {credential}"}
        return await self.client.request(method, path, headers=headers, json=body)

    async def managed(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self.ask(method, path, cwt("*", "*"), body)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]


@asynccontextmanager
async def guarded(folder: Path, **settings: Any) -> AsyncIterator[Guarded]:
    application = build(settings_for(folder, ed25519_pubkeys=(PUBLIC_KEY,), managers=(MANAGER,), **settings))
    async with served(application) as client:
        door = Guarded(application, client, {})
        for space in ("home", "square"):
            await door.managed("POST", "/admin/create_space", {"user": OWNER, "space_id": space, "tier": 3})
            known: dict[str, str | None] = {"nobody": None, "junk token": "STjunk", "junk": "x" * 80}
            for scope in ("read", "write", "*"):
                known[f"cwt {scope}"] = cwt(space, scope, "somebody")
                known[f"cwt of all {scope}"] = cwt("*", scope, "somebody")
                known[f"manager {scope}"] = cwt("*", scope)
                asked = {"scope": scope, "name": f"for {scope}"}
                minted = await door.managed("POST", f"/v1/{space}/management/add_space_token", asked)
                known[f"token {scope}"] = minted["token"]
            labelled = {"scope": "read", "name": "labelled", "labels": ["hr"]}
            minted = await door.managed("POST", f"/v1/{space}/management/add_space_token", labelled)
            known["labelled token"] = minted["token"]
            known["other Space's cwt"] = cwt("elsewhere", "*")
            door.credentials[space] = known
        await door.managed("PATCH", "/v1/square/management/update_space", {"public": True})
        home, square = door.credentials["home"], door.credentials["square"]
        home["other Space's token"], square["other Space's token"] = square["token *"], home["token *"]
        yield door


READERS = {"cwt read", "cwt *", "cwt of all read", "cwt of all *", "manager read", "manager *", "token read", "token *"}
WRITERS = {
    "cwt write",
    "cwt *",
    "cwt of all write",
    "cwt of all *",
    "manager write",
    "manager *",
    "token write",
    "token *",
}
UNREADABLE = {"junk", "junk token", "other Space's cwt", "other Space's token"}


def expected(access: Access, credential: str, is_public: bool) -> object:
    """What a caller with a credential meets: in, 401 or 403."""
    is_token = "token" in credential
    is_in: bool
    match access:
        case Access.OPEN:
            is_in = True
        case Access.PUBLIC_READ | Access.UNLABELLED_READ | Access.LENIENT_READ:
            if credential == "labelled token":
                if access is Access.UNLABELLED_READ:
                    return CLOSED
                is_in = True
            else:
                ignored = is_token and access is Access.LENIENT_READ
                is_in = credential in READERS or (is_public and (ignored or credential == "nobody"))
        case Access.READ:
            is_in = credential in READERS | {"labelled token"}
        case Access.WRITE:
            is_in = credential in WRITERS
        case Access.FULL:
            is_in = credential in READERS & WRITERS
        case Access.MANAGEMENT:
            is_in = credential in WRITERS and not is_token
        case Access.ADMIN:
            is_in = credential in {"manager write", "manager *"}
    return IN if is_in else OUT


@pytest.mark.requirement(
    "BR-AUTH-015",
    "BR-AUTH-016",
    "BR-AUTH-017",
    "BR-AUTH-018",
    "BR-AUTH-019",
    "BR-AUTH-020",
    "BR-AUTH-025",
    "BR-SPACE-006",
)
async def test_every_route_admits_exactly_whom_its_rule_admits(tmp_path: Path) -> None:
    async with guarded(tmp_path, auth_failures_per_minute=1_000_000) as door:
        wrong: list[str] = []
        asked = 0
        for served_route in door.application.http.routes:
            assert isinstance(served_route, Route)
            access = access_of(served_route)
            assert access is not None, f"{served_route.path} states no access rule"
            for space, is_public in (("home", False), ("square", True)):
                path = served_route.path.format(space_id=space, conversation_id="999")
                [method] = (served_route.methods or set()) - {"HEAD"}
                for name, credential in door.credentials[space].items():
                    # An empty object is no good input anywhere, so that nothing is done; being let in is told by that.
                    answer = await door.ask(method, path, credential, None if method == "GET" else {"tier": "none"})
                    got = answer.status_code if answer.status_code in (OUT, CLOSED) else IN
                    asked += 1
                    if got != expected(access, name, is_public):
                        wrong.append(f"{method} {path} [{access.value}] with {name}: {answer.status_code}")
                    if answer.status_code == OUT:
                        assert answer.json() == {"error": {"message": "authentication failed"}}
                        assert "www-authenticate" not in answer.headers
        assert not wrong, "\n".join(wrong)
        assert asked > 600


@pytest.mark.requirement("BR-AUTH-025", "BR-SPACE-003")
async def test_an_outsider_cannot_tell_a_missing_space_from_a_private_one(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        outsiders = (None, "STjunk", "x" * 80, cwt("elsewhere", "*"), door.credentials["square"]["token *"])
        for path in ("info", "conversations", "management/space_tokens"):
            for credential in outsiders:
                there = await door.ask("GET", f"/v1/home/{path}", credential)
                missing = await door.ask("GET", f"/v1/nowhere/{path}", credential)
                assert (
                    (there.status_code, there.content) == (missing.status_code, missing.content) == (401, there.content)
                )
            insider = await door.ask("GET", f"/v1/nowhere/{path}", cwt("*", "*"))
            assert insider.status_code == 404


@pytest.mark.requirement("BR-AUTH-025")
async def test_the_time_of_a_refusal_does_not_tell_whether_a_space_had_to_be_opened(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        for space in ("home", "nowhere"):
            for credential in (None, "STjunk"):
                door.application.spaces.let_go("home", 5)
                asked = anyio.current_time()
                assert (await door.ask("GET", f"/v1/{space}/info", credential)).status_code == OUT
                assert anyio.current_time() - asked >= 0.1


async def test_nobody_opens_a_space_with_what_could_never_let_them_in(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        door.application.spaces.let_go("home", 5)
        for method, path, credential in (
            ("POST", "formation", None),
            ("POST", "remember", "junk"),
            ("GET", "management/space_tokens", "STjunk"),
            ("GET", "info", cwt("elsewhere", "*")),
        ):
            assert (await door.ask(method, f"/v1/home/{path}", credential)).status_code == OUT
            assert not door.application.spaces.is_open("home")


@pytest.mark.requirement("BR-AUTH-007", "BR-AUTH-008", "BR-AUTH-032", "BR-EP-037", "BR-EP-038")
async def test_a_space_token_is_shown_once_and_kept_as_a_digest(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        asked = {"scope": "read", "name": " reader ", "expires_at": 4_000_000_000_000}
        minted = await door.managed("POST", "/v1/home/management/add_space_token", asked)
        token = minted["token"]
        assert token.startswith("ST")
        assert len(token) >= 2 + 27  # 20 random bytes in base64
        assert (minted["name"], minted["scope"], minted["usage"]) == ("reader", "read", 0)
        assert minted["expires_at"] == asked["expires_at"]
        assert "labels" not in minted
        listed = await door.managed("GET", "/v1/home/management/space_tokens")
        [shown] = [one for one in listed if one["name"] == "reader"]
        assert shown["token"] == token[:8] + "…"
        assert {**shown, "token": token} == minted
        assert (await door.ask("GET", "/v1/home/info", token)).status_code == 200
    assert not holding(tmp_path, token)


@pytest.mark.requirement("BR-AUTH-012", "BR-EP-039")
async def test_revocation_holds_from_the_next_request_on_in_another_process_too(tmp_path: Path) -> None:
    async with (
        guarded(tmp_path) as door,
        served(build(settings_for(tmp_path, ed25519_pubkeys=(PUBLIC_KEY,), managers=(MANAGER,)))) as other,
    ):
        minted = await door.managed("POST", "/v1/home/management/add_space_token", {"scope": "read", "name": "r"})
        headers = {"authorization": f"Bearer {minted['token']}"}
        assert (await other.get("/v1/home/info", headers=headers)).status_code == 200
        path = "/v1/home/management/revoke_space_token"
        assert await door.managed("POST", path, {"name": "r"}) is True
        assert (await other.get("/v1/home/info", headers=headers)).status_code == 401
        assert await door.managed("POST", path, {"name": "r"}) is False
        again = await door.managed("POST", "/v1/home/management/add_space_token", {"scope": "*", "name": "r"})
        assert await door.managed("POST", path, {"token": again["token"]}) is True
        bodies: tuple[dict[str, str], ...] = ({}, {"name": " "}, {"token": "owner"})
        for body in bodies:
            assert (await door.ask("POST", path, cwt("home", "write"), body)).status_code == 400


@pytest.mark.requirement("BR-AUTH-007")
async def test_an_expired_space_token_is_none(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        asked = {"scope": "read", "name": "old", "expires_at": SystemClock().now_ms() - 1_000}
        minted = await door.managed("POST", "/v1/home/management/add_space_token", asked)
        assert (await door.ask("GET", "/v1/home/info", minted["token"])).status_code == 401


@pytest.mark.requirement("BR-AUTH-009", "BR-AUTH-011", "BR-AUTH-031")
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"scope": "read", "name": "for read"}, "already exists"),
        ({"scope": "read", "name": " for read "}, "already exists"),
        ({"scope": "read", "name": "  "}, "name is required"),
        ({"scope": "read", "name": "n" * 257}, "longer than"),
        ({"scope": "read", "name": "brain:formation"}, "the service's own"),
        ({"scope": "read", "name": " Brain:host"}, "the service's own"),
        ({"scope": "read", "name": "\uff4bip:principal:system"}, "the service's own"),
        ({"scope": "read"}, "name"),
        ({"scope": "admin", "name": "a"}, "scope"),
        ({"name": "a"}, "scope"),
        ({"scope": "write", "name": "a", "labels": ["x"]}, "read scope"),
        ({"scope": "*", "name": "a", "labels": []}, "read scope"),
        ({"scope": "read", "name": "a", "labels": [" "]}, "blank"),
        ({"scope": "read", "name": "a", "expires_at": -1}, "expires_at"),
        ({"scope": "read", "name": "a", "expires_at": "soon"}, "expires_at"),
    ],
)
async def test_a_token_that_breaks_a_rule_is_not_minted(tmp_path: Path, asked: Any, why: str) -> None:
    async with guarded(tmp_path) as door:
        before = await door.managed("GET", "/v1/home/management/space_tokens")
        answer = await door.ask("POST", "/v1/home/management/add_space_token", cwt("home", "*"), asked)
        assert answer.status_code == 400
        assert why in answer.json()["error"]["message"]
        assert len(await door.managed("GET", "/v1/home/management/space_tokens")) == len(before)


@pytest.mark.requirement("BR-AUTH-011")
async def test_labels_are_kept_sorted_and_an_empty_list_is_not_none(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        path = "/v1/home/management/add_space_token"
        some = await door.managed("POST", path, {"scope": "read", "name": "some", "labels": ["b", " a", "a"]})
        assert some["labels"] == ["a", "b"]
        none = await door.managed("POST", path, {"scope": "read", "name": "none", "labels": []})
        assert none["labels"] == []


@pytest.mark.requirement("BR-AUTH-031")
async def test_a_space_has_at_most_a_hundred_tokens(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        path = "/v1/home/management/add_space_token"
        there = len(await door.managed("GET", "/v1/home/management/space_tokens"))
        for number in range(100 - there):
            await door.managed("POST", path, {"scope": "read", "name": f"token {number}"})
        answer = await door.ask("POST", path, cwt("home", "*"), {"scope": "read", "name": "one more"})
        assert answer.status_code == 400
        assert "at most 100" in answer.json()["error"]["message"]


@pytest.mark.requirement("BR-AUTH-010")
async def test_only_a_full_cwt_mints_a_full_token_or_one_that_reads(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        path = "/v1/home/management/add_space_token"
        assert (await door.ask("POST", path, cwt("home", "write"), {"scope": "*", "name": "a"})).status_code == 401
        assert (await door.ask("POST", path, cwt("home", "write"), {"scope": "read", "name": "a"})).status_code == 401
        assert (await door.ask("POST", path, cwt("home", "write"), {"scope": "write", "name": "a"})).status_code == 200
        assert (await door.ask("POST", path, cwt("home", "*"), {"scope": "*", "name": "b"})).status_code == 200


@pytest.mark.requirement("BR-AUTH-013")
async def test_uses_of_a_token_are_counted_and_told(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        for _ in range(3):
            await door.ask("GET", "/v1/home/info", door.credentials["home"]["token read"])
        await door.ask("GET", "/v1/home/info", door.credentials["home"]["token write"])
        listed = await door.managed("GET", "/v1/home/management/space_tokens")
        uses = {one["name"]: one["usage"] for one in listed}
        assert uses["for read"] == 3
        assert uses["for write"] == 1  # verified, and then refused for its scope
        assert uses["for *"] == 0


@pytest.mark.requirement("BR-EP-030")
async def test_recall_conversations_of_a_public_space_are_closed_to_strangers(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        recall = await door.ask("POST", "/v1/square/recall", None, {"query": "who is there?"})
        number = recall.json()["result"]["conversation"]
        for path in ("conversations", f"conversations/{number}", f"conversations/{number}/delta"):
            stranger = await door.ask("GET", f"/v1/square/{path}?collection=recall", None)
            assert stranger.status_code == 403
            assert "anonymous public access" in stranger.json()["error"]["message"]
            known = await door.ask("GET", f"/v1/square/{path}?collection=recall", cwt("square", "read"))
            assert known.status_code == 200
        assert (await door.ask("GET", "/v1/square/conversations", None)).status_code == 200


@pytest.mark.requirement("BR-AUTH-024", "BR-AUTH-028")
async def test_a_caller_is_the_subject_of_its_cwt_the_name_of_its_token_or_nobody(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        body = {"messages": [{"role": "user", "content": "I like tea."}]}
        users = []
        for credential in (cwt("home", "write", "ana"), door.credentials["home"]["token write"]):
            accepted = await door.ask("POST", "/v1/home/formation", credential, body)
            number = accepted.json()["result"]["conversation"]
            record = await door.managed("GET", f"/v1/home/conversations/{number}")
            users.append(record["user"])
        assert users == ["ana", "for write"]


@pytest.mark.requirement("BR-EP-040", "BR-SPACE-012")
async def test_what_an_update_leaves_out_keeps_its_value(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        path = "/v1/home/management/update_space"
        assert await door.managed("PATCH", path, {"name": "Kitchen", "description": "Meals"}) is True
        await door.managed("PATCH", path, {"public": True})
        await door.managed("PATCH", path, {"description": None})
        await door.managed("PATCH", path, {})
        info = await door.managed("GET", "/v1/home/info")
        assert (info["name"], info["description"], info["public"]) == ("Kitchen", None, True)
        bad: tuple[Any, ...] = ({"public": "yes"}, {"name": 7}, {"memory_policy": []}, [], "x")
        for body in bad:
            assert (await door.ask("PATCH", path, cwt("home", "write"), body)).status_code == 400


@pytest.mark.requirement("BR-EP-045")
async def test_a_raised_tier_holds_for_the_next_input(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        body = {"user": OWNER, "space_id": "small", "tier": 0}
        await door.managed("POST", "/admin/create_space", body)
        with door.application.spaces.use("small") as space, space.transaction() as tx:
            for _ in range(101):
                door.application.queue.accept_formation(tx, {}, user="u", messages=[], request_id=None)
        said = {"messages": [{"role": "user", "content": "I like tea."}]}
        assert (await door.ask("POST", "/v1/small/formation", cwt("small", "write"), said)).status_code == 400
        raised = await door.managed("POST", "/admin/small/update_space_tier", {**body, "tier": 1})
        assert raised["tier"] == 1
        assert isinstance(raised["updated_at"], int)
        assert (await door.ask("POST", "/v1/small/formation", cwt("small", "write"), said)).status_code == 200
        for wrong in ({"tier": 13}, {"space_id": "home", "tier": 2}):
            bad = await door.ask("POST", "/admin/small/update_space_tier", cwt("*", "*"), {**body, **wrong})
            assert bad.status_code == 400
        assert (await door.managed("GET", "/v1/small/info"))["tier"]["tier"] == 1


async def test_who_keeps_failing_is_told_to_wait_and_who_does_not_is_let_in(tmp_path: Path) -> None:
    async with guarded(tmp_path, auth_failures_per_minute=3) as door:
        statuses = [(await door.ask("GET", "/v1/home/info", "x" * 80)).status_code for _ in range(5)]
        assert statuses == [401, 401, 401, 429, 429]
        refused = await door.ask("GET", "/v1/home/info", None)
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert (await door.ask("GET", "/v1/home/info", cwt("home", "read"))).status_code == 200


def test_failures_are_forgotten_after_a_minute_and_counted_by_address() -> None:
    now = 0.0
    failures = Failures(2, lambda: now)
    failures.note("a")
    failures.note("a")
    failures.note("b")
    with pytest.raises(TooManyFailures):
        failures.note("a")
    now = 60.0
    failures.note("a")
    for number in range(10_000):
        failures.note(str(number))
    assert len(failures._failed) <= 4_096


@pytest.mark.requirement("BR-AUTH-023", "BR-CONF-003", "BR-CONF-004")
def test_settings_of_authentication_are_checked_at_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for given in ({"ed25519_pubkeys": "kitchen"}, {"managers": MANAGER}):
        with pytest.raises(SettingsError):
            load_settings(**given)
    assert load_settings(ed25519_pubkeys=f"{PUBLIC_KEY},{PUBLIC_KEY}", managers=MANAGER).managers == (MANAGER,)
