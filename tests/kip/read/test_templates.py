"""A statement that is asked again with other values answers what a plan made for them would, and makes none."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st

from brain import errors
from brain.kip import templates
from brain.kip.context import Run
from brain.kip.parser import parse
from brain.kip.plan import plan_of
from brain.kip.read import run_find
from brain.kip.templates import Templates
from brain.store.base import SpaceStore, Store
from tests.kip.conftest import Space
from tests.kip.graph import Graph, find, reading
from tests.kip.read.strategies import PREDICATES, Writer, chance, graphs
from tests.kip.read.test_pushdown import asked, loose_graph, outcome
from tests.laws import law

_numbers = count()
_TEXTS = ("N1", "N2", "a", "é", "", "key 1", "C-1", "C-2", "C-3", "P-1", "C-99999999999999", "x" * 300)
_VALUES: tuple[Any, ...] = (
    *_TEXTS,
    *(1, 2.5, True, None, ["C-2"], {"id": "C-2"}, {"id": "C-3"}, {"id": "N1"}, {"canonical_id": "c"}),
    *({"type": "Person", "key": "key 1"}, {"type": "Person", "key": "key 2"}, {"type": "Place", "key": "key 1"}),
)
_TYPES = ("Person", "Place")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The statements that plans were made for, one entry each time."""
    seen: list[Any] = []

    def noted(statement: Any, run: Run, **others: Any) -> Any:
        seen.append(statement)
        return plan_of(statement, run, **others)

    monkeypatch.setattr(templates, "plan_of", noted)
    return seen


def agree(text: str, values: dict[str, Any], run: Run, kept: Templates) -> None:
    """Twice, so that the second may be filled from what the first left."""
    bound = replace(run, parameters=values)
    expected = outcome(text, bound)
    for _ in range(2):
        assert outcome(text, replace(bound, templates=kept)) == expected, values


def with_parameters(text: str, at: Random) -> tuple[str, dict[str, str]]:
    """A query with some of its texts and numbers bound instead of written, and what stood there."""
    found: dict[str, str] = {}

    def bound(match: re.Match[str]) -> str:
        if at.random() < 0.3:
            return match[0]
        name = at.choice(sorted(found)) if found and at.random() < 0.1 else f"v{len(found)}"
        found.setdefault(name, match[0].strip('"'))
        return f":{name}"

    return re.sub(r'"[^"]*"', bound, text), found


def other(value: str, at: Random) -> Any:
    """A value that may stand where this text did."""
    if value in PREDICATES:
        return at.choice(PREDICATES)
    if value in _TYPES:
        return at.choice(_TYPES)
    return at.choice(_TEXTS if at.random() < 0.8 else _VALUES)


def check(text: str, at: Random, run: Run) -> None:
    text, found = with_parameters(text, at)
    try:
        parse(text)
    except errors.KipError:
        event("no parameter may stand there")
        return
    kept = Templates()
    few: dict[str, list[Any]] = {name: [other(value, at) for _ in range(2)] + [value] for name, value in found.items()}
    for name in {"list", "other"} & set(re.findall(r":(\w+)", text)):
        ids = ["C-1", "C-2", "C-3", "P-1", "P-2", "N1"]
        few[name] = [at.sample(ids, at.choice([0, 1, 1, 2, 3])) for _ in range(3)]
    for _ in range(5):
        values = {name: at.choice(choices) for name, choices in few.items()}
        note(f"{text} {values}")
        agree(text, values, run, kept)
    known = next(iter(kept._known.values()), None)
    found_one = known is not None and known.parameters is not None and any(known.parameters.templates.values())
    event("has a template" if found_one else "has no template")


