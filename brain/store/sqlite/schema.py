"""The tables of a Space's file, and how a file of an older format is brought to this one.

An element id is one integer here, its kind in the high bits and its number in the low ones, so that a kind is a range
of the primary key in creation order. Versions stand in two tables of the same columns: `element` has the one that
holds now, `past` those that no longer do, with the first sequence they did not hold at. A read of the present touches
only `element`; a read as of n takes `from_seq <= n` of the one and `from_seq <= n < to_seq` of the other. `edge` and
`edge_past` do the same for references. Texts that repeat (lineages, classes, field names) are kept once, in `symbol`.

A `passage` is the text an active element is found by, over the commits it stays the same; `passages.py` keeps it.
`posting` is the keyword index, one row per term and element, ordered so that one term of one kind, or of one type, is a
range. `vector` has the vectors that are there so far; `passage.embedder` says whose (0: nobody's), so that the texts an
embedder has yet to see are two ranges of an index. All three have a table of the past. Why they are plain tables rather
than FTS5 and vec0 stands in docs/decisions.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import apsw

from brain.store.base import StoreFormatError
from brain.store.sqlite.passages import rebuild

APPLICATION_ID = 0x4272_416E
"""`BrAn`, in the file's header."""

_COLUMNS = """
    from_seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    type INTEGER,
    key TEXT,
    name TEXT,
    canonical_id TEXT,
    status TEXT,
    subject INTEGER,
    object_key TEXT,
    proposition INTEGER,
    actor INTEGER,
    merged_into INTEGER,
    body BLOB NOT NULL
"""

_INDEXES = {
    "type": ("type, state", "type"),
    "key": ("key, type", "key"),
    "name": ("name", "name"),
    "canonical": ("canonical_id", "canonical_id"),
    "subject": ("subject, type, object_key", "subject"),
    "object": ("object_key, type, subject", "object_key"),
    "proposition": ("proposition", "proposition"),
    "merged": ("merged_into", "merged_into"),
}
"""Indexes of `element` and `past`: name, columns, and the column that must be set."""


def _first_format(connection: apsw.Connection) -> None:
    """Everything: graph, commits, search index, state beside the graph."""
    connection.execute(f"""
        CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE symbol (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

        CREATE TABLE element (eid INTEGER PRIMARY KEY, {_COLUMNS}) STRICT;
        CREATE TABLE past (
            id INTEGER PRIMARY KEY, eid INTEGER NOT NULL, to_seq INTEGER NOT NULL, {_COLUMNS}
        ) STRICT;
        CREATE UNIQUE INDEX past_eid ON past (eid, from_seq);
        CREATE TABLE edge (
            source INTEGER NOT NULL, field INTEGER NOT NULL, position INTEGER NOT NULL, target INTEGER NOT NULL,
            role TEXT, from_seq INTEGER NOT NULL,
            PRIMARY KEY (source, field, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX edge_target ON edge (target, field);
        CREATE TABLE edge_past (
            source INTEGER NOT NULL, field INTEGER NOT NULL, position INTEGER NOT NULL, target INTEGER NOT NULL,
            role TEXT, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL,
            PRIMARY KEY (source, field, position, from_seq)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX edge_past_target ON edge_past (target, field);
        CREATE TABLE client_key (
            kind INTEGER NOT NULL, client_key TEXT NOT NULL, eid INTEGER NOT NULL, PRIMARY KEY (kind, client_key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE counter (kind INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
        CREATE TABLE tally (
            kind INTEGER NOT NULL, type INTEGER NOT NULL, state TEXT NOT NULL, elements INTEGER NOT NULL,
            PRIMARY KEY (kind, type, state)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE control (
            name TEXT NOT NULL, from_seq INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (name, from_seq)
        ) STRICT;
        CREATE TABLE history (
            seq INTEGER PRIMARY KEY, tx_id TEXT NOT NULL UNIQUE, committed_at TEXT NOT NULL,
            record TEXT NOT NULL, envelope TEXT NOT NULL
        ) STRICT;
        CREATE INDEX history_moment ON history (committed_at);

        CREATE TABLE posting (
            term TEXT NOT NULL, kind INTEGER NOT NULL, type INTEGER NOT NULL, eid INTEGER NOT NULL,
            times INTEGER NOT NULL, size INTEGER NOT NULL,
            PRIMARY KEY (term, kind, type, eid)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE corpus (kind INTEGER PRIMARY KEY, texts INTEGER NOT NULL, size INTEGER NOT NULL) STRICT;

        CREATE TABLE document (
            id INTEGER PRIMARY KEY, namespace TEXT NOT NULL, key TEXT NOT NULL, expires_ms INTEGER, body TEXT NOT NULL,
            UNIQUE (namespace, key)
        ) STRICT;
        CREATE INDEX document_expires ON document (expires_ms) WHERE expires_ms IS NOT NULL;
        CREATE TABLE work (
            id INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, status TEXT NOT NULL,
            not_before INTEGER NOT NULL, attempts INTEGER NOT NULL, first_attempt_ms INTEGER, note TEXT,
            payload TEXT NOT NULL
        ) STRICT;
        CREATE INDEX work_queue ON work (queue, status);
        CREATE TABLE lease (
            name TEXT PRIMARY KEY, holder TEXT, token INTEGER NOT NULL, expires_ms INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
    """)
    for name, (columns, present) in _INDEXES.items():
        # In `element` the key, which every index ends with, is the element; in `past` it has to be said.
        for table, then in (("element", ""), ("past", ", eid")):
            connection.execute(f"CREATE INDEX {table}_{name} ON {table} ({columns}{then}) WHERE {present} IS NOT NULL")


