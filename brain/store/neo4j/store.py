"""All Spaces of one Neo4j database."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from threading import Lock

from brain import errors
from brain.ids import SPACE_ID
from brain.store.base import Document, SpaceExists, SpaceMissing
from brain.store.neo4j import schema
from brain.store.neo4j.connection import Database
from brain.store.neo4j.failures import code_of
from brain.store.neo4j.space import Neo4jSpace, space_key
from brain.store.neo4j.state import json_text
from brain.store.search import ANALYSIS
from brain.times import Clock, SystemClock

_CREATE = (
    "CREATE (s:Space {deployment: $deployment, id: $id, instance: $instance, space: $space, created_ms: $now,"
    " analysis: $analysis, open: true, head: 0, totals: '{}', controls_seq: 0, merges_seq: 0, last_work: 0, token: ''})"
    " CREATE (g:Gate {space: $space, open: true})"
    " WITH s UNWIND $controls AS row CREATE (c:Control {space: $space, name: row.name, from_seq: 0, body: row.body})"
    " FINISH"
)
_SPACE = "MATCH (s:Space) USING INDEX s:Space(deployment, id) WHERE s.deployment = $deployment AND s.id = $id"
_OPEN = f"{_SPACE} RETURN s.instance"
_SPACES = "MATCH (s:Space) WHERE s.deployment = $deployment RETURN s.id ORDER BY s.id"
# What is left of a Space is found by this node until all of it is gone, whoever is killed meanwhile.
_REMOVE = (
    f"{_SPACE} SET s.open = true"
    " WITH s, s.space AS space CREATE (:Removed {deployment: $deployment, space: space}) WITH s DETACH DELETE s FINISH"
)
_REMOVED = "MATCH (r:Removed) WHERE r.deployment = $deployment RETURN r.space"
_FORGET = "MATCH (r:Removed) WHERE r.space = $space DELETE r FINISH"
_BATCH = 5_000


class Neo4jStore:
    """See `brain.store.base.Store`. Any number of processes may use one database.

    The database is first spoken to when something is asked of the store.

    uri, user, password  as the driver takes them: `bolt://host:7687`, or `neo4j://…` for a cluster
    database             its name at the server; it should be used by nothing else
    deployment           sets the Spaces of several deployments in one database apart; each sees its own
    clock                says when a document of state has expired
    lock_wait_ms         how long a writer waits for the other writers of its Space in this process
    """

    def __init__(
        self,
        uri: str,
        user: str,
        password: str,
        *,
        database: str = "neo4j",
        deployment: str = "",
        clock: Clock | None = None,
        lock_wait_ms: int = 10_000,
    ) -> None:
        self._database = Database(uri, user, password, database=database, lock_wait_ms=lock_wait_ms)
        self._deployment = deployment
        self._clock = clock or SystemClock()
        self._schema_lock = Lock()
        self._has_schema = False

    @property
    def trips(self) -> int:
        """Round trips over the network so far, for whoever measures."""
        return self._database.trips

    def create(self, space_id: str, *, now_ms: int, controls: Mapping[str, Document] | None = None) -> Neo4jSpace:
        """InvalidIdentifier when the id is not one."""
        if SPACE_ID.fullmatch(space_id) is None:
            raise errors.InvalidIdentifier("A Space id has 1 to 64 lower-case letters, digits and underscores.")
        instance = uuid.uuid4().hex
        try:
            self._ready().run(
                _CREATE,
                {
                    **self._names(space_id),
                    "instance": instance,
                    "space": space_key(space_id, instance),
                    "now": now_ms,
                    "analysis": ANALYSIS,
                    "controls": [{"name": name, "body": json_text(body)} for name, body in (controls or {}).items()],
                },
            )
        except errors.InternalError as error:
            if code_of(error.__cause__ or error) != "ConstraintValidationFailed":
                raise
            # It may be our own: the answer of an attempt was lost, and it was made again.
            if self._ready().read(_OPEN, self._names(space_id)) != [(instance,)]:
                raise SpaceExists(space_id) from error
        return Neo4jSpace(self._database, self._deployment, space_id, instance, self._clock)

    def open(self, space_id: str) -> Neo4jSpace:
        if SPACE_ID.fullmatch(space_id) is None:
            raise SpaceMissing(space_id)
        rows = self._ready().read(_OPEN, self._names(space_id))
        if not rows:
            raise SpaceMissing(space_id)
        return Neo4jSpace(self._database, self._deployment, space_id, rows[0][0], self._clock)

    def exists(self, space_id: str) -> bool:
        if SPACE_ID.fullmatch(space_id) is None:
            return False
        return bool(self._ready().read(_OPEN, self._names(space_id)))

    def spaces(self) -> Iterable[str]:
        return [space_id for (space_id,) in self._ready().read(_SPACES, self._names())]

    def delete(self, space_id: str) -> None:
        if SPACE_ID.fullmatch(space_id) is None:
            return
        database = self._ready()
        database.run(_REMOVE, self._names(space_id))
        for (space,) in database.read(_REMOVED, self._names()):
            _clear(database, space)

    def close(self) -> None:
        self._database.close()

    def _names(self, space_id: str = "") -> dict[str, str]:
        return {"deployment": self._deployment, "id": space_id}

    def _ready(self) -> Database:
        """The database, with its schema."""
        with self._schema_lock:
            if not self._has_schema:
                schema.ensure(self._database)
                self._has_schema = True
        return self._database


def _clear(database: Database, space: str) -> None:
    """Take away what a removed Space has left, some at a time so that no transaction grows with the Space."""
    for label, properties in (*schema.CONTENT, ("Gate", ("space",))):
        present = " AND ".join(f"n.{name} IS NOT NULL" for name in properties[1:])
        found = f"MATCH (n:{label}) WHERE n.space = $space{' AND ' + present if present else ''}"
        statement = f"{found} WITH n LIMIT {_BATCH} DETACH DELETE n RETURN count(*)"
        while database.run(statement, {"space": space})[0][0]:
            pass
    database.run(_FORGET, {"space": space})
