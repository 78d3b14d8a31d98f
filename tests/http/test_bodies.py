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
