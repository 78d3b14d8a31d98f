"""The data set of the engine's benchmark, and what is asked of it: that of the reference's published figures.

`size` Concepts, seven in ten of them Persons with a key, a name and three attributes; each Person knows another, is
interested in a topic, and says where they live. About one description in a thousand has the word "zither".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Run = Callable[[str, Mapping[str, Any]], Any]
"""Runs one command with its parameters and gives its result."""

READS: Mapping[str, str] = {
    "point": 'FIND(?c.id, ?c.name) WHERE { ?c CONCEPT {type: "Person", key: :k} }',
    "hop": 'FIND(?o.name) WHERE { ?s CONCEPT {type: "Person", key: :k} ?p (?s, "knows", ?o) }',
    "reverse hop": 'FIND(COUNT(?s)) WHERE { ?o CONCEPT {type: "Place", key: "place:1"} ?p (?s, "lives_in", ?o) }',
    "three hops, joined": (
        'FIND(?d.name) WHERE { ?a CONCEPT {type: "Person", key: :k} '
        '?p (?a, "knows", ?b) ?q (?b, "knows", ?c) ?r (?c, "knows", ?d) }'
    ),
    "three hops, quantified": ('FIND(?d.name) WHERE { ?a CONCEPT {type: "Person", key: :k} (?a, "knows"{1,3}, ?d) }'),
    "BELIEF SLOT": (
        "FIND(?b.status, ?b.accepted_values) WHERE "
        '{ ?s CONCEPT {type: "Person", key: :k} ?b BELIEF SLOT (?s, "lives_in") }'
    ),
    "SEARCH rare": "SEARCH CONCEPT :name LIMIT 10",
    "SEARCH common": 'SEARCH CONCEPT "engineer" LIMIT 10',
    "COUNT": 'FIND(COUNT(?c)) WHERE { ?c CONCEPT {type: "Person"} }',
    "filter, LIMIT 10": (
        'FIND(?c.name) WHERE { ?c CONCEPT {type: "Person"} FILTER(?c.attributes.age == 41) } LIMIT 10'
    ),
    "filter, no match": 'FIND(?c.name) WHERE { ?c CONCEPT {type: "Person"} FILTER(?c.attributes.age == 999) }',
    "grouped count": (
        'FIND(?c.attributes.city, COUNT(?c)) WHERE { ?c CONCEPT {type: "Person"} } ORDER BY ?c.attributes.city LIMIT 10'
    ),
    "ORDER BY, LIMIT 10": (
        'FIND(?c.name) WHERE { ?c CONCEPT {type: "Person"} } ORDER BY ?c.attributes.age DESC LIMIT 10'
    ),
}

ASSERT = 'ASSERT (:s, "timezone", :v) {by: :s, mode: "stated", confidence: 0.8}'

CLAIMS_OF_A_BLOCK = 100

_BLOCK = 40


def person_count(size: int) -> int:
    """How many of `size` Concepts are Persons."""
    return size * 7 // 10


def person(number: int) -> dict[str, Any]:
    """A Person's name, attributes and key."""
    note = f"engineer {number % 13} in team {number % 31}" + (" with a zither" if number % 997 == 5 else "")
    attributes = {"age": 18 + number % 60, "city": f"city-{number % 97}", "description": note}
    return {"key": f"person:{number}", "name": f"Person number{number}", "attributes": attributes}


def parameters_of(command: str, number: int) -> dict[str, Any]:
    """What a read of READS asks of Person `number`."""
    values = {"k": f"person:{number}", "name": f"number{number}"}
    return {name: value for name, value in values.items() if f":{name}" in command}


def claim_of(ids: Sequence[str], number: int) -> dict[str, Any]:
    """What ASSERT says as one of many claims in turn, `ids` being those of the Persons."""
    return {"s": {"id": ids[number * 31 % len(ids)]}, "v": f"+{number % 12:02d}:00"}


def block_of(predicate: str, claims: Mapping[int, tuple[str, str]]) -> tuple[str, dict[str, Any]]:
    """A MUTATE of claims that Persons make of themselves, and its parameters.

    claims  the id of a Person and the value, by number
    """
    text = " ".join(
        f'ASSERT (:s{n}, "{predicate}", :v{n}) {{by: :s{n}, mode: "stated", confidence: 0.8}}' for n in claims
    )
    bound: dict[str, Any] = {f"s{number}": {"id": person_id} for number, (person_id, _) in claims.items()}
    return f"MUTATE {{ {text} }}", bound | {f"v{number}": value for number, (_, value) in claims.items()}


def load(run: Run, size: int) -> tuple[list[str], float]:
    """Write the set; the ids of the Persons, and the seconds it took."""
    persons = person_count(size)
    rest = (size - persons) // 3
    begun = time.perf_counter()
    places, _, topics = (_things(run, kind, rest) for kind in ("Place", "Organization", "Topic"))
    ids: list[str] = []
    for base in range(0, persons, _BLOCK):
        numbers = range(base, min(base + _BLOCK, persons))
        clauses: list[str] = []
        bound: dict[str, Any] = {}
        for at, number in enumerate(numbers):
            one = person(number)
            clauses.append(
                f'CREATE CONCEPT ?x{number} {{TYPE "Person" NAME :n{number} SET FIELDS {{key: :k{number}}} '
                f"SET ATTRIBUTES {{age: :a{number}, city: :c{number}, description: :d{number}}}}} "
                f'ENSURE PROPOSITION (?x{number}, "knows", ?x{base + (at + 1) % len(numbers)}) '
                f'ENSURE PROPOSITION (?x{number}, "interested_in", :t{number}) '
                f'ASSERT (?x{number}, "lives_in", :l{number}) '
                f'{{by: ?x{number}, mode: "stated", confidence: 0.9, at: "2026-01-01T00:00:00.000Z"}}'
            )
            described = {"a": "age", "c": "city", "d": "description"}
            bound |= {f"{short}{number}": one["attributes"][name] for short, name in described.items()}
            bound |= {f"n{number}": one["name"], f"k{number}": one["key"]}
            bound[f"l{number}"] = {"id": places[number % len(places)]}
            bound[f"t{number}"] = {"id": topics[number % len(topics)]}
        handles = run(f"MUTATE {{ {' '.join(clauses)} }}", bound)["handles"]
        ids += [handles[f"x{number}"] for number in numbers]
    return ids, time.perf_counter() - begun


def _things(run: Run, kind: str, count: int) -> list[str]:
    ids: list[str] = []
    for base in range(0, count, _BLOCK):
        numbers = range(base, min(base + _BLOCK, count))
        clauses = [
            f'CREATE CONCEPT ?x{number} {{TYPE "{kind}" NAME "{kind} {number}" '
            f'SET FIELDS {{key: "{kind.lower()}:{number}"}}}}'
            for number in numbers
        ]
        handles = run(f"MUTATE {{ {' '.join(clauses)} }}", {})["handles"]
        ids += [handles[f"x{number}"] for number in numbers]
    return ids
