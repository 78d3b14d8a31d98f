"""All Spaces of one Neo4j database."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from threading import Lock
from typing import Any

from brain import errors
from brain.ids import SPACE_ID
from brain.store.base import Document, SpaceExists, SpaceMissing
from brain.store.dump import Row, SpaceRow, Tally, checked, verify
from brain.store.neo4j import dumping, reindexing, schema
from brain.store.neo4j.connection import Database
from brain.store.neo4j.failures import code_of
from brain.store.neo4j.loading import Loader
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
_OPEN_ANALYSED = f"{_SPACE} RETURN s.instance, s.analysis"
_CHECK = "MATCH (f:Format) WHERE f.id = 1 RETURN f.number"
_ID_RULE = "A Space id has 1 to 64 lower-case letters, digits and underscores."
_SPACES = "MATCH (s:Space) WHERE s.deployment = $deployment RETURN s.id ORDER BY s.id"
_WITH_WORK = (
    "MATCH (s:Space) WHERE s.deployment = $deployment"
    " CALL (s) { MATCH (w:Open) USING INDEX w:Open(space, queue, id)"
    " WHERE w.space = s.space AND w.queue IS NOT NULL AND w.id IS NOT NULL RETURN w AS open LIMIT 1"
    " UNION MATCH (p:Waiting) USING INDEX p:Waiting(space, from_seq)"
    " WHERE p.space = s.space AND p.from_seq IS NOT NULL AND $unindexed RETURN p AS open LIMIT 1 }"
    " RETURN DISTINCT s.id ORDER BY s.id"
)
# What is left of a Space is found by this node until all of it is gone, whoever is killed meanwhile.
_REMOVE = (
    f"{_SPACE} SET s.open = true"
    " WITH s, s.space AS space CREATE (:Removed {deployment: $deployment, space: space}) WITH s DETACH DELETE s FINISH"
)
_REMOVED = (
    "MATCH (r:Removed) WHERE r.deployment = $deployment AND coalesce(r.loading_ms, 0) < $abandoned RETURN r.space"
)
_LOADING = "MERGE (r:Removed {deployment: $deployment, space: $space}) SET r.loading_ms = $now FINISH"
# Made again after its answer was lost it makes nothing: the mark of its beginning went with the first time.
_LOADED = (
    "CALL () { MATCH (r:Removed) WHERE r.space = $space AND r.loading_ms = $now DELETE r RETURN count(*) AS begun }"
    f" WITH begun WHERE begun = 1 CALL () {{ {_SPACE} AND $replace SET s.open = true"
    " CREATE (:Removed {deployment: $deployment, space: s.space}) DETACH DELETE s }"
    " CREATE (s:Space {deployment: $deployment, id: $id, instance: $instance, space: $space, created_ms: $created,"
    " analysis: $analysis, open: true, head: $head, totals: $totals, controls_seq: $head, merges_seq: $head,"
    " token: ''}) SET s += $last CREATE (g:Gate {space: $space, open: true}) FINISH"
)
# Whoever takes the mark away may clear: from then on the Space can no longer appear. When there is none, it has.
_CLAIM = "MATCH (r:Removed) WHERE r.space = $space REMOVE r.loading_ms RETURN count(r)"
_FORGET = "MATCH (r:Removed) WHERE r.space = $space DELETE r FINISH"
_BATCH = 5_000
_ABANDONED_MS = 6 * 3_600_000
"""A Space that began to be loaded so long ago and is not there yet was left by a process that is gone."""


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
            raise errors.InvalidIdentifier(_ID_RULE)
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

    def load(self, rows: Iterable[Row], *, replace: bool = False) -> Neo4jSpace:
        """InvalidIdentifier when the id is not one."""
        tally = Tally()
        following = checked(tally.following(rows))
        first = next(following)
        assert isinstance(first, SpaceRow)  # noqa: S101 - as checked
        if SPACE_ID.fullmatch(first.space_id) is None:
            raise errors.InvalidIdentifier(_ID_RULE)
        if not replace and self.exists(first.space_id):
            raise SpaceExists(first.space_id)
        database, instance = self._ready(), uuid.uuid4().hex
        space = space_key(first.space_id, instance)
        names = self._names(first.space_id) | {"space": space, "now": self._clock.now_ms()}
        database.run(_LOADING, names)
        try:
            loader = Loader(database, space)
            loader.take(following)
            with closing(dumping.set_aside(database.read, space, loader.numbers)) as aside:
                verify(dumping.rows_of(database.read, space, first, dumping.from_aside(aside)), tally)
            self._appear(first, instance, loader, names | {"replace": replace})
        except BaseException:
            with suppress(errors.KipError):  # what is left then is found by its mark later
                if database.run(_CLAIM, {"space": space})[0][0]:
                    _clear(database, space)
            raise
        if replace:
            self._clear_removed()
        return Neo4jSpace(database, self._deployment, first.space_id, instance, self._clock)

    def _appear(self, first: SpaceRow, instance: str, loader: Loader, names: Mapping[str, Any]) -> None:
        """Give a Space that is all there its node."""
        try:
            self._ready().run(
                _LOADED,
                {
                    **names,
                    "instance": instance,
                    "created": first.created_ms,
                    "analysis": ANALYSIS,
                    "head": first.seq,
                    "totals": json_text(loader.totals),
                    "last": loader.last_numbers,
                },
            )
        except errors.InternalError as error:
            if code_of(error.__cause__ or error) != "ConstraintValidationFailed":
                raise
            raise SpaceExists(first.space_id) from error
        if self._ready().read(_OPEN, self._names(first.space_id)) != [(instance,)]:
            raise errors.SerializationConflict("The Space was removed while it was loaded.")

    def check(self) -> None:
        self._ready().check(_CHECK)

    def open(self, space_id: str) -> Neo4jSpace:
        if SPACE_ID.fullmatch(space_id) is None:
            raise SpaceMissing(space_id)
        rows = self._ready().read(_OPEN_ANALYSED, self._names(space_id))
        if not rows:
            raise SpaceMissing(space_id)
        if not reindexing.check(rows[0][1]):
            reindexing.reindex(self._database, self._names(space_id) | {"instance": rows[0][0]})
        return Neo4jSpace(self._database, self._deployment, space_id, rows[0][0], self._clock)

    def exists(self, space_id: str) -> bool:
        if SPACE_ID.fullmatch(space_id) is None:
            return False
        return bool(self._ready().read(_OPEN, self._names(space_id)))

    def spaces(self) -> Iterable[str]:
        return [space_id for (space_id,) in self._ready().read(_SPACES, self._names())]

    def with_work(self, *, unindexed: bool) -> Iterable[str]:
        return [space_id for (space_id,) in self._ready().read(_WITH_WORK, self._names() | {"unindexed": unindexed})]

    def delete(self, space_id: str) -> None:
        if SPACE_ID.fullmatch(space_id) is None:
            return
        database = self._ready()
        database.run(_REMOVE, self._names(space_id))
        self._clear_removed()

    def close(self) -> None:
        self._database.close()

    def finish_removals(self) -> list[str]:
        return self._clear_removed()

    def holds(self, space_id: str, instance_id: str) -> dict[str, int]:
        database, space = self._ready(), space_key(space_id, instance_id)
        found: dict[str, int] = {}
        for label, properties in (*schema.CONTENT, *((label, ("space",)) for label in ("Gate", "Space", "Removed"))):
            rows = database.read(f"MATCH (n:{label}) WHERE {_among(properties)} RETURN count(*)", {"space": space})
            found[label.lower()] = max(found.get(label.lower(), 0), int(rows[0][0]))
        return found

    def _clear_removed(self) -> list[str]:
        database = self._ready()
        abandoned = self._clock.now_ms() - _ABANDONED_MS
        cleared = []
        for (space,) in database.read(_REMOVED, self._names() | {"abandoned": abandoned}):
            if database.run(_CLAIM, {"space": space})[0][0]:
                _clear(database, space)
                cleared.append(str(space).partition(".")[0])
        return cleared

    def _names(self, space_id: str = "") -> dict[str, Any]:
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
        found = f"MATCH (n:{label}) WHERE {_among(properties)}"
        statement = f"{found} WITH n LIMIT {_BATCH} DETACH DELETE n RETURN count(*)"
        while database.run(statement, {"space": space})[0][0]:
            pass
    database.run(_FORGET, {"space": space})


def _among(properties: tuple[str, ...]) -> str:
    """Nodes of one Space, in the way the index of their label finds them."""
    return " AND ".join(["n.space = $space", *(f"n.{name} IS NOT NULL" for name in properties[1:])])
