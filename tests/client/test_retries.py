"""When the client sends a request again: only what may be sent again, never sooner than it was told to."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.client import AsyncClient, Busy, Client, ConnectionLost, KipFailed, Refused, Retries, ServiceFailed, requests
from brain.client.calls import Call, Repeat

ANSWER = {"result": {"conversation": 1}}
Answer = httpx.Response | Exception


def busy(status: int = 503, after: str | None = "1") -> httpx.Response:
    return httpx.Response(status, headers={} if after is None else {"retry-after": after}, text="too many")


def lost() -> Exception:
    return httpx.ReadError("the connection ended")


class Told:
    """A service that gives these answers in turn, then the good one; what it was sent and how long was waited."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.sent: list[httpx.Request] = []
        self.waited: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        answer = self.answers.pop(0) if self.answers else httpx.Response(200, json=ANSWER)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **more: Any) -> Client:
        transport = httpx.MockTransport(self)
        return Client("http://brain", transport=transport, sleep=self.waited.append, retries=Retries(**more))


ALWAYS, REFUSED, NEVER = Repeat.ALWAYS, Repeat.REFUSED, Repeat.NEVER
CASES: list[tuple[str, Callable[[], Answer], set[Repeat]]] = [
    ("lost", lost, {ALWAYS}),
    ("not reached", lambda: httpx.ConnectError("refused"), {ALWAYS}),
    ("too late", lambda: httpx.ReadTimeout("late"), {ALWAYS}),
    ("garbled", lambda: httpx.DecodingError("no gzip"), {ALWAYS}),
    ("busy, with a time", busy, {ALWAYS, REFUSED}),
    ("models busy", lambda: busy(429), {ALWAYS, REFUSED}),
    ("busy, without a time", lambda: busy(503, None), {ALWAYS}),
    ("a gateway's", lambda: httpx.Response(502), {ALWAYS}),
    ("a gateway's, late", lambda: httpx.Response(504), {ALWAYS}),
    ("a defect", lambda: httpx.Response(500), set()),
    ("wrong", lambda: httpx.Response(400, json={"error": {"message": "no"}}), set()),
    ("not there", lambda: httpx.Response(404, json={"error": {"message": "no"}}), set()),
    ("a conflict", lambda: httpx.Response(409, json={"error": {"message": "no"}}), set()),
    ("not authenticated", lambda: httpx.Response(401, json={"error": {"message": "no"}}), set()),
]