# --- any query --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("KI-KQL-006")
@law(300)
@given(seed=st.integers(0, 2**32))
def test_a_filled_plan_answers_what_a_plan_of_its_own_does(store: Store, seed: int) -> None:
    at = chance(seed)
    space = loose_graph(at).store(store, f"t{next(_numbers)}")
    with reading(space, seq=at.choice([None, None, 1])) as run:
        block, names = asked(at)
        shown = ", ".join(f"?{name}{at.choice(['', '.id', '.name', '.attributes.age'])}" for name in names)
        tail = at.choice(["", "", f" ORDER BY ?{names[0]}.name", " LIMIT 2"])
        check(f"FIND({shown}) WHERE {{ {block} }}{tail}", at, run)
        check(f"FIND(?{names[-1]}.name, COUNT(?{names[0]})) WHERE {{ {block} }}", at, run)
    space.close()


@pytest.mark.requirement("KI-KQL-006")
@law(200)
@given(graph=graphs(), seed=st.integers(0, 2**32))
def test_so_do_paths_searches_and_beliefs_over_merged_concepts(store: Store, graph: Graph, seed: int) -> None:
    at = chance(seed)
    space = graph.store(store, f"t{next(_numbers)}")
    with reading(space) as run:
        writer = Writer(at)
        block = writer.block(at.choice([0, 1]), at.choice([0, 1, 2]))
        names = sorted(writer.bound)
        further = at.choice(
            [
                "",
                '?x ("C-1", "knows"{1,3}, ?y)',
                '?h SEARCH CONCEPT "N1" LIMIT 5',
                '?b BELIEF SLOT ("C-1", "knows")',
                '?b BELIEF ("C-1", "knows", "C-2")',
                '?z CONCEPT {type: "Person", key: "key 1"} ?b BELIEF SLOT (?z, "knows")',
                '?k ({type: "Person", name: "N1"}, "knows", {id: "C-2"})',
                '?k {id: "C-1"} FILTER(?k.id == "C-2" || ?k.id != "C-3")',
                '?k {id: "C-1"} FILTER(?k.id == "C-1")',
                '?k {} FILTER(?k.id == "C-1") FILTER(?k.id == "C-2")',
                '?k {state: "active", name: "N1", attributes: {city: "a"}}',
                '?k {} FILTER(IN(?k.id, ["C-1", "C-2"]))',
                '?k {} FILTER(IN(?k.id, :list)) OPTIONAL { (?k, "knows", ?o) FILTER(IN(?o.id, :other)) }',
                "?p (?k, ?r, ?o) FILTER(IN(?p.id, :list)) NOT { ?k {} FILTER(IN(?k.id, :other)) }",
                '?k {id: "C-1"} FILTER(IN(?k.id, :list))',
                '?k {id: "C-1"} ?k {name: ?n} FILTER(?k.id == "C-1")',
                '?k {id: "C-1"} ?k {name: ?n} FILTER(IN(?k.id, :list))',
                '?k EVIDENCE {source: "C-1"}',
                '?k ASSERTION {asserted_by: "C-1", status: "active"}',
            ]
        )
        check(f"FIND({', '.join(f'?{name}' for name in names)}) WHERE {{ {block} {further} }}", at, run)
    space.close()


# --- what a plan is made for ------------------------------------------------------------------------------------------


@pytest.fixture
def people(store: Store) -> Iterator[SpaceStore]:
    graph = Graph()
    for number in range(4):
        graph.concept("Person", name=f"N{number}", key=f"key {number}", attributes={"age": number})
    graph.concept("Place", name="N1", key="key 1")
    graph.proposition("C-1", "knows", "C-2")
    graph.proposition("C-2", "knows", "C-3")
    graph.proposition("C-1", "speaks", "C-3")
    space = graph.store(store, f"t{next(_numbers)}")
    yield space
    space.close()


def answers(text: str, space: SpaceStore, kept: Templates, *values: Any) -> list[Any]:
    """The results of a query for one value of `:v` after the other."""
    with reading(space, templates=kept) as run:
        return [outcome(text, replace(run, parameters={"v": value}))[0] for value in values]


