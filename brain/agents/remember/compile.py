"""A document into one MUTATE, and the words it needs defined before."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from brain.agents.remember.block import Block
from brain.agents.remember.claims import compile_claims
from brain.agents.remember.document import NewPredicate
from brain.agents.remember.faults import Fault, Wrong
from brain.agents.remember.ground import Ground
from brain.agents.remember.others import OtherPiece, compile_commitment, compile_event, compile_rule, compile_wish
from brain.agents.remember.parse import Parsed, Placed
from brain.agents.turns import PredicateWord, TypeWord, Vocabulary
from brain.names import fold

Item = TypeVar("Item")

_TEXT_TYPES = frozenset({"text", "string", "value"})


class Piece(Protocol):
    """What one item of a document comes to."""

    @property
    def at(self) -> str:
        """The item's place in the document."""
        ...

    def write(self, block: Block) -> None:
        """Add its clauses."""
        ...


@dataclass(frozen=True, slots=True)
class Compiled:
    """A document ready to be written.

    types  drafted types the pieces need, by name with what led to them
    """

    pieces: tuple[Piece, ...]
    types: tuple[str, ...]
    faults: tuple[Fault, ...]
    warnings: tuple[str, ...]


def compile_document(parsed: Parsed, ground: Ground) -> Compiled:
    """Every item that can be kept as a piece; the others as faults. The vocabulary already holds the new predicates."""
    pieces: list[Piece] = []
    claims, faults, warnings = compile_claims(parsed.claims, ground)
    pieces += claims
    pieces += _each(parsed.events, compile_event, ground, faults)
    pieces += _each(parsed.commitments, compile_commitment, ground, faults)
    pieces += _each(parsed.rules, compile_rule, ground, faults)
    pieces += _each(parsed.requests, compile_wish, ground, faults)
    return Compiled(
        tuple(pieces), tuple(ground.resolver.drafted_types), tuple(faults), (*warnings, *ground.resolver.warnings)
    )


def _each(
    items: Sequence[Placed[Item]],
    compile_one: Callable[[str, Item, Ground], OtherPiece],
    ground: Ground,
    faults: list[Fault],
) -> list[OtherPiece]:
    pieces = []
    for placed in items:
        try:
            pieces.append(compile_one(placed.at, placed.item, ground))
        except Wrong as wrong:
            faults.append(wrong.at(placed.at))
    return pieces


def assemble(pieces: Sequence[Piece], origin: str) -> Block:
    """One MUTATE of these pieces, with the record of what led to what."""
    block = Block(origin)
    for piece in pieces:
        piece.write(block)
    block.finish()
    return block


# --- new words --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Definitions:
    """DEFINE statements in the order they have to run, with what the document may then use.

    known  new predicates that exist already: the existing one is used
    """

    commands: tuple[str, ...]
    predicates: tuple[PredicateWord, ...]
    types: tuple[TypeWord, ...]
    known: tuple[str, ...]
    faults: tuple[Fault, ...]


def define_predicates(wanted: Sequence[Placed[NewPredicate]], vocabulary: Vocabulary) -> Definitions:
    """The DEFINE statements for the new predicates of a document, and for types only they name."""
    types = {fold(word.name): word.name for word in vocabulary.types}
    predicates = {word.name for word in vocabulary.predicates}
    commands: list[str] = []
    new_types: list[TypeWord] = []
    new_predicates: list[PredicateWord] = []
    known: list[str] = []
    faults: list[Fault] = []
    for placed in wanted:
        item = placed.item
        if item.name in predicates:
            known.append(item.name)
            continue
        ends = [item.subject] if fold(item.object) in _TEXT_TYPES else [item.subject, item.object]
        if item.values == "one_per_type" and len(ends) == 1:
            faults.append(
                Fault(placed.at, "one_per_type needs things as values.", "Use one or many, or a type as object.")
            )
            continue
        for name in ends:
            if fold(name) not in types:
                types[fold(name)] = name
                meaning = f"A kind of thing people talk about: {name}."
                commands.append(define_type(name, meaning))
                new_types.append(TypeWord(name, meaning, 0))
        names = [types[fold(name)] for name in ends]
        commands.append(_define_predicate(item, names))
        new_predicates.append(
            PredicateWord(
                item.name,
                item.meaning,
                (names[0],),
                tuple(names[1:]),
                () if len(names) > 1 else ("string",),
                item.values,
            )
        )
        predicates.add(item.name)
    return Definitions(tuple(commands), tuple(new_predicates), tuple(new_types), tuple(known), tuple(faults))


def define_type(name: str, meaning: str) -> str:
    """DEFINE CONCEPT TYPE; the values stand in the text, as the gate wants definitions to be read."""
    return f"DEFINE CONCEPT TYPE {_quoted(name)} {{description: {_quoted(meaning)}}}"


def _define_predicate(item: NewPredicate, names: Sequence[str]) -> str:
    members = [
        f"description: {_quoted(item.meaning)}",
        f"subject: {{concept_types: [{_quoted(names[0])}]}}",
        f"object: {{concept_types: [{_quoted(names[1])}]}}"
        if len(names) > 1
        else 'object: {literal_types: ["string"]}',
    ]
    if item.values == "one":
        members.append("functional: true")
    elif item.values == "one_per_type":
        members.append('functional_by: "object_type"')
    return f"DEFINE PREDICATE {_quoted(item.name)} {{{', '.join(members)}}}"


def _quoted(text: Any) -> str:
    """A KIP string literal, which is a JSON string."""
    return json.dumps(text, ensure_ascii=False)