@pytest.mark.parametrize("repeat", list(Repeat))
@pytest.mark.parametrize(("failure", "again"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_request_is_sent_again_exactly_where_that_is_safe(
    failure: Callable[[], Answer], again: set[Repeat], repeat: Repeat
) -> None:
    told = Told(failure())
    call: Call[Any] = Call(
        "POST /v1/{space_id}/probe", lambda answer: answer.json(), {"space_id": "home"}, repeat=repeat
    )
    with told.client() as client:
        if repeat in again:
            assert client.run(call) == ANSWER
        else:
            with pytest.raises((Refused, ConnectionLost)):
                client.run(call)
    assert len(told.sent) == (2 if repeat in again else 1)


NEVER_AGAIN = {"form", "maintain", "create_space", "delete", "close", "forget", "promote", "restart_formation"}
NEVER_AGAIN |= {"add_token", "revoke_token", "drop_own_model", "import_space"}
ARGUMENTS: dict[str, Any] = {"messages": [], "document": {}, "user": "u", "tier": 1, "name": "n", "scope": "read"}
ARGUMENTS |= {"kind": "ConceptType", "source": "a", "target": "b", "query": "q", "conversation": 1, "number": 1}
ARGUMENTS |= {
    "model": {},
    "entity": "C-1",
    "entities": [],
    "key": "k",
    "confirm": "home",
    "space": "home",
    "archive": b"",
}


def test_what_is_never_or_hardly_sent_again_is_what_would_be_done_twice() -> None:
    """Formation above all: the same turn posted twice is two conversations."""
    kinds: dict[str, Repeat] = {}
    for name, build in inspect.getmembers(requests, inspect.isfunction):
        if name.startswith("_") or build.__module__ != requests.__name__:
            continue
        needed = [
            one
            for one in inspect.signature(build).parameters.values()
            if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
        placed = [ARGUMENTS[one.name] for one in needed if one.kind is not one.KEYWORD_ONLY]
        named = {one.name: ARGUMENTS[one.name] for one in needed if one.kind is one.KEYWORD_ONLY}
        kinds[name] = build(*placed, **named).repeat
    assert {name for name, repeat in kinds.items() if repeat is NEVER} == NEVER_AGAIN
    assert {name for name, repeat in kinds.items() if repeat is REFUSED} == {"recall", "ask"}
    assert requests.forget("home", [], dry_run=True).repeat is ALWAYS


def test_a_keyed_request_has_the_same_key_each_time_it_is_sent() -> None:
    told = Told(lost(), busy(), lost())
    with told.client() as client:
        client.space("home").remember([], {})
    bodies = [request.content for request in told.sent]
    assert len(bodies) == 4
    assert len(set(bodies)) == 1
    assert b"idempotency_key" in bodies[0]
    other = Told()
    with other.client() as client:
        client.space("home").remember([], {})
    assert other.sent[0].content != bodies[0], "another call is another request"


def test_it_waits_at_least_as_long_as_it_was_told_to_and_gives_up_when_that_is_too_long() -> None:
    told = Told(busy(503, "7"), busy(429, "3"))
    with told.client() as client:
        client.space("home").probe("x")
    assert told.waited[0] >= 7
    assert told.waited[1] >= 3
    patient = Told(busy(503, "3600"))
    with patient.client() as client, pytest.raises(Busy) as refused:
        client.space("home").probe("x")
    assert refused.value.after_s == 3600
    assert patient.waited == []


def kip_answer(code: str, retry: str, **more: Any) -> httpx.Response:
    error = {"code": code, "message": "m", "hint": "h", "retry": {"class": retry, **more}}
    results = [] if code == "RateLimited" else [{"status": "failed", "error": error}]
    refused = {"error": error} if code == "RateLimited" else {}
    return httpx.Response(200, json={"kip": "2.0", "status": "failed", "results": results, **refused})


DONE = httpx.Response(
    200, json={"kip": "2.0", "status": "succeeded", "results": [{"status": "succeeded", "result": 1}]}
)


def test_kip_that_was_not_done_and_may_be_sent_again_is_sent_again() -> None:
    for refusal in (
        kip_answer("RateLimited", "safe_same_request", after_ms=3_000),
        kip_answer("SerializationConflict", "safe_same_request"),
    ):
        told = Told(refusal, DONE)
        with told.client() as client:
            assert client.space("home").write("ASSERT") == 1
        assert len(told.sent) == 2
    told = Told(kip_answer("RateLimited", "safe_same_request", after_ms=3_000), DONE)
    with told.client() as client:
        client.space("home").kip("FIND")
    assert told.waited[0] >= 3


def test_kip_that_was_refused_for_good_or_ran_out_of_time_is_not() -> None:
    for refusal in (
        kip_answer("NotAuthorized", "requires_different_authority"),
        kip_answer("ExecutionTimeout", "safe_same_request"),
    ):
        told = Told(refusal)
        with told.client() as client, pytest.raises(KipFailed):
            client.space("home").kip("FIND")
        assert len(told.sent) == 1


def test_it_gives_up_after_its_attempts_with_the_last_failure() -> None:
    told = Told(lost(), lost(), busy(503, None))
    with told.client(attempts=3) as client, pytest.raises(Busy):
        client.space("home").probe("x")
    assert len(told.sent) == 3
    once = Told(lost())
    with once.client(attempts=1) as client, pytest.raises(ConnectionLost):
        client.space("home").probe("x")


@given(
    attempt=st.integers(1, 200),
    chance=st.floats(0, 1),
    first=st.floats(0.001, 10),
    longest=st.floats(0.001, 100),
    after=st.none() | st.floats(0, 100),
)
def test_a_pause_grows_is_bounded_and_is_never_the_same_for_all(
    attempt: int, chance: float, first: float, longest: float, after: float | None
) -> None:
    retries = Retries(first_s=first, longest_s=longest, chance=lambda: chance)
    pause = retries.backoff(attempt, after)
    assert (after or 0) < pause <= (after or 0) + longest
    assert retries.backoff(attempt + 1, after) >= pause
    soonest = Retries(first_s=first, longest_s=longest, chance=lambda: 0.0).backoff(attempt)
    latest = Retries(first_s=first, longest_s=longest, chance=lambda: 1.0).backoff(attempt)
    assert latest == pytest.approx(2 * soonest)


async def at_once(_: float) -> None:
    await anyio.lowlevel.checkpoint()


BEAT = b": still here\n\n"
OPENING = b"retry: 1000\n\n"


class CutOff(httpx.SyncByteStream, httpx.AsyncByteStream):
    """Events, and then the connection is lost."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        yield from self.pieces
        raise lost()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        raise lost()


def cut_off(*pieces: bytes) -> httpx.Response:
    return httpx.Response(200, stream=CutOff(*pieces))


CHANGED = b'id: c1\nevent: change\ndata: {"space_seq":1}\n\n'


def test_a_follower_of_a_quiet_space_outlasts_any_number_of_connections_that_were_good_for_a_while() -> None:
    told = Told(*(cut_off(OPENING, BEAT) for _ in range(10)), cut_off(OPENING, CHANGED))
    assert next(told.client().space("home").follow(after="now")).seq == 1
    assert len(told.sent) == 11


def test_a_follower_gives_up_where_no_connection_comes_to_anything() -> None:
    told = Told(*(cut_off(OPENING) for _ in range(10)))
    with pytest.raises(ConnectionLost):
        next(told.client(attempts=4).space("home").follow(after="now"))
    assert len(told.sent) == 4


@pytest.mark.anyio
async def test_an_asynchronous_follower_outlasts_them_too() -> None:
    told = Told(*(cut_off(OPENING, BEAT) for _ in range(10)), cut_off(OPENING, CHANGED))
    async with AsyncClient("http://brain", transport=httpx.MockTransport(told), sleep=at_once) as client:
        assert (await anext(client.space("home").follow(after="now"))).seq == 1


@pytest.mark.anyio
async def test_the_asynchronous_client_decides_alike() -> None:
    told, waited = Told(lost(), busy()), list[float]()

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await anyio.lowlevel.checkpoint()

    async with AsyncClient("http://brain", transport=httpx.MockTransport(told), sleep=sleep) as client:
        await client.space("home").probe("x")
        assert len(told.sent) == 3
        assert waited[1] >= 1
        told.answers = [lost()]
        with pytest.raises(ConnectionLost):
            await client.space("home").form([])
        told.answers = [httpx.Response(500)]
        with pytest.raises(ServiceFailed):
            await client.space("home").probe("x")
    assert len(told.sent) == 5


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
