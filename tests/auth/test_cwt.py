"""CBOR Web Tokens: which are good, and that everything else is refused the same way."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from brain.auth.credentials import AuthenticationFailed, Cwt, Scope
from brain.auth.cwt import (
    LONGEST,
    SKEW_MS,
    CwtVerifier,
    KeyUnreadable,
    new_key_pair,
    read_private_key,
    read_public_key,
    read_public_keys,
    sign,
)
from brain.times import FixedClock

NOW_MS = 1_789_862_400_000
NOW_S = NOW_MS // 1000
KEY = Ed25519PrivateKey.from_private_bytes(b"\x07" * 32)
CLAIMS: dict[int, Any] = {2: "uuc56-gyb", 3: "kitchen", 9: "read"}
PROTECTED = cbor2.dumps({1: -8})


def verifier(*keys: Ed25519PrivateKey) -> CwtVerifier:
    return CwtVerifier([key.public_key() for key in keys or (KEY,)], FixedClock(NOW_MS))


def written(
    claims: Any = CLAIMS,
    *,
    key: Ed25519PrivateKey = KEY,
    protected: bytes = PROTECTED,
    unprotected: Any = None,
    is_tagged: bool = False,
) -> bytes:
    """A token's bytes, made by other means than the product's own."""
    payload = cbor2.dumps(claims)
    signature = key.sign(cbor2.dumps(["Signature1", protected, b"", payload]))
    whole = [protected, {} if unprotected is None else unprotected, payload, signature]
    return cbor2.dumps(cbor2.CBORTag(18, whole) if is_tagged else whole)


def text(token: bytes) -> str:
    return base64.urlsafe_b64encode(token).decode()


@pytest.mark.requirement("BR-AUTH-001", "BR-AUTH-002", "BR-AUTH-029")
@pytest.mark.parametrize("is_tagged", [True, False])
@pytest.mark.parametrize("unprotected", [{}, {4: b"key-1"}, {4: b"k", "note": "x"}])
def test_a_signed_token_tells_its_subject_audience_and_scope(is_tagged: bool, unprotected: Any) -> None:
    token = text(written(is_tagged=is_tagged, unprotected=unprotected))
    assert verifier().verify(token) == Cwt("uuc56-gyb", "kitchen", Scope.READ)


@pytest.mark.requirement("BR-AUTH-004")
@pytest.mark.parametrize("encode", [base64.urlsafe_b64encode, base64.standard_b64encode])
@pytest.mark.parametrize("strip", ["", "="])
def test_both_alphabets_of_base64_are_read_padded_or_not(encode: Callable[[bytes], bytes], strip: str) -> None:
    for count in range(3):  # every length of padding
        token = encode(written({**CLAIMS, 2: "u" * (9 + count)})).decode().rstrip(strip or None)
        assert verifier().verify(token).subject == "u" * (9 + count)


@pytest.mark.requirement("BR-AUTH-006")
def test_any_of_several_keys_will_do() -> None:
    old, new = (Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (1, 2))
    both = verifier(old, new)
    assert both.verify(text(written(key=old))) == both.verify(text(written(key=new)))
    with pytest.raises(AuthenticationFailed):
        verifier(new).verify(text(written(key=old)))


@pytest.mark.requirement("BR-AUTH-003")
@pytest.mark.parametrize(
    ("claim", "seconds", "is_good"),
    [
        (4, NOW_S + 10, True),
        (4, NOW_S - SKEW_MS // 1000 + 1, True),
        (4, NOW_S - SKEW_MS // 1000, False),
        (5, NOW_S - 10, True),
        (5, NOW_S + SKEW_MS // 1000 - 1, True),
        (5, NOW_S + SKEW_MS // 1000, False),
        (6, NOW_S - 10_000, True),
        (6, NOW_S + SKEW_MS // 1000, False),
        (4, float(NOW_S + 1), True),
        (4, float("nan"), False),
        (5, float("nan"), False),
        (4, float("-inf"), False),
        (4, "never", False),
        (4, True, False),
        (5, [], False),
    ],
)
def test_a_token_is_good_from_nbf_and_iat_until_exp_within_the_skew(claim: int, seconds: Any, is_good: bool) -> None:
    token = text(written({**CLAIMS, claim: seconds}))
    if is_good:
        assert verifier().verify(token).subject == CLAIMS[2]
    else:
        with pytest.raises(AuthenticationFailed):
            verifier().verify(token)


@pytest.mark.requirement("BR-AUTH-002", "BR-AUTH-029")
@pytest.mark.parametrize(
    "claims",
    [
        {3: "kitchen", 9: "read"},
        {2: "u", 9: "read"},
        {2: "u", 3: "kitchen"},
        {2: " ", 3: "kitchen", 9: "read"},
        {2: 7, 3: "kitchen", 9: "read"},
        {2: "u", 3: ["kitchen"], 9: "read"},
        {2: "u", 3: "", 9: "read"},
        {2: "u", 3: "kitchen", 9: "root"},
        {2: "u", 3: "kitchen", 9: None},
        {2: "u", 3: "kitchen", 9: ["read"]},
        {"sub": "u", "aud": "kitchen", "scope": "read"},
        [2, 3, 9],
        "claims",
        None,
    ],
)
def test_claims_that_are_missing_or_of_another_shape_are_refused(claims: Any) -> None:
    with pytest.raises(AuthenticationFailed):
        verifier().verify(text(written(claims)))


@pytest.mark.requirement("BR-AUTH-001")
@pytest.mark.parametrize(
    "token",
    [
        written(key=Ed25519PrivateKey.generate()),
        written(protected=cbor2.dumps({1: -7})),
        written(protected=b""),
        written(protected=cbor2.dumps({1: -8, 2: [1]})),
        written(unprotected={4: [1]}),
        written(unprotected=[]),
        written()[:-1],
        written() + b"\x00",
        written()[:40],
        cbor2.dumps({}),
        cbor2.dumps([PROTECTED, {}, b"", b""]),
        cbor2.dumps([PROTECTED, {}, None, b"x" * 64]),
        bytes.fromhex("c48200fb7fefffffffffffff"),
        bytes.fromhex("d28443a10127bb7fffffffffffffff"),
        bytes.fromhex("d284" + "5b7fffffffffffffff"),
        b"\x84",
        b"\xd2",
        b"",
    ],
)
def test_what_is_not_signed_by_a_known_key_is_refused(token: bytes) -> None:
    with pytest.raises(AuthenticationFailed):
        verifier().verify(text(token))


@pytest.mark.requirement("BR-AUTH-004")
@given(st.one_of(st.text(max_size=200), st.binary(max_size=300).map(text)))
def test_nothing_but_a_token_is_taken_for_one(token: str) -> None:
    with pytest.raises(AuthenticationFailed):
        verifier().verify(token)


@pytest.mark.requirement("BR-AUTH-001")
@given(st.data())
def test_no_byte_of_a_token_can_be_changed(data: st.DataObject) -> None:
    token = bytearray(written())
    at = data.draw(st.integers(0, len(token) - 1))
    token[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(AuthenticationFailed):
        verifier().verify(text(bytes(token)))


def test_a_token_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(AuthenticationFailed):
        verifier().verify("A" * (LONGEST + 1))


@pytest.mark.requirement("BR-AUTH-005", "BR-AUTH-030")
def test_a_token_made_here_is_good_here_and_stands_in_a_header() -> None:
    private, public = new_key_pair()
    token = sign(
        read_private_key(private),
        subject="ops",
        audience="*",
        scope=Scope.FULL,
        issued_s=NOW_S,
        expires_s=NOW_S + 60,
    )
    checked = CwtVerifier(read_public_keys([public]), FixedClock(NOW_MS)).verify(token)
    assert checked == Cwt("ops", "*", Scope.FULL)
    assert checked.is_for("kitchen")
    assert token.replace("-", "").replace("_", "").isalnum()
    late = CwtVerifier(read_public_keys([public]), FixedClock(NOW_MS + 60_000 + SKEW_MS))
    with pytest.raises(AuthenticationFailed):
        late.verify(token)


@pytest.mark.requirement("BR-AUTH-006")
def test_a_public_key_is_read_raw_or_as_a_cose_key_and_nothing_else_is() -> None:
    raw = KEY.public_key().public_bytes_raw()
    described = cbor2.dumps({1: 1, -1: 6, -2: raw})
    assert read_public_key(text(raw)).public_bytes_raw() == raw
    assert read_public_key(text(described)).public_bytes_raw() == raw
    for other in ("", "kitchen", text(b"\x00" * 31), text(cbor2.dumps({1: 2})), text(cbor2.dumps([raw])), "é"):
        with pytest.raises(KeyUnreadable):
            read_public_key(other)
    for other in ("", "kitchen", "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----"):
        with pytest.raises(KeyUnreadable):
            read_private_key(other)


@pytest.mark.requirement("BR-AUTH-015")
def test_scopes_do_not_nest() -> None:
    assert {(has, needed) for has in Scope for needed in Scope if has.satisfies(needed)} == {
        (Scope.READ, Scope.READ),
        (Scope.WRITE, Scope.WRITE),
        *((Scope.FULL, needed) for needed in Scope),
    }
