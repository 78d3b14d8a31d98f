"""Pages of one traversal (§44.8)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from tests.kip.conftest import Space

PEOPLE = 'FIND(?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.attributes.age DESC LIMIT :n'


@pytest.fixture
def town(space: Space) -> Space:
    """Seven people, two of them without an age, three of one age."""
    ages = {"Ann": 41, "Ben": 29, "Cho": 29, "Dia": None, "Eli": 29, "Fay": None, "Gus": 3}
    for name, age in ages.items():
        attributes = "" if age is None else f"SET ATTRIBUTES {{age: {age}}}"
        space.write(f'CREATE CONCEPT ?c {{TYPE "Person" NAME "{name}" {attributes}}}')
    return space


def pages(space: Space, command: str, size: int, **values: Any) -> Iterator[list[Any]]:
    answer = space.answer(command, n=size, **values)
    yield answer["result"]
    while "next_cursor" in answer:
        answer = space.answer(f"{command} CURSOR :cursor", n=size, cursor=answer["next_cursor"], **values)
        yield answer["result"]


def first_cursor(space: Space, command: str = PEOPLE, **values: Any) -> str:
    return str(space.answer(command, **{"n": 2, **values})["next_cursor"])


@pytest.mark.requirement("KI-KQL-052", "KI-KQL-056", "KI-KQL-057")
@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
@pytest.mark.parametrize(
    "command",
    [
        PEOPLE,
        'FIND(?c.name) WHERE { ?c {type: "Person"} } LIMIT :n',
        'FIND(?c.name, ?d.name) WHERE { ?c {type: "Person"} ?d {attributes: {age: 29}} } LIMIT :n',
        'FIND(?c.attributes.age, COUNT(?c)) WHERE { ?c {type: "Person"} } LIMIT :n',
        'FIND(?c.attributes.age, COUNT(?c)) WHERE { ?c {type: "Person"} } ORDER BY COUNT(?c) DESC LIMIT :n',
        'FIND(?c.name) WHERE { ?c {name: "Gus"} UNION { ?c {type: "Person"} } } ORDER BY ?c.name LIMIT :n',
    ],
)
def test_pages_of_any_size_are_the_whole_answer_once(town: Space, command: str, size: int) -> None:
    whole = town.answer(command, n=1000)
    assert "next_cursor" not in whole
    found = list(pages(town, command, size))
    assert [row for page in found for row in page] == whole["result"]
    assert all(len(page) == size for page in found[:-1])


@pytest.mark.requirement("KI-KQL-056")
def test_later_pages_show_the_state_of_the_first(town: Space) -> None:
    expected = town.answer(PEOPLE, n=100)["result"]
    cursor = first_cursor(town)
    town.write('CREATE CONCEPT ?c {TYPE "Person" NAME "New" SET ATTRIBUTES {age: 40}}')
    town.write('UPDATE "C-7" SET FIELDS {name: "Gustav"}')
    answer = town.answer(f"{PEOPLE} CURSOR :cursor", n=100, cursor=cursor)
    assert answer["result"] == expected[2:]
    assert answer["context"]["snapshot_seq"] == 7


@pytest.mark.requirement("KI-KQL-055")
def test_the_page_size_may_change_on_the_way(town: Space) -> None:
    answer = town.answer(f"{PEOPLE} CURSOR :cursor", n=100, cursor=first_cursor(town))
    assert len(answer["result"]) == 5


@pytest.mark.requirement("KI-KQL-055")
def test_spelling_and_further_parameters_make_no_other_query(town: Space) -> None:
    respelled = PEOPLE.lower().replace("?c.name", '?c["name"]').replace('"person"', '"Person"')
    assert "result" in town.answer(f"{respelled} CURSOR :cursor", n=2, cursor=first_cursor(town), unused=1)


@pytest.mark.requirement("KI-KQL-055", "KI-ERR-062")
def test_another_query_does_not_continue(town: Space) -> None:
    other = PEOPLE.replace("DESC", "ASC")
    assert town.error(f"{other} CURSOR :cursor", n=2, cursor=first_cursor(town))["code"] == "CursorMismatch"


@pytest.mark.requirement("KI-KQL-055", "KI-ERR-062")
def test_other_parameters_do_not_continue(town: Space) -> None:
    command = "FIND(?c.name) WHERE { ?c {type: :t} } LIMIT :n"
    cursor = first_cursor(town, command, t="Person")
    assert town.error(f"{command} CURSOR :cursor", n=2, t="Place", cursor=cursor)["code"] == "CursorMismatch"


@pytest.mark.requirement("KI-KQL-055", "KI-ERR-063")
def test_a_cursor_of_another_family_does_not_continue(town: Space) -> None:
    listed = town.answer("LIST TYPES LIMIT 1")["next_cursor"]
    assert town.error(f"{PEOPLE} CURSOR :cursor", n=2, cursor=listed)["code"] == "CursorTypeMismatch"


@pytest.mark.requirement("KI-KQL-055", "KI-ERR-065")
@pytest.mark.parametrize("invented", ["", "x", "not-a-cursor", 1, None, True, "ä", "AAAA" * 40])
def test_what_was_never_given_out_is_invalid(town: Space, invented: Any) -> None:
    assert town.error(f"{PEOPLE} CURSOR :cursor", n=2, cursor=invented)["code"] == "CursorInvalid"


@pytest.mark.requirement("KI-SEC-004", "KI-KQL-055")
def test_a_cursor_shows_nothing_of_the_row_it_stands_behind(town: Space) -> None:
    by_name = 'FIND(?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.name LIMIT :n'
    cursor = first_cursor(town, by_name)
    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    assert cursor == first_cursor(town, by_name)
    for name in town.write('FIND(?p.name) WHERE { ?p {type: "Person"} }'):
        assert name.encode() not in raw
    assert b"kql" not in raw
    assert b"kip:space" not in raw


@pytest.mark.requirement("KI-KQL-055", "KI-ERR-065", "KI-SEC-004")
def test_an_edited_cursor_is_invalid(town: Space) -> None:
    cursor = first_cursor(town)
    raw = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    raw[-4] ^= 1
    edited = base64.urlsafe_b64encode(bytes(raw)).decode().rstrip("=")
    assert town.error(f"{PEOPLE} CURSOR :cursor", n=2, cursor=edited)["code"] == "CursorInvalid"


@pytest.mark.requirement("KI-KQL-054")
def test_a_page_of_no_rows_can_be_continued(town: Space) -> None:
    answer = town.answer(PEOPLE, n=0)
    assert answer["result"] == []
    followed = town.answer(f"{PEOPLE} CURSOR :cursor", n=100, cursor=answer["next_cursor"])
    assert len(followed["result"]) == 7


@pytest.mark.requirement("KI-KQL-055")
def test_an_unbound_cursor_parameter_is_missing(town: Space) -> None:
    assert town.error(f"{PEOPLE} CURSOR :cursor", n=2)["code"] == "ReferenceError"
