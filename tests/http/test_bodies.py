"""Bodies in: what each type may carry, how much, and what bare text stands for."""

from __future__ import annotations

import contextlib
import gzip
import time
from pathlib import Path
from typing import Any

import cbor2
import httpx
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.http.payload import decoded
from brain.service.failures import InvalidInput
from tests.http.conftest import opened, said
from tests.service.processes import started
from tests.service.world import OWNER

_JSON, _CBOR = "application/json", "application/cbor"

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=20,
)


@pytest.mark.requirement("BR-HTTP-011")
@settings(deadline=None)
@given(json_values)
def test_cbor_carries_what_json_carries(value: Any) -> None:
    assert decoded(cbor2.dumps(value), _CBOR) == decoded(orjson.dumps(value), _JSON) == value


def shared(depth: int) -> bytes:
    """A few bytes that stand for a list of 2^depth values, each list holding the one inside it twice."""
    return (
        b"\xd8\x1c\x82" * depth + b"\x00\x00" + b"".join(b"\xd8\x1d" + cbor2.dumps(n) for n in range(depth - 1, 0, -1))
    )


@pytest.mark.requirement("BR-HTTP-013")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
        cbor2.dumps({1: 2}),
        cbor2.dumps({"n": float("nan")}),
        cbor2.dumps({"n": float("inf")}),
        cbor2.dumps({"n": 2**70}),
        cbor2.dumps({"b": b"bytes"}),
        cbor2.dumps({"s": {1, 2}}),
        b"\xa1\x61a\xf7",  # undefined
        b"\x63\xed\xa0\x80",  # half of a surrogate pair
        b"\x81" * 5000 + b"\x00",
        b"\x81" * 80 + b"\x00",
        b"\xd8\x1c\x81\xd8\x1d\x00",  # a list that holds itself
        shared(60),
        cbor2.dumps({"query": "x"}) + b"\x00",
    ],
)
def test_what_json_could_not_carry_is_refused_at_once(body: bytes) -> None:
    begun = time.monotonic()
    with pytest.raises(InvalidInput):
        decoded(body, _CBOR)
    assert time.monotonic() - begun < 1


_MOST = 2 * 1024 * 1024
_TAGS = [*range(6), 24, 25, 28, 29, 30, 35, 36, 37, 52, 54, 100, 256, 258, 260, 261, 1004, 43000, 55799, 2**40]


def tagged(tag: int, inner: bytes) -> bytes:
    """An item of CBOR under a tag."""
    head = cbor2.dumps(cbor2.CBORTag(tag, 0))[:-1]
    return head + inner


def _bytes_head(size: int) -> bytes:
    return b"\x5a" + size.to_bytes(4)


_BIGNUM = b"\xc2" + _bytes_head(_MOST - 64) + b"\xff" * (_MOST - 64)
HOSTILE_CBOR = {
    "a decimal fraction over a bignum": b"\xc4\x82\x39\xff\xff" + _BIGNUM,
    "a big float over a bignum": b"\xc5\x82\x1a\x7f\xff\xff\xff" + _BIGNUM,
    "a rational of bignums": b"\xd8\x1e\x82\x01" + _BIGNUM,
    "a bignum": _BIGNUM,
    "a pattern": tagged(35, b"\x7a" + (_MOST - 64).to_bytes(4) + b"(" * (_MOST - 64)),
    "tags within tags": b"\xc1" * _MOST,
    "lists within lists": b"\x81" * _MOST,
    "lists without end within lists": b"\x9f" * _MOST,
    "maps without end within maps": b"\xbf\x60" * (_MOST // 2),
    "strings without end within strings": b"\x7f" * _MOST,
    "a tag behind everything": b"\x9f" + b"\x00" * (_MOST - 4) + b"\xc2\x40",
    "a list announced longer than any memory": b"\x9b" + b"\xff" * 8,
    "such lists within one another": (b"\x9a\x00\x1f\x00\x00" * 60).ljust(_MOST, b"\x00"),
    "a text announced longer than any memory": b"\x7b" + b"\xff" * 8,
    "numbers as names, chosen to meet in one place": b"\xb9\xff\xff"
    + b"".join(b"\x1b" + (n << 40).to_bytes(8) + b"\x00" for n in range(1, 2**16)),
    "a break where none is due": b"\xff" * _MOST,
}


@pytest.mark.requirement("BR-HTTP-013")
@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in HOSTILE_CBOR.items()])
def test_a_body_that_is_made_to_take_long_is_refused_in_no_time(body: bytes) -> None:
    begun = time.process_time()
    with pytest.raises(InvalidInput) as refused:
        decoded(body, _CBOR)
    assert time.process_time() - begun < 1
    assert len(refused.value.message) < 200


