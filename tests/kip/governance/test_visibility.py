"""How much of a Space shows: by label, by kind, by field; now, in the past, in search and in what belief rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from brain.kip.context import OWNER_PERMISSIONS, Run, Session
from brain.kip.governance.access import access_of
from brain.kip.governance.control import Governor
from brain.kip.governance.plane import Policy, Rule, Scope
from brain.kip.governance.view import View
from brain.kip.parser import parse
from brain.kip.pipeline import Engine
from brain.kip.read import run_find
from brain.store.base import Element, Scan
from brain.store.embedding import index_pending
from brain.store.hashing import HashEmbedder
from brain.times import timestamp
from tests.kip.conftest import Space
from tests.kip.governance.conftest import OWNER, agent

requirement = pytest.mark.requirement
GUEST = Session(principal_id="guest", channel="test", permissions=OWNER_PERMISSIONS)
SECRETS = Scope(labels=frozenset({"secret"}))
EVIDENCE = Scope(kinds=frozenset({"evidence"}))


def deny(*permissions: str, scope: Scope = SECRETS, fields: frozenset[str] = frozenset()) -> Rule:
    return Rule("deny", frozenset(permissions), to=frozenset({"guest"}), scope=scope, fields=fields)


def policy(*rules: Rule, **members: Any) -> Policy:
    return Policy(labels=("internal", "secret"), rules=rules, **members)


TWO_CONCEPTS = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann Lee" SET FIELDS {key: "ann"} SET ATTRIBUTES {salary: 100} }
  CREATE CONCEPT ?ben { TYPE "Person" NAME "Ben Lee" SET FIELDS {key: "ben"} }
  CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "user_statement", payload: "Ann knows Ben"} }
  ASSERT ?a (?ann, "knows", ?ben) {by: ?ann, mode: "stated", evidence: ?e}
}"""
PEOPLE = 'FIND(?c.name) WHERE { ?c {type: "Person"} }'


@pytest.fixture
def made(space: Space) -> dict[str, str]:
    return space.handles(TWO_CONCEPTS)


# --- labels -----------------------------------------------------------------------------------------------------------


@requirement("KI-GOV-023")
def test_labels_are_the_policys_and_lowering_one_needs_declassify(
    space: Space, governor: Governor, made: dict[str, str]
) -> None:
    governor.set_policy(OWNER, policy())
    with pytest.raises(Exception, match="no label 'top'"):
        governor.classify(OWNER, [made["ann"]], "top")
    governor.classify(OWNER, [made["ann"]], "secret")
    assert space.write('FIND(?c.governance.classification) WHERE { ?c {key: "ann"} }') == ["secret"]
    governor.grant(OWNER, "clerk", ["discover", "read", "manage_policy"])
    clerk = Session(principal_id="clerk", channel="test", permissions=frozenset())
    governor.classify(clerk, [made["ben"]], "internal")
    for lower in ("internal", None):
        with pytest.raises(Exception, match="declassify"):
            governor.classify(clerk, [made["ann"]], lower)
    governor.grant(OWNER, "clerk", ["declassify"])
    governor.classify(clerk, [made["ann"]], None)
    assert space.element(made["ann"])["governance"].get("classification") is None


@requirement("KI-GOV-023", "KI-SEC-009")
def test_what_is_derived_stays_as_restricted_as_what_it_comes_from(
    space: Space, governor: Governor, made: dict[str, str]
) -> None:
    governor.set_policy(OWNER, policy())
    governor.classify(OWNER, [made["e"]], "secret")
    text = """MUTATE {
      CREATE EVIDENCE ?s { SET FIELDS {evidence_class: "summary", payload: "short"} }
      CREATE ACTIVITY ?x { SET FIELDS {activity_class: "summarization", status: "completed"}
                           SET STRUCTURAL { ("inputs", :e) ("outputs", ?s) } }
      ASSERT ?a (:ann, "speaks", "en") {by: :ann, mode: "inferred", evidence: ?s}
      ASSERT ?b (:ann, "speaks", "fr") {by: :ann, mode: "stated"}
    }"""
    derived = space.handles(text, e=made["e"], ann=made["ann"])
    labels = {name: space.element(derived[name])["governance"].get("classification") for name in ("s", "x", "a", "b")}
    assert labels == {"s": "secret", "x": "secret", "a": "secret", "b": None}


