"""What the service leans on: the store and its format, the broker, the providers of models. Nothing is written, and no
model is asked anything that costs."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import httpx

from brain.broker import redis_client
from brain.doctor.finding import Finding, fault, ok, warning
from brain.errors import KipError
from brain.settings import BUILTIN_EMBEDDINGS, OFFLINE_MODEL, Settings, SettingsError

_APART_S = 5.0
_PATIENCE_S = 10.0
_TEXTS: tuple[Literal["prompts"], Literal["kip_reference"]] = ("prompts", "kip_reference")
_MAGIC = b"SQLite format 3\x00"
_BACK_UP = "make a backup (`brain backup --all`) before the first start of this release: it is the way back"


def store(settings: Settings) -> Iterator[Finding]:
    """Whether the store answers, and whether its format is one this release reads."""
    if settings.storage == "neo4j":
        yield from _neo4j(settings)
    elif settings.storage == "memory":
        yield warning("store", "STORAGE is memory: every Space is lost at the end", "set STORAGE=local or neo4j")
    else:
        yield from _files(settings.local_db_path)


def _files(folder: Path) -> Iterator[Finding]:
    from brain.store.sqlite.schema import MIGRATIONS
    from brain.store.sqlite.store import SUFFIX

    formats = {file.name.removesuffix(SUFFIX): _format(file) for file in sorted(folder.glob(f"*{SUFFIX}"))}
    broken = [space for space, number in formats.items() if number is None]
    newer = [space for space, number in formats.items() if number is not None and number > len(MIGRATIONS)]
    older = [space for space, number in formats.items() if number is not None and number < len(MIGRATIONS)]
    if broken:
        yield fault(
            "store", f"no Spaces this can read: {_some(broken)}", "restore them from a backup, or move them away"
        )
    if newer:
        yield fault("store", f"Spaces of a newer release: {_some(newer)}", "install that release, or a newer one")
    if older:
        yield warning("store", f"{len(older)} Spaces are brought to this release's format when they open", _BACK_UP)
    if not broken and not newer:
        yield ok("store", f"{len(formats)} Spaces, in format {len(MIGRATIONS)}" if formats else "there is no Space yet")


def _format(file: Path) -> int | None:
    """The format of a Space's file, as its header has it, or as a connection does while others write; None for none."""
    import apsw

    log = file.with_name(file.name + "-wal")
    try:
        with file.open("rb") as opened:
            header = opened.read(100)
        if not (log.exists() and log.stat().st_size):
            return int.from_bytes(header[60:64]) if header.startswith(_MAGIC) else None
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return int(connection.pragma("user_version"))
        finally:
            connection.close(True)
    except (OSError, apsw.Error):
        return None


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _neo4j(settings: Settings) -> Iterator[Finding]:
    if importlib.util.find_spec("neo4j") is None:
        yield fault("store", "STORAGE is neo4j, and its driver is not installed", "pip install 'brain-memory[neo4j]'")
        return
    from brain.store.neo4j.connection import Database
    from brain.store.neo4j.schema import FORMAT

    database = Database(
        settings.neo4j_uri,
        settings.neo4j_user,
        settings.neo4j_password.get_secret_value(),
        database=settings.neo4j_database,
        lock_wait_ms=1_000,
    )
    try:
        asked = time.time()
        [(theirs, number)] = database.read(
            "OPTIONAL MATCH (f:Format) WHERE f.id = 1 RETURN datetime().epochMillis, f.number", {}, _PATIENCE_S
        )
    except KipError as failed:
        fix = "start Neo4j, and look at NEO4J_URI, NEO4J_USER, NEO4J_PASSWORD and NEO4J_DATABASE"
        yield fault("store", f"Neo4j at NEO4J_URI cannot be used: {failed.message}", fix)
        return
    finally:
        database.close()
    yield from _apart("Neo4j", theirs / 1000, asked)
    if number is None:
        yield ok("store", "Neo4j answers; the first start prepares the database")
    elif number > FORMAT:
        yield fault(
            "store", f"the database has format {number}, this release reads {FORMAT}", "install a newer release"
        )
    elif number < FORMAT:
        yield warning("store", f"the database is brought from format {number} to {FORMAT} at the next start", _BACK_UP)
    else:
        yield ok("store", f"Neo4j answers, in format {FORMAT}")


