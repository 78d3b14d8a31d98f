"""What Governance says of an element: quarantine, authority class, and what a merge or a summary carries on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brain import errors
from brain.gate.gate import reader_session
from brain.ids import digest
from brain.kip import capabilities
from brain.kip.govern import preset_session
from brain.kip.governance.control import Governor
from tests.kip.conftest import Space
from tests.kip.governance.conftest import OWNER, agent, stranger

requirement = pytest.mark.requirement
CLAIM = """MUTATE {
  CREATE CONCEPT ?c { TYPE "Person" NAME "Ann" }
  CREATE CONCEPT ?d { TYPE "Person" NAME "Ben" }
  CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "user_statement", payload: "Ann knows Ben"} }
  ASSERT ?a (?c, "knows", ?d) {by: ?c, mode: "stated", evidence: ?e}
}"""
STATUS = 'FIND(?b.status) WHERE { ?b BELIEF SLOT (:c, "knows") }'


@requirement("KI-GOV-028", "KI-ASSERT-017", "KI-BELIEF-013")
def test_a_quarantined_claim_is_out_of_belief_and_still_what_it_was(space: Space, governor: Governor) -> None:
    made = space.handles(CLAIM)
    before = space.element(made["a"])
    governor.quarantine(OWNER, [made["a"]])
    assert space.write(STATUS, c=made["c"]) == ["insufficient"]
    after = space.element(made["a"])
    assert {name: after[name] for name in after if name not in ("_system", "governance")} == {
        name: before[name] for name in before if name not in ("_system", "governance")
    }
    (shown,) = space.write("FIND(?a) WHERE { ?a ASSERTION {} }", session=agent())
    assert (shown["lifecycle"]["status"], shown["_system"]["state"]) == ("active", "active")
    assert shown["governance"]["quarantined"] is True
    asked = 'DESCRIBE ACCESS WITH {resource: :a, operation: "read"}'
    assert space.write(asked, session=agent(), a=made["a"])["decision"]["quarantined"] is True
    governor.quarantine(OWNER, [made["a"]], release=True)
    assert space.write(STATUS, c=made["c"]) == ["accepted"]
    assert "quarantined" not in space.element(made["a"])["governance"]


@requirement("KI-GOV-028", "KI-META-028")
@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [("CONCEPT", "c", "Ann"), ("ASSERTION", "a", "knows"), ("EVIDENCE", "e", "Ann"), ("PROPOSITION", "p", "knows")],
)
def test_nobodys_search_finds_what_is_quarantined(
    space: Space, governor: Governor, kind: str, name: str, words: str
) -> None:
    made = space.handles(CLAIM)
    made["p"] = made["a#proposition"]
    search = f'SEARCH {kind} "{words}"'
    pattern = f'FIND(?x.id) WHERE {{ ?x SEARCH {kind} "{words}" LIMIT 9 }}'
    assert made[name] in [hit["id"] for hit in space.write(search)["hits"]]
    governor.quarantine(OWNER, [made[name]])
    for session in (OWNER, agent()):
        assert made[name] not in [hit["id"] for hit in space.write(search, session=session)["hits"]]
        assert made[name] not in space.write(pattern, session=session)
    governor.quarantine(OWNER, [made[name]], release=True)
    assert made[name] in space.write(pattern)


@requirement("KI-GOV-028")
def test_quarantine_is_placed_and_lifted_under_its_permission_only(space: Space, governor: Governor) -> None:
    made = space.handles(CLAIM)
    governor.grant(OWNER, "moderator", ["discover", "read", "quarantine"])
    moderator = stranger("moderator")
    governor.quarantine(moderator, [made["a"]])
    with pytest.raises(errors.NotAuthorized):
        governor.quarantine(agent(), [made["a"]], release=True)
    assert space.element(made["a"])["governance"]["quarantined"] is True
    with pytest.raises(errors.NotFoundOrNotVisible):
        governor.quarantine(moderator, [made["a"], "A-99"], release=True)
    assert space.element(made["a"])["governance"]["quarantined"] is True
    entry = space.commit(space.seq).envelope["changes"][0]
    assert (entry["op"], entry["touched"]) == ("update", ["governance.quarantined"])


@requirement("KI-GOV-028")
def test_a_claim_on_quarantined_evidence_alone_does_not_count(space: Space, governor: Governor) -> None:
    made = space.handles(CLAIM)
    governor.quarantine(OWNER, [made["e"]])
    assert space.write(STATUS, c=made["c"]) == ["insufficient"]


@requirement("KI-GOV-028")
def test_a_quarantined_proposition_is_no_candidate(space: Space, governor: Governor) -> None:
    made = space.handles(CLAIM)
    governor.quarantine(OWNER, [made["a#proposition"]])
    assert space.write(STATUS, c=made["c"]) == ["insufficient"]


# --- authority classes ------------------------------------------------------------------------------------------------

REVISION = """MUTATE {
  CREATE CONCEPT ?s { TYPE "Skill" NAME "greet"
    SET ATTRIBUTES {skill_class: "workflow", summary: "s", status: "proposed"}
    SET STRUCTURAL { ("current_revision", ?r) } }
  CREATE CONCEPT ?r { TYPE "SkillRevision"
    SET ATTRIBUTES {task_family: "f/x", procedure: :text, behavior_digest: :digest}
    SET STRUCTURAL { ("revision_of", ?s) } }
}"""


def revision(space: Space, text: str) -> tuple[dict[str, str], str]:
    behavior = digest({"task_family": "f/x", "procedure": text})
    return space.handles(REVISION, text=text, digest=behavior), behavior


def standing(space: Space, element_id: str) -> str:
    (found,) = space.write("FIND(?x.governance.authority_class) WHERE { ?x {id: :x} }", x=element_id)
    return str(found)


@requirement("KI-GOV-025", "KI-GOV-024")
def test_a_procedure_is_elevated_as_the_revision_that_was_judged(space: Space, governor: Governor) -> None:
    made, behavior = revision(space, "say hello")
    other, _ = revision(space, "say goodbye")
    for element, wanted, judged in (
        (made["s"], "behavioral", behavior),
        (made["r"], "behavioral", None),
        (other["r"], "behavioral", behavior),
        (made["r"], "supreme", behavior),
    ):
        with pytest.raises(errors.ConstraintViolation):
            governor.elevate(OWNER, element, wanted, behavior_digest=judged)
    governor.elevate(OWNER, made["r"], "behavioral", behavior_digest=behavior)
    assert standing(space, made["r"]) == "behavioral"
    assert space.element(made["r"])["governance"]["authority_binding"] == {
        "revision": made["r"],
        "behavior_digest": behavior,
    }
    assert standing(space, other["r"]) == "descriptive"
    assert standing(space, made["s"]) == "descriptive"


@requirement("KI-GOV-025")
def test_the_behavior_that_was_elevated_does_not_change_afterwards(space: Space, governor: Governor) -> None:
    made, behavior = revision(space, "say hello")
    governor.elevate(OWNER, made["r"], "behavioral", behavior_digest=behavior)
    for change in ('procedure: "shout"', 'behavior_digest: "sha256:0"'):
        assert space.refused(f"UPDATE :r SET ATTRIBUTES {{{change}}}", r=made["r"]) == "ConstraintViolation"
    assert standing(space, made["r"]) == "behavioral"


@requirement("KI-GOV-025", "KI-GOV-024")
def test_raising_authority_needs_its_own_permission(space: Space, governor: Governor) -> None:
    made = space.handles(CLAIM)
    with pytest.raises(errors.NotAuthorized):
        governor.elevate(agent(), made["c"], "advisory")
    governor.elevate(OWNER, made["c"], "advisory")
    assert standing(space, made["c"]) == "advisory"
    assert space.write("DESCRIBE ACCESS", session=agent())["elevatable_authority_classes"] == []
    assert space.write("DESCRIBE ACCESS")["elevatable_authority_classes"] == ["advisory", "behavioral", "executable"]


@requirement("KI-GOV-026", "KI-SEC-009")
def test_what_is_inferred_names_what_it_comes_from_however_far(space: Space, governor: Governor) -> None:
    made = space.handles(CLAIM)
    governor.elevate(OWNER, made["e"], "advisory")
    text = """MUTATE {
      CREATE EVIDENCE ?s { SET FIELDS {evidence_class: "summary", payload: "short"} }
      CREATE ACTIVITY ?x { SET FIELDS {activity_class: "summarization", status: "completed"}
                           SET STRUCTURAL { ("inputs", :e) ("outputs", ?s) } }
      ASSERT ?i (:c, "speaks", "en") {by: :c, mode: "inferred", evidence: ?s}
    }"""
    derived = space.handles(text, e=made["e"], c=made["c"])
    body = space.element(derived["i"])["governance"]
    assert (body["authority_class"], body["authority_lineage"]) == ("descriptive", [derived["s"]])
    reached = space.write("LIST DEPENDENTS :e DEPTH 4", e=made["e"])
    assert derived["s"] in [row["id"] for row in reached]


@requirement("KI-GOV-032")
@pytest.mark.parametrize("field", ["inputs", "outputs"])
def test_a_derivation_stays_inside_its_space(space: Space, governor: Governor, field: str) -> None:
    text = f"""CREATE ACTIVITY ?x {{ SET FIELDS {{activity_class: "summarization", status: "completed"}}
      SET STRUCTURAL {{ ("{field}", :foreign) }} }}"""
    foreign = {"space_id": "kip:space:other", "element_id": "E-1"}
    assert space.refused(text, foreign=foreign) == "UnsupportedCapability"
    assert space.refused(text, foreign="E-1") == "NotFoundOrNotVisible"


@requirement("KI-GOV-012")
def test_an_attributed_claim_shows_who_recorded_it(space: Space, governor: Governor) -> None:
    made = space.handles(CLAIM)
    claim = space.write('ASSERT ?x (:c, "speaks", "en") {by: :c, mode: "stated"}', session=agent("scribe"), c=made["c"])
    body = space.element(claim["handles"]["x"])
    assert body["asserted_by"] == {"id": made["c"]}
    assert body["_system"]["origin"]["principal_id"] == "scribe"


@requirement("KI-GOV-028")
def test_what_is_quarantined_is_not_remembered(space: Space, governor: Governor) -> None:
    """Who reads to inform a model meets none of it, what it was said of included; who moderates does."""
    made = space.handles(CLAIM)
    remembering = reader_session("agent:recall")
    names = 'FIND(?c.name) WHERE { ?c {type: "Person"} }'
    assert space.write(names, session=remembering) == ["Ann", "Ben"]
    governor.quarantine(OWNER, [made["d"]])
    assert space.write(names, session=remembering) == ["Ann"]
    assert space.write("FIND(COUNT(?a)) WHERE { ?a ASSERTION {} }", session=remembering) == [0]
    assert space.write(names, session=agent()) == ["Ann", "Ben"]
    governor.quarantine(OWNER, [made["d"]], release=True)
    assert space.write(names, session=remembering) == ["Ann", "Ben"]


# --- derive -----------------------------------------------------------------------------------------------------------

DERIVED = """MUTATE {
  CREATE EVIDENCE ?s { SET FIELDS {evidence_class: "summary", payload: "short"} }
  CREATE ACTIVITY ?x { SET FIELDS {activity_class: "summarization", status: "completed"}
                       SET STRUCTURAL { ("inputs", :e) ("outputs", ?s) } }
}"""
OBSERVED = """MUTATE {
  CREATE EVIDENCE ?s { SET FIELDS {evidence_class: "reading", payload: "20 C"} }
  CREATE ACTIVITY ?x { SET FIELDS {activity_class: "tool_run", status: "completed"} SET STRUCTURAL { ("outputs", ?s) } }
}"""
GRADED = """MUTATE {
  CREATE EVIDENCE ?s { SET FIELDS {evidence_class: :kind, payload: "it worked"} }
  CREATE ACTIVITY ?x { SET FIELDS {activity_class: "outcome_observation", status: "completed"}
                       SET STRUCTURAL { ("inputs", :e) ("outputs", ?s) } }
}"""


@pytest.fixture
def derive_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine with the one line of its registry turned on."""
    offered = replace(capabilities.REGISTRY["derive_permission"], is_supported=True)
    monkeypatch.setattr(capabilities, "REGISTRY", {**capabilities.REGISTRY, "derive_permission": offered})