@requirement("KI-GOV-023")
def test_a_new_element_gets_the_label_the_policy_gives_by_default(space: Space, governor: Governor) -> None:
    governor.set_policy(OWNER, policy(default_label="internal"))
    made = space.handles('CREATE CONCEPT ?c { TYPE "Person" }')["c"]
    assert space.element(made)["governance"]["classification"] == "internal"
    assert space.write("DESCRIBE ACCESS")["default_classification"] == "internal"


# --- discover ---------------------------------------------------------------------------------------------------------


@requirement("KI-GOV-015", "KI-GOV-022")
def test_what_may_not_be_known_of_is_not_there(space: Space, governor: Governor, made: dict[str, str]) -> None:
    governor.set_policy(OWNER, policy(deny("discover")))
    governor.classify(OWNER, [made["ben"]], "secret")
    assert space.write(PEOPLE, session=GUEST) == ["Ann Lee"]
    assert space.write(PEOPLE) == ["Ann Lee", "Ben Lee"]
    assert space.write('FIND(COUNT(?p)) WHERE { ?p (?x, "knows", ?y) }', session=GUEST) == [0]
    shown = space.write('FIND(?b.status) WHERE { ?b BELIEF SLOT (:c, "knows") }', session=GUEST, c=made["ann"])
    assert shown == ["insufficient"]
    assert space.write('SEARCH CONCEPT "Lee"', session=GUEST)["hits"][0]["id"] == made["ann"]


@requirement("KI-GOV-022", "KI-SEC-014")
@pytest.mark.parametrize(
    "command",
    [
        "HISTORY ELEMENT :c",
        "LIST DEPENDENTS :c",
        'DESCRIBE ACCESS WITH {resource: :c, operation: "read"}',
        'UPDATE :c SET FIELDS {name: "x"}',
        'TRANSITION :c TO "archived"',
        'ASSERT (:c, "speaks", "en") {by: :c, mode: "stated"}',
        'UPSERT CONCEPT ?u { MATCH {id: :c} SET FIELDS {name: "x"} }',
        "SET RETENTION :c {legal_hold: true}",
        'PURGE :c CONFIRM "PURGE"',
        "MERGE CONCEPT :c INTO :c",
    ],
)
def test_a_hidden_element_is_refused_in_the_words_of_an_absent_one(
    space: Space, governor: Governor, made: dict[str, str], command: str
) -> None:
    governor.set_policy(OWNER, policy(deny("discover")))
    governor.classify(OWNER, [made["ben"]], "secret")
    hidden = space.error(command, session=GUEST, c=made["ben"])
    absent = space.error(command, session=GUEST, c="C-77")
    assert hidden["code"] == "NotFoundOrNotVisible"
    assert repr(hidden).replace(made["ben"], "C-77") == repr(absent)


@requirement("KI-GOV-015", "KI-GOV-016", "KI-ID-005")
@pytest.mark.parametrize("permission", ["discover", "read"])
def test_a_key_that_is_not_free_names_nobody(
    space: Space, governor: Governor, made: dict[str, str], permission: str
) -> None:
    """Uniqueness counts what is hidden; that a key is taken is all a write can learn."""
    governor.set_policy(OWNER, policy(deny(permission)))
    governor.classify(OWNER, [made["ben"]], "secret")
    for text in (
        'CREATE CONCEPT ?c { TYPE "Person" SET FIELDS {key: "ben"} }',
        'UPSERT CONCEPT ?c { MATCH {type: "Person", key: "ben"} SET FIELDS {name: "x"} }',
    ):
        error = space.error(text, session=GUEST)
        assert error["code"] == "IdentityConflict"
        assert made["ben"] not in repr(error)


@requirement("KI-GOV-015", "KI-GOV-016")
@pytest.mark.parametrize("permission", ["discover", "read"])
def test_a_tuple_that_may_not_be_read_is_not_found_by_writing_it(
    space: Space, governor: Governor, made: dict[str, str], permission: str
) -> None:
    knows = Scope(types=frozenset({"kip://domains/general/knows"}))
    governor.set_policy(OWNER, policy(deny(permission, scope=knows)))
    text = 'ASSERT (:a, "knows", :b) {by: :a, mode: "stated"}'
    error = space.error(text, session=GUEST, a=made["ann"], b=made["ben"])
    assert error["code"] == "NotAuthorized"
    assert made["a#proposition"] not in repr(error)


