"""This machine: the folder of the Spaces, the disk, the clock, the ports, what keys and files others may read."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from brain.doctor.finding import Finding, fault, ok, warning
from brain.settings import Settings

_NO_ROOM, _LITTLE_ROOM = 64 * 2**20, 2**30
_FEW_FILES = 1_024
_BUILT = 1_767_225_600
"""2026-01-01T00:00:00Z: before this release there was nothing for it to date."""

_AHEAD_S = 300
_REMOTE = ("nfs", "cifs", "smb", "9p", "sshfs", "ceph", "glusterfs", "lustre")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def folder(settings: Settings) -> Iterator[Finding]:
    """The folder of the Spaces, when they are files: whether it can be used, by whom, and what disk it lies on."""
    if settings.storage != "local":
        return
    place = settings.local_db_path
    home = place if place.exists() else _nearest(place)
    if place.exists() and not place.is_dir():
        yield fault("folder", f"{place} is no folder", "set LOCAL_DB_PATH to a folder, or move the file away")
        return
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        fix = f"give it to the user the service runs as: chown -R USER {home}"
        yield fault("folder", f"{home} cannot be read and written by this user", fix)
        return
    if not place.exists():
        yield ok("folder", f"{place} is made at the first start")
    elif os.name == "posix" and place.stat().st_mode & _OTHERS:
        yield warning("folder", f"others on this machine may look into {place}", f"chmod 700 {place}")
    else:
        yield ok("folder", f"{place} can be read and written, by this user alone")
    kind = _filesystem(home)
    if kind.startswith(_REMOTE) or kind.removeprefix("fuse.").startswith(_REMOTE):
        fix = "put LOCAL_DB_PATH on a local disk, or use STORAGE=neo4j"
        yield warning("folder", f"{home} lies on {kind}: processes that share a Space share maps of its file", fix)
    yield _room(home)


def _room(home: Path) -> Finding:
    free = shutil.disk_usage(home).free
    text = f"{free // 2**20} MiB are free where the Spaces lie"
    if free < _NO_ROOM:
        return fault("disk", text, "make room: without it nothing can be written")
    return warning("disk", text, "make room soon") if free < _LITTLE_ROOM else ok("disk", text)


def clock(settings: Settings, now: float | None = None) -> Iterator[Finding]:
    """Whether this machine's clock can be right: claims are dated by it, and tokens end by it."""
    now = time.time() if now is None else now
    fix = "set the clock, and keep it set (NTP): claims are dated and tokens judged by it"
    if now < _BUILT:
        yield fault("clock", "the clock stands before this release was made", fix)
        return
    if settings.storage == "local" and settings.local_db_path.is_dir():
        newest = max((file.stat().st_mtime for file in settings.local_db_path.iterdir()), default=0.0)
        if newest > now + _AHEAD_S:
            yield fault("clock", f"files of Spaces are {int(newest - now)} seconds ahead of the clock", fix)
            return
    yield ok("clock", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)))


def ports(settings: Settings) -> Iterator[Finding]:
    """Whether the addresses to listen on are there and free, or taken by this very service."""
    wanted = [("LISTEN_ADDR", settings.host, settings.port)]
    if settings.own_metrics_address is not None:
        wanted.append(("METRICS_ADDR", *settings.own_metrics_address))
    for name, host, port in wanted:
        yield _port(name, host, port)


def _port(name: str, host: str, port: int) -> Finding:
    where = f"{name}: port {port} of {host}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except PermissionError:
        return fault("port", f"{where} is closed to this user", "take a port from 1024 on")
    except socket.gaierror:
        return fault("port", f"{where}: there is no such host", f"set {name} to an address of this machine")
    except OSError as refused:
        if refused.errno not in _TAKEN:
            return fault("port", f"{where} is no address of this machine", f"set {name} to one that is")
        running = _running(host, port, name)
        if running is not None:
            return ok("port", f"{where} is in use by {running}")
        return fault("port", f"{where} is taken by another program", f"end that program, or set {name} to a free port")
    return ok("port", f"{where} is free")


_TAKEN = (98, 48, 10048)
"""`EADDRINUSE` of Linux, macOS and Windows."""


def _running(host: str, port: int, name: str) -> str | None:
    """What answers there, if it is one of ours."""
    shown = f"[{host}]" if ":" in host else host
    path = "info" if name == "LISTEN_ADDR" else "healthz"
    try:
        answer = httpx.get(f"http://{shown}:{port}/{path}", timeout=2, trust_env=False)
        told = answer.json()
    except (httpx.HTTPError, ValueError):
        return None
    if not isinstance(told, dict):
        return None
    if told.get("name") == "brain":
        return f"this service, version {str(told.get('version'))[:20]}"
    return "this service" if told.get("alive") is True else None


def limits() -> Iterator[Finding]:
    """How many files a process may have: each connection is one, and each open Space some."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < _FEW_FILES:
        yield warning(
            "files", f"a process may have {most} files", f"raise the limit (ulimit -n) to {_FEW_FILES} or more"
        )
    else:
        yield ok("files", "a process may have enough files")


def who_may_call(settings: Settings) -> Iterator[Finding]:
    """Keys, managers, and who reads the file they stand in."""
    if settings.ed25519_pubkeys:
        yield ok("keys", f"{len(settings.ed25519_pubkeys)} public keys are good")
        if not settings.managers:
            fix = "name the subjects of administrators' tokens in MANAGERS"
            yield warning("keys", "MANAGERS is empty: nobody can create a Space over HTTP", fix)
    elif settings.is_on_loopback:
        yield ok("keys", "ED25519_PUBKEYS is empty: everybody on this machine may read and write every Space")
    elif settings.allow_open_access:
        fix = "set ED25519_PUBKEYS (`brain cwt keys` makes one) unless something in front of it asks who comes"
        yield warning("keys", "everybody who reaches this address may read and write every Space", fix)
    else:
        fix = "set ED25519_PUBKEYS (`brain cwt keys` makes one), or ALLOW_OPEN_ACCESS=true"
        yield fault("keys", "LISTEN_ADDR can be reached by others and nobody would be asked for a credential", fix)
    written = Path(".env")
    if written.is_file() and written.stat().st_mode & _OTHERS:
        yield warning("keys", "others on this machine may read .env, in which secrets stand", "chmod 600 .env")


def _nearest(place: Path) -> Path:
    """The nearest folder above that is there."""
    return next(above for above in place.absolute().parents if above.exists())


def _filesystem(home: Path) -> str:
    """The kind of file system a folder lies on, where the system tells; empty otherwise."""
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return ""
    place, found = home.resolve(), ("", "")
    for line in lines:
        parts = line.split(" ")
        if len(parts) > 2 and place.is_relative_to(parts[1]) and len(parts[1]) >= len(found[0]):
            found = (parts[1], parts[2])
    return found[1]