@pytest.mark.parametrize(
    ("text", "values", "results"),
    [
        ('FIND(?c.id) WHERE { ?c {type: "Person", key: :v} }', ["key 2", "key 0", "no"], [["C-3"], ["C-1"], []]),
        ("FIND(?c.name) WHERE { ?c {id: :v} }", ["C-2", "C-1", "C-77"], [["N1"], ["N0"], []]),
        ('FIND(?o.id) WHERE { (:v, "knows", ?o) }', ["C-2", "C-1", "C-77"], [["C-3"], ["C-2"], []]),
        ('FIND(?o.id) WHERE { (:v, "knows", ?o) }', [{"id": "C-2"}, {"id": "C-1"}], [["C-3"], ["C-2"]]),
        (
            'FIND(?o.id) WHERE { (:v, "knows", ?o) }',
            [{"type": "Person", "key": "key 1"}, {"type": "Person", "key": "key 0"}],
            [["C-3"], ["C-2"]],
        ),
        ('FIND(?s.id) WHERE { (?s, "speaks", :v) }', ["C-3", "C-2"], [["C-1"], []]),
        ("FIND(?c.id) WHERE { ?c {} FILTER(?c.name == :v) }", ["N0", "N3"], [["C-1"], ["C-4"]]),
        ('FIND(?o.id) WHERE { ({type: "Person", key: :v}, "knows"{1,2}, ?o) }', ["key 1", "no"], [["C-3"], []]),
        (
            "FIND(?c.id) WHERE { ?c {state: ?s} FILTER(IN(?c.id, :v)) }",
            [["C-1"], ["C-3", "C-2", "C-77"], ["P-1"], ["C-2"] * 2],
            [["C-1"], ["C-2", "C-3"], [], ["C-2"]],
        ),
        (
            "FIND(?o.id) WHERE { ?p (?s, ?r, ?o) FILTER(IN(?p.id, :v)) ?o {} }",
            [["P-1", "P-2"], ["P-3"], ["C-1"]],
            [["C-2", "C-3"], ["C-3"], []],
        ),
        ("FIND(?c.id) WHERE { ?c SEARCH CONCEPT :v LIMIT 3 }", ["N3", "N0"], [["C-4"], ["C-1"]]),
    ],
)  # fmt: skip
def test_a_text_that_only_fills_a_place_needs_no_plan_of_its_own(
    people: SpaceStore, made: list[Any], text: str, values: list[Any], results: list[Any]
) -> None:
    kept = Templates()
    assert answers(text, people, kept, *([values[0]] * 2)) == [results[0]] * 2
    assert len(made) == 2
    assert answers(text, people, kept, *values) == results
    assert len(made) == 2