@requirement("KI-GOV-015")
def test_what_refers_to_a_hidden_element_shows_without_that_reference(
    space: Space, governor: Governor, made: dict[str, str]
) -> None:
    governor.set_policy(OWNER, policy(deny("discover", scope=EVIDENCE)))
    assert space.write("FIND(?a.evidence) WHERE { ?a ASSERTION {} }", session=GUEST) == [None]
    assert space.write("FIND(?a.evidence) WHERE { ?a ASSERTION {} }") == [[{"id": made["e"], "role": "support"}]]
    (belief,) = space.write(
        'FIND(?b) WHERE { ?b BELIEF SLOT (:c, "knows") } WITH EPISTEMIC {explanation: "ledger"}',
        session=GUEST,
        c=made["ann"],
    )
    assert made["e"] not in repr(belief)
    entries = [e for one in space.write("CHANGES AFTER SEQ 0", session=GUEST) for e in one["changes"]]
    assert made["e"] not in {entry["id"] for entry in entries}


# --- read -------------------------------------------------------------------------------------------------------------


@requirement("KI-GOV-016")
def test_what_may_be_known_of_and_not_read_shows_its_identity_only(
    space: Space, governor: Governor, made: dict[str, str]
) -> None:
    governor.set_policy(OWNER, policy(deny("read")))
    governor.classify(OWNER, [made["ben"]], "secret")
    answer = space.answer("FIND(?c.id, ?c.name, ?c.key) WHERE { ?c {id: :c} }", session=GUEST, c=made["ben"])
    assert answer["result"] == [[made["ben"], None, None]]
    assert [warning["code"] for warning in answer["warnings"]] == ["Redacted"]
    assert space.write('FIND(?c) WHERE { ?c {name: "Ben Lee"} }', session=GUEST) == []
    assert space.write('FIND(?c) WHERE { ?c {} FILTER(?c.name == "Ben Lee") }', session=GUEST) == []
    assert space.write('SEARCH CONCEPT "Ben"', session=GUEST)["hits"] == []
    plain = space.answer('FIND(?c.name) WHERE { ?c {key: "ann"} }', session=GUEST)
    assert (plain["result"], plain.get("warnings", [])) == (["Ann Lee"], [])


@requirement("KI-GOV-016")
def test_single_fields_can_be_withheld(space: Space, governor: Governor, made: dict[str, str]) -> None:
    rule = deny("read", scope=Scope(kinds=frozenset({"concept"})), fields=frozenset({"attributes.salary", "key"}))
    governor.set_policy(OWNER, policy(rule))
    text = "FIND(?c.name, ?c.attributes.salary, ?c.key) WHERE { ?c {id: :c} }"
    answer = space.answer(text, session=GUEST, c=made["ann"])
    assert answer["result"] == [["Ann Lee", None, None]]
    assert answer["warnings"][0]["code"] == "Redacted"
    for probe in ('?c {key: "ann"}', "?c {attributes: {salary: 100}}", "?c {} FILTER(?c.attributes.salary > 1)"):
        assert space.write(f"FIND(?c.id) WHERE {{ {probe} }}", session=GUEST) == []
    assert space.write('SEARCH CONCEPT "Ann"', session=GUEST)["hits"] == []


@requirement("KI-GOV-016")
def test_what_may_not_be_read_whole_is_not_written_to(space: Space, governor: Governor, made: dict[str, str]) -> None:
    rule = deny("read", scope=Scope(kinds=frozenset({"concept"})), fields=frozenset({"attributes.salary"}))
    governor.set_policy(OWNER, policy(rule))
    copying = 'UPDATE ?c SET ATTRIBUTES {shown: ADD(?c.attributes.salary, 0)} WHERE { ?c {key: "ann"} }'
    assert space.refused(copying, session=GUEST) == "NotAuthorized"


# --- project ----------------------------------------------------------------------------------------------------------


@requirement("KI-GOV-018")
def test_a_status_may_be_given_without_what_it_rests_on(space: Space, governor: Governor, made: dict[str, str]) -> None:
    governor.set_policy(OWNER, policy(deny("read", "search", scope=EVIDENCE)))
    text = 'FIND(?b) WHERE { ?b BELIEF SLOT (:c, "knows") } WITH EPISTEMIC {explanation: "ledger"}'
    (full,) = space.write(text, c=made["ann"])
    (seen,) = space.write(text, session=GUEST, c=made["ann"])
    assert seen["status"] == full["status"] == "accepted"
    (candidate,) = seen["candidate_projections"]
    assert candidate["explanation"] == {"level": "ledger", "redacted": True}
    assert made["e"] not in repr(seen)
    assert space.write("FIND(?e.payload) WHERE { ?e EVIDENCE {id: :e} }", session=GUEST, e=made["e"]) == [None]


