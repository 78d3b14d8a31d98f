"""Serve: bind, announce, run until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

import structlog
import uvicorn

from brain import __version__, collector, logs
from brain.http.connections import bounded, cut_overdue, raise_file_limit
from brain.settings import OFFLINE_MODEL, Settings, SettingsError

if TYPE_CHECKING:
    from brain.app import Application

log = structlog.get_logger(__name__)

_WARM_AFTER_S = 0.3
_SWITCH_S = 0.001
"""How long a busy thread may keep Python to itself: a slow query must not hold up every step of everybody's answer."""

_TICKS_PER_LOOK = 3
"""Tenths of a second between two looks for connections whose client has taken too long."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Server(uvicorn.Server):
    """A server that begins to stop its work with the signal, not after its last request, and ends with code 0."""

    def __init__(self, settings: Settings, application: Application | None = None) -> None:
        from brain.app import build

        self.application = application or build(settings)
        self._grace_s = settings.shutdown_grace_ms / 1000
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Task[None] | None = None
        super().__init__(
            uvicorn.Config(
                self.application.http,
                log_config=None,
                access_log=False,
                lifespan="on",
                http=bounded(timeout_ms=settings.connection_timeout_ms, requests=settings.http_max_concurrency),
                ws="none",
                server_header=False,
                # Recalls are ended when the grace time is over; answering that they were takes a moment more.
                timeout_graceful_shutdown=settings.shutdown_grace_ms // 1000 + 2,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        # Whoever asks first should be answered before the imports of the rest take the processor.
        self._loop.call_later(_WARM_AFTER_S, self._loop.run_in_executor, None, self._warm)

    def _warm(self) -> None:
        self.application.warm()
        collector.settle()

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS_PER_LOOK == 0:
            cut_overdue(self.server_state.connections, asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._begin_to_stop, self._loop)

    def _begin_to_stop(self, loop: asyncio.AbstractEventLoop) -> None:
        self.application.observed.drain()
        if self._stopping is None:
            self._stopping = loop.create_task(self._stop_work())

    async def _stop_work(self) -> None:
        self.application.runner.stop()
        await asyncio.sleep(self._grace_s)
        self.application.brain.stop_recalls()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn does it, without raising the signal again at the end: a stop that was asked for is no failure."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {sig: signal.signal(sig, self.handle_exit) for sig in _SIGNALS}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)


def bind(settings: Settings) -> socket.socket:
    """The listening socket, ours alone: a second instance on the port is refused instead of sharing it in silence.

    raises  OSError when the address is taken or not ours
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named as TCP, or asyncio would leave Nagle's algorithm on and every answer would wait 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Reuse only lets a restart bind while old connections of the same address are closing.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, settings.port))
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    return listener


def address_of(listener: socket.socket) -> str:
    """Where a bound socket listens, as `HOST:PORT`."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _operators(settings: Settings, application: Application) -> contextlib.AbstractContextManager[object]:
    """The listener of METRICS_ADDR, where that is an address of its own; OSError when it cannot be had."""
    if settings.own_metrics_address is None:
        return contextlib.nullcontext()
    from brain.observe.listener import Listener, routes_of

    operators = Listener(settings.own_metrics_address, routes_of(application.observed))
    operators.start()
    return contextlib.closing(operators)


def serve(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT, then finish what was begun; 0, or 1 when it cannot start; SettingsError."""
    logs.configure(settings.log_level)
    if not (settings.ed25519_pubkeys or settings.is_on_loopback or settings.allow_open_access):
        raise SettingsError(
            "cannot start: LISTEN_ADDR can be reached by others and ED25519_PUBKEYS is empty, so everybody could read "
            "and write every Space; set ED25519_PUBKEYS (`brain cwt keys` makes one), or ALLOW_OPEN_ACCESS=true"
        )
    sys.setswitchinterval(_SWITCH_S)
    raise_file_limit()
    try:
        listener = bind(settings)
    except OSError as fault:
        sys.stderr.write(f"cannot listen on {settings.listen_addr}: {fault.strerror}\n")
        return 1
    with listener:
        server = Server(settings)
        try:
            operators = _operators(settings, server.application)
        except OSError as fault:
            sys.stderr.write(f"cannot listen on {settings.metrics_addr}: {fault.strerror}\n")
            return 1
        address = address_of(listener)
        if not settings.ed25519_pubkeys:
            who = "everybody on this machine" if settings.is_on_loopback else "EVERYBODY WHO REACHES THIS ADDRESS"
            log.warning("no_authentication", address=address, meaning=f"{who} may read and write every Space")
        if settings.storage == "memory":
            log.warning("memory_storage", meaning="every Space is lost when this process ends")
        model = f"{settings.model_family}/{settings.model_name}" if settings.has_provider else OFFLINE_MODEL
        log.info("serving", version=__version__, address=address, model=model, storage=settings.storage)
        with operators:
            server.run(sockets=[listener])
    log.info("stopped")
    return 0
