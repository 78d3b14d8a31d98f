"""What an answer carries besides its rows, and how elements look in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brain.kip.match import solutions
from brain.kip.parser import parse
from brain.kip.strength import HALF_LIFE_30D, HALF_LIFE_30D_DIGEST
from brain.store.sqlite import SqliteStore
from tests.kip.conftest import Space
from tests.kip.graph import MEMORY, Graph, reading

PIN = {"artifact_ref": HALF_LIFE_30D, "content_digest": HALF_LIFE_30D_DIGEST}


@pytest.fixture
def home(space: Space) -> Space:
    space.write(
        """MUTATE {
          CREATE CONCEPT ?ann {TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"}}
          CREATE CONCEPT ?ben {TYPE "Person" NAME "Ben" SET FIELDS {key: "ben"}}
          CREATE CONCEPT ?oslo {TYPE "Place" NAME "Oslo" SET FIELDS {key: "oslo"}}
          CREATE CONCEPT ?rome {TYPE "Place" NAME "Rome"}
          CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "user_statement", payload: "Oslo."}}
          ASSERT (?ann, "lives_in", ?oslo) {
            by: ?ann, mode: "stated", at: "2026-01-01T00:00:00.000Z", evidence: ?e,
            valid: {from: "2026-01-01T00:00:00.000Z", until: "2027-01-01T00:00:00.000Z"}
          }
          ENSURE PROPOSITION (?ann, "knows", ?ben)
        }"""
    )
    return space


def cited(space: Space, command: str, **values: Any) -> list[set[str]]:
    (trace,) = space.outcome(command, **values).operations
    return [set(row) for row in trace.bound]


@pytest.mark.requirement("KI-KQL-012")
def test_a_result_names_the_state_it_was_read_from(home: Space) -> None:
    context = home.answer('FIND(?c) WHERE { ?c {key: "ann"} }')["context"]
    assert context == {"space_id": "kip:space:default", "snapshot_seq": 1, "schema_environment_version": 1}


@pytest.mark.requirement("KI-KQL-012", "KI-BELIEF-040", "KI-BELIEF-046")
def test_a_projected_result_names_policy_instant_and_basis(home: Space) -> None:
    command = 'FIND(?b.status) WHERE { ?b BELIEF SLOT ({key: "ann"}, "lives_in") } FOR TIME "2026-05-01T00:00:00.000Z"'
    context = home.answer(command)["context"]
    assert context["epistemic_policy"] == {"id": "kip:policy:baseline", "version": 3}
    assert context["valid_at"] == "2026-05-01T00:00:00.000Z"
    assert context["basis"]["valid_at"] == "2026-05-01T00:00:00.000Z"
    assert context["basis"]["next_invalid_at"] == "2027-01-01T00:00:00.000Z"
    assert context["basis"]["snapshot_seq"] == 1


@pytest.mark.requirement("KI-KQL-012", "KI-META-022")
def test_a_searched_result_names_mode_and_index(home: Space) -> None:
    context = home.answer('FIND(?c.name) WHERE { ?c SEARCH CONCEPT "oslo" LIMIT 5 }')["context"]
    assert (context["search"]["mode"], context["search"]["index_seq"]) == ("keyword", 1)


@pytest.mark.requirement("BR-RECALL-018")
def test_a_row_cites_every_element_that_bound_it(home: Space) -> None:
    assert cited(home, 'FIND(?o.name) WHERE { ({key: "ann"}, "knows", ?o) }') == [{"C-1", "P-2", "C-2"}]
    assert cited(home, 'FIND(?o.name) WHERE { ("C-1", "knows"{1,2}, ?o) }') == [{"P-2", "C-2"}]
    assert cited(home, 'FIND(?t.name) WHERE { STRUCTURAL ("A-1", "evidence", ?t) }') == [{"A-1", "E-1"}]


@pytest.mark.requirement("BR-RECALL-018")
def test_a_row_cites_what_its_belief_rests_on(home: Space) -> None:
    (row,) = cited(home, 'FIND(?b.status) WHERE { ?s {key: "ann"} ?b BELIEF (?s, "lives_in", {key: "oslo"}) }')
    assert {"C-1", "C-3", "P-1", "A-1", "E-1"} <= row


def test_two_ways_to_one_solution_are_both_cited(home: Space) -> None:
    command = 'FIND(?p.name) WHERE { ?p {key: "ann"} UNION { ?p {type: "Person"} (?p, "knows", {key: "ben"}) } }'
    assert cited(home, command) == [{"C-1", "C-2", "P-2"}]


def test_a_group_cites_its_members(home: Space) -> None:
    command = 'FIND(?t, COUNT(?c)) WHERE { ?c {type: ?t} FILTER(?c.name != "Oslo") }'
    assert cited(home, command) == [{"C-4"}, {"C-1", "C-2"}]


@pytest.mark.requirement("KI-KQL-011", "KI-CONCEPT-003")
def test_a_bare_variable_shows_the_stored_element(home: Space) -> None:
    answer = home.answer('FIND(?c) WHERE { ?c {key: "ann"} }')
    assert answer["result"] == [home.element("C-1")]
    assert {"id", "kind", "space_id", "governance", "_system", "schema_ref", "key", "name"} == set(answer["result"][0])


@pytest.mark.requirement("KI-KQL-011", "KI-KQL-028")
def test_an_unbound_variable_shows_null(home: Space) -> None:
    command = 'FIND(?c, ?o, ?o.name) WHERE { ?c {key: "ben"} OPTIONAL { (?c, "lives_in", ?o) } }'
    assert home.answer(command)["result"] == [[home.element("C-2"), None, None]]


@pytest.mark.requirement("KI-PROFILE-013", "KI-PROFILE-014", "KI-PROFILE-015", "KI-FACET-007")
def test_strength_is_worked_out_at_the_read_by_path_and_in_the_whole_view(tmp_path: Path) -> None:
    graph = Graph()
    state = {"memory_strength": 0.8, "last_metabolized_at": "2026-08-21T00:00:00.000Z", "strength_policy": PIN}
    graph.concept(name="Ann", facets={f"{MEMORY}/MnemonicState": state})
    graph.concept(name="Ben", facets={f"{MEMORY}/MnemonicState": {"memory_strength": 0.8}})
    local = '?c.facets["MnemonicState"]'
    exact = f'?c.facets["{MEMORY}/MnemonicState"]'
    with reading(graph.store(SqliteStore(tmp_path))) as run:
        found = _rows(run, f"FIND({local}.effective_strength, {exact}, ?c) WHERE {{ ?c {{}} }}")
    assert [row[0] for row in found] == [0.4, None]
    assert found[0][1] == {**state, "effective_strength": 0.4}
    assert found[0][2]["facets"] == {f"{MEMORY}/MnemonicState": {**state, "effective_strength": 0.4}}
    assert found[1][1] == {"memory_strength": 0.8, "effective_strength": None}


@pytest.mark.requirement("KI-FACET-007", "KI-KQL-014")
def test_a_facet_matches_by_its_local_name(tmp_path: Path) -> None:
    graph = Graph()
    graph.concept(name="Ann", facets={f"{MEMORY}/MnemonicState": {"salience": 0.9}})
    graph.concept(name="Ben", facets={f"{MEMORY}/MnemonicState": {"salience": 0.1}})
    with reading(graph.store(SqliteStore(tmp_path))) as run:
        assert _rows(run, "FIND(?c.name) WHERE { ?c {facets: {MnemonicState: {salience: 0.9}}} }") == ["Ann"]
        assert _rows(run, "FIND(?s) WHERE { ?c {facets: {MnemonicState: {salience: ?s}}} } ORDER BY ?s") == [0.1, 0.9]


@pytest.mark.requirement("KI-KQL-062", "KI-KQL-064")
def test_what_was_known_and_what_held_are_two_axes(home: Space) -> None:
    for place, month in (("C-3", "01"), ("C-4", "06")):
        at = f"2026-{month}-01T00:00:00.000Z"
        home.write(
            'ASSERT ("C-2", "lives_in", :place) {by: "C-2", mode: "stated", at: :at, valid: {from: :at}}',
            place=place,
            at=at,
        )
    command = 'FIND(?o.name) WHERE { ?b BELIEF ("C-2", "lives_in", ?o) FILTER(?b.status == "accepted") }'
    found = {
        (seq, month): home.answer(f'{command} AS OF SEQ {seq} FOR TIME "2026-{month}-01T00:00:00.000Z"')["result"]
        for seq in (2, 3)
        for month in ("03", "09")
    }
    assert found == {(2, "03"): ["Oslo"], (2, "09"): ["Oslo"], (3, "03"): ["Oslo"], (3, "09"): ["Rome"]}


@pytest.mark.requirement("KI-KQL-003", "KI-KQL-017", "KI-BELIEF-006")
def test_a_read_changes_nothing(home: Space) -> None:
    home.answer('FIND(?b, ?c) WHERE { ?b BELIEF ("C-2", "lives_in", "C-3") ?c (?x, "knows", {type: "Person"}) }')
    assert home.seq == 1


def _rows(run: Any, command: str) -> Any:
    from brain.kip.read import run_find

    return run_find(parse(command), run).result  # type: ignore[arg-type]


@pytest.mark.requirement("KI-KML-023")
def test_the_solutions_of_a_selection_come_by_ascending_id(tmp_path: Path) -> None:
    graph = Graph()
    for number in range(12):
        graph.concept(name=f"Person {11 - number}")
    graph.proposition("C-11", "knows", "C-2")
    graph.proposition("C-2", "speaks", "no")
    find: Any = parse('FIND(?p) WHERE { ?p {type: "Person"} OPTIONAL { (?p, "speaks", ?v) } FILTER(?p.id != "C-3") }')
    with reading(graph.store(SqliteStore(tmp_path))) as run:
        found = solutions(find.where, run)
    assert [row["p"] for row in found] == [f"C-{number}" for number in range(1, 13) if number != 3]
    assert found[1] == {"p": "C-2", "v": "no"}
    assert found[0] == {"p": "C-1", "v": None}
