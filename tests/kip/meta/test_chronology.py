"""Snapshots, transactions, history and changes."""

from __future__ import annotations

from typing import Any

import pytest

from brain.kip.context import Session
from tests.kip.conftest import OWNER, Space
from tests.kip.meta.test_vocabulary import rows

START = "2026-09-20T00:00:00.000Z"
STRANGER = Session(principal_id="stranger", channel="test")
FORGETFUL = Session(principal_id="guest", channel="test", permissions=frozenset({"discover", "read", "search"}))


@pytest.fixture
def told(space: Space) -> Space:
    """Three commits a second apart: Ann and Ben, Ann renamed, Ben archived."""
    space.write('MUTATE { CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"} CREATE CONCEPT ?b {TYPE "Person" NAME "Ben"} }')
    space.clock.advance(1000)
    space.write('UPDATE "C-1" SET FIELDS {name: "Anna"}')
    space.clock.advance(1000)
    space.write('TRANSITION "C-2" TO "archived"')
    return space


class TestSnapshot:
    """DESCRIBE SNAPSHOT."""

    @pytest.mark.requirement("KI-META-009", "KI-CAP-006")
    @pytest.mark.parametrize(
        ("operand", "seq", "at"),
        [
            ("", 3, "2026-09-20T00:00:02.000Z"),
            ("AS OF SEQ 2", 2, "2026-09-20T00:00:01.000Z"),
            ("AS OF SEQ 0", 0, None),
            (f'AT TIME "{START}"', 1, START),
            ('AT TIME "2026-09-20T00:00:01.999Z"', 2, "2026-09-20T00:00:01.000Z"),
            ('AT TIME "2999-01-01T00:00:00.000Z"', 3, "2026-09-20T00:00:02.000Z"),
            ('AT TIME "2000-01-01T00:00:00.000Z"', 0, None),
        ],
    )
    def test_it_names_one_coordinate(self, told: Space, operand: str, seq: int, at: str | None) -> None:
        shown = rows(told, f"DESCRIBE SNAPSHOT {operand}")
        assert (shown["space_seq"], shown["committed_at"], shown["schema_environment_version"]) == (seq, at, 1)
        assert shown["tx_id"] == (f"kip:space:default#{seq}" if seq else None)
        assert shown["space_id"] == "kip:space:default"

    @pytest.mark.requirement("KI-META-009")
    @pytest.mark.parametrize(
        ("operand", "code"),
        [
            ("AS OF SEQ 4", "HistoricalSnapshotUnavailable"),
            ("AS OF SEQ -1", "TypeMismatch"),
            ('AT TIME "2026-09-20"', "ConstraintViolation"),
            ("AT TIME 0", "TypeMismatch"),
        ],
    )
    def test_what_is_no_coordinate_is_refused(self, told: Space, operand: str, code: str) -> None:
        assert told.refused(f"DESCRIBE SNAPSHOT {operand}") == code

    def test_it_names_the_vocabulary_of_its_time(self, told: Space) -> None:
        told.write('DEFINE PREDICATE "admires" {description: "d"}')
        assert rows(told, "DESCRIBE SNAPSHOT")["schema_environment_version"] == 2
        assert rows(told, "DESCRIBE SNAPSHOT AS OF SEQ 3")["schema_environment_version"] == 1
        assert rows(told, "DESCRIBE SNAPSHOT AS OF SEQ 0")["schema_environment_version"] == 1


