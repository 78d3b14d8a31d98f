"""A message gives up its place with a worker however its end goes over the wire, on every kind of address."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from ssl import CERT_NONE, CERT_REQUIRED
from typing import Any

import pytest
from celery import Celery
from pydantic import SecretStr
from redis.exceptions import ReadOnlyError

from conformance.redis_server import RedisServer, redis_server
from tests.service.world import settings_for
from tests.workers.wire import Wire, wire
from workers.celery_app import celery_app
from workers.kinds import Kind
from workers.transport import Transport

QUEUE = Kind.SWEEP.queue
LOG = logging.getLogger("unanswered")


def app_of(url: str, **transport: Any) -> Celery:
    return celery_app(settings_for(Path("unused")).model_copy(update={"redis_url": SecretStr(url)}), **transport)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("transport")) as server:
        yield server


@pytest.fixture
def to_redis(server: RedisServer) -> Iterator[Wire]:
    server.empty()
    with wire(server.url) as made:
        yield made


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-005", "BR-OPS-008")
@pytest.mark.parametrize("end", ["acknowledged", "refused", "returned"])
@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"",
        b"-READONLY You can't write against a read only replica.\r\n",
        b"-OOM command not allowed when used memory > 'maxmemory'.\r\n",
        b"-LOADING Redis is loading the dataset in memory\r\n",
        b"-NOPERM this user has no permissions\r\n",
        b"-CLUSTERDOWN The cluster is down\r\n",
        b"what?\r\n",
        "gone",
    ],
    ids=["as ever", "none", "replica", "full", "loading", "forbidden", "cluster down", "nonsense", "gone"],
)
def test_a_place_is_free_after_the_attempt_whatever_came_of_it(
    to_redis: Wire, answer: bytes | str | None, end: str
) -> None:
    app = app_of(to_redis.url, socket_timeout=0.5)
    connection = app.connection_for_read()
    try:
        app.send_task(Kind.SWEEP.task, queue=QUEUE, connection=connection)
        channel = connection.default_channel
        channel.basic_qos(0, 1, False)
        message = channel.basic_get(QUEUE)
        assert not channel.qos.can_consume()
        if isinstance(answer, str):
            to_redis.close()
        else:
            to_redis.answer = answer
        if end == "acknowledged":
            message.ack_log_error(LOG, connection.connection_errors)
        else:
            message.reject_log_error(LOG, connection.connection_errors, requeue=end == "returned")
        assert channel.qos.can_consume()
        to_redis.answer = None
        if answer is None:
            assert message.acknowledged
            assert channel.waiting(QUEUE) == (1 if end == "returned" else 0)
    finally:
        connection.release()


@pytest.mark.requirement("BR-OPS-008")
@pytest.mark.parametrize(
    ("url", "tls"),
    [
        ("redis://:word@host:6379/3", False),
        ("rediss://host:6379/0", CERT_NONE),
        ("rediss://host:6379/0?ssl_cert_reqs=CERT_REQUIRED", CERT_REQUIRED),
        ("redis+socket:///run/redis.sock?virtual_host=2", False),
    ],
)
def test_every_kind_of_address_is_spoken_to_in_this_way(url: str, tls: Any) -> None:
    for connection in (app_of(url).connection_for_read(), app_of(url).connection_for_write().clone()):
        assert isinstance(connection.transport, Transport)
        assert connection.ssl == (tls is not False and {"ssl_cert_reqs": tls})


@pytest.mark.requirement("BR-OPS-008")
def test_a_redis_that_takes_no_writes_is_not_connected_to(server: RedisServer, to_redis: Wire) -> None:
    app = app_of(to_redis.url)
    with server.client() as redis:
        redis.replicaof("127.0.0.1", 1)
        try:
            with app.connection_for_read() as connection, pytest.raises(ReadOnlyError):
                connection.connect()
        finally:
            redis.replicaof("no", "one")
        with app.connection_for_read() as connection:
            connection.connect()
