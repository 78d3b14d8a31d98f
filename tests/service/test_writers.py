"""The Person a caller writes as: one for each, whatever callers are called."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from brain.names import is_reserved
from brain.service.callers import Caller
from brain.service.writers import key_of
from brain.unicode import normalize

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=260)


def token(name: str) -> Caller:
    return Caller(name, "http", kind="space_token")


@given(name=names, other=names)
@example(name="a  b", other="a b")
@example(name="\u00e9", other="e\u0301")
@example(name="n" * 256, other="n" * 255)
def test_no_two_callers_are_one_person(name: str, other: str) -> None:
    key = key_of(token(name))
    assert is_reserved(key)
    assert len(key) <= 256
    assert key_of(token(name)) == key
    for caller in (token(other), Caller(name, "http", kind="cwt"), token(key), token(key.partition(":")[2] or "x")):
        if caller.identity != f"space_token:{name}":
            assert normalize("NFC", key_of(caller)) != normalize("NFC", key)
