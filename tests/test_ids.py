"""Canonical bytes and digests (KIP 2.0 §37.7)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from brain.ids import canonical_json, digest, object_key

SAFE = 2**53 - 1
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-SAFE, SAFE) | st.floats(-1e6, 1e6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.requirement("KI-CAPS-002")
@given(VALUES)
def test_every_value_is_spelled_as_the_library_of_the_standard_spells_it(value: Any) -> None:
    assert canonical_json(value) == rfc8785.dumps(whole(value))


def whole(value: Any) -> Any:
    """Integral floats as ints: the profile's one step before RFC 8785."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: whole(item) for name, item in value.items()}
    return [whole(item) for item in value] if isinstance(value, list) else value


@pytest.mark.requirement("KI-CAPS-002")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"\u20ac": 1, "\r": 2, "\U0001f600": 3, "\ufb33": 4, "1": 5}, '{"\\r":2,"1":5,"€":1,"😀":3,"\ufb33":4}'),
        ([1, 1.0, -0.0, 0], "[1,1,0,0]"),
        ([1e-7, 5e-324, 0.1, 333333333.33333329, 1e15], "[1e-7,5e-324,0.1,333333333.3333333,1000000000000000]"),
        ({"nfd": "e\u0301", "nfc": "\u00e9"}, '{"nfc":"\u00e9","nfd":"e\u0301"}'),
        ({"b": None, "a": [True, {}]}, '{"a":[true,{}],"b":null}'),
        ('\u0000\u001f"\\/\u007f\u2028', '"\\u0000\\u001f\\"\\\\/\u007f\u2028"'),
    ],
    ids=["names-by-utf16-unit", "no-minus-zero", "shortest-numbers", "text-is-kept", "null-is-kept", "least-escapes"],
)
def test_canonical_bytes_are_those_of_the_profile(value: Any, text: str) -> None:
    assert canonical_json(value) == text.encode()


@pytest.mark.requirement("KI-CAPS-002")
@given(VALUES)
def test_canonical_bytes_say_the_same_and_say_it_once(value: Any) -> None:
    written = canonical_json(value)
    assert not written.startswith(b"\xef\xbb\xbf")
    read = json.loads(written)
    assert canonical_json(read) == written
    assert read == value


@pytest.mark.requirement("KI-CAPS-003", "KI-CAPS-002")
@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=6))
def test_a_digest_does_not_depend_on_how_names_are_ordered(members: dict[str, Any]) -> None:
    turned = dict(reversed(members.items()))
    assert digest(turned) == digest(members)
    assert digest(members) == f"sha256:{hashlib.sha256(canonical_json(members)).hexdigest()}"


@pytest.mark.requirement("KI-LEX-014", "KI-LEX-016", "KI-LEX-019")
def test_literals_are_one_by_value_and_apart_by_datatype() -> None:
    assert len({object_key(value) for value in (1, 1.0, 1e0)}) == 1
    assert object_key("e\u0301") == object_key("\u00e9")
    assert len({object_key(value) for value in ("1", 1, True, None, "A", "a")}) == 6
    assert object_key({"id": "C-1"}) == "C-1"
