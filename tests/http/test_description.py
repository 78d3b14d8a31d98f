"""The service describes itself: `/openapi.json` is made of what the routes state, and `/docs` of that."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from brain.app import build
from brain.http.auth import access_of, declaration_of
from brain.http.openapi import document
from brain.http.payload import read_input
from brain.service.inputs import PinInput, ProbeInput
from tests.http.conftest import opened
from tests.service.world import settings_for

pytestmark = pytest.mark.anyio


def routes_of(app: Starlette) -> list[Route]:
    return [one for one in app.routes if isinstance(one, Route)]


def described(app: Starlette, **more: Any) -> dict[str, Any]:
    return document(routes_of(app), **{"shard": 0, "is_guarded": True, **more})


@pytest.fixture
def app(tmp_path: Path) -> Starlette:
    return build(settings_for(tmp_path)).http


def test_every_route_states_what_it_takes_and_gives(app: Starlette) -> None:
    assert len(routes_of(app)) == len(app.routes)
    for one in routes_of(app):
        declared = declaration_of(one)
        assert declared.gives is not None, f"{one.path} does not state what it gives"
        assert declared.summary, f"{one.path} has no summary"
        assert declared.group, f"{one.path} belongs to no chapter"
        assert not declared.summary.endswith("."), one.path
        takes_none = one.methods is not None and "GET" in one.methods
        assert (declared.takes is None) or not takes_none, f"{one.path} takes a body with GET"


def test_every_route_is_described_once_with_its_method(app: Starlette) -> None:
    made = described(app)
    stated = {(path, method.upper()) for path, methods in made["paths"].items() for method in methods}
    assert stated == {(one.path, method) for one in routes_of(app) for method in (one.methods or set()) - {"HEAD"}}
    names = [operation["operationId"] for methods in made["paths"].values() for operation in methods.values()]
    assert len(set(names)) == len(names)


def test_every_reference_of_the_description_leads_somewhere(app: Starlette) -> None:
    made = described(app)

    def check(value: Any) -> None:
        if isinstance(value, dict):
            target: Any = made
            for part in str(value.get("$ref", "#")).removeprefix("#").strip("/").split("/"):
                target = target[part] if part else target
            for item in value.values():
                check(item)
        elif isinstance(value, list):
            for item in value:
                check(item)

    check(made)


def test_a_credential_is_described_where_one_is_asked_for(app: Starlette) -> None:
    made = described(app)
    for one in routes_of(app):
        for operation in made["paths"][one.path].values():
            kinds = {name for way in operation["security"] for name in way}
            access = access_of(one)
            assert access is not None
            assert ({} in operation["security"]) == (access.value == "open" or access.is_public), one.path
            assert ("401" in operation["responses"]) == bool(kinds), one.path
            assert ("spaceToken" in kinds) == (access.value not in {"open", "management", "admin"}), one.path
    unguarded = described(app, is_guarded=False)
    assert all({} in operation["security"] for methods in unguarded["paths"].values() for operation in methods.values())


async def test_a_handler_cannot_read_what_its_route_does_not_state(app: Starlette) -> None:
    [probe] = [one for one in routes_of(app) if one.path.endswith("/probe")]
    request = Request({"type": "http", "headers": [], "state": {"declared": declaration_of(probe)}})
    with pytest.raises(TypeError, match="PinInput"):
        await read_input(request, PinInput)
    declared = declaration_of(probe)
    assert declared.takes is not None
    assert declared.takes.model is ProbeInput


async def test_the_description_and_the_page_are_served(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        made = await door.client.get("/openapi.json", headers={"accept": "application/cbor"})
        assert made.status_code == 200
        assert made.headers["content-type"] == "application/json"
        assert made.json()["openapi"] == "3.1.0"
        assert "/v1/{space_id}/recall" in made.json()["paths"]
        page = await door.client.get("/docs")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        for path in made.json()["paths"]:
            assert path in page.text


async def test_the_page_brings_everything_with_it_and_runs_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        page = await door.client.get("/docs")
        assert "<script" not in page.text
        assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", page.text)
        [style] = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = page.headers["content-security-policy"]
        assert f"style-src 'sha256-{digest}'" in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "script-src" not in policy


def test_what_is_described_on_the_page_is_text_and_never_markup(app: Starlette) -> None:
    from brain.http.manual_page import page

    made = described(app)
    made["paths"]["/<script>alert(1)</script>"] = {"get": {**made["paths"]["/info"]["get"], "summary": "<b>&"}}
    assert "<script" not in page(made)
    assert "&lt;b&gt;&amp;" in page(made)