class TestTransaction:
    """DESCRIBE TRANSACTION."""

    @pytest.mark.requirement("KI-META-008", "KI-TX-013")
    def test_by_id_it_is_the_envelope_and_the_record_beside_it(self, told: Space) -> None:
        answer = told.answer('DESCRIBE TRANSACTION "kip:space:default#2"')
        shown = answer["result"]
        assert (shown["space_seq"], shown["snapshot_seq"], shown["status"]) == (2, 1, "committed")
        assert [entry["id"] for entry in shown["changes"]] == ["C-1"]
        record = answer["context"]["extensions"]["brain/commit"]
        assert record["origin"]["principal_id"] == OWNER.principal_id
        assert {"request_digest", "result_digest", "semantic_plan_digest", "change_summary"} <= record.keys()

    @pytest.mark.requirement("KI-META-008")
    def test_by_key_a_lost_answer_is_found_again(self, space: Space) -> None:
        envelope = {"execution": {"mode": "independent", "idempotency_key": "k"}}
        receipt = space.answer('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}', envelope=envelope)["receipt"]
        shown = rows(space, 'DESCRIBE TRANSACTION BY IDEMPOTENCY KEY "k"')
        assert shown["tx_id"] == receipt["tx_id"]
        assert shown["changes"][0]["id"] == "C-1"

    @pytest.mark.requirement("KI-META-008")
    def test_a_key_that_changed_nothing_says_so(self, told: Space) -> None:
        envelope = {"execution": {"mode": "independent", "idempotency_key": "k"}}
        told.answer('UPDATE "C-1" SET FIELDS {name: "Anna"}', envelope=envelope)
        shown = rows(told, 'DESCRIBE TRANSACTION BY IDEMPOTENCY KEY "k"')
        assert (shown["status"], shown["changes"]) == ("no_effect", [])
        assert "space_seq" not in shown

    @pytest.mark.requirement("KI-META-008", "KI-TX-018")
    @pytest.mark.parametrize(
        "command",
        [
            'DESCRIBE TRANSACTION "kip:space:default#77"',
            'DESCRIBE TRANSACTION "x"',
            'DESCRIBE TRANSACTION BY IDEMPOTENCY KEY "nope"',
        ],
    )
    def test_an_unknown_one_is_unknown(self, told: Space, command: str) -> None:
        assert told.refused(command) == "TransactionUnknown"
        assert told.refused("DESCRIBE TRANSACTION 5") == "TypeMismatch"

    @pytest.mark.requirement("KI-TX-018")
    def test_another_principal_does_not_find_my_key(self, space: Space) -> None:
        envelope = {"execution": {"mode": "independent", "idempotency_key": "k"}}
        space.write('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}', envelope=envelope)
        assert space.refused('DESCRIBE TRANSACTION BY IDEMPOTENCY KEY "k"', session=STRANGER) == "TransactionUnknown"


def seqs(envelopes: Any) -> list[int]:
    return [envelope["space_seq"] for envelope in envelopes]


class TestHistory:
    """HISTORY ELEMENT and HISTORY SPACE."""

    @pytest.mark.requirement("KI-META-030")
    def test_an_element_has_its_own_entries_oldest_first(self, told: Space) -> None:
        found = rows(told, 'HISTORY ELEMENT "C-1"')
        assert seqs(found) == [1, 2]
        assert [[(e["id"], e["op"]) for e in envelope["changes"]] for envelope in found] == [
            [("C-1", "create")],
            [("C-1", "update")],
        ]
        assert "coverage" not in found[0]

    @pytest.mark.requirement("KI-META-030", "KI-CAP-015")
    def test_a_space_has_whole_envelopes(self, told: Space) -> None:
        found = rows(told, "HISTORY SPACE")
        assert found == [told.commit(seq).envelope for seq in (1, 2, 3)]

    @pytest.mark.requirement("KI-META-030")
    @pytest.mark.parametrize(
        ("span", "expected"),
        [
            ("FROM SEQ 2", [2, 3]),
            ("TO SEQ 2", [1, 2]),
            ("FROM SEQ 2 TO SEQ 2", [2]),
            ("FROM SEQ 9 TO SEQ 3", []),
            ("FROM SEQ 99", []),
            ("FROM SEQ 0 TO SEQ 99", [1, 2, 3]),
            ("LIMIT 0", []),
        ],
    )
    def test_both_ends_are_included(self, told: Space, span: str, expected: list[int]) -> None:
        assert seqs(rows(told, f"HISTORY SPACE {span}")) == expected

    @pytest.mark.requirement("KI-META-030", "KI-KQL-056")
    @pytest.mark.parametrize("what", ["SPACE", 'ELEMENT "C-1"'])
    def test_pages_show_the_history_of_the_first_page(self, told: Space, what: str) -> None:
        whole = seqs(rows(told, f"HISTORY {what}"))
        first = told.answer(f"HISTORY {what} LIMIT 1")
        told.write('UPDATE "C-1" SET ATTRIBUTES {city: "Oslo"}')
        second = told.answer(f"HISTORY {what} LIMIT 9 CURSOR :c", c=first["next_cursor"])
        assert seqs(first["result"] + second["result"]) == whole
        assert "next_cursor" not in second
        assert told.refused("HISTORY SPACE FROM SEQ 2 CURSOR :c", c=first["next_cursor"]) == "CursorMismatch"

    @pytest.mark.requirement("KI-META-030")
    @pytest.mark.parametrize(
        ("command", "code"),
        [
            ('HISTORY ELEMENT "C-404"', "NotFoundOrNotVisible"),
            ('HISTORY ELEMENT "x"', "InvalidIdentifier"),
            ("HISTORY ELEMENT 5", "TypeMismatch"),
            ("HISTORY SPACE FROM SEQ -1", "TypeMismatch"),
            ('HISTORY SPACE CURSOR "x"', "CursorInvalid"),
        ],
    )
    def test_a_bad_question_is_refused(self, told: Space, command: str, code: str) -> None:
        assert told.refused(command) == code

    @pytest.mark.requirement("KI-META-033", "KI-META-030")
    def test_it_shows_moves_and_no_content(self, told: Space) -> None:
        told.write('UPDATE "C-1" SET ATTRIBUTES {secret: "swordfish"}')
        assert "swordfish" not in str(rows(told, "HISTORY SPACE"))
        assert "swordfish" not in str(rows(told, "CHANGES AFTER SEQ 0"))

    def test_an_erased_element_keeps_its_moves(self, told: Space) -> None:
        told.write('PURGE "C-2" REFERENCE POLICY "authorized_cascade" CONFIRM "PURGE"')
        assert [e["changes"][0]["op"] for e in rows(told, 'HISTORY ELEMENT "C-2"')] == ["create", "lifecycle", "purge"]

    @pytest.mark.requirement("KI-META-033")
    @pytest.mark.parametrize("command", ["HISTORY SPACE", 'HISTORY ELEMENT "C-1"', "CHANGES AFTER SEQ 0"])
    def test_it_needs_its_permission(self, told: Space, command: str) -> None:
        assert told.refused(command, session=FORGETFUL) == "NotAuthorized"


