"""Shapes: the small pattern language of the English tables.

    from <place:old>? to <place>        literal words, slots, what may be left out
    work|working for|at <org>           one of several words
    (as <role>)?                        a group that may be left out

Shapes match tokens, not characters, and a clause has few tokens, so matching is bounded whatever is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from brain.agents.builtin.english.slots import SLOTS, Scene
from brain.agents.builtin.english.tokens import Token


@dataclass(frozen=True, slots=True)
class Word:
    options: frozenset[str]
    optional: bool


@dataclass(frozen=True, slots=True)
class Hole:
    slot: str
    name: str
    optional: bool


@dataclass(frozen=True, slots=True)
class Part:
    nodes: tuple[Node, ...]


Node: TypeAlias = "Word | Hole | Part"


@cache
def shape_of(source: str) -> tuple[Node, ...]:
    """The nodes of a shape; ValueError when it is malformed, which only a table of ours can be."""
    words = source.replace("(", "( ").replace(")?", " )?").split()
    nodes, end = _nodes(words, 0)
    if end != len(words):
        raise ValueError(f"unbalanced shape: {source!r}")
    return nodes


def _nodes(words: list[str], at: int) -> tuple[tuple[Node, ...], int]:
    nodes: list[Node] = []
    while at < len(words) and words[at] != ")?":
        word = words[at]
        if word == "(":
            inner, at = _nodes(words, at + 1)
            nodes.append(Part(inner))
        elif word.startswith("<"):
            slot, _, name = word.rstrip("?").strip("<>").partition(":")
            if slot not in SLOTS:
                raise ValueError(f"unknown slot: {word!r}")
            nodes.append(Hole(slot, name or slot, word.endswith("?")))
        else:
            nodes.append(Word(frozenset(word.rstrip("?").split("|")), word.endswith("?")))
        at += 1
    return tuple(nodes), at


def matches(source: str, scene: Scene, tokens: Sequence[Token]) -> Iterator[tuple[dict[str, Any], int]]:
    """The ways a shape fits the head of the tokens: what its slots hold, and the index after it."""
    yield from _match(shape_of(source), 0, scene, tokens, 0, {})


def _match(
    nodes: tuple[Node, ...], step: int, scene: Scene, tokens: Sequence[Token], at: int, held: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], int]]:
    if step == len(nodes):
        yield held, at
        return
    node = nodes[step]
    match node:
        case Word(options, optional):
            if at < len(tokens) and tokens[at].low in options:
                yield from _match(nodes, step + 1, scene, tokens, at + 1, held)
            if optional:
                yield from _match(nodes, step + 1, scene, tokens, at, held)
        case Hole(slot, name, optional):
            for value, end in SLOTS[slot](scene, tokens, at):
                yield from _match(nodes, step + 1, scene, tokens, end, {**held, name: value})
            if optional:
                yield from _match(nodes, step + 1, scene, tokens, at, held)
        case Part(inner):
            for filled, end in _match(inner, 0, scene, tokens, at, held):
                yield from _match(nodes, step + 1, scene, tokens, end, filled)
            yield from _match(nodes, step + 1, scene, tokens, at, held)
