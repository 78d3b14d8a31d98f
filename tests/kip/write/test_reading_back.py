"""What writes mean to a reader: merges, corrections, removal, archived ends (worked examples W-07, W-08)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kip.conftest import Space
from tests.kip.write.people import People

requirement = pytest.mark.requirement


def find(space: Space, text: str, **values: Any) -> Any:
    return space.write(text, **values)


@requirement("KI-MERGE-009", "KI-MERGE-010", "KI-MERGE-012", "KI-MERGE-013", "KI-PROP-002")
def test_patterns_follow_merges_and_show_what_was_stored(space: Space) -> None:
    made = space.handles(
        "MUTATE {"
        + " ".join(f'CREATE CONCEPT ?{n} {{ TYPE "Person" NAME "{n}" }}' for n in ("Alicia", "Alice", "Bob", "Carol"))
        + "}"
    )
    alicia, alice, bob, carol = (made[name] for name in ("Alicia", "Alice", "Bob", "Carol"))
    space.write('ENSURE PROPOSITION (:s, "knows", :o)', s=alicia, o=bob)
    space.write("MERGE CONCEPT :s INTO :t", s=alicia, t=alice)
    space.write('ENSURE PROPOSITION (:s, "knows", :o)', s=alicia, o=carol)
    text = 'FIND(?p.id, ?p.subject.id, ?p.canonical_subject.id) WHERE { ?p (:s, "knows", ?o) }'
    for start in (alice, alicia):
        assert find(space, text, s=start) == [["P-1", alicia, alice], ["P-2", alice, alice]]
    narrowed = text.replace("}", "FILTER(?p.subject.id == :s) }")
    assert find(space, narrowed, s=alice) == [["P-2", alice, alice]]
    assert find(space, f"{text} AS OF SEQ 2", s=alice) == []
    assert find(space, f"{text} AS OF SEQ 2", s=alicia) == [["P-1", alicia, alicia]]
    names = 'FIND(?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.name'
    assert find(space, names) == ["Alice", "Bob", "Carol"]
    assert find(space, 'FIND(?c.name) WHERE { ?c {type: "Person", state: "merged"} }') == ["Alicia"]


JUNE = "2026-06-01T00:00:00.000Z"


@requirement("KI-ASSERT-018", "KI-ASSERT-019", "KI-ASSERT-020", "KI-ASSERT-022", "KI-ASSERT-006")
@pytest.mark.parametrize(
    ("more", "superseding", "by", "refused", "old", "new"),
    [
        (', valid: {from: {latest: "2026-01-01T00:00:00.000Z"}}', True, "alice", None, "insufficient", "accepted"),
        ("", True, "alice", None, "insufficient", "uncertain"),
        (", context: [:bob]", True, "alice", "SupersessionMismatch", "accepted", None),
        ("", True, "bob", "SupersessionMismatch", "accepted", None),
        (', valid: {from: "2026-09-01T00:00:00.000Z"}', False, "alice", None, "accepted", "insufficient"),
    ],
)
def test_a_correction_and_a_changed_world_answer_differently_for_june(
    space: Space, people: People, more: str, superseding: bool, by: str, refused: str | None, old: str, new: str | None
) -> None:
    text = 'ASSERT ?c (:alice, "timezone", :v) {{ by: :by, mode: "stated", at: :at{} }}'
    values = {"alice": people.alice, "bob": people.bob}
    first = space.handles(text.format(""), v="+08:00", by=people.alice, at="2026-01-01T00:00:00.000Z", **values)["c"]
    command = text.format(more) + (" SUPERSEDING :old" if superseding else "")
    said = {"v": "+07:00", "by": getattr(people, by), "at": "2026-09-21T00:00:00.000Z", "old": first, **values}
    if refused:
        assert space.refused(command, **said) == refused
    else:
        space.write(command, **said)
    belief = 'FIND(?b.status) WHERE {{ ?b BELIEF (:alice, "timezone", "{}") }} FOR TIME :t'
    envelope = {"requires": {"belief_slot": True}}
    assert space.write(belief.format("+08:00"), t=JUNE, alice=people.alice, envelope=envelope) == [old]
    if new is not None:
        assert space.write(belief.format("+07:00"), t=JUNE, alice=people.alice) == [new]


@requirement("KI-CONCEPT-007", "KI-CONCEPT-008", "KI-RETAIN-006", "KI-RETAIN-005")
def test_an_archived_concept_leaves_recall_and_stays_an_endpoint(space: Space, people: People) -> None:
    space.write('ENSURE PROPOSITION (:a, "knows", :b)', a=people.alice, b=people.bob)
    space.write('TRANSITION :b TO "archived"', b=people.bob)
    assert find(space, 'FIND(?c.name) WHERE { ?c {type: "Person"} }') == ["Alice"]
    assert find(space, 'FIND(?c.name) WHERE { ?c {type: "Person", state: "archived"} }') == ["Bob"]
    assert find(space, 'FIND(COUNT(?p)) WHERE { ?p (?s, "knows", ?o) }') == [1]
    assert find(space, 'SEARCH CONCEPT "Bob"')["hits"] == []
    space.write('ENSURE PROPOSITION (:b, "knows", :a)', a=people.alice, b=people.bob)


@requirement("KI-STRUCT-001", "KI-STRUCT-010")
def test_references_and_tuples_are_never_turned_into_each_other(space: Space, people: People) -> None:
    space.write('ENSURE PROPOSITION (:a, "knows", :b)', a=people.alice, b=people.bob)
    space.write(
        """CREATE CONCEPT ?c {
          TYPE "Commitment" SET ATTRIBUTES {summary: "s", status: "pending"} SET STRUCTURAL { ("committed_to", :a) }
        }""",
        a=people.alice,
    )
    assert find(space, "FIND(?p.id) WHERE { ?p (?s, ?r, ?o) }") == ["P-1"]
    edges = 'FIND(?e.field, ?e.index) WHERE { ?e STRUCTURAL (?c, "committed_to", ?t) }'
    assert find(space, edges) == [["kip://profiles/cognitive-memory@2.0.0/committed_to", None]]
    assert space.refused('FIND(?t) WHERE { STRUCTURAL (?s, "knows", ?t) }') == "SchemaSymbolNotFound"


@requirement("KI-MERGE-019", "KI-ID-014")
def test_a_same_as_claim_merges_nothing(space: Space, people: People) -> None:
    space.write('ASSERT (:b, "same_as", :a) { by: :a, mode: "stated" }', a=people.alice, b=people.bob)
    assert find(space, 'FIND(?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.name') == ["Alice", "Bob"]
    assert "canonical_id" not in space.element(people.bob)


@requirement("KI-RETAIN-003", "KI-RETAIN-022", "KI-EVID-009", "KI-RETAIN-009")
def test_storage_and_belief_are_two_things_until_the_claim_itself_is_put_away(space: Space, people: People) -> None:
    claim = space.handles(
        'ASSERT ?c (:a, "lives_in", :o) { by: :a, mode: "stated", evidence: :m }',
        a=people.alice,
        o=people.oslo,
        m=people.message,
    )["c"]
    text = 'FIND(?b.status) WHERE { ?b BELIEF (:a, "lives_in", :o) }'

    def belief() -> Any:
        return find(space, text, a=people.alice, o=people.oslo)

    assert belief() == ["accepted"]
    space.write('SET RETENTION :c {expires_at: "2020-01-01T00:00:00.000Z"}', c=claim)
    space.write('PURGE PAYLOAD :m CONFIRM "PURGE"', m=people.message)
    assert belief() == ["accepted"]
    space.write('TRANSITION :c TO "archived"', c=claim)
    assert belief() == ["insufficient"]


@requirement("KI-RETAIN-007")
def test_a_tombstone_shows_identity_and_no_content(space: Space, people: People) -> None:
    space.write('TRANSITION :b TO "tombstoned"', b=people.bob)
    text = 'FIND(?c.id, ?c.kind, ?c.name, ?c.attributes) WHERE { ?c CONCEPT {id: :b, state: "tombstoned"} }'
    assert find(space, text, b=people.bob) == [[people.bob, "concept", None, None]]
    assert find(space, "FIND(?c.name) WHERE { ?c CONCEPT {id: :b} } AS OF SEQ 1", b=people.bob) == ["Bob"]


@requirement("KI-ENV-034")
def test_a_cut_page_has_its_cursor_in_the_operations_result(space: Space, people: People) -> None:
    text = 'FIND(?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.name LIMIT 1'
    first = space.answer(text)
    second = space.answer(f"{text} CURSOR :c", c=first["next_cursor"])
    assert (first["result"], second["result"]) == (["Alice"], ["Bob"])
    assert "next_cursor" not in second


@requirement("KI-TX-002", "KI-KQL-012", "KI-ID-005")
def test_a_page_goes_on_in_the_state_it_began_in(space: Space, people: People) -> None:
    text = 'FIND(?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.name LIMIT 1'
    token = space.answer(text)["next_cursor"]
    space.write('CREATE CONCEPT ?c { TYPE "Person" NAME "Aaron" }')
    answer = space.answer(f"{text} CURSOR :c", c=token)
    assert answer["result"] == ["Bob"]
    assert answer["context"]["snapshot_seq"] == 1
