"""What the client sends and how it reads what comes back."""

from __future__ import annotations

import inspect
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain import client as public
from brain.client import (
    AccessClosed,
    AsyncClient,
    AsyncSpace,
    Busy,
    Client,
    Conflict,
    InvalidRequest,
    KipFailed,
    NotAuthenticated,
    NotFound,
    Refused,
    ServiceFailed,
    Space,
    UnexpectedAnswer,
    kip_result,
    requests,
)
from brain.http.app import ROUTES
from brain.http.operating import HEALTH_ROUTES, METRICS_ROUTES


def answering(status: int = 200, **more: Any) -> tuple[Client, list[httpx.Request]]:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(status, **more)

    return Client("http://brain/base", transport=httpx.MockTransport(answer), token="secret"), sent


def test_every_served_route_has_a_request_in_both_clients_and_no_other_is_asked() -> None:
    source = inspect.getsource(requests)
    served = {
        f"{method} {route.path}"
        for route in [*ROUTES, *HEALTH_ROUTES, *METRICS_ROUTES]
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert [route for route in sorted(served) if f'"{route}"' not in source] == []
    asked = {
        part.split('"')[0]
        for word in ("GET", "POST", "PATCH", "DELETE")
        for part in (f"{word} {rest}" for rest in source.split(f'"{word} ')[1:])
    }
    assert asked == served
    builders = inspect.getmembers(requests, lambda one: inspect.isfunction(one) and one.__module__ == requests.__name__)
    names = {name for name, _ in builders if not name.startswith("_")}
    for clients in ((Client, Space), (AsyncClient, AsyncSpace)):
        has = {name for kind in clients for name in dir(kind)}
        assert names <= has


def test_both_clients_have_the_same_methods_with_the_same_words() -> None:
    for one, other in ((Client, AsyncClient), (Space, AsyncSpace)):
        methods = {name for name in dir(one) if not name.startswith("_")}
        assert methods == {name for name in dir(other) if not name.startswith("_")}
        for name in methods:
            assert inspect.getdoc(getattr(one, name)) == inspect.getdoc(getattr(other, name))
            assert inspect.getdoc(getattr(one, name)), name


def test_everything_that_is_exported_is_there() -> None:
    assert all(hasattr(public, name) for name in public.__all__)


@given(st.text(max_size=80))
def test_no_space_id_leads_to_another_address(space: str) -> None:
    client, sent = answering(json={"result": {}})
    try:
        client.space(space).space_info()
    except ValueError:
        assert sent == []
    else:
        assert sent[0].url.path == f"/base/v1/{space}/info"


def test_a_conversation_is_a_number() -> None:
    client, sent = answering(json={"result": {}})
    with pytest.raises(ValueError, match="conversation_id"):
        client.space("home").conversation("../../admin")  # type: ignore[arg-type]
    assert sent == []


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequest),
        (401, NotAuthenticated),
        (403, AccessClosed),
        (404, NotFound),
        (408, InvalidRequest),
        (409, Conflict),
        (413, InvalidRequest),
        (429, Busy),
        (500, ServiceFailed),
        (502, ServiceFailed),
        (503, Busy),
        (302, UnexpectedAnswer),
    ],
)
def test_each_status_is_its_own_exception_with_what_the_service_said(status: int, kind: type[Refused]) -> None:
    body = {"error": {"message": "because", "data": {"code": "CursorExpired"}}}
    client, _ = answering(status, json=body, headers={"x-request-id": "r1"})
    with pytest.raises(kind) as refused:
        client.space("home").form([])
    assert type(refused.value) is kind
    assert (refused.value.message, refused.value.status, refused.value.request_id) == ("because", status, "r1")
    assert refused.value.code == "CursorExpired"


@pytest.mark.parametrize("body", ["too many concurrent requests", "", "<html>", '{"error": "x"}', "[]", "null", "7"])
def test_an_error_in_any_shape_is_told(body: str) -> None:
    client, _ = answering(500, text=body)
    with pytest.raises(ServiceFailed, match="the service answered 500"):
        client.info()


@pytest.mark.parametrize("body", ["<html>", '{"other": 1}', "[]", ""])
def test_a_success_that_is_not_this_services_is_no_answer(body: str) -> None:
    client, _ = answering(200, text=body)
    with pytest.raises(UnexpectedAnswer):
        client.space("home").space_info()


def test_the_faults_of_a_document_are_at_hand() -> None:
    fault = {"at": "claims[0]", "problem": "p", "remedy": "r"}
    client, _ = answering(400, json={"error": {"message": "no", "data": {"faults": [fault]}}})
    with pytest.raises(InvalidRequest) as refused:
        client.space("home").remember([], {})
    assert refused.value.faults == [fault]


@pytest.mark.requirement("BR-HTTP-008")
def test_a_kip_answer_is_read_at_both_levels() -> None:
    retry = {"class": "requires_different_input"}
    error = {"code": "InvalidSyntax", "message": "m", "hint": "h", "retry": retry}
    assert kip_result({"results": [{"status": "succeeded", "result": [1]}]}) == [1]
    responses: tuple[dict[str, Any], ...] = (
        {"status": "failed", "results": [], "error": error},
        {"status": "failed", "results": [{"status": "failed", "error": error}]},
        {"status": "partial", "results": [{"status": "succeeded", "result": 1}, {"status": "failed", "error": error}]},
    )
    for response in responses:
        with pytest.raises(KipFailed) as failed:
            kip_result(response)
        assert (failed.value.code, failed.value.hint) == ("InvalidSyntax", "h")
        assert failed.value.retry == "requires_different_input"


def test_a_token_goes_to_the_service_alone_and_stands_in_no_text() -> None:
    client, sent = answering(307, headers={"location": "http://elsewhere/v1/home/info"})
    with pytest.raises(UnexpectedAnswer) as refused:
        client.space("home").space_info()
    assert [request.url.host for request in sent] == ["brain"]
    assert sent[0].headers["authorization"] == "Bearer secret"
    assert "secret" not in f"{client!r} {refused.value!r} {vars(refused.value)}"


def test_a_token_that_is_made_is_made_for_each_request() -> None:
    tokens = iter(["one", "two"])
    sent: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers["authorization"])
        return httpx.Response(200, json={})

    with Client("http://brain", token=lambda: next(tokens), transport=httpx.MockTransport(answer)) as client:
        client.info()
        client.info()
    assert sent == ["Bearer one", "Bearer two"]


def test_what_was_not_given_is_not_sent() -> None:
    client, sent = answering(json={"result": {}})
    client.space("home").form([{"role": "user", "content": "x"}])
    assert sent[0].content == b'{"messages":[{"role":"user","content":"x"}]}'
    client.space("home").update_space(name=None)
    assert sent[1].content == b'{"name":null}'
    client.space("home").changes(after="now", wait=3)
    assert dict(sent[2].url.params) == {"after": "now", "wait": "3"}
