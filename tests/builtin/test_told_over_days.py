"""What one person says over several days, a post a day: changes take the old value's place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from brain.agents.builtin import OfflineModel
from brain.agents.jobs import RecallJob
from brain.agents.recall import recall
from tests.agents.space import TestSpace, open_space, said

MODEL = OfflineModel()


@pytest.fixture
def space(tmp_path: Path) -> Iterator[TestSpace]:
    with open_space(tmp_path) as opened:
        yield opened


def told(space: TestSpace, *texts: str, by: str = "Tom Baker") -> None:
    """One post a day by one person."""
    for day, text in enumerate(texts):
        at = f"2026-03-{5 + day:02d}T10:00:00.000Z"
        assert space.form(MODEL, said(text, by, at=at)).failed_reason is None


def answer(space: TestSpace, question: str) -> str:
    return anyio.run(recall, space.place(MODEL), RecallJob(question)).run.content


@pytest.mark.requirement("BR-FORM-018", "BR-AGENT-010")
@pytest.mark.parametrize(
    ("says", "question", "holds", "gone"),
    [
        (("I work for Acme.", "I now work for Globex in London."), "Where does Tom work?", "Globex", "for Acme"),
        (("I work at Acme.", "Now I'm at Initech."), "Where does Tom work?", "Initech", "for Acme"),
        (("My email is a@b.com.", "My email has changed to l@b.com."), "What is Tom's email?", "l@b.com", "a@b.com"),
        (
            ("My phone number is 555-1111.", "I changed my phone number to 555-9999."),
            "What is Tom's phone number?",
            "555-9999",
            "555-1111",
        ),
        (
            ("My phone number is 555-1111.", "My new phone number is 555-0000."),
            "What is Tom's phone number?",
            "555-0000",
            "555-1111",
        ),
        (
            ("The deadline for Heron is 30 April 2026.", "The Heron deadline has moved to 15 May 2026."),
            "When is the Heron deadline?",
            "2026-05-15",
            "is due on 2026-04-30",
        ),
        (
            ("I'm a designer.", "I'm not a designer anymore, I'm a product owner."),
            "What is Tom's role?",
            "product owner",
            "is a designer",
        ),
        (("I like coffee.", "I hate coffee now."), "Does Tom like coffee?", "No", "Yes"),
        (("I live in Porto. Actually no, Lisbon.",), "Where does Tom live?", "Lisbon", "Porto"),
        (
            ("I live in Lisbon.", "I moved to Porto.", "I have never lived in Lisbon."),
            "Has Tom ever lived in Lisbon?",
            "No",
            "Yes",
        ),
        (("I have a dog called Rex.", "Forget what I said about Rex."), "Does Tom have a dog?", "took back", "Yes"),
        (
            ("I'm allergic to nuts.", "Please forget that I'm allergic to nuts"),
            "What is Tom allergic to?",
            "took back",
            "is allergic",
        ),
        (("I joined the Rotary Club.", "I left the Rotary Club."), "Is Tom in the Rotary Club?", "Not any more", "Yes"),
        (("I take aspirin.", "I stopped taking aspirin."), "What medication does Tom take?", "Not any more", "takes"),
        (("I own a boat.", "I sold my boat."), "Does Tom own a boat?", "Not any more", "Yes"),
        (
            ("I live in Porto.", "Correction: I do not live in Porto, I live in Faro."),
            "Where does Tom live?",
            "Faro",
            "Porto",
        ),
        (
            ("My manager is Sven Dahl.", "Correction: my manager is not Sven Dahl, my manager is Lars Berg."),
            "Who is Tom's manager?",
            "Lars Berg",
            "Sven",
        ),
        (
            (
                "The deadline for Heron is 20 April.",
                "Correction: the deadline for Heron is not 20 April, it is 22 April.",
            ),
            "When is the Heron deadline?",
            "2026-04-22",
            "04-20",
        ),
        (("The garage code is 4821, please keep it.",), "What is the garage code?", "4821", "nothing on record"),
    ],
)
def test_the_last_word_is_what_holds(
    space: TestSpace, says: tuple[str, ...], question: str, holds: str, gone: str
) -> None:
    told(space, *says)
    found = answer(space, question)
    assert holds in found
    assert gone not in found


@pytest.mark.requirement("BR-FORM-018")
@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I'm the product manager of Project Heron.", {"has_role": "product manager", "works_on": "Heron"}),
        ("I'm a dog owner.", {}),
        ("I like that cat and keep it.", {}),
    ],
)
def test_a_role_is_for_what_it_is_a_role_of(space: TestSpace, text: str, claims: dict[str, str]) -> None:
    told(space, text)
    rows = space.rows("FIND(?p.predicate_ref, ?o.name) WHERE { ?p (?s, ?r, ?o) ?a ASSERTION {proposition: ?p} }")
    assert {predicate.rpartition("/")[2]: name for predicate, name in rows} == claims


def test_an_arrangement_moves_to_the_later_day(space: TestSpace) -> None:
    told(space, "The launch moved from Friday to Monday.")
    assert space.rows('FIND(?e.attributes.summary) WHERE { ?e {type: "Event"} }') == ["the launch moved to 2026-03-09"]


def test_a_day_that_can_be_two_is_no_due_day(space: TestSpace) -> None:
    told(space, "I will send the report on 05/06/2026.")
    assert "2026" not in answer(space, "What promises are open?").replace("2026-03-05", "")


def test_a_week_across_two_months_begins_no_claim_on_a_day(space: TestSpace) -> None:
    told(space, "Hi.", "Good morning.", "Thanks.", "I moved to Dallas last week.")
    assert "2026-03-01" not in answer(space, "Where does Tom live?")


@pytest.mark.requirement("BR-FORM-018", "BR-AGENT-010")
@pytest.mark.parametrize(
    ("says", "question", "holds", "gone"),
    [
        (("我的邮箱是a@b.com。", "我的邮箱改成l@b.com了。"), "李明的邮箱是什么？", "l@b.com", "a@b.com"),
        (
            ("我的电话是13800000000。", "我的电话换成13900000000了。"),
            "李明的电话是多少？",
            "13900000000",
            "13800000000",
        ),
        (("我对花生过敏。", "更正：我不是对花生过敏，是对虾过敏。"), "李明对什么过敏？", "虾", "花生"),
        (("我的上司是王芳。", "更正:我的上司不是王芳,是赵磊。"), "李明的上司是谁?", "赵磊", "又名"),
        (("我住在苏州。", "更正：我不是住在苏州，是住在杭州。"), "李明住在哪里？", "杭州", "苏州"),
        (("我在腾讯工作。", "我现在在阿里工作了。"), "李明在哪里工作？", "阿里", "腾讯"),
        (
            ("项目星河的截止日期是2026年4月30日。", "项目星河的截止日期改到2026年5月15日了。"),
            "星河的截止日期是什么时候？",
            "2026-05-15",
            "没有",
        ),
        (("我有一个儿子叫李明轩。",), "李明的儿子叫什么？", "李明轩", "没有"),
    ],
)
def test_the_last_word_holds_in_chinese(
    space: TestSpace, says: tuple[str, ...], question: str, holds: str, gone: str
) -> None:
    told(space, *says, by="李明")
    found = answer(space, question)
    assert holds in found
    assert gone not in found


@pytest.mark.requirement("BR-FORM-018")
@pytest.mark.parametrize("text", ["我住在恐惧中。", "取消周五的会议。"])
def test_what_is_no_place_and_no_arrangement_is_not_kept_as_one(space: TestSpace, text: str) -> None:
    head = space.head()
    told(space, text, by="李明")
    assert space.head() == head


def test_a_promise_to_ones_mother_is_ones_own(space: TestSpace) -> None:
    told(space, "我答应妈妈周日给她打电话。", by="李明")
    assert space.rows('FIND(?c.attributes.summary) WHERE { ?c {type: "Commitment"} }') == ["给妈妈打电话"]


@pytest.mark.requirement("BR-FORM-018")
@pytest.mark.parametrize(
    ("promised", "then", "becomes"),
    [
        ("I'll send Lena the schema draft by Friday.", "Lena, I sent you the schema draft.", "fulfilled"),
        ("I'll send you the invoice tomorrow.", "I've sent you the invoice.", "fulfilled"),
        ("I'll pick up Zoe on Friday.", "I picked up Zoe yesterday.", "fulfilled"),
        ("I'll call Mia on Friday.", "I won't call Mia after all.", "cancelled"),
        ("I'll call Mia on Friday.", "I called Ben yesterday.", "pending"),
        ("I'll send you the invoice tomorrow.", "I sent you a photo.", "pending"),
    ],
)
def test_what_was_done_or_called_off_settles_its_promise_alone(
    space: TestSpace, promised: str, then: str, becomes: str
) -> None:
    told(space, promised, then)
    assert space.rows('FIND(?c.attributes.status) WHERE { ?c {type: "Commitment"} }') == [becomes]


@pytest.mark.parametrize("text", ["My name is Ana Ruiz.", "I am Ana Ruiz.", "Call me Ana Ruiz from now on."])
def test_nobody_takes_the_name_of_another(space: TestSpace, text: str) -> None:
    told(space, "I live in Lisbon.", by="Ana Ruiz")
    told(space, "I live in Oslo.", text, by="Mallory Fox")
    assert "Mallory" not in answer(space, "Where does Ana Ruiz live?")


@pytest.mark.requirement("BR-FORM-018")
@pytest.mark.parametrize(
    ("text", "promise"),
    [
        ("I promised Priya to review the security audit by 27 March.", "review the security audit"),
        ("I promised to call Sven by 27 March.", "call Sven"),
        ("我答应王明6月5日之前订好会议室。", "订好会议室"),
    ],
)
def test_a_promise_given_is_kept_with_what_was_promised(space: TestSpace, text: str, promise: str) -> None:
    told(space, text)
    assert space.rows('FIND(?c.attributes.summary) WHERE { ?c {type: "Commitment"} }') == [promise]


def test_what_waits_is_not_called_off(space: TestSpace) -> None:
    told(space, "I will fix the boiler by 14 March.", "I will not fix the boiler before 28 March.")
    assert space.rows('FIND(?c.attributes.status) WHERE { ?c {type: "Commitment"} }') == ["pending"]


@pytest.mark.parametrize(
    ("text", "at", "since"),
    [
        ("From 1 June I live in Oslo.", "2026-05-25T10:00:00.000Z", "2026-06-01"),
        ("From 5 January I work at Bolt.", "2025-12-20T10:00:00.000Z", "2026-01-05"),
        ("I've worked at Acme since 5 May.", "2025-12-20T10:00:00.000Z", "2025-05-05"),
        ("6月1日起我在蓝鲸科技上班。", "2026-05-25T10:00:00.000Z", "2026-06-01"),
    ],
)
def test_what_begins_in_some_days_does_not_begin_a_year_ago(space: TestSpace, text: str, at: str, since: str) -> None:
    assert space.form(MODEL, said(text, "Emil Roth", at=at)).failed_reason is None
    (begun,) = space.rows("FIND(?a.valid_time.from) WHERE { ?a ASSERTION {} }")
    assert since in str(begun)
