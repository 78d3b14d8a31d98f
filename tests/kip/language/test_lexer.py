"""Names, strings and numbers, and what no text may do to the reader."""

from __future__ import annotations

import json
import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain import errors
from brain.ids import MAX_SAFE_INTEGER
from brain.kip import ast
from brain.kip.lexer import number_value, string_value
from brain.kip.parser import parse, statement_of
from brain.kip.tokens import COMMAND_BYTES, NESTING, Fault
from brain.kip.walk import walk
from tests.kip.language.strategies import texts


def literals_of(text: str) -> list[object]:
    return [node.value for node in walk(statement_of(text)) if isinstance(node, ast.Literal)]


# --- strings ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("KI-LEX-005")
def test_a_surrogate_pair_is_one_character() -> None:
    assert literals_of(r'SEARCH CONCEPT "\ud83d\ude00"') == ["😀"]


@pytest.mark.requirement("KI-LEX-017")
def test_text_is_not_normalized() -> None:
    assert literals_of('UPDATE :x SET ATTRIBUTES {a: "e\u0301"}') == ["e\u0301"]


@pytest.mark.requirement("KI-LEX-004")
@given(texts, st.booleans())
def test_every_json_string_is_a_string_here(text: str, ascii_only: bool) -> None:
    assert string_value(json.dumps(text, ensure_ascii=ascii_only)) == text


@pytest.mark.requirement("KI-LEX-003")
def test_two_slashes_in_a_string_are_text() -> None:
    assert literals_of('SEARCH CONCEPT "a//b" // c') == ["a//b"]


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("KI-LEX-014")
@pytest.mark.parametrize("text", ["1", "1.0", "1e0", "10e-1", "0.1e1", "1.000"])
def test_spellings_of_one_are_one(text: str) -> None:
    value = number_value(text)
    assert value == 1
    assert isinstance(value, int)


@pytest.mark.requirement("KI-LEX-014")
@pytest.mark.parametrize("text", ["-0", "-0.0", "0e99999999999999999999", "-0.000e-5"])
def test_every_zero_is_zero(text: str) -> None:
    value = number_value(text)
    assert str(value) == "0"


@pytest.mark.requirement("KI-LEX-010", "KI-LEX-011", "KI-LEX-012")
@given(
    st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)
def test_a_number_is_kept_or_refused_by_its_digits(text: str) -> None:
    value, exact = number_value(text), Decimal(text)
    nearest = float(text)
    too_large = abs(nearest) > MAX_SAFE_INTEGER and (math.isinf(nearest) or nearest.is_integer())
    lost = exact != 0 and nearest == 0
    if too_large or lost:
        assert isinstance(value, Fault)
    else:
        assert value == nearest
        assert isinstance(value, int) == nearest.is_integer()


@pytest.mark.requirement("KI-LEX-011")
@given(st.integers(MAX_SAFE_INTEGER + 1, 10**30), st.sampled_from(("{}", "-{}", "{}.0", "{}e0", "{}.000E+0", "{}0e-1")))
def test_no_spelling_smuggles_in_a_large_whole_number(number: int, spelling: str) -> None:
    assert isinstance(number_value(spelling.format(number)), Fault)


@pytest.mark.requirement("KI-LEX-010")
def test_a_number_of_many_digits_is_judged_quickly() -> None:
    assert isinstance(number_value("9" * 200_000), Fault)
    assert number_value("0." + "3" * 200_000) == 1 / 3
    assert number_value("1e" + "0" * 100_000 + "2") == 100


# --- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("KI-SEC-013")
@pytest.mark.parametrize(
    "text",
    [
        "FIND(?x) WHERE { ?x {} FILTER(" + "(" * 10_000,
        "FIND(?x) WHERE { ?x {} FILTER(" + "(" * NESTING + "1" + ")" * NESTING + ") }",
        "FIND(?x) WHERE " + "{ NOT " * 10_000,
        "UPDATE :x SET ATTRIBUTES {a: " + "[" * NESTING + "]" * NESTING + "}",
        "FIND(?x) WHERE { ?x {} FILTER(" + "==".join("1" * 5_000) + ") }",
    ],
    ids=["open brackets", "one too deep", "blocks", "arrays", "a run of comparisons"],
)
def test_deep_texts_are_refused_and_break_nothing(text: str) -> None:
    with pytest.raises(errors.ResourceExhausted):
        parse(text)


@pytest.mark.requirement("KI-SEC-013")
def test_the_deepest_allowed_nesting_parses() -> None:
    depth = NESTING - 2
    parse("FIND(?x) WHERE { ?x {} FILTER(" + "(" * depth + "?x.a == 1" + ")" * depth + ") }")
    parse("UPDATE :x SET ATTRIBUTES {a: " + "[" * (NESTING - 1) + "]" * (NESTING - 1) + "}")


def test_a_run_of_many_alternatives_parses_to_a_shallow_tree() -> None:
    statement = parse("FIND(?x) WHERE { ?x {} FILTER(" + " || ".join(f"?x.a == {n}" for n in range(9_000)) + ") }")
    numbers = [node.value for node in walk(statement) if isinstance(node, ast.Literal)]
    assert numbers == list(range(9_000))
    assert repr(statement)


@pytest.mark.requirement("KI-SEC-013")
def test_a_text_has_a_longest_length_in_bytes() -> None:
    start, end = 'SEARCH CONCEPT "', '"'
    parse(start + "a" * (COMMAND_BYTES - len(start) - 1) + end)
    with pytest.raises(errors.ResourceExhausted):
        parse(start + "é" * (COMMAND_BYTES // 2) + end)


@pytest.mark.requirement("KI-LEX-009")
def test_an_error_quotes_a_short_piece_only() -> None:
    with pytest.raises(errors.InvalidSyntax) as caught:
        parse("FIND(?x) WHERE { ?x {name: " + "x" * 100_000 + "} }")
    assert len(json.dumps(caught.value.to_wire())) < 1_000


# --- any text ---------------------------------------------------------------------------------------------------------

_PIECES = st.sampled_from(
    ("FIND", "WHERE", "?x", ":p", '"s"', "1", "{", "}", "(", ")", "[", "]", ",", ":", ".", "MUTATE", "UPDATE", "SET",
     "ATTRIBUTES", "ASSERT", "FILTER", "==", "&&", "-", "!", "|", "'", "=", ";", "\n", " ", "//", "\\", "é", "TO",
     "DESCRIBE", "TYPE", "BELIEF", "SLOT", "CREATE", "CONCEPT", "EXPECT", "VERSION", "SEARCH", "LIMIT", "a", "\ud800")
)  # fmt: skip


@pytest.mark.requirement("KI-LEX-009", "KI-SEC-013")
@settings(max_examples=500, deadline=None)
@given(st.lists(_PIECES | st.text(max_size=3), max_size=25))
def test_any_text_parses_or_is_refused_at_a_place_inside_it(pieces: list[str]) -> None:
    text = " ".join(pieces)
    error = _refusal(text)
    if error is not None:
        line, column = error.details["line"], error.details["column"]
        assert 1 <= column <= len(text.split("\n")[line - 1]) + 1
        assert str(error.details["snippet"]).strip("…") in text


def _refusal(text: str) -> errors.KipError | None:
    try:
        parse(text)
    except errors.KipError as error:
        return error
    return None
