"""Numbers, canonical bytes and timestamps: what may not be rounded, guessed or converted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from brain.ids import canonical_json, digest
from brain.kip.library import SHORT_NAMES, PackageLibrary
from conformance.scenarios.observed import Observed, scenario
from conformance.scenarios.world import World

_LOSSY = (
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "9007199254740993.0",
    "9007199254740993e0",
    "90071992547409930e-1",
    "1e400",
    "-1e400",
    "1e-400",
)
_EXACT = {"9007199254740991": 9007199254740991, "-9007199254740991": -9007199254740991, "5e-324": 5e-324}
_AMBIGUOUS = (
    '{"kip": "2.0", "kip": "2.0", "operations": [{"command": "DESCRIBE PROTOCOL"}]}',
    '{"kip": "2.0", "\\u006bip": "2.0", "operations": [{"command": "DESCRIBE PROTOCOL"}]}',
    '{"kip": "2.0", "operations": [{"command": "DESCRIBE PROTOCOL", "op_id": "\\ud800"}]}',
    '\ufeff{"kip": "2.0", "operations": [{"command": "DESCRIBE PROTOCOL"}]}',
    '{"kip": "2.0", "operations": [{"command": "DESCRIBE PROTOCOL"}], "parameters": {"n": NaN}}',
)
_CREATE = 'CREATE CONCEPT ?c {TYPE "Person" SET ATTRIBUTES {n: %s}}'


@scenario("KIP2-MEM-011")
def numbers_and_bytes_are_exact(world: World) -> Observed:
    before = world.state()
    lossy = [number for number in _LOSSY if _accepts_number(world, number)]
    ambiguous = [text for text in _AMBIGUOUS if "error" not in world.adapter.send(text)]
    unchanged = world.state() == before
    exact = [_stored(world, text) == number for text, number in _EXACT.items()]
    return Observed(
        {
            "lossy_number_accepted": bool(lossy) or not all(exact),
            "digest_agreement": _digests_agree(),
            "ambiguous_json_accepted": bool(ambiguous),
        },
        {"bad_write_mutations": 0 if unchanged else 1},
    )


def _accepts_number(world: World, number: str) -> bool:
    """Whether it passes as command text or as a bound value on its way in."""
    bound = json.dumps({"kip": "2.0", "operations": [{"command": _CREATE % ":n", "parameters": {"n": "N"}}]})
    response = world.adapter.send(bound.replace('"N"', number))
    is_bound = "error" not in response and all("error" not in result for result in response["results"])
    return is_bound or world.code(_CREATE % number) is None


def _stored(world: World, number: str) -> Any:
    made = world.handles(_CREATE % number)
    return world.element(made["c"])["attributes"]["n"]


_CANONICAL: tuple[tuple[Any, str], ...] = (
    (
        {"\u20ac": 1, "\r": 2, "\U0001f600": 3, "\ufb33": 4, "1": 5},
        '{"\\r":2,"1":5,"\u20ac":1,"\U0001f600":3,"\ufb33":4}',
    ),
    ([1, 1.0, -0.0, 1e-7, 5e-324, 333333333.33333329, 0.1], "[1,1,0,1e-7,5e-324,333333333.3333333,0.1]"),
    ({"nfd": "e\u0301", "nfc": "\u00e9"}, '{"nfc":"\u00e9","nfd":"e\u0301"}'),
    ('\u2028\u0000"\\\u007f', '"\u2028\\u0000\\"\\\\\u007f"'),
)
"""Values and their bytes under the canonical profile: names by UTF-16 units, shortest numbers, text untouched."""


def _digests_agree() -> bool:
    """Canonical bytes are the profile's, and every shipped package and policy reproduces its digest from them."""
    library = PackageLibrary()
    sealed = [
        digest({name: value for name, value in package.artifact.items() if name != "integrity"})
        == package.artifact["integrity"]["content_digest"]
        for package in library.closure(SHORT_NAMES)
    ]
    return all(sealed) and all(canonical_json(value) == text.encode() for value, text in _CANONICAL)


# --- timestamps -------------------------------------------------------------------------------------------------------

_NONCANONICAL = (
    "2026-09-01T00:00:00Z",
    "2026-09-01T00:00:00.0Z",
    "2026-09-01T00:00:00.000000Z",
    "2026-09-01T00:00:00.000+00:00",
    "2026-09-01T02:00:00.000+02:00",
    "2026-09-01t00:00:00.000Z",
    "2026-09-01T00:00:00.000z",
    "2026-09-01 00:00:00.000Z",
    "2026-09-01",
    "2026-09-01T00:00:00.000Z\n",
)
_IMPOSSIBLE = (
    "2026-02-29T00:00:00.000Z",
    "2026-04-31T00:00:00.000Z",
    "2026-13-01T00:00:00.000Z",
    "2026-09-01T24:00:00.000Z",
    "2026-09-01T23:59:60.000Z",
)
_LEAP_DAY = "2024-02-29T12:34:56.789Z"


@scenario("KIP2-REL-001")
def one_spelling_of_time_everywhere(world: World) -> Observed:
    alice = world.handles('CREATE CONCEPT ?a {TYPE "Person" NAME "Alice"}')["a"]
    before = world.state()
    noncanonical = [text for text in _NONCANONICAL if _taken_somewhere(world, alice, text)]
    impossible = [text for text in _IMPOSSIBLE if _taken_somewhere(world, alice, text)]
    unchanged = world.state() == before
    leap_day = [code for code in _codes(world, alice, _LEAP_DAY).values() if code is not None]
    return Observed(
        {"noncanonical_accepted": bool(noncanonical or leap_day), "invalid_calendar_accepted": bool(impossible)},
        {"rejected_input_writes": 0 if unchanged else 1},
    )


def _taken_somewhere(world: World, alice: str, text: str) -> bool:
    return any(code is None for code in _codes(world, alice, text).values())


def _codes(world: World, alice: str, text: str) -> Mapping[str, str | None]:
    """What each door says to a text where a timestamp belongs: command text, bound values, envelope, package field."""
    claim = 'ASSERT (:a, "timezone", "+01:00") {by: :a, mode: "stated", %s}'
    entry = {"key": "m", "evidence_class": "message", "payload": "p", "observed_at": text}
    return {
        "literal": world.code(claim % f"at: {json.dumps(text)}", a=alice),
        "bound": world.code(claim % "at: :t", a=alice, t=text),
        "valid from": world.code(claim % "valid: {from: :t}", a=alice, t=text),
        "bound of a bound": world.code(claim % "valid: {from: {latest: :t}}", a=alice, t=text),
        "evidence": world.code(
            'CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: "p", observed_at: :t}}', t=text
        ),
        "retention": world.code("SET RETENTION :a {expires_at: :t}", a=alice, t=text),
        "for time": world.code("FIND(?c.id) WHERE { ?c {id: :a} } FOR TIME :t", a=alice, t=text),
        "ingest": world.code(claim % "evidence: :m", envelope={"ingest": {"evidence": [entry]}}, a=alice),
        "profile field": world.code('UPDATE :a SET FACET "MnemonicState" {last_metabolized_at: :t}', a=alice, t=text),
    }
