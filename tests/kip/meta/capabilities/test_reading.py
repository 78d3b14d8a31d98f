"""The past, search, belief and the change stream (KIP 2.0 §36, §43.8, §47, §48, §66)."""

from __future__ import annotations

import pytest

from brain import errors
from brain.kip.governance.control import Governor
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.embedding import index_pending
from brain.store.hashing import HashEmbedder
from tests.kip.conftest import OWNER, Space
from tests.kip.meta.capabilities.shown import CREATE, KNOWN, SLOT, ZONE, shows

EMBEDDER = HashEmbedder()


@shows("historical_reads", "KI-CAP-006", "KI-CAP-019")
def test_the_past_is_read_with_the_state_of_its_time(space: Space) -> None:
    space.write(CREATE)
    space.write('UPDATE "C-1" SET FIELDS {name: "Anna"}')
    space.write('DEFINE PREDICATE "admires" {description: "Looks up to."}')
    assert space.write(f"{KNOWN} AS OF SEQ 1") == ["Ann"]
    assert space.write(KNOWN) == ["Anna"]
    admired = 'FIND(?p) WHERE { ?p (?a, "admires", ?b) }'
    assert space.write(admired) == []
    assert space.refused(f"{admired} AS OF SEQ 1") == "SchemaSymbolNotFound"


@shows("historical_search", "KI-CAP-007")
def test_a_search_of_the_past_finds_what_it_found_then(space: Space) -> None:
    space.write(CREATE)
    space.write('UPDATE "C-1" SET FIELDS {name: "Bea"}')
    for text, now, then in (("Ann", [], ["C-1"]), ("Bea", ["C-1"], [])):
        assert [hit["id"] for hit in space.write("SEARCH CONCEPT :t", t=text)["hits"]] == now
        assert [hit["id"] for hit in space.write("SEARCH CONCEPT :t AS OF SEQ 1", t=text)["hits"]] == then
        pattern = "FIND(?x.id) WHERE { ?x SEARCH CONCEPT :t LIMIT 5 } AS OF SEQ 1"
        assert space.write(pattern, t=text) == then


@shows("keyword_search")
@shows("search_index_freshness", "KI-CAP-010")
def test_words_are_found_from_the_commit_on(space: Space) -> None:
    freshness = space.write("DESCRIBE CAPABILITIES")["capabilities"]["search_index_freshness"]
    assert freshness["value"] == {"mode": "synchronous"}
    request = {
        "kip": "2.0",
        "execution": {"mode": "sequence"},
        "operations": [{"command": CREATE}, {"command": 'SEARCH CONCEPT "ann"'}],
    }
    found = space.execute(request)["results"][1]["result"]
    assert [hit["id"] for hit in found["hits"]] == ["C-1"]


@shows("semantic_search", "KI-CAP-008")
@shows("hybrid_search", "KI-CAP-009")
@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_likeness_is_searched_with_an_embedder_and_refused_without(space: Space, mode: str) -> None:
    space.write('CREATE CONCEPT ?a {TYPE "Person" NAME "Annabella"}')
    command, name = f'SEARCH CONCEPT "Anabela" MODE "{mode}"', f"{mode}_search"
    assert space.refused(command) == "SearchModeUnsupported"
    assert space.write("DESCRIBE CAPABILITIES")["capabilities"][name]["supported"] is False
    space.engine = Engine(space.store, PackageLibrary.bundled(), clock=space.clock, embedder=EMBEDDER)
    index_pending(space.store, EMBEDDER)
    assert [hit["id"] for hit in space.write(command)["hits"]] == ["C-1"]
    assert space.write("DESCRIBE CAPABILITIES")["capabilities"][name]["supported"] is True


@shows("weighted_projection", "KI-CAP-011", held=False)
def test_no_policy_weighs_trust_and_none_is_described(space: Space) -> None:
    space.write(CREATE)
    assert space.refused("DESCRIBE TRUST") == "UnsupportedCapability"
    assert space.refused(f'{SLOT} WITH EPISTEMIC {{policy: "kip:trust-weighted"}}') == "ProjectionPolicyUnavailable"
    with pytest.raises(errors.UnsupportedCapability):
        Governor(space.engine).grant(OWNER, "ann", ["manage_trust"])
    space.write(ZONE, zone="+01:00")
    asked = 'FIND(?b.score, ?b.policy_id) WHERE { ?b BELIEF ("C-1", "timezone", "+01:00") } WITH EPISTEMIC {policy: :p}'
    for policy in space.write("LIST EPISTEMIC POLICIES"):
        assert space.write(asked, p=policy["id"])[0][0] is None


@shows("belief_slot")
@shows("materialized_projection")
def test_the_values_of_a_slot_are_weighed_anew_at_every_read(space: Space) -> None:
    space.write(CREATE)
    assert space.write(SLOT) == [["insufficient", []]]
    claim = space.handles(ZONE, zone="+01:00")["claim"]
    assert space.write(SLOT) == [["accepted", ["+01:00"]]]
    space.write('TRANSITION :c TO "retracted"', c=claim)
    assert space.write(SLOT) == [["insufficient", []]]


@shows("change_stream", "KI-CAP-015")
@shows("filtered_delivery", "KI-CAP-016", held=False)
def test_changes_are_every_commit_whole_in_order_and_unfiltered(space: Space) -> None:
    space.write(f'MUTATE {{ {CREATE} CREATE CONCEPT ?b {{TYPE "Place" NAME "Oslo"}} }}')
    space.write('UPDATE "C-2" SET FIELDS {name: "Bergen"}')
    envelopes = space.write("CHANGES AFTER SEQ 0")
    assert [[change["id"] for change in one["changes"]] for one in envelopes] == [["C-1", "C-2"], ["C-2"]]
    assert [one["space_seq"] for one in space.write("HISTORY SPACE")] == [1, 2]
    for narrowed in ('WHERE { ?x {type: "Person"} }', 'FILTER(?c.kind == "concept")', 'WITH TYPE "Person"'):
        assert space.refused(f"CHANGES AFTER SEQ 0 {narrowed}") == "InvalidSyntax"
