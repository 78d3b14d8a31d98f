"""Tokens that somebody made up: whatever is tried, the answer is the same and comes at once."""

from __future__ import annotations

import hashlib
import hmac
import time
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from brain.auth.credentials import AuthenticationFailed, Scope
from brain.auth.cwt import LONGEST, sign
from tests.auth.test_cwt import CLAIMS, KEY, NOW_S, PROTECTED, text, verifier, written

PUBLIC = KEY.public_key().public_bytes_raw()
PAYLOAD = cbor2.dumps(CLAIMS)
STRANGER = Ed25519PrivateKey.from_private_bytes(b"\x08" * 32)


def signed_part(protected: bytes, context: str = "Signature1", external: bytes = b"") -> bytes:
    """What a signature of these headers is over."""
    return cbor2.dumps([context, protected, external, PAYLOAD])


def sign1(protected: bytes, signature: bytes, unprotected: Any = None, payload: bytes = PAYLOAD) -> bytes:
    return cbor2.dumps([protected, {} if unprotected is None else unprotected, payload, signature])


def under_another_algorithm() -> dict[str, bytes]:
    """The algorithm is the service's to choose: what a token says of it is checked and never followed."""
    secret = ec.generate_private_key(ec.SECP256R1())
    es256, hs256, eddsa25519, none = (cbor2.dumps({1: number}) for number in (-7, 5, -19, 0))
    keyed_by_what_everybody_knows = hmac.new(PUBLIC, signed_part(hs256), hashlib.sha256).digest()
    mac0 = hmac.new(PUBLIC, cbor2.dumps(["MAC0", hs256, b"", PAYLOAD]), hashlib.sha256).digest()
    return {
        "ES256, signed with a key of its own": sign1(es256, secret.sign(signed_part(es256), ec.ECDSA(hashes.SHA256()))),
        "HS256, keyed with the public key": sign1(hs256, keyed_by_what_everybody_knows),
        "COSE_Mac0, keyed with the public key": cbor2.dumps(cbor2.CBORTag(17, [hs256, {}, PAYLOAD, mac0])),
        "no algorithm": sign1(b"", KEY.sign(signed_part(b""))),
        "algorithm 0": sign1(none, KEY.sign(signed_part(none))),
        "none, without a signature": sign1(none, b""),
        "Ed25519 by its newer number": sign1(eddsa25519, KEY.sign(signed_part(eddsa25519))),
        "EdDSA where nobody signed it": sign1(b"", KEY.sign(signed_part(b"")), {1: -8}),
        "EdDSA, and none behind it": sign1(
            cbor2.dumps({1: -8}) + cbor2.dumps({1: 0}),
            KEY.sign(signed_part(cbor2.dumps({1: -8}) + cbor2.dumps({1: 0}))),
        ),
        "EdDSA, stated twice": sign1(bytes.fromhex("a201270126"), KEY.sign(signed_part(bytes.fromhex("a201270126")))),
        "EdDSA in a longer form": sign1(bytes.fromhex("a1013807"), KEY.sign(signed_part(bytes.fromhex("a1013807")))),
    }


def with_another_signature() -> dict[str, bytes]:
    good = KEY.sign(signed_part(PROTECTED))
    return {
        "no signature": sign1(PROTECTED, b""),
        "zeros": sign1(PROTECTED, bytes(64)),
        "a stranger's": sign1(PROTECTED, STRANGER.sign(signed_part(PROTECTED))),
        "a stranger's, with the key it was made with": sign1(
            PROTECTED,
            STRANGER.sign(signed_part(PROTECTED)),
            {4: STRANGER.public_key().public_bytes_raw(), -1: STRANGER.public_key().public_bytes_raw()},
        ),
        "of the payload alone": sign1(PROTECTED, KEY.sign(PAYLOAD)),
        "of another kind of message": sign1(PROTECTED, KEY.sign(signed_part(PROTECTED, context="Signature"))),
        "with something beside it": sign1(PROTECTED, KEY.sign(signed_part(PROTECTED, external=b"x"))),
        "of other claims": sign1(PROTECTED, good, payload=cbor2.dumps({**CLAIMS, 9: "*"})),
        "cut": sign1(PROTECTED, good[:63]),
        "longer": sign1(PROTECTED, good + b"\x00"),
        # L added to S: an equation that holds as well, if it is not checked that S is the smallest.
        "the same, written another way": sign1(PROTECTED, good[:32] + _plus_order(good[32:])),
        "of the point that everything is signed with": sign1(PROTECTED, bytes([1]) + bytes(63)),
    }


