"""The statements by which a transaction sends what it has written.

Each part is a subquery over a list of rows, so that few texts serve every transaction and each is planned once. The
time to plan a statement grows faster than its parts: what is rare stands apart, and what every commit does is one
statement, the last one.
"""

from __future__ import annotations

from brain.store.neo4j.head import SPACE
from brain.store.neo4j.keys import FOREVER


def part(over: str, body: str) -> str:
    return f"CALL () {{ UNWIND ${over} AS row {body} }}"


def _ended(name: str) -> str:
    """End what holds: written into the past if an earlier commit made it, gone if this transaction did."""
    return (
        f"FOREACH (_ IN CASE WHEN {name}.from_seq < $seq THEN [1] ELSE [] END | SET {name}.to_seq = $seq)"
        f" FOREACH (_ IN CASE WHEN {name}.from_seq = $seq THEN [1] ELSE [] END | DELETE {name})"
    )


_ELEMENT = "MATCH (e:Element) USING INDEX e:Element(space, id) WHERE e.space = $space AND e.id = row.id"

ENDS = " ".join(
    (
        part(
            "retired",
            "MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
            " WHERE v.space = $space AND v.id = row.id AND v.from_seq = row.since SET v.to_seq = $seq",
        ),
        part("shown", f"{_ELEMENT} SET e += row.properties"),
        part(
            "gone_edges",
            f"{_ELEMENT} MATCH (e)-[r]->() WHERE r.field = row.field AND r.position = row.position"
            f" AND r.to_seq = {FOREVER} {_ended('r')}",
        ),
        "FINISH",
    )
)
"""What holds no longer, of elements that were there before."""

ENDS_OF_TEXTS = " ".join(
    (
        part(
            "gone_passages",
            "MATCH (p:Passage) USING INDEX p:Passage(space, kind, number, from_seq)"
            " WHERE p.space = $space AND p.kind = row.kind AND p.number = row.number AND p.from_seq IS NOT NULL"
            f" AND p.to_seq = {FOREVER} {_ended('p')}",
        ),
        part(
            "gone_postings",
            "MATCH (p:Posting) USING INDEX p:Posting(space, word, number)"
            " WHERE p.space = $space AND p.word = row.word AND p.number = row.number"
            f" AND p.to_seq = {FOREVER} {_ended('p')}",
        ),
        "FINISH",
    )
)
"""The same of the texts that elements are found by."""

REPLACED = (
    "UNWIND $replaced AS row MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
    " WHERE v.space = $space AND v.id = row.id AND v.from_seq = $seq SET v = row.properties FINISH"
)
"""Versions that this transaction has sent before, and now has others of."""

CONTROLS = (
    "UNWIND $controls AS row MERGE (c:Control {space: $space, name: row.name, from_seq: $seq}) SET c.body = row.body"
    " FINISH"
)

EDGES = part(
    "edges",
    "MATCH (e:Element) USING INDEX e:Element(space, id) WHERE e.space = $space AND e.id = row.source"
    " MERGE (t:Element {space: $space, id: row.properties.target})"
    " CREATE (e)-[r:$(row.type)]->(t) SET r = row.properties",
)

_NEW = (
    # An element that something refers to before it is written has its node already.
    part(
        "elements",
        "MERGE (e:Element {space: $space, id: row.version.id}) SET e:$(row.label), e += row.shown"
        " CREATE (v:Version)-[:OF]->(e) SET v = row.version",
    ),
    EDGES,
    part("nodes", "CREATE (n:$(row.labels)) SET n = row.properties"),
    part(
        "tallies",
        "MERGE (t:Tally {space: $space, kind: row.kind, type: row.type, state: row.state})"
        " SET t.value = CASE WHEN t.value IS NULL THEN [$seq, row.change, 0, 0]"
        " WHEN t.value[0] = $seq THEN [$seq, t.value[1] + row.change, t.value[2], t.value[3]]"
        " ELSE [$seq, t.value[1] + row.change, t.value[0], t.value[1]] END",
    ),
)
_DOCUMENTS = part(
    "documents",
    "MERGE (d:Document {space: $space, namespace: row.namespace, key: row.key})"
    " SET d.body = row.body, d.expires_ms = row.expires_ms",
)
_SPACE = (
    "CALL () { MATCH (s:Space) USING INDEX s:Space(deployment, id)"
    " WHERE s.deployment = $deployment AND s.id = $id SET s += $changed }"
)
_GATE = (
    "CALL () { MATCH (g:Gate) USING INDEX g:Gate(space) WHERE g.space = $space SET g.open = true"
    " RETURN count(g) AS gates } RETURN gates"
)

NEW = " ".join((*_NEW, "FINISH"))
"""What is new in the graph, before a read that needs it."""

LAST_OF_GRAPH = " ".join((*_NEW, _DOCUMENTS, _SPACE, _GATE))
"""The last statement of a transaction that changes the graph. It ends with the gate's lock, which it holds from then
on until the commit is applied: a reader that meets the new head waits there until all of it is."""

DOCUMENTS = f"{_DOCUMENTS} FINISH"

DROPPED_DOCUMENTS = (
    "UNWIND $dropped_documents AS row MATCH (d:Document) USING INDEX d:Document(space, namespace, key)"
    " WHERE d.space = $space AND d.namespace = row.namespace AND d.key = row.key DELETE d FINISH"
)

SWEEP = (
    "MATCH (d:Document) USING INDEX d:Document(space, expires_ms)"
    " WHERE d.space = $space AND d.expires_ms <= $now WITH d LIMIT 200 DELETE d FINISH"
)
"""Whoever adds what expires sweeps a little of what has, so that nothing else needs to."""

WORK = " ".join(
    (
        part(
            "work",
            "MERGE (w:Work {space: $space, id: row.id}) SET w += row.properties"
            " FOREACH (_ IN CASE WHEN row.is_open THEN [1] ELSE [] END | SET w:Open)"
            " FOREACH (_ IN CASE WHEN row.is_open THEN [] ELSE [1] END | REMOVE w:Open)",
        ),
        part(
            "dropped_work",
            "MATCH (w:Work) USING INDEX w:Work(space, id) WHERE w.space = $space AND w.id = row.id DELETE w",
        ),
        part(
            "leases",
            "MERGE (l:Lease {space: $space, name: row.name})"
            " SET l.holder = row.holder, l.token = row.token, l.expires_ms = row.expires_ms",
        ),
        "FINISH",
    )
)

LAST_OF_STATE = f"{_DOCUMENTS} {_SPACE} RETURN 1"
"""The last statement of a transaction that leaves the graph as it was: no head is to be passed on."""

_UNLESS_OVERTAKEN = (
    f"{SPACE} SET s.open = true WITH s WHERE s.token = $expected AND s.analysis = $analysis"
    " WITH count(s) AS unchanged WHERE unchanged = 1"
)


def at_once(last: str) -> str:
    """A last statement as the only one: with the writer lock first, and no row when the Space is not as expected."""
    return f"{_UNLESS_OVERTAKEN} {last}"
