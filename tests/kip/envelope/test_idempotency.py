"""Idempotency keys: one request, one outcome (KIP 2.0 §34)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from brain.kip.context import Session
from tests.kip.conftest import OWNER, Space
from tests.kip.envelope.test_request import CREATE, code, request

requirement = pytest.mark.requirement

HOUR = 3_600_000


def keyed(command: str, key: str, *, mode: str = "independent", **members: Any) -> dict[str, Any]:
    parameters = members.pop("values", {})
    operation = {"command": command, "parameters": parameters}
    execution = {"mode": mode, "idempotency_key": key}
    return {"kip": "2.0", "operations": [operation], "execution": execution, **members}


def receipt(response: dict[str, Any]) -> Any:
    return response["receipt"] or response["results"][0]["receipt"]


@requirement("KI-TX-017", "KI-TX-019", "KI-TX-020", "KI-TX-021", "KI-ENV-036")
def test_the_retained_outcome_comes_first(space: Space) -> None:
    made = space.handles(CREATE)["n"]
    update = "UPDATE :c SET ATTRIBUTES {status: :s} EXPECT VERSION :v"

    def send(key: str, version: int, status: str = "a", **members: Any) -> dict[str, Any]:
        return space.execute(keyed(update, key, values={"c": made, "s": status, "v": version}, **members))

    first = send("k1", 1)
    assert receipt(first)["space_seq"] == 2
    space.write("UPDATE :c SET ATTRIBUTES {other: 1}", c=made)
    again = send("k1", 1, request_id="another", options={"deadline_ms": 60_000}, preconditions={"space_seq": 99})
    assert receipt(again) == receipt(first)
    assert again["results"][0]["result"] == first["results"][0]["result"]
    assert space.seq == 3
    assert code(send("k1", 1, status="b")) == "IdempotencyConflict"
    assert code(send("k2", 1)) == "VersionConflict"
    assert receipt(send("k2", 3, status="c"))["space_seq"] == 4
    same = send("k3", 4, status="c")
    assert receipt(same)["status"] == "no_effect"
    assert receipt(send("k3", 4, status="c")) == receipt(same)
    space.clock.advance(8 * 24 * HOUR)
    late = send("k1", 1)
    assert late["results"][0]["error"]["code"] == "TransactionUnknown"
    assert late["results"][0]["error"]["details"]["expired"] is True
    assert space.seq == 4


@requirement("KI-TX-021", "KI-ERR-058")
def test_a_key_long_forgotten_is_free_again(space: Space) -> None:
    space.execute(keyed(CREATE, "k"))
    space.clock.advance(40 * 24 * HOUR)
    assert receipt(space.execute(keyed(CREATE, "k")))["space_seq"] == 2


@requirement("KI-TX-018")
def test_two_principals_do_not_share_a_key(space: Space) -> None:
    other = replace(OWNER, principal_id="other")
    space.execute(keyed(CREATE, "k"))
    assert receipt(space.execute(keyed(CREATE, "k"), other))["space_seq"] == 2


@requirement("KI-TX-018")
def test_a_read_does_not_bind_a_key(space: Space) -> None:
    space.execute(keyed("LIST TYPES", "k"))
    assert receipt(space.execute(keyed(CREATE, "k")))["space_seq"] == 1


@requirement("KI-TX-019")
@pytest.mark.parametrize(
    "other",
    [
        keyed('CREATE CONCEPT ?n { TYPE "Person" NAME "Other" }', "k"),
        keyed(CREATE, "k", values={"x": 1}),
        keyed(CREATE, "k", ingest={"evidence": [{"key": "m", "evidence_class": "message", "payload": "p"}]}),
    ],
)
def test_other_work_under_a_key_changes_nothing(space: Space, other: dict[str, Any]) -> None:
    space.execute(keyed(CREATE, "k"))
    assert code(space.execute(other)) == "IdempotencyConflict"
    assert space.seq == 1


@requirement("KI-TX-024")
def test_a_caller_who_lost_the_right_is_shown_nothing(space: Space) -> None:
    space.execute(keyed(CREATE, "k"))
    revoked = Session(principal_id="owner", channel="test", permissions=frozenset({"read"}))
    response = space.execute(keyed(CREATE, "k"), revoked)
    assert code(response) == "NotAuthorized"
    assert "tx_id" not in str(response)


@requirement("KI-TX-023", "KI-TX-005")
def test_eight_threads_with_one_key_commit_once(space: Space) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: space.execute(keyed(CREATE, "k")), range(8)))
    assert {receipt(answer)["tx_id"] for answer in answers} == {"kip:space:default#1"}
    assert space.seq == 1


@requirement("KI-TX-017", "KI-ENV-026")
def test_an_atomic_request_replays_whole(space: Space) -> None:
    asked = request(CREATE, CREATE, execution={"mode": "atomic", "idempotency_key": "k"})
    first, again = space.execute(asked), space.execute(asked)
    assert again["receipt"] == first["receipt"]
    assert [entry["result"] for entry in again["results"]] == [entry["result"] for entry in first["results"]]
    assert space.seq == 1


@requirement("KI-TX-017", "KI-RETAIN-016", "KI-ENV-026")
def test_a_replayed_batch_reads_again_and_keeps_no_content(space: Space) -> None:
    find = 'FIND(?c.name) WHERE { ?c {type: "Person"} }'
    asked = request(CREATE, find, execution={"mode": "atomic", "idempotency_key": "k"})
    first = space.execute(asked)
    assert first["results"][1]["result"] == ["N"]
    space.write('CREATE CONCEPT ?n { TYPE "Person" NAME "Later" }')
    assert space.execute(asked)["results"][1]["result"] == ["N"]
    space.write('PURGE :c CONFIRM "PURGE"', c="C-1")
    assert space.execute(asked)["results"][1]["result"] == []


@requirement("KI-TX-017", "KI-ENV-025")
def test_a_sequence_goes_on_where_it_broke_off(space: Space) -> None:
    asked = request(
        CREATE, CREATE, execution={"mode": "sequence", "idempotency_key": "k"}, preconditions={"space_seq": 0}
    )
    first = space.execute(asked)
    assert [entry["receipt"]["space_seq"] for entry in first["results"]] == [1, 2]
    again = space.execute(asked)
    assert [entry["receipt"] for entry in again["results"]] == [entry["receipt"] for entry in first["results"]]
    assert space.seq == 2


@requirement("KI-TX-018")
def test_an_operations_own_key_goes_before_the_requests(space: Space) -> None:
    operations = [{"command": CREATE, "idempotency_key": "own"}]
    for _ in range(2):
        space.execute(
            {"kip": "2.0", "operations": operations, "execution": {"mode": "sequence", "idempotency_key": "k"}}
        )
    assert space.seq == 1
    assert space.write('DESCRIBE TRANSACTION BY IDEMPOTENCY KEY "own"')["space_seq"] == 1
    assert space.refused('DESCRIBE TRANSACTION BY IDEMPOTENCY KEY "k"') == "TransactionUnknown"


@requirement("KI-SCHEMA-032")
def test_a_definition_is_safe_to_resend_under_a_key(space: Space) -> None:
    text = 'DEFINE PREDICATE "p" {description: "d"}'
    assert receipt(space.execute(keyed(text, "k"))) == receipt(space.execute(keyed(text, "k")))
    assert code(space.execute(request(text))) == "SchemaSymbolConflict"


@requirement("KI-TX-022", "KI-TX-035")
def test_a_replay_is_no_second_observation(space: Space) -> None:
    text = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "hi"} }'
    for _ in range(2):
        space.execute(keyed(text, "k"))
    assert space.write("FIND(COUNT(?e)) WHERE { ?e EVIDENCE {} }") == [1]