def broker(settings: Settings) -> Iterator[Finding]:
    """Redis, where workers are woken by it."""
    if settings.work_queue == "embedded":
        yield ok("queue", "the serving process does the background work itself")
        return
    if importlib.util.find_spec("celery") is None or importlib.util.find_spec("redis") is None:
        yield fault("queue", "WORK_QUEUE is celery, which is not installed", "pip install 'brain-memory[workers]'")
        return
    from redis.exceptions import RedisError

    try:
        with closing(redis_client(settings, _PATIENCE_S / 2)) as client:
            asked = time.time()
            seconds, parts = client.time()
        yield ok("queue", "Redis answers")
        yield from _apart("Redis", seconds + parts / 1_000_000, asked)
    except (RedisError, OSError, ValueError) as failed:
        fix = "start Redis, and look at REDIS_URL; until then inputs are accepted and wait"
        yield fault("queue", f"Redis at REDIS_URL cannot be used ({type(failed).__name__})", fix)


def bucket(settings: Settings) -> Iterator[Finding]:
    """The bucket of backups, where there is one. The service works without it, so nothing here keeps it from that."""
    if not settings.aws_bucket:
        return
    from brain.backup.bucket import BucketFailure, Buckets

    try:
        Buckets(settings).check(settings.aws_bucket)
        yield ok("backups", f"the bucket {settings.aws_bucket} answers")
    except SettingsError as missing:
        yield warning("backups", "AWS_BUCKET is set, and the library for it is not installed", str(missing))
    except BucketFailure as failed:
        fix = "make the bucket, let the key list, read and write it, and look at the AWS_ settings"
        yield warning("backups", str(failed), fix)


def _apart(whose: str, theirs: float, ours: float) -> Iterator[Finding]:
    """Only what differs is told; when it was asked is known to a moment."""
    if abs(theirs - ours) > _APART_S:
        fix = "keep both clocks set (NTP): leases and tokens are judged by more than one of them"
        yield warning("clock", f"the clock of {whose} and this one are {abs(theirs - ours):.0f} seconds apart", fix)


def models(settings: Settings, get: Callable[..., httpx.Response] = httpx.get) -> Iterator[Finding]:
    """The model and the embeddings: whether there is a provider, and whether it answers and takes the key."""
    if not settings.has_provider:
        yield ok("model", f"MODEL_API_KEY is empty: {OFFLINE_MODEL} answers, which is modest")
    else:
        key = settings.model_api_key.get_secret_value()
        yield _provider("MODEL", settings.model_family, settings.model_name, settings.model_api_base, key, get)
    if settings.embedding_family not in ("", BUILTIN_EMBEDDINGS):
        key = settings.embedding_api_key.get_secret_value()
        base = settings.embedding_api_base
        yield _provider("EMBEDDING", settings.embedding_family, settings.embedding_name, base, key, get)


def _provider(prefix: str, family: str, name: str, base: str, key: str, get: Callable[..., httpx.Response]) -> Finding:
    subject, what = prefix.lower(), f"{family}/{name}"
    if importlib.util.find_spec("litellm") is None:
        return fault(subject, f"{what} needs litellm, which is not installed", "pip install 'brain-memory[llm]'")
    if not base:
        return ok(subject, f"{what}, at the family's own address, which was not looked at")
    is_anthropic = family.lower() in ("anthropic", "claude")
    headers = (
        {"x-api-key": key, "anthropic-version": "2023-06-01"} if is_anthropic else {"authorization": f"Bearer {key}"}
    )
    address = base.rstrip("/") + ("/v1/models" if is_anthropic else "/models")
    try:
        # The list of models: the one thing that providers tell for nothing.
        answer = get(address, headers=headers, timeout=_PATIENCE_S, follow_redirects=False)
    except (httpx.HTTPError, httpx.InvalidURL) as failed:
        fix = f"look at {prefix}_API_BASE, at HTTPS_PROXY, and at what this machine may reach"
        return fault(subject, f"the provider of {what} cannot be reached ({type(failed).__name__})", fix)
    if answer.status_code in (401, 403):
        return fault(subject, f"the provider of {what} refuses the key", f"set {prefix}_API_KEY to one that is good")
    if answer.status_code != httpx.codes.OK:
        return ok(subject, f"the provider of {what} answers; whether it takes the key is not told without a paid call")
    known = _names(answer)
    if known and name not in known:
        return warning(subject, f"the provider does not list {name}", f"set {prefix}_NAME to a model it has")
    return ok(subject, f"the provider of {what} answers and takes the key")


def _names(answer: httpx.Response) -> set[str]:
    """The models a provider lists; empty when the answer is nothing we know."""
    try:
        return {str(one["id"]) for one in answer.json()["data"]}
    except (ValueError, KeyError, TypeError):
        return set()


def texts(_: Settings) -> Iterator[Finding]:
    """Prompts and references, which come with the package."""
    from brain import bundled

    try:
        missing = [name for name in _TEXTS if not bundled.files(name)]
    except (bundled.BundledTextMissing, OSError) as failed:
        yield fault("prompts", str(failed), "install the package again")
        return
    if missing:
        yield fault("prompts", f"nothing in {', '.join(missing)}", "install the package again")
    else:
        yield ok("prompts", "prompts and references are there")