def _searchable_past(connection: apsw.Connection) -> None:
    """Texts and postings that hold no longer, and vectors."""
    connection.execute("""
        CREATE TABLE passage (
            eid INTEGER PRIMARY KEY, type INTEGER NOT NULL, from_seq INTEGER NOT NULL, size INTEGER NOT NULL,
            embedder INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX passage_embedder ON passage (embedder, from_seq);
        CREATE TABLE passage_past (
            eid INTEGER NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, type INTEGER NOT NULL,
            size INTEGER NOT NULL, embedder INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (eid, from_seq)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX passage_past_embedder ON passage_past (embedder, from_seq);

        CREATE TABLE posting_past (
            term TEXT NOT NULL, kind INTEGER NOT NULL, type INTEGER NOT NULL, eid INTEGER NOT NULL,
            from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, times INTEGER NOT NULL, size INTEGER NOT NULL,
            PRIMARY KEY (term, kind, type, eid, from_seq)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE embedder (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, dimensions INTEGER NOT NULL, revision INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE vector (
            eid INTEGER PRIMARY KEY, from_seq INTEGER NOT NULL, type INTEGER NOT NULL, embedder INTEGER NOT NULL,
            revision INTEGER NOT NULL, norm INTEGER NOT NULL, body BLOB NOT NULL
        ) STRICT;
        CREATE INDEX vector_type ON vector (type);
        CREATE TABLE vector_past (
            id INTEGER PRIMARY KEY, eid INTEGER NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL,
            type INTEGER NOT NULL, embedder INTEGER NOT NULL, revision INTEGER NOT NULL, norm INTEGER NOT NULL,
            body BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX vector_past_eid ON vector_past (eid, from_seq);
        CREATE INDEX vector_past_type ON vector_past (type);
    """)
    rebuild(connection)


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a format to the next; it runs in a transaction of its own and leaves a record in `meta`."""

    name: str
    run: Callable[[apsw.Connection], None]


MIGRATIONS: tuple[Migration, ...] = (
    Migration("first_format", _first_format),
    Migration("searchable_past", _searchable_past),
)
"""In order; a file's `user_version` says how many it has had."""


def migrate(connection: apsw.Connection, now_ms: int) -> None:
    """Bring a file to the present format, whichever process gets to it first; StoreFormatError for a newer one."""
    while (version := connection.pragma("user_version")) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if connection.pragma("user_version") == version:
                migration = MIGRATIONS[version]
                migration.run(connection)
                connection.execute("INSERT INTO meta VALUES (?, ?)", (f"migration:{migration.name}", str(now_ms)))
                connection.pragma("user_version", version + 1)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk may have ended it already
                connection.execute("ROLLBACK")
            raise
    if version > len(MIGRATIONS):
        raise StoreFormatError(f"the file has format {version}, this release reads up to {len(MIGRATIONS)}")
