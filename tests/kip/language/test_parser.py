"""What callers rely on beside the tree: the cache, the language, the parameters, one meaning for shared rules."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain import errors
from brain.kip import ast
from brain.kip.lexer import tokens_of
from brain.kip.parser import language_of, parameters_of, parse, parse_uncached, statement_of
from brain.kip.printer import show
from brain.kip.tokens import END
from brain.kip.walk import children, walk
from tests.kip.language import strategies


@pytest.mark.requirement("KI-LEX-001")
@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("find(?x) where {?x {}}", "FIND(?x) WHERE { ?x {} }"),
        ("Transition :x To \"archived\" Expect Version 1 Of Facet \"F\"",
         'TRANSITION :x TO "archived" EXPECT VERSION 1 OF FACET "F"'),
        ("FIND(Count( Distinct ?x )) WHERE { ?x concept {} }", "FIND(COUNT(DISTINCT ?x)) WHERE { ?x {} }"),
        ("describe Structural field 's'".replace("'", '"'), 'DESCRIBE STRUCTURAL FIELD "s"'),
    ],
)  # fmt: skip
def test_keywords_match_in_any_case_and_print_in_upper_case(written: str, canonical: str) -> None:
    assert show(parse(written)) == canonical
    assert parse(written) == parse(canonical)


def test_precedence_follows_the_grammar() -> None:
    statement = parse("FIND(?x) WHERE { ?x {} FILTER(?x.a || !?x.b && ?x.c == -?x.d < 1) }")
    assert isinstance(statement, ast.Find)
    condition = statement.where.clauses[1]
    assert isinstance(condition, ast.Filter)
    outer = condition.expression
    assert isinstance(outer, ast.Binary)
    assert outer.operator == "||"
    right = outer.right
    assert isinstance(right, ast.Binary)
    assert (right.operator, show(right.left), show(right.right)) == ("&&", "!?x.b", "?x.c == -?x.d < 1")


def test_a_minus_sign_in_front_of_a_digit_belongs_to_the_number() -> None:
    statement = parse("FIND(?x) WHERE { ?x {} FILTER(?x.a == -1 && ?x.b == - 1) }")
    minus = [node for node in walk(statement) if isinstance(node, ast.Unary)]
    assert [show(node) for node in minus] == ["-(1)"]


@settings(max_examples=150, deadline=None)
@given(strategies.statements(), st.randoms(use_true_random=False))
def test_blanks_and_comments_between_tokens_change_nothing(statement: ast.Statement, random: object) -> None:
    t = tokens_of(show(statement))
    between = (" ", "\n", "\t // c\r\n", "\r\n//\n", "  ")
    text = ""
    for index, head in enumerate(t.heads[:-1]):
        follows = t.heads[index + 1]
        # A parameter's colon, and the name behind it, stay together.
        attached = head == ":" and follows.isidentifier() and t.starts[index + 1] == t.ends[index]
        text += t.text(index) + ("" if attached else random.choice(between))  # type: ignore[attr-defined]
    assert t.heads[-1] == END
    assert statement_of(text) == statement


@settings(max_examples=150, deadline=None)
@given(strategies.statements())
def test_spans_lie_inside_the_text_and_inside_each_other(statement: ast.Statement) -> None:
    text = show(statement)
    read = statement_of(text)
    assert read.span == ast.Span(0, len(text))
    for node in walk(read):
        for child in children(node):
            assert node.span.start <= child.span.start <= child.span.end <= node.span.end


@pytest.mark.parametrize(
    ("text", "language"),
    [("FIND(?x) WHERE { ?x {} }", "KQL"), ("MUTATE {}", "KML"), ("DEFINE PREDICATE \"p\" {}", "KML"),
     ("ASSERT (:a, \"p\", :b) {by: :a, mode: \"stated\"}", "KML"), ("SEARCH CONCEPT :q", "META"),
     ("EXPORT CAPSULE :x WHERE {}", "META"), ("HISTORY SPACE", "META")],
)  # fmt: skip
def test_a_statement_knows_its_language(text: str, language: str) -> None:
    assert language_of(parse(text)) == language


@pytest.mark.requirement("KI-KML-042")
def test_parameters_are_found_wherever_they_stand_and_never_in_strings() -> None:
    text = (
        'FIND(?x) WHERE { ?x {type: :t, name: "Hello :name", tags: [:g]} (?x, :p{1}, (id: :i)) '
        "FILTER(IN(?x.a, [:l])) } AS OF SEQ :s LIMIT :n // :comment"
    )
    assert parameters_of(parse(text)) == {"t", "g", "p", "i", "l", "s", "n"}


def test_equal_texts_give_one_tree() -> None:
    text = "FIND(?cached) WHERE { ?cached {} }"
    assert parse(text) is parse(text)
    assert parse_uncached(text) is not parse(text)
    assert parse_uncached(text) == parse(text)


def test_true_and_one_are_two_literals() -> None:
    assert parse("SEARCH CONCEPT true") != parse("SEARCH CONCEPT 1")


@pytest.mark.requirement("KI-KML-002", "KI-KML-003")
def test_an_error_about_a_name_points_at_the_name() -> None:
    with pytest.raises(errors.ReferenceError) as caught:
        parse('MUTATE {\n  ENSURE PROPOSITION (:a, "knows", ?zz)\n}')
    assert (caught.value.details["line"], caught.value.details["column"]) == (2, 36)


# --- rules that the three grammars share ------------------------------------------------------------------------------

HOSTS: dict[str, Callable[[str], str]] = {
    "KQL": lambda clauses: f"FIND(?x) WHERE {{ ?x {{}} {clauses} }}",
    "KML": lambda clauses: f"UPDATE ?x SET ATTRIBUTES {{a: 1}} WHERE {{ ?x {{}} {clauses} }}",
    "META": lambda clauses: f"EXPORT CAPSULE ?x WHERE {{ ?x {{}} {clauses} }}",
}
SHARED = [
    '?y CONCEPT {type: "T", "a b": [1, ?z, {c: (id: :p)}], n: null}',
    '?p PROPOSITION (?x, "knows", ({key: "k"}, :p, "o"))',
    '(id: "P-1")',
    "?a ASSERTION {proposition: (?x, ?r, true)} ?e EVIDENCE {} ?t ACTIVITY {}",
    '?g STRUCTURAL (?x, "s", ?y) STRUCTURAL ("C-1", :f, :t)',
    'FILTER(!(?x.a["b c"].d == 1) || IN(?x.k, [1, "a", :p]) && -?x.n <= 2e-3)',
    "NOT { ?y {} OPTIONAL { ?z {} UNION { ?y {} FILTER(IS_NULL(?y.a)) } } }",
]
REFUSED = [
    "?y {a: 1,}",
    "?y {a 1}",
    "(?x, knows, ?y)",
    '("Ann", "knows", ?y)',
    "FILTER(?x.a = 1)",
    "FILTER(?nobody.a == 1)",
    "FILTER(NOPE(?x))",
    "?y {a: 1e400}",
    "NOT ?y {}",
    "?y {} , ?z {}",
]


@pytest.mark.requirement("KI-LEX-008")
@pytest.mark.parametrize("clauses", SHARED)
def test_a_shared_rule_gives_one_tree_in_all_three_languages(clauses: str) -> None:
    blocks = set()
    for host in HOSTS.values():
        statement = parse(host(clauses))
        assert isinstance(statement, (ast.Find, ast.Update, ast.ExportCapsule))
        blocks.add(statement.where)
    assert len(blocks) == 1


@pytest.mark.requirement("KI-LEX-008")
@pytest.mark.parametrize("clauses", REFUSED)
@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_a_shared_rule_refuses_alike_in_all_three_languages(host: Callable[[str], str], clauses: str) -> None:
    with pytest.raises(errors.InvalidSyntax):
        parse(host(clauses))


def test_the_names_of_many_patterns_are_kept_in_time_linear_in_their_number() -> None:
    def seconds(count: int) -> float:
        text = f"FIND(?x) WHERE {{ ?x {{}} {' '.join(f'?c{number} {{}}' for number in range(count))} }}"
        began = time.thread_time()
        parse_uncached(text)
        return time.thread_time() - began

    # Kept for each pattern anew, the names of 16,000 took over a hundred times as long as those of 1,000.
    assert min(seconds(16_000) for _ in range(2)) < 60 * min(seconds(1_000) for _ in range(3))