@pytest.mark.parametrize(
    ("text", "values", "results"),
    [
        ("FIND(?c.id) WHERE { ?c {} } LIMIT :v", [1, 2, 1.0], [["C-1"], ["C-1", "C-2"], ["C-1"]]),
        ("FIND(COUNT(?c)) WHERE { ?c {type: :v} }", ["Person", "Place", "Nothing"], [[4], [1], "SchemaSymbolNotFound"]),
        ('FIND(?o.id) WHERE { ("C-1", :v, ?o) }', ["knows", "speaks"], [["C-2"], ["C-3"]]),
        ("FIND(?c.id) WHERE { ?c {} FILTER(?c.attributes.age >= :v) }", [3, 2, "x"], [["C-4"], ["C-3", "C-4"], []]),
        ('FIND(?c.id) WHERE { ?c {id: "C-1"} FILTER(?c.id == :v) }', ["C-1", "C-2", "C-1"], [["C-1"], [], ["C-1"]]),
        ('FIND(?c.id) WHERE { ?c {id: "C-1"} FILTER(?c.id == :v) }', ["C-1", "C-1", "C-2"], [["C-1"], ["C-1"], []]),
        ('FIND(?n) WHERE { ?c {id: "C-1"} ?c {name: ?n} FILTER(?c.id == :v) }', ["C-2", "C-1"], [[], ["N0"]]),
        (
            'FIND(?n) WHERE { ?c {id: "C-1"} ?c {name: ?n} FILTER(IN(?c.id, :v)) }',
            [["C-2"], ["C-1", "C-3"]],
            [[], ["N0"]],
        ),
        (
            'FIND(?o.id) WHERE { (:v, "knows", ?o) }',
            [{"type": "Person", "key": "key 1"}] * 2 + [{"type": "Place", "key": "key 1"}],
            [["C-3"], ["C-3"], []],
        ),
        ("FIND(?c.id) WHERE { ?c {id: :v} FILTER(?c.id == :v) }", ["C-1", "C-2"], [["C-1"], ["C-2"]]),
        ("FIND(?c.id) WHERE { ?c {} FILTER(!IN(?c.id, :v)) } LIMIT 1", [["C-1"], ["C-2"]], [["C-2"], ["C-1"]]),
        ("FIND(?c.id) WHERE { ?c {} FILTER(IN(?c.name, :v)) }", [["C-1"], ["N0"], []], [[], ["C-1"], []]),
        (
            "FIND(?c.id) WHERE { ?c {} FILTER(IN(?c.id, :v)) }",
            [["C-1"], [], ["N0", "C-2"], "C-1", None, [1, "C-2"]],
            [["C-1"], [], ["C-2"], "TypeMismatch", [], ["C-2"]],
        ),
        (
            "FIND(?c.id) WHERE { ?c {} FILTER(IN(?c.id, :v)) FILTER(IN(?c.id, :v)) }",
            [["C-1"], ["C-2", "C-3"]],
            [["C-1"], ["C-2", "C-3"]],
        ),
        ("FIND(?c.id) WHERE { ?c {} FILTER(REGEX(?c.name, :v)) }", ["N[03]", "N3"], [["C-1", "C-4"], ["C-4"]]),
        ("FIND(?c.id) WHERE { ?c {id: :v} }", ["C-1", "Alice", "C-2"], [["C-1"], "InvalidIdentifier", ["C-2"]]),
        ("FIND(?c.id) WHERE { ?c {id: :v} }", ["C-1", 1, "C-2"], [["C-1"], "TypeMismatch", ["C-2"]]),
        ('FIND(?s.id) WHERE { (?s, "speaks", :v) }', ["C-3", "en", "C-3", 1], [["C-1"], [], ["C-1"], []]),
    ],
)  # fmt: skip
def test_a_value_on_which_the_plan_depends_has_one_of_its_own(
    people: SpaceStore, text: str, values: list[Any], results: list[Any]
) -> None:
    kept = Templates()
    for _ in range(3):
        assert answers(text, people, kept, *values) == results


def test_a_statement_without_parameters_is_planned_twice(people: SpaceStore, made: list[Any]) -> None:
    text = 'FIND(?c.id) WHERE { ?c {type: "Place"} }'
    assert answers(text, people, Templates(), *range(5)) == [["C-5"]] * 5
    assert len(made) == 2


def test_what_belief_is_asked_for_is_read_each_time(people: SpaceStore, made: list[Any]) -> None:
    text = 'FIND(?b.status) WHERE { ?b BELIEF SLOT ("C-1", "knows") } FOR TIME :v'
    times = ["2026-05-01T00:00:00.000Z"] * 2 + ["2026-06-01T00:00:00.000Z", "soon", None]
    found = answers(text, people, Templates(), *times)
    assert found[:3] == [["insufficient"]] * 3
    assert found[3:] == ["ConstraintViolation", "TypeMismatch"]
    assert len(made) == 2
    with reading(people, templates=Templates()) as run:
        for moment in times[:3]:
            answer = run_find(find(text), replace(run, parameters={"v": moment}))
            assert answer.context["valid_at"] == moment


def test_a_new_vocabulary_makes_new_plans(space: Space) -> None:
    count = 'FIND(COUNT(?c)) WHERE { ?c CONCEPT {type: "Boat"} }'
    for _ in range(3):
        assert space.refused(count) == "SchemaSymbolNotFound"
    space.write('DEFINE CONCEPT TYPE "Boat" {description: "It floats."}')
    for _ in range(3):
        assert space.write(count) == [0]
    space.write('CREATE CONCEPT ?b {TYPE "Boat" NAME "Fram"}')
    assert space.write(count) == [1]


