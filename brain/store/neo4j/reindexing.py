"""Making what elements are found by anew, after the analysis of texts has changed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from brain.store.base import Kind, StoreFormatError
from brain.store.neo4j import dumping
from brain.store.neo4j.connection import Database
from brain.store.neo4j.failures import DriverError, Neo4jError, translated
from brain.store.neo4j.loading import Loader
from brain.store.neo4j.state import json_text, parsed
from brain.store.search import ANALYSIS

_SPACE = (
    "MATCH (s:Space) USING INDEX s:Space(deployment, id)"
    " WHERE s.deployment = $deployment AND s.id = $id AND s.instance = $instance"
)
_LOCK = f"{_SPACE} SET s.open = true WITH s RETURN s.space, s.head, s.analysis, s.totals"
_BEGUN = f"{_SPACE} AND s.analysis < $analysis SET s.analysis = 0 FINISH"
_DONE = f"{_SPACE} SET s.analysis = $analysis, s.totals = $totals FINISH"
_BATCH = 5_000
_CLEAR_POSTINGS = (
    "MATCH (p:Posting) USING INDEX p:Posting(space, word, number)"
    f" WHERE p.space = $space AND p.word IS NOT NULL AND p.number IS NOT NULL WITH p LIMIT {_BATCH} DELETE p"
    " RETURN count(*)"
)
_CLEAR_PASSAGES = (
    "MATCH (p:Passage) USING INDEX p:Passage(space, kind, number, from_seq)"
    " WHERE p.space = $space AND p.kind IS NOT NULL AND p.number IS NOT NULL AND p.from_seq IS NOT NULL"
    f" WITH p LIMIT {_BATCH} DELETE p RETURN count(*)"
)
_LONGEST_S = 6 * 3_600.0


def check(analysis: int) -> bool:
    """Whether a Space is searched as this release does; StoreFormatError when a newer one has made it its own."""
    if analysis > ANALYSIS:
        raise StoreFormatError(f"texts are analysed as {analysis}, this release does as {ANALYSIS}")
    return analysis == ANALYSIS


def reindex(database: Database, names: Mapping[str, Any]) -> None:
    """Make passages and postings of every kept version, unless another process has by the time the lock is ours.

    Writers wait. Until it is done the Space is marked as searchable by no release, so that whoever opens it after a
    process was killed meanwhile begins again. Vectors follow as after any change of texts.
    """
    names = {**names, "analysis": ANALYSIS}
    database.run(_BEGUN, names)
    turn, rows = database.begin(_LOCK, names, _LONGEST_S)
    try:
        if rows and not check(rows[0][2]):
            space, head, _, totals = rows[0]
            turn.run(_DONE, names | {"totals": json_text(_made_anew(database, space, head, parsed(totals)))})
            turn.commit()
        else:
            turn.roll_back()
    except (Neo4jError, DriverError, OSError) as error:
        turn.roll_back()
        raise translated(error) from error
    except BaseException:
        turn.roll_back()
        raise


def _made_anew(database: Database, space: str, head: int, totals: Mapping[str, Any]) -> Mapping[str, Any]:
    """The totals of a Space after its passages and postings were made anew."""
    for statement in (_CLEAR_POSTINGS, _CLEAR_PASSAGES):
        while database.run(statement, {"space": space})[0][0]:
            pass
    loader = Loader(database, space)
    for kind in Kind:
        rows = dumping.versions(database.read, {"space": space, "at": head, "kind": kind.value})
        for _, group in groupby(rows, lambda row: row.element.id):
            loader.texts([(row.since, row.element) for row in group])
    loader.send()
    return {**totals, "texts": loader.totals["texts"], "terms": loader.totals["terms"]}
