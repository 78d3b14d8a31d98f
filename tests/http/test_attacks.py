"""What attackers try at the door, as bytes on a line: each is refused in our shape, and nobody else notices."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import h11
import httpx
import pytest

from brain.http import connections
from tests.http.listening import Listening, listening
from tests.http.test_access import MANAGER, PUBLIC_KEY, cwt
from tests.http.test_faults import log_lines, parsed  # noqa: F401 - a fixture
from tests.http.test_slow_clients import parted

pytestmark = pytest.mark.slow

KEYED = {"ed25519_pubkeys": (PUBLIC_KEY,), "managers": (MANAGER,)}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    """Without authentication, with a Space `home`."""
    with listening(tmp_path_factory.mktemp("attacked")) as made:
        yield made


def asked(service: Listening, target: str, *lines: bytes, method: bytes = b"GET", body: bytes = b"") -> bytes:
    """What comes back for a request line and header lines, exactly as they stand."""
    head = b"%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" % (method, target.encode("latin-1"))
    return service.sent(head + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body)


# --- ids of Spaces ----------------------------------------------------------------------------------------------------

TRICKS = [
    "..",
    "../home",
    "..%2fhome",
    "%2e%2e%2fhome",
    "..%252fhome",
    "home/../home",
    "home%2f..%2fhome",
    "home%5c..%5chome",
    "home%00",
    "home%00.db",
    "home.db",
    "home%20",
    "%20home",
    "home%0a",
    "home%0d%0aX-Evil:%20yes",
    "HOME",
    "Home",
    "home.",
    "./home",
    "~",
    "home-wal",
    "home;",
    "home*",
    "home'--",
    'home"',
    "C:%5chome",
    "%2fetc%2fpasswd",
    "a" * 65,
    "",
]
CONFUSABLES = [
    "hоme",  # Cyrillic o
    "һome",  # Cyrillic shha
    "hοme",  # Greek omicron
    "ｈｏｍｅ",  # full width
    "home\u200b",
    "ho\u00admine",
    "\ufeffhome",
    "hom\u0435",
    "h\u2134me",  # script small o, which compatibility folds to o
    "home\u0301",
    "\u202ehome",
    "hoﬀme",
    "home１",
    "home٣",
]


@pytest.mark.requirement("BR-SPACE-001")
@pytest.mark.parametrize("trick", [*TRICKS, *(quote(name) for name in CONFUSABLES)])
def test_no_way_of_writing_an_id_leads_anywhere_else(service: Listening, trick: str) -> None:
    folder = service.application.settings.local_db_path
    before = sorted(path for path in folder.parent.rglob("*") if not path.name.endswith(("-wal", "-shm")))
    for method, operation in ((b"GET", "info"), (b"POST", "recall")):
        status, headers, body = parted(asked(service, f"/v1/{trick}/{operation}", method=method))
        assert status in (400, 404), body
        if body:
            assert set(json.loads(body)) == {"error"}
        assert "x-evil" not in headers
    assert sorted(path for path in folder.parent.rglob("*") if not path.name.endswith(("-wal", "-shm"))) == before


@pytest.mark.requirement("BR-SPACE-001")
@pytest.mark.parametrize("name", [*CONFUSABLES, "../home2", "home/2", "HOME", "a" * 65, "home\x00", "", "home\n"])
def test_no_space_is_made_under_a_name_that_looks_like_anothers(service: Listening, name: str) -> None:
    made = service.post("/admin/create_space", {"user": MANAGER, "space_id": name, "tier": 1})
    assert made.status_code == 400, made.text
    assert service.application.spaces.all_ids() == ["home"]


@pytest.mark.parametrize("number", ["-1", "1e3", "0x1", "+1", "1.0", "٣", "１", "9" * 13, "1%00", "1;", "%20", "''"])
def test_a_number_of_a_conversation_is_digits_and_nothing_else(service: Listening, number: str) -> None:
    status, _, body = parted(asked(service, f"/v1/home/conversations/{quote(number, safe='%')}"))
    assert (status, set(json.loads(body))) == (400, {"error"})


# --- headers ----------------------------------------------------------------------------------------------------------

SMUGGLED = b"POST /admin/create_space HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.requirement("BR-HTTP-013")
@pytest.mark.parametrize(
    "lines",
    [
        (b"Content-Length: 3", b"Content-Length: 300"),
        (b"Content-Length: 3, 300",),
        (b"Content-Length: +3",),
        (b"Content-Length: -3",),
        (b"Content-Length: 0x3",),
        (b"Content-Length: 3 3",),
        (b"Content-Length: \xd9\xa3",),
        (b"Content-Length: " + b"9" * 40,),
        (b"Transfer-Encoding: chunked", b"Content-Length: 3"),
        (b"Transfer-Encoding: chunked, chunked",),
        (b"Transfer-Encoding: gzip, chunked",),
        (b"Transfer-Encoding: xchunked",),
        (b"Transfer-Encoding: identity",),
        (b"Transfer-Encoding : chunked",),
        (b"Transfer-Encoding:\x0bchunked",),
        (b"X: y", b" Transfer-Encoding: chunked"),
        (b"Content-Length : 3",),
        (b"Bad\x00Name: x",),
        (b"X: a\x00b",),
        (b"X: a\rTransfer-Encoding: chunked",),
        (b": x",),
        (b"no colon",),
    ],
)
def test_where_a_body_ends_is_never_a_matter_of_opinion(service: Listening, lines: tuple[bytes, ...]) -> None:
    answer = asked(service, "/v1/home/probe", *lines, method=b"POST", body=b"{}\n" + SMUGGLED)
    assert answer.count(b"HTTP/1.1 ") == 1, answer  # what follows is not taken for a request
    status, headers, body = parted(answer)
    assert status in (400, 413, 501), answer
    assert set(json.loads(body)) == {"error"}
    assert headers["connection"] == "close"


def test_a_body_in_countless_chunks_is_read_and_others_have_their_turn_meanwhile(
    service: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[int] = []
    feed, next_event = connections.Connection._feed, connections._Requests.next_event

    def counted_feed(self: connections.Connection) -> None:
        turns.append(0)
        feed(self)

    def counted_event(self: connections._Requests) -> Any:
        event = next_event(self)
        turns[-1] += isinstance(event, h11.Data)
        return event

    monkeypatch.setattr(connections.Connection, "_feed", counted_feed)
    monkeypatch.setattr(connections._Requests, "next_event", counted_event)
    count = 100_000
    body = b'd\r\n{"query":"a"}\r\n' + b"1\r\n \r\n" * count + b"0\r\n\r\n"
    lines = (b"Content-Type: application/json", b"Transfer-Encoding: chunked")
    status, _, _ = parted(asked(service, "/v1/home/probe", *lines, method=b"POST", body=body))
    assert status == 200
    assert sum(turns) > count
    assert max(turns) < 2_000


@pytest.mark.parametrize(
    "chunks",
    [
        b"zz\r\n{}\r\n0\r\n\r\n",
        b"-2\r\n{}\r\n0\r\n\r\n",
        b"0x2\r\n{}\r\n0\r\n\r\n",
        b"2\n{}\r\n0\r\n\r\n" + SMUGGLED,
        b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
        b"2\r\n{}XX0\r\n\r\n",
        b"2;" + b"x" * 40_000 + b"\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_chunks_that_are_none_end_the_request_and_the_connection(service: Listening, chunks: bytes) -> None:
    lines = (b"Transfer-Encoding: chunked", b"Content-Type: application/json")
    answer = asked(service, "/v1/home/probe", *lines, method=b"POST", body=chunks)
    assert answer.count(b"HTTP/1.1 ") <= 1
    if answer:
        assert parted(answer)[0] == 400, answer
    assert httpx.get(f"{service.url}/info").status_code == 200


@pytest.mark.requirement("BR-HTTP-029")
@pytest.mark.parametrize(
    "value", [b"a b", b"a%0d%0aX-Evil: 1", b"\xc3\xa9", b"x" * 65, b"<script>", b"a\tb", b"", b"a;b"]
)
def test_nothing_a_client_sends_becomes_a_header_of_an_answer(service: Listening, value: bytes) -> None:
    status, headers, _ = parted(asked(service, "/info", b"X-Request-Id: " + value))
    assert status == 200
    assert re.fullmatch("[0-9a-f]{32}", headers["x-request-id"])
    assert "x-evil" not in headers


@pytest.mark.requirement("BR-AUTH-001")
def test_a_request_with_two_credentials_has_none(tmp_path: Path) -> None:
    good = b"Authorization: Bearer " + cwt("home", "*").encode()
    with listening(tmp_path, token=cwt("*", "*"), **KEYED) as service:
        assert parted(asked(service, "/v1/home/info", good))[0] == 200
        for other in (b"Authorization: Bearer junk", good, b"Authorization: Basic eDp5"):
            for lines in ((good, other), (other, good)):
                status, _, body = parted(asked(service, "/v1/home/info", *lines))
                assert (status, json.loads(body)) == (401, {"error": {"message": "authentication failed"}})
        for scheme in (b"Basic ", b"Digest ", b"Token ", b"", b"Bearer\x00 "):
            line = b"Authorization: " + scheme + cwt("home", "*").encode()
            assert parted(asked(service, "/v1/home/info", line))[0] in (400, 401)
        huge = b"Authorization: Bearer " + b"A" * 30_000
        begun = time.process_time()
        assert parted(asked(service, "/v1/home/info", huge))[0] == 401
        assert time.process_time() - begun < 1
        past = b"Authorization: Bearer " + b"A" * 40_000
        assert parted(asked(service, "/v1/home/info", past))[0] == 431


# --- logs -------------------------------------------------------------------------------------------------------------

FORGED = '\r\n{"event":"forged","level":"error"}\x1b[2K\x1b]0;title\x07\u2028\u0085'


@pytest.mark.requirement("BR-DIAG-027")
def test_nothing_a_client_sends_makes_a_line_of_the_log_or_moves_a_terminal(
    tmp_path: Path,
    log_lines: io.StringIO,  # noqa: F811
) -> None:
    with listening(tmp_path) as service:
        for path in (f"/v1/{quote(FORGED)}/info", f"/{quote(FORGED)}", f"/v1/home/{quote(FORGED)}?x={quote(FORGED)}"):
            asked(service, path)
        asked(service, "/info", b"X-Request-Id: a\x1b[2K", b"User-Agent: \x1b]0;title\x07")
        service.post("/admin/create_space", {"user": MANAGER, "space_id": FORGED, "tier": 1})
        service.post("/v1/home/formation", {"messages": [{"role": "user", "content": FORGED, "name": FORGED}]})
        service.post("/v1/home/management/add_space_token", {"scope": "read", "name": f"n{FORGED}"})
        service.post("/v1/home/management/revoke_space_token", {"name": f"n{FORGED}"})
        service.post("/v1/home/maintenance", {"trigger": FORGED})
        service.sent(b"\x1b[2K\x07 nonsense\r\n\r\n")
    lines = parsed(log_lines)  # every line is one JSON object
    assert lines
    assert all(line["event"] != "forged" for line in lines)
    raw = log_lines.getvalue()
    assert not set(raw) & {"\x1b", "\x07", "\r"}
