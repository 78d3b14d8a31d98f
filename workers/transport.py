"""How Celery speaks to Redis here: as kombu does, and so that no fault on the way leaves a worker standing still.

kombu's transport is made up of classes that name each other, and is meant to be extended by other ones; `Amqp` at the
end is what an application is given.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from queue import Empty
from typing import Any

import celery.app.amqp
import kombu.connection
import structlog
from kombu.transport import redis, virtual
from redis.exceptions import RedisError

from brain import logs

log = structlog.get_logger(__name__)

_kombu_log = logging.getLogger("kombu")
_LONGEST_BACK_OFF_S = 5.0
PROBE = "{brain.broker}:probe"
"""What is written to see whether Redis takes writes; it is gone at once."""


class QoS(redis.QoS):
    """The messages a worker holds, of which there may be only so many.

    kombu logs an acknowledgement or a return that Redis did not take, and goes on. The message would keep its place for
    good, and when every place is kept so, the worker asks for nothing more: it would notice neither that its connection
    is lost nor that Redis is back. So a place is free after the attempt, whatever came of it. If Redis has kept the
    message it gives it out again, which changes nothing.
    """

    def ack(self, delivery_tag: str) -> None:
        try:
            super().ack(delivery_tag)  # type: ignore[no-untyped-call]
        finally:
            self._free(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        try:
            super().reject(delivery_tag, requeue=requeue)  # type: ignore[no-untyped-call]
        finally:
            self._free(delivery_tag)

    def _free(self, delivery_tag: str) -> None:
        virtual.QoS.ack(self, delivery_tag)  # type: ignore[no-untyped-call]


class Channel(redis.Channel):
    """Messages are held as above, and one that cannot be read is not held at all.

    Celery ends at a message it cannot make out, and gives it back as it ends: to the next worker, which would end as
    well, and so on for good.
    """

    QoS = QoS

    def basic_consume(
        self, queue: str, no_ack: bool, callback: Callable[[Any], Any], *arguments: Any, **named: Any
    ) -> Any:
        def unless_strange(message: Any) -> Any:
            try:
                return callback(message)
            except Exception:
                if not message.acknowledged:
                    message.reject_log_error(_kombu_log, self.connection_errors)
                raise

        return super().basic_consume(  # type: ignore[no-untyped-call]
            queue, no_ack, unless_strange, *arguments, **named
        )

    def waiting(self, queue: str) -> int:
        """How many messages nobody has taken from a queue."""
        return int(self._size(queue))  # type: ignore[no-untyped-call]


class Transport(redis.Transport):
    """Whatever Redis answers that is no answer (it is full, a replica, out of disk) is a connection lost.

    kombu goes on with such a connection: it would ask a server that was a master once for ever, and thousands of times
    a second. Here the worker connects anew, to whoever has the address by then, and waits longer each time it fails.
    """

    Channel = Channel
    connection_errors = (*redis.Transport.connection_errors, RedisError)

    def establish_connection(self) -> Any:
        """Connect to a Redis that takes writes.

        raises  RedisError when it does not
        """
        connection = super().establish_connection()  # type: ignore[no-untyped-call]
        try:
            with self._avail_channels[-1].conn_or_acquire() as client:
                client.set(PROBE, 1, px=1)
        except BaseException:
            self.close_connection(connection)  # type: ignore[no-untyped-call]
            raise
        return connection

    def on_readable(self, fileno: int) -> None:  # type: ignore[override]
        """Take what has come; what it carried is not logged, since whoever can write to Redis chose it."""
        try:
            super().on_readable(fileno)  # type: ignore[no-untyped-call]
        except (Empty, MemoryError, *self.connection_errors):
            raise
        except Exception as fault:  # noqa: BLE001 - nothing that others write may end a worker
            log.error("message_refused", meaning="it is not one of ours, and is gone", **logs.fault(fault))


class Connection(kombu.connection.Connection):
    """By that transport, whichever of its addresses REDIS_URL has; back soon after Redis is."""

    def get_transport_cls(self) -> type[Transport]:
        return Transport

    def ensure_connection(self, *arguments: Any, **named: Any) -> Connection:
        named.setdefault("interval_max", _LONGEST_BACK_OFF_S)
        super().ensure_connection(*arguments, **named)  # type: ignore[no-untyped-call]
        return self


class Amqp(celery.app.amqp.AMQP):  # type: ignore[misc]
    """Celery's messages, over that connection."""

    Connection = Connection
