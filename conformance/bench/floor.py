"""The floor: the same reads as bare prepared SQL over two plain tables in one process, with nothing around them.

No language, history, vocabulary or search analysis stands between; what an engine takes beyond this is what it is for.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw

from conformance.bench.people import person, person_count

_SCHEMA = """
PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
CREATE TABLE concept(id INTEGER PRIMARY KEY, type TEXT, key TEXT, name TEXT, document BLOB);
CREATE TABLE tuple(id INTEGER PRIMARY KEY, subject INTEGER, predicate TEXT, object INTEGER);
CREATE TABLE claim(id INTEGER PRIMARY KEY, tuple INTEGER, speaker INTEGER, document BLOB);
CREATE VIRTUAL TABLE words USING fts5(name, description, content='');
"""
_INDEXES = """
CREATE UNIQUE INDEX by_key ON concept(type, key);
CREATE INDEX forth ON tuple(subject, predicate, object);
CREATE INDEX back ON tuple(object, predicate, subject);
CREATE INDEX claims ON claim(tuple);
"""
_HOP = "JOIN tuple {0} ON {0}.subject={1} AND {0}.predicate='knows'"
_PERSON = "c.type='Person' AND c.key=:k"

READS: Mapping[str, str] = {
    "point": f"SELECT c.id, c.name FROM concept c WHERE {_PERSON}",
    "hop": (
        f"SELECT o.name FROM concept c CROSS {_HOP.format('p', 'c.id')} CROSS JOIN concept o ON o.id=p.object "
        f"WHERE {_PERSON}"
    ),
    "reverse hop": (
        "SELECT count(*) FROM concept c CROSS JOIN tuple p ON p.object=c.id AND p.predicate='lives_in' "
        "WHERE c.type='Place' AND c.key='place:1'"
    ),
    "three hops, joined": (
        f"SELECT o.name FROM concept c CROSS {_HOP.format('p', 'c.id')} CROSS {_HOP.format('q', 'p.object')} "
        f"CROSS {_HOP.format('r', 'q.object')} CROSS JOIN concept o ON o.id=r.object WHERE {_PERSON}"
    ),
    "three hops, quantified": (
        f"WITH RECURSIVE far(id, steps) AS (SELECT c.id, 0 FROM concept c WHERE {_PERSON} UNION "
        "SELECT p.object, steps+1 FROM far CROSS JOIN tuple p ON p.subject=far.id AND p.predicate='knows' "
        "WHERE steps<3) SELECT DISTINCT o.name FROM far CROSS JOIN concept o ON o.id=far.id WHERE steps>0"
    ),
    "BELIEF SLOT": (
        "SELECT p.object, a.speaker, json(a.document) FROM concept c CROSS JOIN tuple p ON p.subject=c.id "
        f"AND p.predicate='lives_in' CROSS JOIN claim a ON a.tuple=p.id WHERE {_PERSON}"
    ),
    "SEARCH rare": "SELECT rowid FROM words WHERE words MATCH :name ORDER BY rank LIMIT 10",
    "SEARCH common": "SELECT rowid FROM words WHERE words MATCH 'engineer' ORDER BY rank LIMIT 10",
    "COUNT": "SELECT count(*) FROM concept c WHERE c.type='Person'",
    "filter, LIMIT 10": (
        "SELECT c.name FROM concept c WHERE c.type='Person' AND c.document->>'age'=41 ORDER BY c.id LIMIT 10"
    ),
    "filter, no match": "SELECT c.name FROM concept c WHERE c.type='Person' AND c.document->>'age'=999",
    "grouped count": (
        "SELECT c.document->>'city' AS city, count(*) FROM concept c WHERE c.type='Person' "
        "GROUP BY city ORDER BY city LIMIT 10"
    ),
    "ORDER BY, LIMIT 10": (
        "SELECT c.name FROM concept c WHERE c.type='Person' ORDER BY c.document->>'age' DESC LIMIT 10"
    ),
}


class Floor:
    """A plain database of `size` Concepts, in a temporary folder of its own."""

    def __init__(self, size: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="brain-floor-")
        self._db = apsw.Connection(str(Path(self._folder.name) / "floor.sqlite"))
        self._fill(size)

    def read(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        """The rows of one read; apsw keeps its statement prepared."""
        return self._db.execute(READS[name], dict(parameters)).fetchall()

    def claim(self, number: int) -> None:
        """One more claim, durably."""
        with self._db:
            self._db.execute("INSERT INTO tuple VALUES(NULL, ?, 'timezone', ?)", (number, -number))
            self._db.execute(
                "INSERT INTO claim VALUES(NULL, last_insert_rowid(), ?, jsonb(?))", (number, '{"mode": "stated"}')
            )

    def close(self) -> None:
        self._db.close()
        self._folder.cleanup()

    def _fill(self, size: int) -> None:
        persons = person_count(size)
        rest = max((size - persons) // 3, 1)
        self._db.execute(_SCHEMA).fetchall()
        kinds = ("Place", "Organization", "Topic")
        things = [(kind, f"{kind.lower()}:{n}", f"{kind} {n}", "{}") for kind in kinds for n in range(rest)]
        people = [person(number) for number in range(persons)]
        rows = things + [("Person", one["key"], one["name"], json.dumps(one["attributes"])) for one in people]
        first = len(things) + 1
        with self._db:
            self._db.executemany("INSERT INTO concept VALUES(NULL, ?, ?, ?, jsonb(?))", rows)
            self._db.executemany(
                "INSERT INTO words(rowid, name, description) VALUES(?, ?, ?)",
                [(first + n, one["name"], one["attributes"]["description"]) for n, one in enumerate(people)],
            )
            for n in range(persons):
                base = n - n % 40
                other = first + base + (n - base + 1) % min(40, persons - base)
                self._db.executemany(
                    "INSERT INTO tuple VALUES(NULL, ?, ?, ?)",
                    [
                        (first + n, "knows", other),
                        (first + n, "interested_in", 2 * rest + 1 + n % rest),
                        (first + n, "lives_in", 1 + n % rest),
                    ],
                )
                claim = {"mode": "stated", "confidence": 0.9}
                self._db.execute(
                    "INSERT INTO claim VALUES(NULL, last_insert_rowid(), ?, jsonb(?))", (first + n, json.dumps(claim))
                )
            self._db.execute(_INDEXES).fetchall()