@requirement("KI-GOV-018")
def test_what_may_not_be_projected_is_not_weighed(space: Space, governor: Governor, made: dict[str, str]) -> None:
    knows = Scope(types=frozenset({"kip://domains/general/knows"}))
    governor.set_policy(OWNER, policy(deny("project", scope=knows)))
    text = 'FIND(?b.status) WHERE { ?b BELIEF SLOT (:c, "knows") }'
    assert space.write(text, session=GUEST, c=made["ann"]) == ["insufficient"]
    assert space.write('FIND(?p) WHERE { ?p (?x, "knows", ?y) }', session=GUEST) != []


# --- search -----------------------------------------------------------------------------------------------------------


@requirement("KI-GOV-017", "KI-SEC-005")
def test_what_may_not_be_searched_moves_no_score(space: Space, governor: Governor, made: dict[str, str]) -> None:
    governor.set_policy(OWNER, policy(deny("search")))
    governor.classify(OWNER, [made["ben"]], "secret")
    before = space.write('SEARCH CONCEPT "Lee Ann"', session=GUEST)["hits"]
    extra = [space.handles(f'CREATE CONCEPT ?c {{ TYPE "Person" NAME "Lee Ann {n}" }}')["c"] for n in range(5)]
    governor.classify(OWNER, extra, "secret")
    assert space.write('SEARCH CONCEPT "Lee Ann"', session=GUEST)["hits"] == before
    assert space.write("FIND(?c.name) WHERE { ?c {id: :c} }", session=GUEST, c=made["ben"]) == ["Ben Lee"]


# --- time -------------------------------------------------------------------------------------------------------------


@requirement("KI-GOV-021")
def test_the_past_shows_no_more_than_the_present_allows(space: Space, governor: Governor, made: dict[str, str]) -> None:
    governor.set_policy(OWNER, policy(deny("discover")))
    governor.classify(OWNER, [made["ben"]], "secret")
    then = f"{PEOPLE} AS OF SEQ 1"
    assert space.write(then, session=GUEST) == ["Ann Lee"]
    assert space.write('SEARCH CONCEPT "Lee" AS OF SEQ 1', session=GUEST)["hits"][0]["id"] == made["ann"]
    token = space.write("DESCRIBE SNAPSHOT AS OF SEQ 1")["snapshot_token"]
    pinned = {"read": {"snapshot_token": token}}
    assert space.write(PEOPLE, session=GUEST, envelope=pinned) == ["Ann Lee"]
    entries = [e["id"] for one in space.write("HISTORY SPACE", session=GUEST) for e in one["changes"]]
    assert made["ben"] not in entries
    governor.classify(OWNER, [made["ben"]], None)
    assert space.write(then, session=GUEST) == ["Ann Lee", "Ben Lee"]


@requirement("KI-GOV-021")
def test_a_cursor_goes_on_under_todays_authority(space: Space, governor: Governor, made: dict[str, str]) -> None:
    text = 'FIND(?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.name LIMIT 1'
    first = space.answer(text, session=GUEST)
    assert first["result"] == ["Ann Lee"]
    governor.set_policy(OWNER, policy(deny("discover")))
    governor.classify(OWNER, [made["ben"]], "secret")
    further = space.answer(f"{text} CURSOR :cursor", session=GUEST, cursor=first["next_cursor"])
    assert further["result"] == []


@requirement("KI-GOV-015", "KI-TX-034")
def test_a_commit_of_hidden_elements_is_not_in_the_change_stream(
    space: Space, governor: Governor, made: dict[str, str]
) -> None:
    governor.set_policy(OWNER, policy(deny("discover")))
    lone = space.handles('CREATE CONCEPT ?c { TYPE "Person" NAME "Eve" }')["c"]
    seq = space.seq
    governor.classify(OWNER, [lone], "secret")
    assert seq not in [one["space_seq"] for one in space.write("CHANGES AFTER SEQ 0", session=GUEST)]
    tx = space.commit(seq).tx_id
    hidden = space.error("DESCRIBE TRANSACTION :tx", session=GUEST, tx=tx)
    assert hidden == space.error("DESCRIBE TRANSACTION :tx", session=GUEST, tx=f"{tx}00")
    follower = space.answer(f"CHANGES AFTER SEQ {seq - 1} LIMIT 9", session=GUEST)
    assert follower["context"]["extensions"]["brain/coverage"]["through_seq"] == space.seq
    mixed = space.answer("DESCRIBE TRANSACTION :tx", session=GUEST, tx=space.commit(1).tx_id)
    assert len(mixed["result"]["changes"]) == 5


