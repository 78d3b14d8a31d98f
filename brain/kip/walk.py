"""Walks over the syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields

from brain.kip.ast import Node, Parameter, Variable

_MEMBERS: dict[type[Node], tuple[str, ...]] = {}
"""The fields of each node class that can hold nodes, looked up once."""

_PLAIN = re.compile(r"(?:str|int|float|bool|None|Span|OneOf\[.*\]|[ |])*")
"""How the type of a field reads that holds none."""


def children(node: Node) -> list[Node]:
    """The nodes right below a node, in the order of the text."""
    names = _MEMBERS.get(type(node))
    if names is None:
        names = _members(type(node))
    found: list[Node] = []
    for name in names:
        value = getattr(node, name)
        if type(value) is tuple:
            found += [item for item in value if isinstance(item, Node)]
        elif isinstance(value, Node):
            found.append(value)
    return found


def _members(kind: type[Node]) -> tuple[str, ...]:
    held = (member.name for member in fields(kind) if _PLAIN.fullmatch(str(member.type)) is None)
    names = _MEMBERS[kind] = tuple(held)
    return names


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it, in the order of the text. Needs no stack of Python frames."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        below = children(node)
        if below:
            below.reverse()
            waiting += below


def levels(node: Node) -> Iterator[list[Node]]:
    """A node, then what is right below it, and so on down; each level in the order of the text."""
    level = [node]
    while level:
        yield level
        level = [below for above in level for below in children(above)]


def variables_of(node: Node) -> Iterator[Variable]:
    """Every place where a variable stands."""
    return (found for found in walk(node) if isinstance(found, Variable))


def parameters_of(node: Node) -> frozenset[str]:
    """The names of the parameters a statement uses, without their colon."""
    return frozenset(found.name for found in walk(node) if isinstance(found, Parameter))
