"""A caller's document: a Formation pass without a model, kept whole or not at all.

The messages are heard, their speakers settled, the document compiled and the result judged exactly as when a model
wrote it. What differs is that nothing is written while anything is wrong: all faults are told at once. New words are
drafted before, as KIP has it, and speakers stored; both claim nothing if what follows is refused after all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain import errors
from brain.agents.door import Door, first_error, is_success
from brain.agents.formation import Pass
from brain.agents.jobs import FormationJob, Place
from brain.agents.remember.compile import Compiled, assemble, compile_document, define_predicates, define_type
from brain.agents.remember.document import LISTS
from brain.agents.remember.faults import Fault
from brain.agents.remember.parse import Parsed, read_document
from brain.agents.remember.schema import REMEMBER_SCHEMA
from brain.agents.remember.tool import TRANSIENT, as_raised, holding, send
from brain.agents.turns import Vocabulary
from brain.gate.vocabulary import check_definition
from brain.kip import ast
from brain.kip.parser import parse

_SHAPES: Mapping[str, Any] = REMEMBER_SCHEMA["properties"]
_MOST_UNKNOWN = 16


class DocumentRefused(Exception):
    """Nothing of the document was written; why, item by item."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__(f"{len(faults)} faults")
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class Ready:
    """A document about to be written, all its faults found.

    names    of what is new
    notes    what a careful sender wants to know, such as a value that ends
    defined  references of the words that were drafted for it
    summary  the sender's own
    """

    names: frozenset[str]
    notes: tuple[str, ...]
    defined: tuple[str, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A document without a fault, as memory stood; nothing was written for it."""

    formation: Pass
    parsed: Parsed
    compiled: Compiled
    known: tuple[str, ...]
    commands: tuple[str, ...]


def check_document(place: Place, job: FormationJob, document: Mapping[str, Any]) -> Checked:
    """Find everything that is wrong with a document about the job's messages, which it cites by their numbers.

    raises  DocumentRefused with all faults; ReadFailed
    """
    parsed = read_document(document)
    faults = [*_unknown(document), *parsed.faults]
    if parsed.is_empty and not faults:
        faults.append(Fault("document", "There is nothing in it to keep.", f"Fill one of {', '.join(LISTS)}."))
    formation = Pass.prepared(place, job, is_told=False)
    words = formation.turn.vocabulary
    definitions = define_predicates(parsed.new_predicates, words)
    faults += definitions.faults
    wanted = Vocabulary((*words.types, *definitions.types), (*words.predicates, *definitions.predicates))
    compiled = compile_document(parsed, formation.ground_with(words, wanted))
    commands = (*definitions.commands, *(_a_type(name) for name in compiled.types))
    faults += [*compiled.faults, *_misdefined(commands)]
    if not faults and not compiled.pieces:
        faults.append(Fault("document", "It defines words and says nothing with them.", "Add a claim."))
    if faults:
        raise DocumentRefused(faults)
    return Checked(formation, parsed, compiled, definitions.known, commands)


def keep_document(checked: Checked, ready: Callable[[Ready], None]) -> Mapping[str, Any]:
    """Keep all of a document: the receipt.

    ready   called right before the write that the job's `commit_review` is called in
    raises  DocumentRefused for what only the gate or the engine finds; a KipError when they did not take it for another
            reason, of which SerializationConflict is also what `commit_review` may have raised; ReadFailed,
            HostWriteFailed
    """
    formation = checked.formation
    defined = tuple(_define(formation.door, checked.commands))
    compiled = checked.compiled
    if checked.commands or formation.has_strangers:
        # It speaks of what is there only now.
        compiled = compile_document(checked.parsed, formation.ground())
        if compiled.faults:
            raise DocumentRefused(compiled.faults)
    notes = [f"{name} exists already and was used as it is" for name in checked.known]
    names = frozenset(filter(None, assemble(compiled.pieces, formation.door.origin).handles.values()))
    ready(Ready(names, (*notes, *compiled.warnings), defined, checked.parsed.summary))
    outcome = send(formation.door, compiled.pieces)
    if not is_success(outcome):
        error = first_error(outcome)
        if error["code"] in TRANSIENT:
            raise as_raised(error)
        _, wrong = holding(formation.door, compiled.pieces)
        told = Fault("document", f"{error['code']}: {error['message']}", error.get("hint", ""))
        raise DocumentRefused(wrong or [told])
    receipt: Mapping[str, Any] = outcome.response["results"][0]["receipt"]
    return receipt


def _unknown(document: Mapping[str, Any]) -> list[Fault]:
    """Members nobody reads: what a misspelt one was to say would be lost without a word."""
    return [
        Fault(at, f"There is no member {name[:40]!r} here.", f"Known are {', '.join(sorted(known))}.")
        for at, name, known in list(_strangers(document))[:_MOST_UNKNOWN]
    ]


def _strangers(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for name, value in document.items():
        if name not in _SHAPES:
            yield "document", name, _SHAPES
            continue
        known = _SHAPES[name].get("items", {}).get("properties")
        for number, item in enumerate(value if known and isinstance(value, list) else ()):
            if isinstance(item, Mapping):
                yield from ((f"{name}[{number}]", member, known) for member in item if member not in known)


def _a_type(name: str) -> str:
    return define_type(name, f"A kind of thing people talk about: {name}.")


def _misdefined(commands: Sequence[str]) -> list[Fault]:
    faults = []
    for command in commands:
        try:
            statement = parse(command)
            assert isinstance(statement, ast.Define)  # noqa: S101 - the compiler made it
            check_definition(statement)
        except errors.KipError as wrong:
            faults.append(Fault("new_predicates", f"{wrong.code}: {wrong.message}", wrong.hint))
    return faults


def _define(door: Door, commands: Sequence[str]) -> Iterator[str]:
    """Draft the words; one that somebody else has drafted meanwhile is there. The exact references."""
    for command in commands:
        outcome = door.run([command], {})
        if is_success(outcome):
            yield outcome.response["results"][0]["result"]["ref"]
            continue
        error = first_error(outcome)
        if error["code"] in TRANSIENT:
            raise as_raised(error)
        if error["code"] != errors.SchemaSymbolConflict.__name__:
            raise DocumentRefused([Fault("new_predicates", f"{error['code']}: {error['message']}", error["hint"])])