# --- inside the plan --------------------------------------------------------------------------------------------------


class Spy:
    """A snapshot that notes every element it hands out."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.given: list[Element] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def _noted(self, elements: list[Element]) -> list[Element]:
        self.given += elements
        return elements

    def elements(self, ids: Any) -> dict[str, Element]:
        return {element.id: element for element in self._noted(list(self._view.elements(ids).values()))}

    def scan(self, query: Scan) -> Iterator[Element]:
        for element in self._view.scan(query):
            yield from self._noted([element])

    def tuples(self, query: Any) -> list[Element]:
        return self._noted(self._view.tuples(query))

    def assertions(self, about: Any) -> list[Element]:
        return self._noted(self._view.assertions(about))


@requirement("KI-GOV-020", "KI-GOV-019")
@pytest.mark.parametrize(
    "text",
    [
        "FIND(?c) WHERE { ?c {} }",
        "FIND(COUNT(?c)) WHERE { ?c {} }",
        'FIND(?x, ?y) WHERE { (?x, "knows", ?y) }',
        'FIND(?x) WHERE { ?x {} OPTIONAL { (?x, "knows", ?y) } NOT { (?y, "knows", ?x) } } ORDER BY ?y.name',
        'FIND(?x, ?y) WHERE { ?x {} (?x, "knows"{0,2}, ?y) }',
        "FIND(?a) WHERE { ?a ASSERTION {asserted_by: ?x} }",
        'FIND(?c) WHERE { ?c SEARCH CONCEPT "Lee" LIMIT 9 }',
    ],
)
def test_a_denied_element_never_reaches_the_executor(
    space: Space, governor: Governor, made: dict[str, str], text: str
) -> None:
    governor.set_policy(OWNER, policy(deny("discover")))
    governor.classify(OWNER, [made["ben"]], "secret")
    statement: Any = parse(text)
    engine: Engine = space.engine
    with space.store.snapshot() as head:
        now = timestamp(space.clock.now_ms())
        access = access_of(engine.planes, GUEST, head, head, space.clock)
        assert isinstance(access.snapshot, View)
        spy = Spy(access.snapshot)
        run = Run(spy, engine.environment(head), {}, access.session, now, engine.space_uri, sight=access.sight)
        run_find(statement, replace(run, weighed=access.weighed))
    assert made["ben"] not in {element.id for element in spy.given}
    assert made["a"] not in {element.id for element in spy.given}


@requirement("KI-GOV-020")
def test_who_sees_everything_reads_the_store_itself(space: Space, governor: Governor, made: dict[str, str]) -> None:
    """No rule touches the preset's principals, so nothing stands between them and the store."""
    governor.set_policy(OWNER, policy(deny("discover")))
    with space.store.snapshot() as head:
        for session in (OWNER, agent()):
            access = access_of(space.engine.planes, session, head, head, space.clock)
            assert access.snapshot is head
            assert (access.sight, access.session.authority) == (None, None)


@requirement("KI-GOV-003", "KI-GOV-015")
def test_without_discover_there_is_nothing(space: Space, made: dict[str, str]) -> None:
    blind = Session(principal_id="blind", channel="test", permissions=OWNER_PERMISSIONS - {"discover"})
    assert space.write(PEOPLE, session=blind) == []
    assert space.write('SEARCH CONCEPT "Lee"', session=blind)["hits"] == []
    assert space.write("DESCRIBE PRIMER", session=blind)["contents"]["concept"] == 0
    assert space.write("CHANGES AFTER SEQ 0", session=blind) == []
    assert space.refused('UPDATE :c SET FIELDS {name: "x"}', session=blind, c=made["ann"]) == "NotFoundOrNotVisible"


