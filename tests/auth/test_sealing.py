"""Secrets that are kept and used: what opens them, and what does not."""

from __future__ import annotations

import base64
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.auth.sealing import Sealer, SealingKeyUnreadable, SecretUnreadable


def key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


OLD, NEW = key(), key()


@pytest.mark.requirement("BR-CONF-031")
@given(secret=st.text(st.characters(codec="utf-8")), owner=st.text(st.characters(codec="utf-8")))
def test_what_was_sealed_opens_for_its_owner_and_shows_nothing_of_itself(secret: str, owner: str) -> None:
    sealer = Sealer.of_texts([NEW])
    sealed = sealer.seal(secret, owner)
    assert sealer.open(sealed, owner) == secret
    assert sealer.seal(secret, owner)["text"] != sealed["text"]
    assert len(secret) < 8 or secret not in str(sealed)
    with pytest.raises(SecretUnreadable):
        sealer.open(sealed, f"{owner}.")


@pytest.mark.requirement("BR-CONF-031")
def test_after_a_change_of_keys_what_the_old_one_sealed_still_opens() -> None:
    sealed = Sealer.of_texts([OLD]).seal("sk-secret", "a")
    both = Sealer.of_texts([NEW, OLD])
    assert both.open(sealed, "a") == "sk-secret"
    assert not both.is_current(sealed)
    assert both.is_current(both.seal("sk-secret", "a"))
    with pytest.raises(SecretUnreadable):
        Sealer.of_texts([NEW]).open(sealed, "a")


@pytest.mark.requirement("BR-CONF-031")
def test_a_sealed_text_that_was_touched_does_not_open() -> None:
    sealer = Sealer.of_texts([NEW])
    sealed = sealer.seal("sk-secret", "a")
    raw = base64.b64decode(sealed["text"])
    for at in range(len(raw)):
        touched = raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]
        with pytest.raises(SecretUnreadable):
            sealer.open({**sealed, "text": base64.b64encode(touched).decode()}, "a")
    for bad in ({}, {"key": sealed["key"]}, {**sealed, "text": "?"}, {**sealed, "text": ""}, {**sealed, "key": "x"}):
        with pytest.raises(SecretUnreadable):
            sealer.open(bad, "a")


@pytest.mark.parametrize("text", ["", "x", "not base64!", base64.b64encode(b"short").decode(), "a" * 200])
def test_a_text_that_is_no_key_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(SealingKeyUnreadable) as refused:
        Sealer.of_texts([text])
    assert text == "" or text == "x" or text not in str(refused.value)
