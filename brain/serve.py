"""Serve: bind, announce, run until told to stop."""

from __future__ import annotations

import socket
import sys

import structlog
import uvicorn

from brain import __version__, logs
from brain.settings import Settings

log = structlog.get_logger(__name__)

_LOOPBACK = ("127.", "localhost", "::1")


def bind(settings: Settings) -> socket.socket:
    """The listening socket, ours alone: a second instance on the port is refused instead of sharing it in silence.

    raises  OSError when the address is taken or not ours
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Reuse only lets a restart bind while old connections of the same address are closing.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, settings.port))
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    return listener


def server_for(settings: Settings) -> uvicorn.Server:
    """The server of an application built from these settings."""
    from brain.app import build

    config = uvicorn.Config(
        build(settings).http,
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        timeout_graceful_shutdown=max(settings.shutdown_grace_ms // 1000, 1),
        h11_max_incomplete_event_size=32 * 1024,
    )
    return uvicorn.Server(config)


def serve(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT, then finish what was begun; 0, or 1 when it cannot start."""
    logs.configure(settings.log_level)
    try:
        listener = bind(settings)
    except OSError as fault:
        print(f"cannot listen on {settings.listen_addr}: {fault.strerror}", file=sys.stderr)
        return 1
    if not settings.host.startswith(_LOOPBACK):
        log.warning("no_authentication", listening=settings.listen_addr, meaning="everybody who reaches it may use it")
    if settings.storage == "memory":
        log.warning("memory_storage", meaning="every Space is lost when this process ends")
    server = server_for(settings)
    model = f"{settings.model_family}/{settings.model_name}" if settings.has_provider else "builtin/offline"
    log.info("serving", version=__version__, address=settings.listen_addr, model=model, storage=settings.storage)
    with listener:
        server.run(sockets=[listener])
    log.info("stopped")
    return 0
