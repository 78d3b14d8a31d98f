"""LIST DEPENDENTS."""

from __future__ import annotations

import pytest

from tests.kip.conftest import Space
from tests.kip.meta.test_vocabulary import rows


def derive(space: Space, inputs: list[str], name: str) -> str:
    """One Insight made from some elements by a finished Activity."""
    given = " ".join(f'("inputs", "{element}")' for element in inputs)
    handles = space.handles(
        f"""MUTATE {{ CREATE CONCEPT ?i {{TYPE "Insight" NAME "{name}" SET ATTRIBUTES {{summary: "{name}"}}}}
        CREATE ACTIVITY ?x {{SET FIELDS {{activity_class: "inference", status: "completed"}}
        SET STRUCTURAL {{ {given} ("outputs", ?i) }}}} }}"""
    )
    return handles["i"]


@pytest.fixture
def ann(space: Space) -> str:
    return space.handles('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}')["a"]


def reached(space: Space, start: str, depth: str = "") -> list[tuple[str, int]]:
    return [(row["id"], row["distance"]) for row in rows(space, f'LIST DEPENDENTS "{start}" {depth}')]


@pytest.mark.requirement("KI-META-014", "KI-PROFILE-025")
def test_a_chain_is_walked_as_far_as_depth_says(space: Space, ann: str) -> None:
    first = derive(space, [ann], "one")
    second = derive(space, [first], "two")
    third = derive(space, [second], "three")
    assert reached(space, ann) == [(first, 1)]
    assert reached(space, ann, "DEPTH 0") == []
    assert reached(space, ann, "DEPTH 2") == [(first, 1), (second, 2)]
    assert reached(space, ann, "DEPTH 8") == reached(space, ann, "DEPTH 99") == [(first, 1), (second, 2), (third, 3)]
    (row,) = rows(space, "LIST DEPENDENTS :a", a=ann)
    assert row == {"id": first, "kind": "concept", "distance": 1, "via": {"activity": "X-1"}}


@pytest.mark.requirement("KI-META-015")
def test_in_a_diamond_and_a_circle_each_appears_once_at_its_least_distance(space: Space, ann: str) -> None:
    left, right = derive(space, [ann], "left"), derive(space, [ann], "right")
    join = derive(space, [left, right, ann], "join")
    space.write(
        """CREATE ACTIVITY ?x {SET FIELDS {activity_class: "inference", status: "completed"}
        SET STRUCTURAL { ("inputs", :join) ("outputs", :ann) ("outputs", :left) }}""",
        join=join,
        ann=ann,
        left=left,
    )
    assert reached(space, ann, "DEPTH 8") == [(left, 1), (right, 1), (join, 1)]


@pytest.mark.requirement("KI-META-014", "KI-META-016")
def test_it_pages_and_says_what_it_covers(space: Space, ann: str) -> None:
    made = [derive(space, [ann], f"i{n}") for n in range(5)]
    deeper = derive(space, [made[0]], "deeper")
    answer = space.answer('LIST DEPENDENTS "C-1" LIMIT 2')
    rest = space.answer('LIST DEPENDENTS "C-1" LIMIT 9 CURSOR :c', c=answer["next_cursor"])
    assert [row["id"] for row in answer["result"] + rest["result"]] == made
    coverage = answer["context"]["extensions"]["brain/coverage"]
    assert coverage == {"coverage_scope": "authorized_view", "truncated": True}
    whole = space.answer('LIST DEPENDENTS "C-1" DEPTH 2')
    assert [row["id"] for row in whole["result"]] == [*made, deeper]
    assert whole["context"]["extensions"]["brain/coverage"]["truncated"] is False


@pytest.mark.requirement("KI-META-017")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ('LIST DEPENDENTS "C-404"', "NotFoundOrNotVisible"),
        ('LIST DEPENDENTS "Ann"', "InvalidIdentifier"),
        ("LIST DEPENDENTS 5", "TypeMismatch"),
        ('LIST DEPENDENTS "C-1" DEPTH -1', "TypeMismatch"),
        ('LIST DEPENDENTS "C-1" DEPTH "2"', "TypeMismatch"),
    ],
)
def test_a_start_that_is_not_there_is_refused(space: Space, ann: str, command: str, code: str) -> None:
    assert space.refused(command) == code


def test_nothing_derived_is_an_empty_list(space: Space, ann: str) -> None:
    assert reached(space, ann, "DEPTH 8") == []
