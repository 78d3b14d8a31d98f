"""Execution modes, dry runs, deadlines, receipts (KIP 2.0 §33, §69.4, §75, §80 to §83)."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import Any

import pytest

from brain import errors
from brain.ids import digest
from tests.kip.conftest import Space
from tests.kip.envelope.test_request import COUNT, CREATE, code, request

requirement = pytest.mark.requirement

BAD = 'CREATE CONCEPT ?n { TYPE "Spaceship" }'
SEQUENCE = {"mode": "sequence"}


def statuses(response: dict[str, Any]) -> list[str]:
    return [entry["status"] for entry in response["results"]]


@requirement("KI-ENV-025", "KI-ENV-027", "KI-ENV-028", "KI-ENV-031", "KI-TX-018")
def test_a_sequence_sees_its_commits_and_stops_at_an_error(space: Space) -> None:
    response = space.execute(request(CREATE, COUNT, BAD, CREATE, execution=SEQUENCE))
    assert statuses(response) == ["succeeded", "succeeded", "failed", "skipped"]
    assert response["status"] == "partial"
    assert response["results"][1]["result"] == [1]
    assert response["results"][0]["receipt"]["space_seq"] == space.seq == 1
    assert response["receipt"] is None


@requirement("KI-ENV-025", "KI-ENV-024")
@pytest.mark.parametrize("execution", [{"mode": "sequence", "on_error": "continue"}, {"mode": "independent"}])
def test_other_operations_go_on_where_that_is_asked(space: Space, execution: dict[str, Any]) -> None:
    response = space.execute(request(CREATE, BAD, CREATE, execution=execution))
    assert statuses(response) == ["succeeded", "failed", "succeeded"]
    assert response["status"] == "partial"
    assert [entry["context"]["snapshot_seq"] for entry in response["results"] if "context" in entry] == [0, 1]
    assert space.seq == 2


@requirement("KI-ENV-031")
def test_nothing_good_is_failed_and_nothing_bad_is_succeeded(space: Space) -> None:
    assert space.execute(request(BAD, CREATE, execution=SEQUENCE))["status"] == "failed"
    assert space.execute(request(COUNT, "MUTATE {}", execution=SEQUENCE))["status"] == "succeeded"
    assert statuses(space.execute(request("MUTATE {}"))) == ["no_effect"]


@requirement("KI-TX-029")
def test_a_sequences_own_commits_do_not_break_its_precondition(space: Space) -> None:
    response = space.execute(request(CREATE, CREATE, execution=SEQUENCE, preconditions={"space_seq": 0}))
    assert response["status"] == "succeeded"


@requirement("KI-SCHEMA-031")
def test_a_sequence_may_define_and_then_use(space: Space) -> None:
    response = space.execute(
        request(
            'DEFINE CONCEPT TYPE "Boat" {description: "b"}',
            'CREATE CONCEPT ?b { TYPE "Boat" }',
            execution=SEQUENCE,
        )
    )
    assert response["status"] == "succeeded"
    assert response["context"]["schema_environment_version"] == 2


# --- atomic -----------------------------------------------------------------------------------------------------------

ATOMIC = {"mode": "atomic"}


@requirement("KI-ENV-026", "KI-TX-003", "KI-ENV-038", "KI-KQL-012")
def test_an_atomic_request_is_one_commit_that_reads_its_own_writes(space: Space) -> None:
    response = space.execute(
        request(
            'CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada"} }',
            COUNT,
            'UPDATE ?p SET ATTRIBUTES {seen: true} WHERE { ?p {type: "Person"} }',
            'FIND(?p.attributes.seen) WHERE { ?p {key: "ada"} }',
            'SEARCH CONCEPT "Ada"',
            execution=ATOMIC,
        )
    )
    assert statuses(response) == ["succeeded"] * 5
    assert response["results"][1]["result"] == [1]
    assert response["results"][3]["result"] == [True]
    assert [hit["id"] for hit in response["results"][4]["result"]["hits"]] == ["C-1"]
    assert response["receipt"]["status"] == "committed"
    assert response["receipt"]["space_seq"] == space.seq == 1
    assert all("receipt" not in entry for entry in response["results"])
    envelope = space.commit(1).envelope
    assert [(entry["op"], entry["new_version"]) for entry in envelope["changes"]] == [("create", 1)]
    assert space.element("C-1")["_system"]["version"] == 1


@requirement("KI-ENV-026", "KI-TX-001")
def test_one_failure_undoes_the_whole_atomic_request(space: Space) -> None:
    response = space.execute(request(CREATE, COUNT, BAD, CREATE, execution=ATOMIC))
    assert statuses(response) == ["rolled_back", "rolled_back", "failed", "skipped"]
    assert response["status"] == "failed"
    assert response["receipt"] is None
    assert space.seq == 0
    assert space.write(COUNT) == [0]


@requirement("KI-TX-009", "KI-ENV-026")
def test_an_element_changed_twice_in_one_transaction_gets_one_version(space: Space) -> None:
    made = space.handles(CREATE)["n"]
    two = [f'UPDATE "{made}" SET ATTRIBUTES {{x: {n}}}' for n in (1, 2)]
    response = space.execute(request(*two, execution=ATOMIC))
    assert response["status"] == "succeeded"
    body = space.element(made)
    assert (body["attributes"], body["_system"]["version"]) == ({"x": 2}, 2)
    changes = space.commit(2).envelope["changes"]
    assert [(e["old_version"], e["new_version"], e["planes"]["attributes"]) for e in changes] == [(1, 2, 2)]


@requirement("KI-SCHEMA-026")
def test_define_is_refused_beside_others_in_an_atomic_request(space: Space) -> None:
    two = request('DEFINE PREDICATE "p" {description: "d"}', CREATE, execution=ATOMIC)
    assert code(space.execute(two)) == "InvalidRequestEnvelope"
    alone = request('DEFINE PREDICATE "p" {description: "d"}', execution=ATOMIC)
    assert space.execute(alone)["status"] == "succeeded"


@requirement("KI-ENV-026", "KI-TX-008")
def test_an_atomic_request_without_change_takes_no_sequence(space: Space) -> None:
    response = space.execute(request(COUNT, "MUTATE {}", execution=ATOMIC))
    assert response["receipt"]["status"] == "no_effect"
    assert "space_seq" not in response["receipt"]
    assert space.seq == 0


# --- dry runs ---------------------------------------------------------------------------------------------------------


@requirement("KI-ENV-030", "KI-TX-008")
@pytest.mark.parametrize("execution", [{"mode": "independent"}, ATOMIC])
def test_a_dry_run_shows_and_keeps_nothing(space: Space, execution: dict[str, Any]) -> None:
    response = space.execute(request(CREATE, execution=execution, options={"dry_run": True}))
    assert [entry["op"] for entry in response["results"][0]["result"]["changes"]] == ["create"]
    receipt = response["receipt"] or response["results"][0]["receipt"]
    assert receipt["status"] == "no_effect"
    assert space.seq == 0
    assert space.handles(CREATE) == {"n": "C-1"}


@requirement("KI-ENV-030")
def test_a_dry_run_checks_like_the_real_one(space: Space) -> None:
    made = space.handles('MUTATE { CREATE CONCEPT ?a { TYPE "Person" } ENSURE PROPOSITION (?a, "knows", ?a) }')["a"]
    dry = {"options": {"dry_run": True}}
    assert space.refused('PURGE :a CONFIRM "PURGE"', a=made, envelope=dry) == "PurgeDenied"
    assert space.refused(BAD, envelope=dry) == "SchemaSymbolNotFound"


@requirement("KI-META-035", "KI-ENV-030")
def test_a_preview_tries_a_text_and_keeps_nothing(space: Space) -> None:
    shown = space.write("PREVIEW KML :text", text=CREATE)
    assert shown["would_commit"] is True
    assert [entry["op"] for entry in shown["effect"]["changes"]] == ["create"]
    assert space.write("PREVIEW KML :text", text=BAD)["error"]["code"] == "SchemaSymbolNotFound"
    assert space.seq == 0


# --- receipts ---------------------------------------------------------------------------------------------------------


@requirement("KI-TX-014", "KI-TX-016", "KI-TX-007", "KI-TX-013")
def test_a_receipt_says_what_was_committed_and_seals_it(space: Space) -> None:
    receipt = space.receipt(CREATE)
    assert {name: receipt[name] for name in ("space_id", "snapshot_seq", "space_seq", "tx_id", "status")} == {
        "space_id": "kip:space:default",
        "snapshot_seq": 0,
        "space_seq": 1,
        "tx_id": "kip:space:default#1",
        "status": "committed",
    }
    assert receipt["committed_at"] == "2026-09-20T00:00:00.000Z"
    assert receipt["transaction_class"] == "cognitive"
    assert receipt["origin"] == {"principal_id": "owner", "actor_binding_id": None, "delegation_digest": None}
    assert receipt["receipt_digest"] == digest({n: v for n, v in receipt.items() if n != "receipt_digest"})
    for name in ("request_digest", "semantic_plan_digest", "result_digest"):
        assert receipt[name].startswith("sha256:")
    assert space.write("VERIFY RECEIPT :r", r=json.dumps(receipt))["valid"] is True


@requirement("KI-TX-015", "KI-TX-007")
def test_a_receipt_of_no_effect_has_no_sequence(space: Space) -> None:
    receipt = space.receipt("MUTATE {}")
    assert receipt["status"] == "no_effect"
    assert "space_seq" not in receipt
    assert receipt["tx_id"]


# --- deadlines and unknown outcomes -----------------------------------------------------------------------------------


@requirement("KI-ENV-035", "KI-ERR-080")
def test_a_passed_deadline_is_a_timeout_and_writes_nothing(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brain.kip.operate.monotonic", lambda: time.monotonic() + 60)
    response = space.execute(request(CREATE, options={"deadline_ms": 30_000}))
    assert code(response) == "ExecutionTimeout"
    assert space.seq == 0


@requirement("KI-ENV-035", "KI-ERR-080")
def test_the_time_to_read_the_commands_counts_towards_the_deadline(space: Space) -> None:
    # Each takes a good part of a second to parse; together they would take several.
    patterns = " ".join(f"?c{number} {{}}" for number in range(20_000))
    commands = [f"FIND(?c1) WHERE {{ {patterns} }} LIMIT {limit}" for limit in range(1, 9)]
    began = time.thread_time()
    response = space.execute(
        request(*commands, execution={"mode": "independent"}, options={"deadline_ms": 50}),
    )
    assert time.thread_time() - began < 0.75
    errors_ = [entry["error"] for entry in response["results"]]
    assert [(error["code"], error["retry"]["class"]) for error in errors_] == [
        ("ExecutionTimeout", "safe_same_request")
    ] * len(commands)


def breaking_after_commit(space: Space, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let the next transaction commit and then break off."""
    real = type(space.store).transaction

    @contextmanager
    def transaction(self: Any, **options: Any) -> Any:
        with real(self, **options) as tx:
            yield tx
        raise error

    monkeypatch.setattr(type(space.store), "transaction", transaction)


