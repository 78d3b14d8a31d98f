"""What people say about change, one after the other, formed and asked about with the key-free model on a real Space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
import pytest

from brain.agents.builtin import OfflineModel
from brain.agents.jobs import RecallJob, RecallResult
from brain.agents.recall import recall
from brain.times import milliseconds
from tests.agents.space import TestSpace, open_space, said

MODEL = OfflineModel()
JUNE_1, JUNE_2, NOW = "2026-06-01T09:00:00.000Z", "2026-06-02T09:00:00.000Z", "2026-06-10T12:00:00.000Z"

Saying = tuple[str, str, str]
"""Who, when, what."""


@pytest.fixture
def space(tmp_path: Path) -> Iterator[TestSpace]:
    with open_space(tmp_path) as opened:
        opened.clock.advance(milliseconds(NOW) - opened.clock.now_ms())
        yield opened


def tell(space: TestSpace, *sayings: Saying) -> None:
    """Each in a conversation of its own, in the order given."""
    for name, at, text in sayings:
        assert space.form(MODEL, said(text, name, at=at)).failed_reason is None


def ask(space: TestSpace, question: str) -> RecallResult:
    return anyio.run(recall, space.place(MODEL), RecallJob(question))


def cited(space: TestSpace, answer: RecallResult) -> list[str]:
    """The messages an answer goes back to."""
    ids = [citation.element_id for citation in answer.citations if citation.element_id.startswith("A-")]
    texts: list[str] = []
    for assertion in ids:
        [view] = space.rows("FIND(?a) WHERE { ?a ASSERTION {id: :id} }", id=assertion)
        for item in view["evidence"]:
            texts += [
                str(payload)
                for payload in space.rows("FIND(?e.payload.inline) WHERE { ?e EVIDENCE {id: :id} }", id=item["id"])
            ]
    return texts


PORTO: Saying = ("Ana", JUNE_1, "I live in Porto.")
LISBON: Saying = ("Ana", JUNE_2, "I moved to Lisbon in May.")


@pytest.mark.requirement("BR-MODEL-011", "BR-MODEL-015")
@pytest.mark.parametrize("sayings", [(PORTO, LISBON), (LISBON, PORTO)], ids=["in order", "the older message later"])
def test_the_later_word_holds_and_the_earlier_value_is_told_as_former(
    space: TestSpace, sayings: Sequence[Saying]
) -> None:
    tell(space, *sayings)
    assert ask(space, "Where does Ana live?").run.content.startswith("Ana lives in Lisbon (since 2026-05;")
    former = ask(space, "Does Ana live in Porto?")
    assert former.run.content.startswith("Not any more: Ana lived in Porto (until 2026-05;")
    assert any("Porto" in text for text in cited(space, former))
    assert ask(space, "Does Ana live in Lisbon?").run.content.startswith("Yes")


def test_what_another_says_of_a_move_does_not_outdo_ones_own_word(space: TestSpace) -> None:
    tell(space, PORTO, ("Bob", JUNE_2, "Ana moved to Lisbon in May."))
    assert ask(space, "Where does Ana live?").run.content.startswith("Ana lives in Porto")


def test_the_same_person_may_say_of_another_that_they_moved(space: TestSpace) -> None:
    tell(space, ("Bob", JUNE_1, "Ana lives in Porto."), ("Bob", JUNE_2, "Ana moved to Lisbon in May."))
    assert ask(space, "Where does Ana live?").run.content.startswith("Ana lives in Lisbon (since 2026-05;")


@pytest.mark.parametrize(
    ("first", "second", "question", "answer"),
    [
        ("I like sushi.", "I don't like sushi anymore.", "Does Ana like sushi?", "Not any more"),
        ("I work at Acme.", "I left Acme.", "Does Ana work at Acme?", "Not any more"),
        ("I live in Porto.", "I moved to Lisbon.", "Where does Ana live?", "Ana lives in Lisbon"),
        ("I live in Porto.", "I live in Lisbon.", "Where does Ana live?", "Ana lives in Lisbon"),
        ("I don't live in Porto.", "I live in Porto.", "Does Ana live in Porto?", "Yes"),
    ],
)
@pytest.mark.parametrize("is_one_post", [True, False], ids=["one post", "two posts"])
def test_at_one_instant_the_order_of_saying_decides(
    space: TestSpace, first: str, second: str, question: str, answer: str, is_one_post: bool
) -> None:
    if is_one_post:
        space.form(MODEL, said(first, "Ana", at=JUNE_1), said(second, "Ana", at=JUNE_1))
    else:
        tell(space, ("Ana", JUNE_1, first), ("Ana", JUNE_1, second))
    assert ask(space, question).run.content.startswith(answer)


@pytest.mark.parametrize(
    ("denial", "question"),
    [
        ("I don't live in Faro.", "Does Ana live in Faro?"),
        ("I'm not allergic to nuts.", "Is Ana allergic to nuts?"),
        ("I don't work at Acme.", "Does Ana work at Acme?"),
    ],
)
def test_a_denial_nobody_asked_for_answers_no_and_is_cited(space: TestSpace, denial: str, question: str) -> None:
    tell(space, ("Ana", JUNE_1, denial))
    answer = ask(space, question)
    assert answer.run.content.startswith("No")
    assert cited(space, answer) == [denial]


def test_hearsay_does_not_win_against_a_denial(space: TestSpace) -> None:
    tell(space, ("Ana", JUNE_1, "I don't live in Faro."), ("Bob", JUNE_2, "Ana lives in Faro."))
    answer = ask(space, "Does Ana live in Faro?")
    assert not answer.run.content.startswith("Yes")
    assert "Ana says that this is not so" in answer.run.content
    assert sorted(cited(space, answer)) == ["Ana lives in Faro.", "I don't live in Faro."]


def test_the_past_without_a_date_is_told_without_a_date(space: TestSpace) -> None:
    tell(space, ("Ana", JUNE_2, "I used to live in Porto."))
    assert "until" not in ask(space, "Where did Ana live?").run.content


def test_the_past_does_not_end_the_present(space: TestSpace) -> None:
    tell(space, ("Ana", JUNE_1, "I live in Lisbon."), ("Ana", JUNE_2, "I used to live in Porto."))
    assert ask(space, "Where does Ana live?").run.content.startswith("Ana lives in Lisbon")


@pytest.mark.parametrize("at", ["2026-02-01T09:00:00.000Z", JUNE_1])
def test_an_end_named_to_the_month_is_told_to_the_month(space: TestSpace, at: str) -> None:
    tell(space, ("Ana", at, "I work at Acme."), ("Ana", JUNE_2, "I left Acme in March."))
    assert "until 2026-03;" in ask(space, "Does Ana work at Acme?").run.content


def test_a_new_person_may_share_a_first_name_with_a_known_one(space: TestSpace) -> None:
    tell(space, ("Bob", JUNE_1, "Ana Ruiz likes jazz."), ("Bob", JUNE_2, "Ana Silva lives in Faro."))
    assert ask(space, "Where does Ana Silva live?").run.content.startswith("Ana Silva lives in Faro")
    assert "Faro" not in ask(space, "What does Ana Ruiz like?").run.content


def test_a_first_name_of_two_people_is_nobodys_unless_one_takes_part(space: TestSpace) -> None:
    tell(space, ("Ana Ruiz", JUNE_1, "I like jazz."), ("Ana Silva", JUNE_1, "I like tea."))
    tell(space, ("Bob", JUNE_2, "Ana lives in Faro."))
    assert space.rows('FIND(?o.name) WHERE { ?p (?s, "lives_in", ?o) }') == []
    space.form(MODEL, said("Hello.", "Ana Silva", at=JUNE_2), said("Ana lives in Faro.", "Bob", at=JUNE_2))
    assert space.rows('FIND(?s.name) WHERE { ?p (?s, "lives_in", ?o) }') == ["Ana Silva"]