class TestChanges:
    """CHANGES AFTER SEQ and SINCE."""

    @pytest.mark.requirement("KI-META-031", "KI-TX-037")
    def test_they_come_in_order_with_their_coverage(self, told: Space) -> None:
        answer = told.answer("CHANGES AFTER SEQ 1")
        assert seqs(answer["result"]) == [2, 3]
        for envelope in answer["result"]:
            assert envelope["coverage"] == answer["context"]["extensions"]["brain/coverage"]
            assert envelope["coverage"]["through_seq"] == 3
            assert envelope["coverage"]["complete"] is True

    @pytest.mark.requirement("KI-META-031")
    @pytest.mark.parametrize("after", [3, 99])
    def test_past_the_head_there_is_nothing_but_coverage(self, told: Space, after: int) -> None:
        answer = told.answer("CHANGES AFTER SEQ :n", n=after)
        assert answer["result"] == []
        assert answer["context"]["extensions"]["brain/coverage"]["through_seq"] == 3

    @pytest.mark.requirement("KI-META-031", "KI-TX-035")
    def test_a_cursor_goes_on_and_on(self, told: Space) -> None:
        answer = told.answer("CHANGES AFTER SEQ 0 LIMIT 2")
        assert seqs(answer["result"]) == [1, 2]
        assert answer["result"][0]["coverage"]["through_seq"] == 2
        answer = told.answer("CHANGES SINCE :c", c=answer["next_cursor"])
        assert seqs(answer["result"]) == [3]
        assert "next_cursor" not in answer
        cursor = answer["context"]["cursor"]
        assert rows(told, "CHANGES SINCE :c", c=cursor) == []
        told.write('UPDATE "C-1" SET ATTRIBUTES {city: "Oslo"}')
        assert seqs(rows(told, "CHANGES SINCE :c", c=cursor)) == [4]
        assert seqs(rows(told, "CHANGES SINCE :c", c=cursor)) == [4]

    @pytest.mark.requirement("KI-META-031")
    def test_a_made_up_cursor_is_refused(self, told: Space) -> None:
        assert told.refused('CHANGES SINCE "x"') == "CursorInvalid"
        other = told.answer("HISTORY SPACE LIMIT 1")["next_cursor"]
        assert told.refused("CHANGES SINCE :c", c=other) == "CursorTypeMismatch"
        assert told.refused("CHANGES AFTER SEQ -1") == "TypeMismatch"