def test_a_statement_kept_by_the_store_follows_merges_made_since(space: Space) -> None:
    ends = space.handles(
        """MUTATE {
          CREATE CONCEPT ?ann {TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"}}
          CREATE CONCEPT ?twin {TYPE "Person" NAME "Ann" SET FIELDS {key: "twin"}}
          CREATE CONCEPT ?bob {TYPE "Person" NAME "Bob" SET FIELDS {key: "bob"}}
          ENSURE PROPOSITION (?twin, "knows", ?bob)
        }"""
    )
    friends = 'FIND(?o.name) WHERE { ?s CONCEPT {type: "Person", key: :k} (?s, "knows", ?o) }'
    for _ in range(3):
        assert (space.write(friends, k="ann"), space.write(friends, k="twin")) == ([], ["Bob"])
    space.write("MERGE CONCEPT :twin INTO :ann", twin=ends["twin"], ann=ends["ann"])
    assert space.write(friends, k="ann") == ["Bob"]


def test_values_that_never_come_twice_are_planned_without_being_kept(people: SpaceStore) -> None:
    kept = Templates()
    text = "FIND(?c.id) WHERE { ?c {} FILTER(?c.attributes.age == :v) }"
    assert answers(text, people, kept, *range(100)) == [[f"C-{age + 1}"] if age < 4 else [] for age in range(100)]
    (known,) = kept._known.values()
    assert known.parameters is not None
    assert len(known.parameters.templates) <= templates._TEMPLATES


@pytest.mark.parametrize("odd", [None, 1, 2.5, True, ["C-1"], {"a": 1}, "C-1000000000000"])
def test_an_odd_value_leaves_the_templates_of_the_usual_ones(people: SpaceStore, made: list[Any], odd: Any) -> None:
    text = 'FIND(?c.id) WHERE { ?c {type: "Person", attributes: {city: :v}} }'
    kept = Templates()
    answers(text, people, kept, "a", "b", odd, odd)
    before = len(made)
    assert answers(text, people, kept, "c", "d", odd, "C-1", "C-2") == [[]] * 5
    assert len(made) == before + 1, "an id has another shape than a text"


@pytest.mark.parametrize("text", ["FIND(?c.id) WHERE { ?c {name: :v} }", "FIND(?c.id) WHERE { ?c {attributes: :v} }"])
def test_no_large_value_is_kept(people: SpaceStore, made: list[Any], text: str) -> None:
    kept = Templates()
    large: Any = "x" * 2_000
    value = large if "name" in text else {"type": large, "key": "k"}
    assert answers(text, people, kept, *[value] * 4) == [[]] * 4
    (known,) = kept._known.values()
    assert known.parameters is not None
    assert not known.parameters.templates


def test_no_long_statement_is_kept(people: SpaceStore) -> None:
    kept = Templates()
    text = f'FIND(?c.id) WHERE {{ ?c {{key: "key 0"}} {"FILTER(?c.name != :v) " * 200} }}'
    assert answers(text, people, kept, *"ab" * 2) == [["C-1"]] * 4
    assert not kept._known


def test_no_more_statements_are_known_than_have_room(people: SpaceStore) -> None:
    kept = Templates()
    for number in range(templates._STATEMENTS + 10):
        answers(f'FIND(?c.id) WHERE {{ ?c {{key: "k{number}"}} }}', people, kept, 1)
    assert len(kept._known) == templates._STATEMENTS


def test_threads_share_templates(people: SpaceStore) -> None:
    kept = Templates()
    wrong: list[Any] = []
    text = 'FIND(?c.id) WHERE { ?c {type: "Person", key: :v} }'

    def ask(number: int) -> None:
        found = answers(text, people, kept, *[f"key {number}"] * 50)
        wrong.extend(result for result in found if result != [f"C-{number + 1}"])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