@pytest.mark.requirement("BR-HTTP-013")
@pytest.mark.parametrize("tag", _TAGS)
@pytest.mark.parametrize("around", [b"", b"\x81", b"\xa1\x61a", b"\x9f"])
def test_no_tag_is_ever_followed(tag: int, around: bytes) -> None:
    for inner in (b"\x00", b"\x60", b"\x40", b"\x80", b"\x82\x00\x01"):
        with pytest.raises(InvalidInput, match="tags have no place here"):
            decoded(around + tagged(tag, inner), _CBOR, takes_bytes=True)


@pytest.mark.requirement("BR-HTTP-011", "BR-HTTP-013")
@pytest.mark.parametrize(
    "body",
    [
        b"\x80",
        b"\xa0",
        b"\x61a",
        b"\x18\x20",
        b"\xf9\x3c\x00",
        b"\x81\x00",
        b"\x00\x80",
        b"\x9f\xff",
        b"\xbf\x60\x00\xff",
    ],
)
def test_the_cost_of_a_body_grows_with_its_length_alone(body: bytes) -> None:
    def seconds(size: int) -> float:
        filled = b"\x9f" + body * (size // len(body)) + b"\xff"
        begun = time.process_time()
        decoded(filled, _CBOR)
        return time.process_time() - begun

    seconds(1000)
    assert seconds(_MOST // 4) < 16 * max(seconds(_MOST // 16), 0.01)


@pytest.mark.requirement("BR-HTTP-011")
@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"\x7f\x62ab\x60\x61c\xff", "abc"),
        (b"\x9f\x01\x82\x02\x03\x9f\xff\xff", [1, [2, 3], []]),
        (b"\xbf\x61a\x01\x61b\xa0\xff", {"a": 1, "b": {}}),
        (b"\xf9\x3e\x00", 1.5),
        (b"\xfa\x7f\x7f\xff\xff", 3.4028234663852886e38),
        (b"\x1b" + b"\xff" * 8, 2**64 - 1),
        (b"\x3b\x7f" + b"\xff" * 7, -(2**63)),
        (b"\x19\x00\x01", 1),
        (b"\x98\x20" + b"\x01" * 32, [1] * 32),
    ],
)
def test_every_form_of_a_value_that_json_has_is_read(body: bytes, value: Any) -> None:
    assert decoded(body, _CBOR) == value == cbor2.loads(body)


@settings(deadline=None)
@given(st.binary(max_size=40), st.booleans())
def test_what_is_read_of_cbor_is_what_it_says(body: bytes, takes_bytes: bool) -> None:
    try:
        value = decoded(body, _CBOR, takes_bytes=takes_bytes)
    except InvalidInput:
        return
    assert value == cbor2.loads(body)


@settings(deadline=None)
@given(st.binary(max_size=64), st.sampled_from([_JSON, _CBOR, "text/plain", ""]))
def test_no_bytes_are_more_than_bad_input(body: bytes, kind: str) -> None:
    told = ""
    try:
        decoded(body, kind)
    except InvalidInput as refused:
        told = refused.message
    assert len(told) < 200