def _plus_order(number: bytes) -> bytes:
    order = 2**252 + 27742317777372353535851937790883648493
    return ((int.from_bytes(number, "little") + order) % 2**256).to_bytes(32, "little")


def in_another_wrapping() -> dict[str, bytes]:
    whole = written()
    return {
        "CWT tag around it": cbor2.dumps(cbor2.CBORTag(61, cbor2.CBORTag(18, cbor2.loads(whole)))),
        "tagged twice": b"\xd2\xd2" + whole,
        "COSE_Sign": cbor2.dumps(cbor2.CBORTag(98, [PROTECTED, {}, PAYLOAD, [[PROTECTED, {}, b"x" * 64]]])),
        "two tokens": whole + whole,
        "a list without end": b"\x9f" + whole[1:] + b"\xff",
        "five parts": b"\x85" + whole[1:] + b"\xf6",
        "payload without end": bytes.fromhex("84") + whole[1:5] + b"\xa0\x5f\x41\x00\xff\x58\x40" + bytes(64),
        "a length past its end": bytes.fromhex("84") + b"\x5b" + b"\xff" * 8 + whole,
        "a map of 2**63 headers": bytes.fromhex("84") + whole[1:5] + b"\xbb" + b"\x7f" + b"\xff" * 7,
        "ten thousand lists": b"\x81" * 10_000,
        "ten thousand tags": b"\xc1" * 10_000 + whole,
    }


FORGED = {**under_another_algorithm(), **with_another_signature(), **in_another_wrapping()}


@pytest.mark.requirement("BR-AUTH-001")
@pytest.mark.parametrize("how", FORGED)
def test_a_token_that_was_made_up_is_refused_at_once(how: str) -> None:
    begun = time.process_time()
    with pytest.raises(AuthenticationFailed) as refused:
        verifier().verify(text(FORGED[how]))
    assert time.process_time() - begun < 0.1
    assert str(refused.value) == ""  # nothing is told of what was wrong


@pytest.mark.requirement("BR-AUTH-001")
def test_no_beginning_of_a_token_is_one() -> None:
    token = sign(KEY, subject="ops", audience="*", scope=Scope.FULL, issued_s=NOW_S, expires_s=NOW_S + 60)
    assert verifier().verify(token).subject == "ops"
    for length in range(len(token)):
        with pytest.raises(AuthenticationFailed):
            verifier().verify(token[:length])


@pytest.mark.requirement("BR-AUTH-004")
@pytest.mark.parametrize("end", ["=", "==", "===", "A", " ", "\n", "\x00", ".", "%3D", "=A", "é", "😀"])
def test_what_stands_behind_a_token_is_not_overlooked(end: str) -> None:
    token = text(written()).rstrip("=")
    if set(end) == {"="}:
        assert verifier().verify(token + end).subject == CLAIMS[2]  # padding, which may be left out
    else:
        with pytest.raises(AuthenticationFailed):
            verifier().verify(token + end)


@pytest.mark.requirement("BR-AUTH-001")
@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1, 1_000_000])
@pytest.mark.parametrize("letter", ["A", "-", "=", "\x00", "😀"])
def test_a_huge_text_is_no_token_and_takes_no_time(length: int, letter: str) -> None:
    begun = time.process_time()
    with pytest.raises(AuthenticationFailed):
        verifier().verify(letter * length)
    assert time.process_time() - begun < 0.5
