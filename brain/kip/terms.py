"""Values and expressions: the productions all three grammars share and spell alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal as OneOf
from typing import TypeVar, cast

from brain.kip.ast import (
    ArrayLiteral,
    Binary,
    DataValue,
    Expression,
    FieldAccess,
    FunctionCall,
    Literal,
    Member,
    ObjectLiteral,
    Parameter,
    Scalar,
    Span,
    Unary,
    Variable,
)
from brain.kip.faults import bare_word, missing_comma
from brain.kip.lexer import Tokens, number_value, string_value
from brain.kip.tokens import NUMBER, STRING, VARIABLE, Fault

Item = TypeVar("Item")

_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}

CHAIN = 32
"""Up to this many operands of `&&` or `||` fold to the left; a longer run folds into a balanced tree, whose depth a
recursive reader survives. Both associate, so the meaning is one."""


def identifier(t: Tokens, what: str = "a name") -> str:
    """A name: ASCII letters, digits and `_`, no digit first."""
    if not t.head.isidentifier():
        raise t.unexpected(f"{what} has to stand here")
    name = t.text()
    t.at += 1
    return name


def variable(t: Tokens, what: str = "a variable") -> Variable:
    """`?name`"""
    start = t.at
    if t.head != VARIABLE:
        raise t.unexpected(f"{what} such as ?x has to stand here", hint=bare_word(t, "?"))
    t.at += 1
    return Variable(t.since(start), t.text(start)[1:])


def is_parameter(t: Tokens) -> bool:
    """Whether a colon with its name attached stands here; a colon apart from the name is no parameter."""
    at = t.at
    return t.heads[at] == ":" and t.heads[at + 1].isidentifier() and t.starts[at + 1] == t.ends[at]


def parameter(t: Tokens) -> Parameter:
    """`:name`"""
    start = t.at
    if not is_parameter(t):
        raise t.unexpected("a parameter such as :name has to stand here")
    t.at += 2
    return Parameter(t.since(start), t.text(start + 1))


def string_literal(t: Tokens, what: str = "a quoted string", *, marks: str = "") -> str:
    """`"text"`; answers the text."""
    if t.head != STRING:
        raise t.unexpected(f"{what} has to stand here", hint=bare_word(t, marks))
    return cast("str", _checked(t, string_value(t.text())))


def literal(t: Tokens, what: str = "a value", *, marks: str = ":?") -> Literal:
    """A string, a number, `true`, `false` or `null`."""
    start = t.at
    head = t.heads[start]
    value: str | int | float | bool | None
    if head == STRING:
        value = _checked(t, string_value(t.text()))
    elif head == NUMBER:
        value = _checked(t, number_value(t.text()))
    elif (word := t.text()) in _CONSTANTS:
        value = _CONSTANTS[word]
        t.at += 1
    else:
        raise t.unexpected(f"{what} has to stand here", hint=bare_word(t, marks))
    return Literal(t.since(start), value)


def is_literal(t: Tokens) -> bool:
    """Whether a string, a number, true, false or null stands here."""
    head = t.head
    return head in (STRING, NUMBER) or (head in ("TRUE", "FALSE", "NULL") and t.text() in _CONSTANTS)


def scalar_value(t: Tokens, what: str = "a value") -> Scalar:
    """A parameter or a literal. KML calls it `scalar_or_parameter`, META `meta_value`."""
    return parameter(t) if is_parameter(t) else literal(t, f"{what}, quoted or bound as a parameter,", marks=":")


def schema_symbol(t: Tokens, what: str = "a symbol") -> Scalar:
    """`"Name"` or `:name`"""
    if is_parameter(t):
        return parameter(t)
    start = t.at
    value = string_literal(t, f"{what}, quoted or bound as a parameter,", marks=":")
    return Literal(t.since(start), value)


def field_name(t: Tokens) -> str:
    """A name, bare or quoted; keywords are names here too."""
    return string_literal(t) if t.head == STRING else identifier(t, "a field name")


def comma_list(t: Tokens, opening: str, item: Callable[[Tokens], Item], closing: str) -> tuple[Item, ...]:
    """Brackets around zero or more items with commas between them."""
    t.expect(opening)
    if t.take(closing):
        return ()
    items = [item(t)]
    while t.take(","):
        items.append(item(t))
    if not t.take(closing):
        raise t.unexpected(f"a comma or {closing} has to stand here", hint=missing_comma(t, opening))
    return tuple(items)


def braced(t: Tokens, item: Callable[[Tokens], Item]) -> tuple[Item, ...]:
    """Braces around zero or more items that stand side by side."""
    t.expect("{")
    items = []
    while not t.take("}"):
        items.append(item(t))
    return tuple(items)


def array_literal(t: Tokens) -> ArrayLiteral:
    """`[1, :b, ?c.d]`"""
    start = t.at
    items = comma_list(t, "[", data_value, "]")
    return ArrayLiteral(t.since(start), items)


def object_literal(t: Tokens) -> ObjectLiteral:
    """`{a: 1, "b c": :d}`"""
    start = t.at
    members = comma_list(t, "{", object_member, "}")
    return ObjectLiteral(t.since(start), members)


def object_member(t: Tokens) -> Member:
    """`name: value`"""
    start = t.at
    name = field_name(t)
    t.expect(":")
    value = data_value(t)
    return Member(t.since(start), name, value)


def data_value(t: Tokens) -> DataValue:
    """What arrays and objects hold: any value without operators."""
    head = t.head
    if head in (STRING, NUMBER):
        return literal(t)
    if head == VARIABLE:
        return field_access(t)
    if head == "{":
        return object_literal(t)
    if head == "[":
        return array_literal(t)
    if is_parameter(t):
        return parameter(t)
    if head.isidentifier() and t.ahead() == "(":
        return function_call(t)
    return literal(t)


def field_access(t: Tokens) -> Variable | FieldAccess:
    """`?x.a["b c"].d`; without a step it is the variable itself."""
    start = t.at
    root = variable(t)
    if t.head not in (".", "["):
        return root
    steps = []
    while t.head in (".", "["):
        steps.append(field_step(t))
    return FieldAccess(t.since(start), root, tuple(steps))


def field_step(t: Tokens) -> str:
    """`.name` or `["any key"]`; answers the key."""
    if t.take("."):
        return identifier(t, "a field name")
    t.expect("[")
    name = string_literal(t, "a quoted key")
    t.expect("]")
    return name


def function_call(t: Tokens) -> FunctionCall:
    """`NAME(a, b)`, whose arguments are an `expression_list`."""
    start = t.at
    name = identifier(t, "a function name")
    arguments = comma_list(t, "(", expression, ")")
    return FunctionCall(t.since(start), name, arguments)


def primary_expression(t: Tokens) -> Expression:
    """A value, or an expression in brackets."""
    if not t.take("("):
        return data_value(t)
    inner = expression(t)
    t.expect(")")
    return inner


def unary_expression(t: Tokens) -> Expression:
    """`!x` or `-x`, at most one of them."""
    start = t.at
    head = t.head
    if head not in ("!", "-"):
        return primary_expression(t)
    t.at += 1
    operand = primary_expression(t)
    return Unary(t.since(start), cast("OneOf['!', '-']", head), operand)


def relational_expression(t: Tokens) -> Expression:
    """`a < b`, at most one comparison."""
    start = t.at
    left = unary_expression(t)
    head = t.head
    if head not in ("<", ">", "<=", ">="):
        return left
    t.at += 1
    right = unary_expression(t)
    return Binary(t.since(start), cast("OneOf['<', '>', '<=', '>=']", head), left, right)


def equality_expression(t: Tokens) -> Expression:
    """`a == b != c`, from the left."""
    start = t.at
    left = relational_expression(t)
    while (head := t.head) in ("==", "!="):
        t.at += 1
        right = relational_expression(t)
        left = Binary(t.since(start), cast("OneOf['==', '!=']", head), left, right)
    return left


def and_expression(t: Tokens) -> Expression:
    """`a && b`"""
    first = equality_expression(t)
    if t.head != "&&":
        return first
    operands = [first]
    while t.take("&&"):
        operands.append(equality_expression(t))
    return _folded("&&", operands)


def or_expression(t: Tokens) -> Expression:
    """`a || b`"""
    first = and_expression(t)
    if t.head != "||":
        return first
    operands = [first]
    while t.take("||"):
        operands.append(and_expression(t))
    return _folded("||", operands)


expression = or_expression


def _folded(operator: OneOf["&&", "||"], operands: list[Expression], longest: int = CHAIN) -> Expression:
    if len(operands) > longest:
        # Half the length below, so that the left edge of the tree, which prints as one run, stays within CHAIN.
        middle, longest = len(operands) // 2, CHAIN // 2
        left = _folded(operator, operands[:middle], longest)
        return _both(operator, left, _folded(operator, operands[middle:], longest))
    left = operands[0]
    for right in operands[1:]:
        left = _both(operator, left, right)
    return left


def _both(operator: OneOf["&&", "||"], left: Expression, right: Expression) -> Binary:
    return Binary(Span(left.span.start, right.span.end), operator, left, right)


def _checked(t: Tokens, value: str | int | float | Fault) -> str | int | float:
    if isinstance(value, Fault):
        raise t.unexpected(value.message, hint=value.hint)
    t.at += 1
    return value
