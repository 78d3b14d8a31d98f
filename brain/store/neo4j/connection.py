"""The driver and its two ways to the database: a statement that only reads, and a transaction.

Each call here is one round trip over the network unless it says otherwise; `Database.trips` counts them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from threading import Lock
from typing import Any, LiteralString, TypeVar

import neo4j

from brain import errors
from brain.store.neo4j.failures import UNREACHED, DriverError, Neo4jError, translated

Row = tuple[Any, ...]
Parameters = Mapping[str, Any]
T = TypeVar("T")

_ATTEMPTS = 3
"""How often a call without effects is tried: after a restart of the database each pooled connection fails once."""

_CLOSE_AGAIN_S = (0.01, 0.1, 0.5)

_PROMPT_S = 1.0
"""A failure that came later than this was no stale connection."""


class Database:
    """One database of a Neo4j server; thread-safe.

    lock_wait_ms  how long a transaction waits for the other writers of its Space
    """

    def __init__(self, uri: str, user: str, password: str, *, database: str, lock_wait_ms: int) -> None:
        self._made: neo4j.Driver | None = None
        self._make = partial(
            neo4j.GraphDatabase.driver,
            uri,
            auth=(user, password),
            connection_timeout=5.0,
            connection_acquisition_timeout=15.0,
            liveness_check_timeout=30.0,
            keep_alive=True,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
            user_agent="brain-memory",
        )
        self._making = Lock()
        self._is_closed = False
        self._name = database
        self.lock_wait_ms = lock_wait_ms
        self.trips = 0

    def read(self, statement: str, parameters: Parameters, timeout_s: float | None = None) -> list[Row]:
        """The rows of a statement in a transaction of its own, that sees whatever is committed when it gets there."""
        return self._alone(statement, parameters, timeout_s, neo4j.READ_ACCESS)

    def run(self, statement: str, parameters: Parameters, timeout_s: float | None = None) -> list[Row]:
        """The same for a statement that may take locks, or write what may be written twice."""
        return self._alone(statement, parameters, timeout_s, neo4j.WRITE_ACCESS)

    def run_once(self, statement: str, parameters: Parameters) -> list[Row]:
        """The same for a statement that must not be written twice; whether a failed one was is not known."""
        return self._alone(statement, parameters, None, neo4j.WRITE_ACCESS, attempts=1)

    def run_once_raw(self, statement: str, parameters: Parameters, timeout_s: float) -> list[Row]:
        """The same; driver errors as they come."""
        query = neo4j.Query(_bound(statement), timeout=timeout_s)
        with self._session(neo4j.WRITE_ACCESS) as session:
            self.trips += 1
            return [tuple(record.values()) for record in session.run(query, {"p": dict(parameters)})]

    def check(self, statement: str) -> None:
        """Run a statement once and soon."""
        self._alone(statement, {}, 2.0, neo4j.WRITE_ACCESS, attempts=1)

    def begin(self, statement: str, parameters: Parameters, timeout_s: float) -> tuple[Turn, list[Row]]:
        """A transaction and the rows of its first statement, which must have no effects but locks."""

        def attempt() -> tuple[Turn, list[Row]]:
            session = self._session(neo4j.WRITE_ACCESS)
            try:
                with _together(session):
                    turn = Turn(self, session, session.begin_transaction(timeout=timeout_s))
            except BaseException:
                session.close()
                raise
            try:
                return turn, turn.run(statement, parameters)
            except BaseException:
                turn.roll_back()
                raise

        return _attempted(attempt)

    def close(self) -> None:
        """Close every connection, also those at work for somebody who was not waited for."""
        with self._making:
            driver, self._made, self._is_closed = self._made, None, True
        if driver is None:
            return
        for pause in (*_CLOSE_AGAIN_S, None):
            try:
                driver.close()
            except BufferError:  # a thread was just writing into the connection that should say goodbye
                if pause is None:
                    raise
                time.sleep(pause)
            else:
                return

    @property
    def _driver(self) -> neo4j.Driver:
        """Made when it is first needed: what is never used has nothing to close."""
        with self._making:
            if self._is_closed:
                raise neo4j.exceptions.ServiceUnavailable("closed here")
            if self._made is None:
                self._made = self._make()
            return self._made

    def _alone(
        self, statement: str, parameters: Parameters, timeout_s: float | None, access: str, attempts: int = _ATTEMPTS
    ) -> list[Row]:
        query = neo4j.Query(_bound(statement), timeout=timeout_s)

        def attempt() -> list[Row]:
            with self._session(access) as session:
                self.trips += 1
                return [tuple(record.values()) for record in session.run(query, {"p": dict(parameters)})]

        return _attempted(attempt, attempts)

    def _session(self, access: str) -> neo4j.Session:
        return self._driver.session(database=self._name, default_access_mode=access, fetch_size=-1)


def _together(session: neo4j.Session) -> AbstractContextManager[Any]:
    """Inside, a transaction begins with its first statement and not before: one round trip instead of two.

    The driver does so itself in `execute_query`, and offers it to nobody else; without it all goes on as well.
    """
    together: AbstractContextManager[Any] = getattr(session, "_pipelined_begin", nullcontext())
    return together


class Turn:
    """One open transaction, the turn of one writer."""

    def __init__(self, database: Database, session: neo4j.Session, transaction: neo4j.Transaction) -> None:
        self._database = database
        self._session = session
        self._transaction = transaction

    def run(self, statement: str, parameters: Parameters) -> list[Row]:
        """The rows of a statement; driver errors as they come."""
        self._database.trips += 1
        found = self._transaction.run(_bound(statement), {"p": dict(parameters)})
        return [tuple(record.values()) for record in found]

    def commit(self) -> None:
        """Driver errors as they come; after one that is no answer of the server the outcome is unknown."""
        self._database.trips += 1
        try:
            self._transaction.commit()
        finally:
            self._session.close()

    def roll_back(self) -> None:
        """Undo everything; a connection that is lost has done so by itself."""
        self._database.trips += 1
        try:
            self._transaction.close()
            self._session.close()
        except (Neo4jError, DriverError, OSError):
            return


@lru_cache(maxsize=1024)
def _bound(statement: str) -> LiteralString:
    """A statement with its parameters as members of one map.

    Neo4j plans a statement anew for every order of magnitude of each text and list that is bound to it; what is inside
    a map it does not look at, so one plan serves all.
    """
    bound: Any = _PARAMETER.sub(r"$p.\1", statement)
    return bound  # type: ignore[no-any-return]  # made of constants of this package


_PARAMETER = re.compile(r"\$([a-z_]+)")


def _attempted(attempt: Callable[[], T], attempts: int = _ATTEMPTS) -> T:
    """What a call without effects gives; errors are the registered ones."""
    for number in range(attempts):
        started = time.monotonic()
        try:
            return attempt()
        except UNREACHED as error:
            if number + 1 == attempts or time.monotonic() - started > _PROMPT_S:
                raise translated(error) from error
        except (Neo4jError, DriverError) as error:
            raise translated(error) from error
    raise errors.InternalError  # not reached: the last attempt returns or raises