@requirement("KI-ENV-035", "KI-ENV-036", "KI-ERR-059")
def test_a_commit_whose_answer_broke_off_is_looked_up(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking_after_commit(space, monkeypatch, errors.InternalError())
    assert statuses(space.execute(request(CREATE))) == ["succeeded"]
    assert statuses(space.execute(request(CREATE, execution=ATOMIC))) == ["succeeded"]
    assert space.seq == 2


@requirement("KI-ENV-035", "KI-ENV-036", "KI-ERR-059", "KI-ENV-031")
def test_an_outcome_nobody_can_look_up_is_unknown_and_not_aborted(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = {"mode": "independent", "idempotency_key": "k"}
    breaking_after_commit(space, monkeypatch, errors.InternalError())

    def gone(*_: Any, **__: Any) -> None:
        raise errors.InternalError()

    with monkeypatch.context() as patched:
        patched.setattr(type(space.store), "snapshot", gone)
        response = space.execute(request(CREATE, execution=execution))
        batch = space.execute(request(COUNT, CREATE, execution=ATOMIC))
    for answer in (response, batch):
        assert answer["status"] == "outcome_unknown"
        assert {entry["error"]["code"] for entry in answer["results"]} == {"OutcomeUnknown"}
        assert answer["receipt"] is None
    assert response["execution"]["idempotency_key"] == "k"
    monkeypatch.undo()
    again = space.execute(request(CREATE, execution=execution))
    assert again["results"][0]["receipt"]["space_seq"] == 1
    assert space.seq == 2


@requirement("KI-ENV-021")
def test_a_failing_operation_does_not_forget_what_an_earlier_one_minted(space: Space) -> None:
    cite = """CREATE ACTIVITY ?x { SET FIELDS {activity_class: "t"} SET STRUCTURAL { ("inputs", :msg) } }"""
    response = space.execute(
        request(
            cite,
            'DEFINE PREDICATE "knows" {description: "taken"}',
            'FIND(?x.id) WHERE { ?x ACTIVITY {} STRUCTURAL (?x, "inputs", :msg) }',
            execution={"mode": "sequence", "on_error": "continue"},
            ingest={"evidence": [{"key": "msg", "evidence_class": "message", "payload": "hi"}]},
        )
    )
    assert statuses(response) == ["succeeded", "failed", "succeeded"]
    assert response["results"][2]["result"] == ["X-1"]