@requirement("KI-GOV-030")
@pytest.mark.usefixtures("derive_is_offered")
def test_deriving_needs_derive_where_it_is_offered(space: Space, governor: Governor) -> None:
    made = space.handles(CLAIM)
    deriver = replace(OWNER, permissions=OWNER.permissions | {"derive"})
    assert space.refused(DERIVED, e=made["e"]) == "NotAuthorized"
    space.write(DERIVED, e=made["e"], session=deriver)
    only = replace(OWNER, principal_id="only", permissions=frozenset({"derive", "discover", "read"}))
    assert space.refused(DERIVED, e=made["e"], session=only) == "NotAuthorized"
    space.write(OBSERVED)


@requirement("KI-GOV-030")
@pytest.mark.usefixtures("derive_is_offered")
def test_adding_an_output_later_is_deriving_too(space: Space, governor: Governor) -> None:
    made = space.handles(CLAIM)
    text = """CREATE ACTIVITY ?x { SET FIELDS {activity_class: "summarization", status: "running"}
      SET STRUCTURAL { ("inputs", :e) } }"""
    started = space.handles(text, e=made["e"])["x"]
    finish = 'TRANSITION :x TO "completed" SET STRUCTURAL { ("outputs", :c) }'
    assert space.refused(finish, x=started, c=made["c"]) == "NotAuthorized"
    space.write(finish, x=started, c=made["c"], session=replace(OWNER, permissions=OWNER.permissions | {"derive"}))


@requirement("KI-GOV-031", "KI-GOV-030")
@pytest.mark.usefixtures("derive_is_offered")
def test_an_outcome_is_recorded_without_derive(space: Space, governor: Governor) -> None:
    made = space.handles(CLAIM)
    instrument = preset_session("instrument", principal_id="probe", channel="test")
    space.write(GRADED, e=made["e"], session=instrument, kind="outcome")
    assert space.refused(GRADED, e=made["e"], session=instrument, kind="summary") == "NotAuthorized"


@requirement("KI-GOV-030", "KI-GOV-005")
def test_where_derive_is_not_offered_nothing_asks_for_it(space: Space, governor: Governor) -> None:
    made = space.handles(CLAIM)
    space.write(DERIVED, e=made["e"], session=agent())
    with pytest.raises(errors.UnsupportedCapability):
        governor.grant(OWNER, "ann", ["derive"])
