"""Parsing: statements a second."""

from __future__ import annotations

from conformance.bench.measure import line, milliseconds

STATEMENTS = (
    'FIND(?p.name, ?o.name) WHERE { ?p {type: "Person", key: :k} (?p, "works_for", ?o) } ORDER BY ?o.name LIMIT 20',
    'FIND(?b.status) WHERE { ?b BELIEF (:p, "lives_in", :o) } FOR TIME "2026-01-01T00:00:00.000Z"',
    'ASSERT ?a (:p, "works_for", :o) {by: :p, mode: "stated", at: :at, evidence: :msg1}',
    'UPSERT CONCEPT ?p { MATCH {type: "Person", key: :k} SET FIELDS {name: :n} SET ATTRIBUTES {city: "Oslo"} }',
    'MUTATE { CREATE CONCEPT ?e { TYPE "Event" SET ATTRIBUTES {n: :s} } ASSERT (?e, "p", :q) {by: :p, mode: :m} }',
    'SEARCH CONCEPT "blue bicycle" WITH TYPE "Person" LIMIT 10',
    "DESCRIBE PRIMER",
    'FIND(COUNT(?p)) WHERE { ?p {type: "Person"} NOT { (?p, "works_for", ?o) } FILTER(?p.attributes.age > 30) }',
)


def bench_parse() -> None:
    """Statements a second, cold (never seen) and warm (cached by text)."""
    from brain.kip.parser import parse, parse_uncached

    print("parse (statements a second)")
    cold = milliseconds(lambda: [parse_uncached(text) for text in STATEMENTS], repeat=60)
    for text in STATEMENTS:
        parse(text)
    warm = milliseconds(lambda: [parse(text) for text in STATEMENTS], repeat=200)
    line("cold", len(STATEMENTS) / cold * 1000, unit="/s")
    line("warm cache", len(STATEMENTS) / warm * 1000, unit="/s")