@pytest.mark.requirement("BR-HTTP-013")
@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        (b'{"query": "a", "query": "b"}', _JSON, "parse JSON error: the member 'query' stands twice"),
        (b'{"query": "a", "query": "b"}', "text/markdown", "parse JSON error: the member 'query' stands twice"),
        (b'{"a": [{"b": {"c": 1, "c": 1}}]}', "", "parse JSON error: the member 'c' stands twice"),
        (rb'{"c": 1, "\u0063": 1}', _JSON, "parse JSON error: the member 'c' stands twice"),
        (b"\xa2\x61a\x01\x61a\x02", _CBOR, "parse CBOR error: the member 'a' stands twice"),
        (b"\x81\xbf\x61a\x01\x61a\x02\xff", _CBOR, "parse CBOR error: the member 'a' stands twice"),
        (b'{"n": 18446744073709551616}', _JSON, "more than 64 bits"),
        (b'{"n": -9223372036854775809}', _JSON, "more than 64 bits"),
        (b'{"n": NaN}', _JSON, "parse JSON error"),
        (b'{"n": -Infinity}', _JSON, "parse JSON error"),
        (b'{"n": 1e999}', _JSON, "parse JSON error"),
        (b'{"n": 1} {"n": 2}', _JSON, "parse JSON error"),
        (b'{"n": 1}\x00', _JSON, "parse JSON error"),
        (b'\xef\xbb\xbf{"n": 1}', _JSON, "parse JSON error"),
        (b"{" + b'"x": {' * 70 + b"}" * 71, _JSON, "nested"),
    ],
)
def test_what_could_be_read_in_two_ways_is_not_read_at_all(body: bytes, kind: str, told: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        decoded(body, kind)
    assert told in refused.value.message


@pytest.mark.requirement("BR-HTTP-013")
@pytest.mark.parametrize(
    "body",
    [
        b'{"n": 0.' + b"1" * 2_000_000 + b"}",
        b'{"n": 1e' + b"0" * 2_000_000 + b"1}",
        b'{"n": ' + b"9" * 2_000_000 + b"}",
        b'{"' + b"n" * 1_000_000 + b'": 1, "' + b"n" * 1_000_000 + b'": 1}',
        b"[" + b"1e-300," * 290_000 + b"1]",
        b"[" * 2_000_000,
    ],
)
def test_long_numbers_and_names_take_no_longer_than_other_bytes(body: bytes) -> None:
    begun = time.process_time()
    with contextlib.suppress(InvalidInput):
        decoded(body, _JSON)
    assert time.process_time() - begun < 3


@pytest.mark.anyio
@pytest.mark.requirement("BR-HTTP-013", "BR-HTTP-004")
async def test_a_body_that_does_not_fit_is_told_in_the_words_of_its_form(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        for body in ({}, [], {"query": 7}, {"query": "x", "limit": "many"}):
            for form, content, kind in (("JSON", orjson.dumps(body), _JSON), ("CBOR", cbor2.dumps(body), _CBOR)):
                answer = await door.post("probe", content=content, headers={"content-type": kind})
                assert answer.status_code == 400
                assert answer.json()["error"]["message"].startswith(f"parse {form} error: "), answer.text
        made = {"user": b"\x01" * 30, "space_id": "bytes", "tier": 0}
        answer = await door.client.post(
            "/admin/create_space", content=cbor2.dumps(made), headers={"content-type": _CBOR}
        )
        assert answer.json()["error"]["message"] == (
            "parse CBOR error: user must be a principal, which has at most 29 bytes"
        )


@pytest.mark.anyio
async def test_a_packed_body_is_refused_and_never_unpacked(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        packed = gzip.compress(b'{"query": "' + b"x" * 50_000_000 + b'"}')
        for coding in ("gzip", "GZIP", "br", "identity, gzip"):
            headers = {"content-type": _JSON, "content-encoding": coding}
            answer = await door.post("probe", content=packed, headers=headers)
            assert answer.status_code == 415
            assert "Content-Encoding" in answer.json()["error"]["message"]
        headers = {"content-type": _JSON, "content-encoding": "identity"}
        assert (await door.post("probe", content=b'{"query": "x"}', headers=headers)).status_code == 200


@pytest.mark.anyio
@pytest.mark.requirement("BR-HTTP-009")
@pytest.mark.parametrize("kind", ["Application/JSON", "application/json; charset=UTF-8", "APPLICATION/JSON ;x=y"])
async def test_a_type_is_known_in_any_case_and_with_parameters(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path) as door:
        answer = await door.post("recall", content=b'"who?"', headers={"content-type": kind})
        assert answer.status_code == 200, answer.text
        bare = await door.post("recall", content=b"who?", headers={"content-type": kind})
        assert bare.status_code == 400


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("plain words", "plain words"),
        ("42", "42"),
        ('"quoted"', '"quoted"'),
        ("[1, 2]", "[1, 2]"),
        ("line one\nline two\n", "line one\nline two\n"),
    ],
)
@pytest.mark.requirement("BR-FORM-005", "BR-HTTP-009")
@pytest.mark.anyio
async def test_bare_text_becomes_one_message_of_exactly_these_words(tmp_path: Path, body: str, text: str) -> None:
    async with opened(tmp_path) as door:
        accepted = await door.post("formation", content=body.encode(), headers={"content-type": "text/markdown"})
        assert accepted.status_code == 200, accepted.text
        with_input = await door.result("conversations/1")
        await door.ended(1)
        assert with_input["label"] == "formation"
        first = with_input["messages"][0]["content"]
        assert first == text or text.strip() in first


@pytest.mark.anyio
@pytest.mark.requirement("BR-HTTP-015")
async def test_a_bare_command_is_taken_as_text_and_as_a_json_string(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        for content, kind in (
            (b"DESCRIBE PROTOCOL", "text/plain"),
            (b'"DESCRIBE PROTOCOL"', "application/json"),
            (b'"DESCRIBE PROTOCOL"', "application/x-www-form-urlencoded"),
        ):
            answer = await door.post("execute_kip_readonly", content=content, headers={"content-type": kind})
            assert answer.json()["status"] == "succeeded", (content, kind)
        broken = await door.post("execute_kip_readonly", content=b'"DESCRIBE', headers={"content-type": "text/plain"})
        assert broken.status_code == 400


@pytest.mark.anyio
@pytest.mark.requirement("BR-HTTP-027")
async def test_unknown_members_are_let_by_where_clients_rely_on_it_and_refused_in_kip(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        assert (await door.post("probe", {"query": "zzz", "nope": 1})).status_code == 200
        assert (await door.post("formation", {"messages": [said("x", nope=1)], "nope": 1})).status_code == 200
        assert (await door.post("recall", {"query": "zzz", "nope": 1})).status_code == 200
        refused = await door.post("execute_kip_readonly", {"command": "DESCRIBE PROTOCOL", "nope" * 50_000: 1})
        assert refused.status_code == 400
        assert len(refused.content) < 500


@pytest.mark.anyio
async def test_a_principal_may_come_as_its_bytes_where_the_body_can_carry_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        body = cbor2.dumps({"user": b"\x01", "space_id": "bytes", "tier": 0})
        made = await door.client.post("/admin/create_space", content=body, headers={"content-type": _CBOR})
        assert made.json()["result"]["owner"] == OWNER


@pytest.mark.slow
@pytest.mark.requirement("BR-HTTP-025")
def test_a_body_of_any_length_is_refused_while_it_comes_and_never_held(tmp_path: Path) -> None:
    block = b"a" * (1024 * 1024)

    def endless() -> Any:
        for _ in range(100):
            yield block

    with started(tmp_path / "spaces", "serve", module="brain") as server:
        server.post("/admin/create_space", {"user": OWNER, "space_id": "home", "tier": 1})
        time.sleep(1.5)

        def resident_mb() -> float:
            status = Path(f"/proc/{server.process.pid}/status").read_text()
            return int(status.split("VmHWM:")[1].split()[0]) / 1024

        before = resident_mb()
        url = f"{server.url}/v1/home/formation"
        announced = httpx.post(url, content=block * 100, headers={"content-type": _JSON}, timeout=30)
        chunked = httpx.post(url, content=endless(), headers={"content-type": _JSON}, timeout=30)
        for answer in (announced, chunked):
            assert answer.status_code == 413
            assert "larger than" in answer.json()["error"]["message"]
        assert resident_mb() - before < 20
        assert server.is_up()
