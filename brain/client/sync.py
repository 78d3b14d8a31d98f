"""The client for programs that wait."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, Self, TypeVar, overload

import httpx

from brain.client import errors, requests
from brain.client.calls import Call, answer_of, failure_of, kip_result
from brain.client.events import SILENT_FOR_S, Following
from brain.client.opening import Token, authorization, headers_for, poll_pause
from brain.client.retries import Retries

if TYPE_CHECKING:
    from brain.client import types as t
    from brain.client.pages import Change

P = ParamSpec("P")
T = TypeVar("T")


class _OfSpace(Generic[P, T]):
    """A request of a Space as a method: its arguments and docstring are the request's."""

    def __init__(self, build: Callable[Concatenate[str, P], Call[T]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, space: None, owner: type[Space]) -> Self: ...
    @overload
    def __get__(self, space: Space, owner: type[Space]) -> Callable[P, T]: ...
    def __get__(self, space: Space | None, owner: type[Space]) -> Self | Callable[P, T]:
        if space is None:
            return self

        @functools.wraps(self._build)
        def ask(*given: P.args, **named: P.kwargs) -> T:
            return space.client.run(self._build(space.id, *given, **named))

        return ask


class _OfService(Generic[P, T]):
    """A request of the service as a method."""

    def __init__(self, build: Callable[P, Call[T]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: type[Client]) -> Self: ...
    @overload
    def __get__(self, client: Client, owner: type[Client]) -> Callable[P, T]: ...
    def __get__(self, client: Client | None, owner: type[Client]) -> Self | Callable[P, T]:
        if client is None:
            return self

        @functools.wraps(self._build)
        def ask(*given: P.args, **named: P.kwargs) -> T:
            return client.run(self._build(*given, **named))

        return ask


class Client:
    """One service. Thread-safe, as far as httpx's client is; to be closed, or used in a `with` block.

    url        where it listens
    token      a CWT or Space token, or what gives one for each request; never sent anywhere else than to `url`
    shard      of the service that holds the Spaces
    seconds    to wait for an answer, where the request has no time of its own
    retries    when a request that came to nothing is sent again
    transport  of httpx, for tests and tunnels
    sleep      waits so many seconds
    """

    def __init__(
        self,
        url: str,
        *,
        token: Token = None,
        shard: int | None = None,
        seconds: float = 60.0,
        retries: Retries | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._http = httpx.Client(base_url=url, headers=headers_for(shard), timeout=seconds, transport=transport)
        self._token = token
        self._seconds = seconds
        self._retries = retries or Retries()
        self._sleep = sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def space(self, space_id: str) -> Space:
        """One Space, whether or not it is there."""
        return Space(self, space_id)

    def run(self, call: Call[T]) -> T:
        """Send a request, again where that is safe; the value of its answer, or a BrainError."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return answer_of(call, self._sent(call))
            except (errors.ConnectionLost, errors.Refused) as failure:
                pause = self._retries.pause(call, failure, attempt)
                if pause is None:
                    raise
            self._sleep(pause)

    def _sent(self, call: Call[Any]) -> httpx.Response:
        try:
            sent = call.sent_as()
            headers = {**sent.pop("headers", {}), **authorization(self._token)}
            seconds = call.seconds or self._seconds
            return self._http.request(call.method, call.path, headers=headers, timeout=seconds, **sent)
        except httpx.RequestError as lost:
            raise errors.ConnectionLost(f"{call.route}: {lost or type(lost).__name__}") from lost

    def _followed(self, path: str, following: Following) -> Generator[Change, None, None]:
        """Changes of one Space after another connection, until the service says why it ends."""
        failed = 0
        while True:
            reader, pause = following.reader(), None
            try:
                timeout = httpx.Timeout(self._seconds, read=SILENT_FOR_S)
                headers, params = {**following.headers(), **authorization(self._token)}, following.params()
                with self._http.stream("GET", path, params=params, headers=headers, timeout=timeout) as stream:
                    if stream.status_code != 200:
                        stream.read()
                        raise failure_of(stream)
                    for piece in stream.iter_bytes():
                        for change in reader.feed(piece):
                            failed = 0
                            yield change
                            following.cursor = change.cursor
                        if reader.has_lasted:
                            failed = 0
            except errors.Busy as busy:
                failed += 1
                if failed >= self._retries.attempts:
                    raise
                pause = busy.after_s
            except httpx.RequestError as lost:
                failed += 1
                if failed >= self._retries.attempts:
                    raise errors.ConnectionLost(f"GET {path}: {lost or type(lost).__name__}") from lost
            self._sleep(self._retries.backoff(max(failed, 1), pause))

    info = _OfService(requests.info)
    skill = _OfService(requests.skill)
    openapi = _OfService(requests.openapi)
    manual = _OfService(requests.manual)
    favicon = _OfService(requests.favicon)
    touch_icon = _OfService(requests.touch_icon)
    alive = _OfService(requests.alive)
    ready = _OfService(requests.ready)
    metrics = _OfService(requests.metrics)
    create_space = _OfService(requests.create_space)
    import_space = _OfService(requests.import_space)


class Space:
    """One Space of a service."""

    def __init__(self, client: Client, space_id: str) -> None:
        self.client = client
        self.id = space_id

    def kip(self, command: str, **parameters: Any) -> Any:
        """The result of one KQL or META command; KipFailed when it was refused."""
        return kip_result(self.execute_kip_readonly(command, parameters=parameters))

    def write(self, command: str, **parameters: Any) -> Any:
        """The result of one command that may write; KipFailed when it was refused."""
        return kip_result(self.execute_kip(command, parameters=parameters))

    def ended(
        self, conversation: int, collection: t.Collection = "formation", *, seconds: float = 120.0
    ) -> t.Conversation:
        """A run once it has ended well.

        raises  RunFailed when it ended otherwise, NotInTime
        """
        waited = 0.0
        while True:
            record = self.conversation(conversation, collection)
            if record["status"] == "completed":
                return record
            if record["status"] in ("failed", "cancelled"):
                raise errors.RunFailed(record)
            if waited >= seconds:
                raise errors.NotInTime(f"conversation {conversation} of {collection} had not ended after {seconds:g} s")
            pause = poll_pause(waited)
            self.client._sleep(pause)
            waited += pause

    def follow(
        self, cursor: str | None = None, *, after: int | Literal["now"] | None = None, limit: int | None = None
    ) -> Generator[Change, None, None]:
        """Every commit behind a place as it comes, also over connections that end: none is missed, none comes twice.

        Keep the `cursor` of the last change to go on from in another process. Ends only by the service's word, a
        Refused, or when it cannot be reached any more.
        """
        return self.client._followed(requests.changes(self.id).path, Following.of(cursor, after, limit))

    space_info = _OfSpace(requests.space_info)
    status = _OfSpace(requests.status)
    formation_status = _OfSpace(requests.formation_status)
    memory_status = _OfSpace(requests.memory_status)
    schema_drafts = _OfSpace(requests.schema_drafts)
    promote = _OfSpace(requests.promote)
    form = _OfSpace(requests.form)
    remember = _OfSpace(requests.remember)
    execute_kip = _OfSpace(requests.execute_kip)
    pin = _OfSpace(requests.pin)
    forget = _OfSpace(requests.forget)
    user = _OfSpace(requests.user)
    maintain = _OfSpace(requests.maintain)
    recall = _OfSpace(requests.recall)
    ask = _OfSpace(requests.ask)
    packet = _OfSpace(requests.packet)
    probe = _OfSpace(requests.probe)
    execute_kip_readonly = _OfSpace(requests.execute_kip_readonly)
    attention = _OfSpace(requests.attention)
    conversations = _OfSpace(requests.conversations)
    conversation = _OfSpace(requests.conversation)
    conversation_delta = _OfSpace(requests.conversation_delta)
    changes = _OfSpace(requests.changes)
    update_tier = _OfSpace(requests.update_tier)
    flush = _OfSpace(requests.flush)
    close = _OfSpace(requests.close)
    keep_open = _OfSpace(requests.keep_open)
    delete = _OfSpace(requests.delete)
    export_space = _OfSpace(requests.export_space)
    update_space = _OfSpace(requests.update_space)
    tokens = _OfSpace(requests.tokens)
    add_token = _OfSpace(requests.add_token)
    revoke_token = _OfSpace(requests.revoke_token)
    restart_formation = _OfSpace(requests.restart_formation)
    own_model = _OfSpace(requests.own_model)
    set_own_model = _OfSpace(requests.set_own_model)
    drop_own_model = _OfSpace(requests.drop_own_model)
