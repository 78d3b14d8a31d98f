"""What is mutated: every command the cases hold, with the values bound beside it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from brain.errors import KipError
from brain.kip.parser import parse_uncached
from conformance import fixtures

CASES = Path(fixtures.__file__).with_name("cases")
TOKEN = re.compile(
    r'\s+|//[^\n]*|"(?:\\.|[^"\\])*"|[?:]?[A-Za-z_]\w*|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|&&|\|\||[=!<>]=|.', re.DOTALL
)
"""A rough cut into tokens, which also cuts what the language refuses."""

_COMMANDS = ("command", "kip", "parse")
_VALUES = ("params", "parameters")


@dataclass(frozen=True, slots=True)
class Seed:
    """One command as a case sends it, and what the case binds."""

    text: str
    values: Mapping[str, Any]


@dataclass(slots=True)
class Corpus:
    """Seeds in the order of their files, and what they are made of.

    tokens  each token that occurs, once
    sorts   these by `sort_of`
    values  parameter names with every value bound to them; `Arena` adds what its Space holds
    setups  the fixtures' setup steps, which fill the Space
    """

    seeds: list[Seed] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    sorts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    values: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    setups: list[Mapping[str, Any]] = field(default_factory=list)


def corpus_of(folders: Iterable[Path] = ()) -> Corpus:
    """Our own cases, and the `*.json` and `*.jsonl` below further folders."""
    corpus = Corpus()
    seen: dict[str, Seed] = {}
    for file in _files([CASES, *folders]):
        for document in _documents(file):
            for seed in _seeds(document):
                seen.setdefault(seed.text, seed)
    for fixture in (fixture for file in sorted(CASES.glob("*.json")) for fixture in fixtures.fixtures_of(file)):
        steps = fixture.get("setup", [])
        corpus.setups += [{"command": step} if isinstance(step, str) else step for step in steps]
    corpus.seeds = list(seen.values())
    corpus.tokens = list(dict.fromkeys(token for text in seen for token in TOKEN.findall(text) if token.strip()))
    for found in corpus.tokens:
        corpus.sorts[sort_of(found)].append(found)
    for seed in corpus.seeds:
        for name, value in seed.values.items():
            corpus.values[name].append(value)
    return corpus


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".jsonl"))


def _documents(file: Path) -> Iterator[Any]:
    text = file.read_text("utf-8")
    yield from map(json.loads, text.splitlines()) if file.suffix == ".jsonl" else [json.loads(text)]


def _seeds(value: Any) -> Iterator[Seed]:
    """Every command below a value: by the name of its member, or because it is one."""
    if isinstance(value, Mapping):
        bound: dict[str, Any] = {}
        for name in _VALUES:
            if isinstance(value.get(name), Mapping):
                bound |= value[name]
        for name, item in value.items():
            if isinstance(item, str) and (name in _COMMANDS or _parses(item)):
                yield Seed(item, bound)
            else:
                yield from _seeds(item)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, str) and _parses(item):
                yield Seed(item, {})
            else:
                yield from _seeds(item)


def _parses(text: str) -> bool:
    try:
        parse_uncached(text)
    except KipError:
        return False
    return True


@lru_cache(maxsize=65_536)
def sort_of(found: str) -> str:
    """What a token can be replaced by and often still parse: texts, numbers, names; empty for anything else."""
    if found[0] in '?:"' and len(found) > 1:
        return found[0]
    if found[0].isdigit() or (found[0] == "-" and len(found) > 1):
        return "0"
    return "w" if found[0].isalpha() and not found.isupper() else ""
