"""Labels, constraints and indexes of the database, made once, by whichever process comes first.

Every index begins with `space`, and what is indexed never changes while it is there: a reader cannot miss an entry
because a writer moves it. A composite index holds only nodes that have all its properties, so a lookup by some of them
says of the others that they are there.
"""

from __future__ import annotations

import time

from brain import errors
from brain.store.base import StoreFormatError
from brain.store.neo4j.connection import Database
from brain.store.neo4j.filling import fill_members

FORMAT = 3
"""Changes with every change of this model; a database of an older one is brought up."""

CONSTRAINTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "brain_space": ("Space", ("deployment", "id")),
    "brain_gate": ("Gate", ("space",)),
    "brain_element": ("Element", ("space", "id")),
    "brain_version": ("Version", ("space", "id", "from_seq")),
    "brain_client_key": ("ClientKey", ("space", "kind", "key")),
    "brain_control": ("Control", ("space", "name", "from_seq")),
    "brain_commit": ("Commit", ("space", "seq")),
    "brain_tally": ("Tally", ("space", "kind", "type", "state")),
    "brain_passage": ("Passage", ("space", "kind", "number", "from_seq")),
    "brain_embedder": ("Embedder", ("space", "id")),
    "brain_document": ("Document", ("space", "namespace", "key")),
    "brain_work": ("Work", ("space", "id")),
    "brain_lease": ("Lease", ("space", "name")),
}
"""Unique combinations of properties, each with its index: name, label, properties."""

INDEXES: dict[str, tuple[str, tuple[str, ...]]] = {
    "brain_version_kind": ("Version", ("space", "kind", "number")),
    "brain_version_type": ("Version", ("space", "type", "number")),
    "brain_version_key": ("Version", ("space", "key", "type")),
    "brain_version_name": ("Version", ("space", "name")),
    "brain_version_canonical": ("Version", ("space", "canonical_id")),
    "brain_version_subject": ("Version", ("space", "subject", "type", "object_key")),
    "brain_version_object": ("Version", ("space", "object_key", "type")),
    "brain_version_proposition": ("Version", ("space", "proposition")),
    "brain_version_merged": ("Version", ("space", "merged_into")),
    "brain_commit_tx": ("Commit", ("space", "tx_id")),
    "brain_posting": ("Posting", ("space", "word", "number")),
    "brain_waiting": ("Waiting", ("space", "from_seq")),
    "brain_vector": ("Embedded", ("space", "embedder", "kind", "number")),
    "brain_document_expires": ("Document", ("space", "expires_ms")),
    "brain_work_queue": ("Work", ("space", "queue", "id")),
    "brain_open": ("Open", ("space", "queue", "id")),
}
"""Further indexes: name, label, properties."""

RELATIONSHIPS: dict[str, str] = {
    "subject": "SUBJECT",
    "object": "OBJECT",
    "proposition": "ABOUT",
    "asserted_by": "ASSERTED_BY",
    "context": "IN_CONTEXT",
    "evidence": "CITES",
    "source": "FROM_SOURCE",
    "generated_by": "GENERATED_BY",
    "inputs": "USED",
    "outputs": "PRODUCED",
    "associated_actors": "WITH_ACTOR",
    "supersedes": "SUPERSEDES",
    "superseded_by": "SUPERSEDED_BY",
    "corrects": "CORRECTS",
    "corrected_by": "CORRECTED_BY",
    "merged_into": "MERGED_INTO",
}
"""The type of the relationship that a reference of Core is."""

STRUCTURAL = "LINKED"
"""The type of a reference in a declared structural field; `field` says which."""

CONTENT = (
    ("Version", ("space", "id", "from_seq")),
    ("Element", ("space", "id")),
    ("Posting", ("space", "word", "number")),
    *((label, names) for label, names in CONSTRAINTS.values() if label not in ("Space", "Gate", "Version", "Element")),
)
"""What a Space has beside its own node and its gate: label, and properties by whose index all of it is found."""

_DROPPED = ("DROP INDEX brain_embedded IF EXISTS",)
"""What earlier formats had."""

_MARK = (
    "MERGE (f:Format {id: 1}) SET f.number = CASE WHEN coalesce(f.number, 0) < $number THEN $number ELSE f.number END"
    " RETURN f.number"
)
_PATIENCE_S = 60
_RACES = 20


def statements() -> list[str]:
    """What makes the schema; each may run any number of times."""
    made = [
        f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{label}) REQUIRE ({_listed('n', names)}) IS UNIQUE"
        for name, (label, names) in {"brain_format": ("Format", ("id",)), **CONSTRAINTS}.items()
    ]
    made += [
        f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{label}) ON ({_listed('n', names)})"
        for name, (label, names) in INDEXES.items()
    ]
    made += [
        f"CREATE INDEX brain_ref_{type_.lower()} IF NOT EXISTS FOR ()-[r:{type_}]-() ON (r.space, r.target)"
        for type_ in (*RELATIONSHIPS.values(), STRUCTURAL)
    ]
    return made


def ensure(database: Database) -> None:
    """Make what is not there yet; StoreFormatError when a newer release made it."""
    found = _format(database)
    if found is None or found < FORMAT:
        for statement in (*_DROPPED, *statements()):
            _made(database, statement)
        database.run("CALL db.awaitIndexes($patience)", {"patience": _PATIENCE_S})
        if found is not None:
            fill_members(database)
        found = database.run(_MARK, {"number": FORMAT})[0][0]
    if found > FORMAT:
        raise StoreFormatError(f"the database has format {found}, this release reads {FORMAT}")


def _format(database: Database) -> int | None:
    rows = database.read("MATCH (f:Format) WHERE f.id = 1 RETURN f.number", {})
    return rows[0][0] if rows else None


def _made(database: Database, statement: str) -> None:
    """Run one statement; processes that start together get in each other's way, and one of them gets it done."""
    for attempt in range(_RACES):
        try:
            database.run(statement, {})
        except (errors.SerializationConflict, errors.InternalError) as error:
            if attempt + 1 == _RACES or error.after_ms is not None:
                raise
            time.sleep(0.05 * (attempt + 1))
        else:
            return


def _listed(name: str, properties: tuple[str, ...]) -> str:
    return ", ".join(f"{name}.{each}" for each in properties)
