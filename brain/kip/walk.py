"""Walks over the syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from brain.kip.ast import Node, Parameter, Variable

_MEMBERS: dict[type[Node], tuple[str, ...]] = {}
"""The fields of each node class, looked up once."""


def children(node: Node) -> Iterator[Node]:
    """The nodes right below a node, in the order of the text."""
    kind = type(node)
    names = _MEMBERS.get(kind)
    if names is None:
        names = _MEMBERS[kind] = tuple(member.name for member in fields(kind) if member.name != "span")
    for name in names:
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif type(value) is tuple:
            for item in value:
                if isinstance(item, Node):
                    yield item


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it, in the order of the text. Needs no stack of Python frames."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(tuple(children(node))))


def variables_of(node: Node) -> Iterator[Variable]:
    """Every place where a variable stands."""
    return (found for found in walk(node) if isinstance(found, Variable))


def parameters_of(node: Node) -> frozenset[str]:
    """The names of the parameters a statement uses, without their colon."""
    return frozenset(found.name for found in walk(node) if isinstance(found, Parameter))


def depth_of(node: Node) -> int:
    """How many nodes the longest line from here to a leaf has."""
    deepest = 0
    waiting = [(node, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting.extend((child, depth + 1) for child in children(node))
    return deepest
