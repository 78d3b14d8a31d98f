"""How a command is spoiled: characters, tokens, splices, nesting, huge literals, parameters, the request around it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, TypeAlias

from conformance.fuzz.corpus import TOKEN, Corpus, Seed, sort_of

Door: TypeAlias = Literal["reader", "rehearsal", "writer"]
"""Who sends: a session that may only read, a dry run, a session that may write."""

DEADLINE_MS = 1_000
DEEPEST = 200

CHARACTERS = (
    *"?:\"\\{}()[]<>=!&|.,-+*/'`#$%;~^_ \t\r\n\0\x1b\x7f",
    *"0123456789aAzZ",
    *("é", "e\u0301", "ß", "İ", "日", "\u202e", "\u200b", "\ufeff", "\u2028", "\U0001f600", "\ud800", "\udfff"),
)
WORDS = (
    *("NOT", "OPTIONAL", "UNION", "FILTER", "BELIEF", "SLOT", "SEARCH", "AS OF SEQ", "FOR TIME", "WITH EPISTEMIC"),
    *("MUTATE", "PURGE", "PAYLOAD", "CONFIRM", "ENSURE", "UPSERT", "LIMIT", "CURSOR", "ORDER BY", "EXPECT VERSION"),
    *("COUNT", "DISTINCT", "AVG", "MIN", "MAX", "REGEX", "CONTAINS", "IS_NULL", "COALESCE", "ADD", "true", "null"),
    *("{0,}", "{1,64}", "{64}", "{3,1}", "|", "<-", "?x", "?x.y.z", ":id", "//", "C-1", '"C-1"', '"A-1"', "DESCRIBE"),
)
NUMBERS = (
    *("0", "-0", "-1", "1e308", "1e309", "-1e999", "5e-324", "0.1", "9007199254740991", "9007199254740992"),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "9" * 400,
        "1" + "0" * 5000,
        "0." + "3" * 99,
    ),
)
TEXTS = (
    *("", " ", "\0", "%", "_", "*", "' OR 1=1 --", '"', "\\", "}", "{{", "DROP TABLE element;", "DETACH DELETE n"),
    *("C-1", "P-1", "A-1", "E-1", "C-0", "C-99999999999999999999", "X-1", "c-1", "kip:space:default#1", "sha256:0"),
    *(
        "kip://profiles/cognitive-memory@2.0.0/Person",
        "kip://",
        "Person",
        "(a+)+$",
        "(?=a)",
        "[",
        "a{1,1000}",
        "\\p{L}",
    ),
    *("2026-09-20T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "0000-00-00T00:00:00Z", "10000-01-01T00:00:00Z"),
    *(
        "2026-02-30T00:00:00Z",
        "2026-12-31T23:59:60Z",
        "-0001-01-01T00:00:00Z",
        "2026-09-20",
        "1970-01-01T00:00:00+14:00",
    ),
    *("\u202eabc", "e\u0301", "İ", "\U0001f600" * 50, "x" * 5_000, "日本" * 2_000, "a b " * 3_000),
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request, as JSON text or as the object it states, and through which door it goes."""

    request: dict[str, Any] | str
    door: Door


def attempt(random: Random, corpus: Corpus) -> Attempt:
    """A request nobody wrote."""
    door: Door = random.choice(("reader", "reader", "rehearsal", "writer"))
    count = random.choice((1,) * 12 + (2, 3))
    operations = [_operation(random, corpus) for _ in range(count)]
    request: dict[str, Any] = {"kip": "2.0", "operations": operations, "options": {"deadline_ms": DEADLINE_MS}}
    if count > 1 or random.random() < 0.05:
        request["execution"] = {"mode": random.choice(("independent", "sequence", "atomic"))}
    if door == "rehearsal":
        request["options"]["dry_run"] = True
    if random.random() < 0.05:
        _around(random, corpus, request)
    if random.random() < 0.03:
        return Attempt(_as_text(random, request), "reader")
    return Attempt(request, door)


def _operation(random: Random, corpus: Corpus) -> dict[str, Any]:
    seed = random.choice(corpus.seeds)
    text = seed.text
    # What still parses gets further than what does not, so most commands are changed gently.
    changes = _GENTLE if random.random() < 0.6 else _ANY
    for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        text = random.choice(changes)(random, text, corpus)
    return {"command": text, "parameters": _parameters(random, text, seed, corpus)}


# --- the text ---------------------------------------------------------------------------------------------------------


