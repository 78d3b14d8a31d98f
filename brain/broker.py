"""A client of the deployment's Redis, for whoever asks it something beside sending wake-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from brain.settings import Settings

if TYPE_CHECKING:
    from redis import Redis


def redis_client(settings: Settings, timeout_s: float) -> Redis:
    """A client of REDIS_URL, which connects with its first command; for WORK_QUEUE=celery, whose extra has the library.

    timeout_s  to connect, and to answer one command
    raises     ValueError for an address that names no Redis
    """
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    # Once more at once: a connection that was idle may have been closed. The library's own would wait for seconds.
    return Redis.from_url(
        client_url(settings.redis_url.get_secret_value()),
        socket_connect_timeout=timeout_s,
        socket_timeout=timeout_s,
        retry=Retry(NoBackoff(), 1),
    )


def client_url(url: str) -> str:
    """REDIS_URL, which is written as Celery reads it, as the Redis library reads it.

    >>> client_url("redis+socket:///run/redis.sock?virtual_host=2")
    'unix:///run/redis.sock?db=2'
    >>> client_url("rediss://broker:6379/0?ssl_cert_reqs=CERT_REQUIRED")
    'rediss://broker:6379/0?ssl_cert_reqs=required'
    """
    scheme, _, rest = url.partition("://")
    address, _, _ = rest.partition("?")
    options = dict(parse_qsl(urlsplit(url).query))
    if scheme == "redis+socket":
        scheme = "unix"
        options["db"] = options.pop("virtual_host", "0")
    if "ssl_cert_reqs" in options:
        options["ssl_cert_reqs"] = options["ssl_cert_reqs"].removeprefix("CERT_").lower()
    return f"{scheme}://{address}?{urlencode(options)}" if options else f"{scheme}://{address}"