@requirement("KI-GOV-015")
def test_a_hidden_merge_does_not_count(space: Space, governor: Governor, made: dict[str, str]) -> None:
    """The version of identity is part of every projection's basis."""
    governor.set_policy(OWNER, policy(deny("discover")))
    status = 'FIND(?b.basis.identity_version) WHERE { ?b BELIEF SLOT (:c, "speaks") }'
    before = space.write(status, session=GUEST, c=made["ann"])
    twin = space.handles('CREATE CONCEPT ?c { TYPE "Person" NAME "Benny" }')["c"]
    governor.classify(OWNER, [twin], "secret")
    space.write("MERGE CONCEPT :a INTO :b", a=twin, b=made["ben"])
    assert space.write(status, session=GUEST, c=made["ann"]) == before
    assert space.write(status, c=made["ann"]) == [before[0] + 1]


@requirement("KI-GOV-016", "KI-TX-004")
def test_a_write_beside_hidden_references_leaves_them_in_place(
    space: Space, governor: Governor, made: dict[str, str]
) -> None:
    """What is written starts from what is stored, never from what the writer was shown."""
    text = """CREATE CONCEPT ?x { TYPE "Experience" NAME "trip" SET ATTRIBUTES {goal: "g", outcome_status: "success"}
      SET STRUCTURAL { ("involves", :a) ("involves", :b) } }"""
    trip = space.handles(text, a=made["ann"], b=made["ben"])["x"]
    eve = space.handles('CREATE CONCEPT ?c { TYPE "Person" NAME "Eve" }')["c"]
    governor.set_policy(OWNER, policy(deny("discover")))
    governor.classify(OWNER, [made["ben"]], "secret")
    space.write(
        'UPDATE :t SET STRUCTURAL { ("involves", :e) } SET FIELDS {name: "journey"}', session=GUEST, t=trip, e=eve
    )
    (stored,) = space.element(trip)["structural"].values()
    assert [reference["id"] for reference in stored] == [made["ann"], made["ben"], eve]
    edges = 'FIND(?t.id, ?e.index) WHERE { ?e STRUCTURAL (:x, "involves", ?t) }'
    assert [row[0] for row in space.write(edges, session=GUEST, x=trip)] == [made["ann"], eve]


# --- likeness ---------------------------------------------------------------------------------------------------------


@requirement("KI-GOV-017", "KI-SEC-005")
@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_what_is_hidden_moves_no_ranking_by_likeness_either(
    space: Space, governor: Governor, made: dict[str, str], mode: str
) -> None:
    embedder = HashEmbedder(128)
    space.engine.embedder = embedder
    governor.set_policy(OWNER, policy(deny("discover")))
    index_pending(space.store, embedder)
    search = f'SEARCH CONCEPT "Ann Le" MODE "{mode}"'
    before = space.write(search, session=GUEST)
    extra = [space.handles(f'CREATE CONCEPT ?c {{ TYPE "Person" NAME "Ann Le {n}" }}')["c"] for n in range(4)]
    governor.classify(OWNER, extra, "secret")
    waiting = space.write(search, session=GUEST)
    assert (waiting["hits"], waiting["search_context"]["pending"]) == (before["hits"], 0)
    assert space.write(search)["search_context"]["pending"] > 0
    index_pending(space.store, embedder)
    assert space.write(search, session=GUEST)["hits"] == before["hits"]
    assert {hit["id"] for hit in space.write(search)["hits"]} >= set(extra)


@requirement("KI-GOV-021", "KI-GOV-016", "KI-GOV-017")
def test_a_label_given_later_binds_earlier_versions(space: Space, governor: Governor, made: dict[str, str]) -> None:
    """Fields and searches of the past are judged by how the element is classified now."""
    salary = deny("read", fields=frozenset({"attributes.salary"}))
    governor.set_policy(OWNER, policy(salary))
    then = "FIND(?c.name, ?c.attributes.salary) WHERE { ?c {id: :c} } AS OF SEQ 1"
    assert space.write(then, session=GUEST, c=made["ann"]) == [["Ann Lee", 100]]
    governor.classify(OWNER, [made["ann"]], "secret")
    assert space.write(then, session=GUEST, c=made["ann"]) == [["Ann Lee", None]]
    assert space.write('SEARCH CONCEPT "Ann" AS OF SEQ 1', session=GUEST)["hits"] == []
    assert len(space.write('SEARCH CONCEPT "Ann" AS OF SEQ 1')["hits"]) == 1