def character(random: Random, text: str, _: Corpus) -> str:
    """One character more, less, other or elsewhere."""
    at = random.randint(0, len(text))
    new = random.choice(CHARACTERS)
    return random.choice(
        (
            text[:at] + new + text[at:],
            text[:at] + text[at + 1 :],
            text[:at] + new + text[at + 1 :],
            text[:at] + text[at : at + 1] * random.choice((2, 3, 70)) + text[at + 1 :],
            text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :],
            text[:at],
        )
    )


def token(random: Random, text: str, corpus: Corpus) -> str:
    """One token more, less, other or elsewhere."""
    tokens = TOKEN.findall(text)
    if not tokens:
        return text
    at, other = random.randrange(len(tokens)), random.randrange(len(tokens))
    match random.randrange(5):
        case 0:
            del tokens[at]
        case 1:
            tokens.insert(at, f" {random.choice((*WORDS, random.choice(corpus.tokens)))} ")
        case 2:
            tokens[at] = random.choice(corpus.tokens)
        case 3:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case _:
            tokens.insert(at, tokens[other])
    return "".join(tokens)


def alike(random: Random, text: str, corpus: Corpus) -> str:
    """One token replaced by another of its sort, so that the text often still parses."""
    tokens = TOKEN.findall(text)
    places = [at for at, found in enumerate(tokens) if sort_of(found)]
    if not places:
        return text
    at = random.choice(places)
    sort = sort_of(tokens[at])
    if random.random() < 0.5:
        tokens[at] = random.choice([tokens[place] for place in places if sort_of(tokens[place]) == sort])
    else:
        tokens[at] = random.choice(corpus.sorts.get(sort) or tokens)
    return "".join(tokens)


def splice(random: Random, text: str, corpus: Corpus) -> str:
    """The beginning of one command and the end of another."""
    ours, theirs = TOKEN.findall(text), TOKEN.findall(random.choice(corpus.seeds).text)
    return "".join(ours[: random.randint(0, len(ours))] + theirs[random.randint(0, len(theirs)) :])


def graft(random: Random, text: str, corpus: Corpus) -> str:
    """A bracketed part replaced by one of another command, or put beside its own."""
    ours = _groups(text)
    other = random.choice(corpus.seeds).text
    if not ours:
        return text
    start, end = random.choice(ours)
    theirs = [group for group in _groups(other) if other[group[0]] == text[start]]
    if not theirs:
        return text[:start] + text[start:end] * 2 + text[end:]
    first, last = random.choice(theirs)
    inner = other[first:last]
    if random.random() < 0.4:
        inner = text[start : end - 1] + " " + inner[1:-1] + text[end - 1]
    return text[:start] + inner + text[end:]


def nest(random: Random, text: str, _: Corpus) -> str:
    """A part wrapped many times."""
    depth = random.choice((1, 2, 3, 8, 30, 61, 62, 63, 64, 65, DEEPEST))
    opening, closing = random.choice(
        (
            ("NOT { ", " }"),
            ("OPTIONAL { ", " }"),
            ("{ ", " } UNION { ?z {} }"),
            ("(", ")"),
            ("[", "]"),
            ('{"a": ', "}"),
            ("MUTATE { ", " }"),
            ("!(", ")"),
            ("ADD(", ", 1)"),
        )
    )
    groups = _groups(text)
    if not groups:
        return opening * depth + text + closing * depth
    start, end = random.choice(groups)
    if random.random() < 0.5:
        start, end = start + 1, end - 1
    return text[:start] + opening * depth + text[start:end] + closing * depth + text[end:]


def literal(random: Random, text: str, _: Corpus) -> str:
    """A literal replaced by one at or beyond a bound."""
    tokens = TOKEN.findall(text)
    places = [
        at for at, found in enumerate(tokens) if found.isdigit() or (found[0] in '":-0123456789' and len(found) > 1)
    ]
    new = random.choice((random.choice(NUMBERS), json.dumps(random.choice(TEXTS), ensure_ascii=False), _bulk(random)))
    if not places:
        return f"{text} LIMIT {new}"
    tokens[random.choice(places)] = new
    return "".join(tokens)


def multiply(random: Random, text: str, _: Corpus) -> str:
    """A block said again with variables of its own, so that its solutions multiply."""
    groups = [group for group in _groups(text) if text[group[0]] == "{"]
    if not groups:
        return text
    start, end = random.choice(groups)
    inner = text[start + 1 : end - 1]
    # Most that are said three times or more run into the deadline, and a second is the time of a thousand others.
    copies = random.choice((*(1,) * 30, 2, 3, 20))
    again = " ".join(_renamed(inner, number) for number in range(copies))
    return f"{text[: end - 1]} {again} {text[end - 1 :]}"


_GENTLE: tuple[Callable[[Random, str, Corpus], str], ...] = (*(alike,) * 9, multiply)
_ANY: tuple[Callable[[Random, str, Corpus], str], ...] = (
    *(alike, character, graft, graft, literal, multiply, nest, splice, token, token),
)


def _renamed(text: str, number: int) -> str:
    """The text with every variable named anew."""
    found = TOKEN.findall(text)
    return "".join(f"{one}_{number}" if one[0] == "?" and len(one) > 1 else one for one in found)


def _bulk(random: Random) -> str:
    size = random.choice((*(10,) * 9, *(1_000,) * 4, 20_000))
    return random.choice(
        (
            "[" + ",".join(str(n) for n in range(size)) + "]",
            "{" + ",".join(f"k{n}: {n}" for n in range(size)) + "}",
            '"' + "y" * size * 4 + '"',
            "[" * (size % 130) + "]" * (size % 130),
        )
    )


def _groups(text: str) -> list[tuple[int, int]]:
    """Where bracketed parts begin and end, outside of strings as far as that can be told."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for match in TOKEN.finditer(text):
        if match[0] in ("{", "(", "["):
            opened.append(match.start())
        elif match[0] in ("}", ")", "]") and opened:
            found.append((opened.pop(), match.end()))
    return found


# --- values and the request -------------------------------------------------------------------------------------------


def _parameters(random: Random, text: str, seed: Seed, corpus: Corpus) -> dict[str, Any]:
    values = dict(seed.values)
    for found in TOKEN.findall(text):
        if found[0] == ":" and len(found) > 1 and found[1:] not in values:
            known = corpus.values.get(found[1:])
            values[found[1:]] = random.choice(known) if known else _value(random, corpus)
    for name in list(values):
        if random.random() < 0.1:
            values[name] = _value(random, corpus)
    return values


def _value(random: Random, corpus: Corpus) -> Any:
    match random.randrange(12):
        case 0:
            return random.choice(TEXTS)
        case 1:
            return random.choice(
                (0, -1, 1.5, 2**53 - 1, 2**53, 2**64, -(2**63), 1e308, float("inf"), float("nan"), 10**400)
            )
        case 2:
            return random.choice((None, True, False, [], {}, [None], {"id": None}, {"": ""}, b"bytes", {1: 2}, (1, 2)))
        case 3:
            return {"id": random.choice(TEXTS)}
        case 4:
            return _deep(random.choice((3, 30, 126, 127, 128, 129, 1_500)), random.random() < 0.5)
        case 5:
            return [random.choice(TEXTS) for _ in range(random.choice((2, 50, 1_500)))]
        case 6:
            return random.choice(("\ud800", "a\udfff", {"\ud800": 1}, "\0" * 9))
        case _:
            return random.choice(corpus.values[random.choice(list(corpus.values))])


def _deep(depth: int, as_list: bool) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if as_list else {"a": value}
    return value


def _around(random: Random, corpus: Corpus, request: dict[str, Any]) -> None:
    """Another member of the request, right or wrong."""
    name, value = random.choice(
        (
            ("parameters", {"x": _value(random, corpus)}),
            ("preconditions", {"space_seq": random.choice((0, 1, 5, -1, "1", None))}),
            ("read", {"snapshot_token": random.choice(("", "00", "zz", "6b6970", 5))}),
            ("requires", {random.choice(("streaming", "atomic_batch", "nothing")): random.choice((True, False, 1))}),
            ("space", {"id": _value(random, corpus)}),
            ("context", {"purpose": _value(random, corpus)}),
            ("ingest", {"evidence": [{"key": "m", "evidence_class": "message", "payload": _value(random, corpus)}]}),
            ("ingest", _value(random, corpus)),
            ("execution", {"mode": "atomic", "idempotency_key": _value(random, corpus)}),
            ("execution", _value(random, corpus)),
            ("operations", _value(random, corpus)),
            (random.choice(TEXTS), _value(random, corpus)),
        )
    )
    request[name] = value


def _as_text(random: Random, request: Mapping[str, Any]) -> str:
    """The request as JSON text, broken here and there."""
    try:
        text = json.dumps(request, default=str, ensure_ascii=random.random() < 0.5)
    except RecursionError:
        text = '{"kip": "2.0", "operations": ' + "[" * random.choice((100, 10_000, 1_000_000))
    for _ in range(random.choice((0, 1, 2, 5))):
        at = random.randint(0, len(text))
        text = (
            text[:at]
            + random.choice((*CHARACTERS, "[" * 300, "NaN", "1e999", "\\ud800"))
            + text[at + random.randint(0, 2) :]
        )
    return text
