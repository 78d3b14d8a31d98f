"""A whole Space as one signed archive, out of one service and into another, and what is no such archive."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from brain.app import build
from brain.auth.credentials import AuthenticationFailed
from brain.backup.signing import Signer
from brain.commands import main
from brain.errors import SerializationConflict
from brain.service.failures import Unavailable
from brain.settings import SettingsError, load_settings
from brain.store.dump import tally_of
from tests.http.conftest import Door, said
from tests.http.test_access import guarded
from tests.service.world import OWNER, served, settings_for

pytestmark = pytest.mark.anyio


def text_of(key: Ed25519PrivateKey) -> tuple[str, str]:
    raw = key.private_bytes_raw(), key.public_key().public_bytes_raw()
    return base64.b64encode(raw[0]).decode(), base64.b64encode(raw[1]).decode()


OURS, THEIRS = (Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (3, 4))
PRIVATE, PUBLIC = text_of(OURS)
ADMIN = "/admin/import_space"


@asynccontextmanager
async def service(folder: Path, *, space: str | None = "home", **settings: Any) -> AsyncIterator[Door]:
    chosen = {"archive_signing_key": PRIVATE, **settings}
    async with served(build(settings_for(folder, **chosen))) as client:
        if space is not None:
            made = await client.post("/admin/create_space", json={"user": OWNER, "space_id": space, "tier": 3})
            assert made.status_code == 200
        yield Door(client, space or "home")


async def export(door: Door) -> bytes:
    answer = await door.client.post(f"/admin/{door.space}/export_space")
    assert answer.status_code == 200, answer.text
    return answer.content


async def bring_in(door: Door, archive: bytes, space_id: str | None = None) -> httpx.Response:
    query = {} if space_id is None else {"space_id": space_id}
    headers = {"content-type": "application/gzip"}
    return await door.client.post(ADMIN, params=query, content=archive, headers=headers)


async def spaces_of(door: Door) -> list[str]:
    app = door.client._transport.app  # type: ignore[attr-defined]
    ids: list[str] = app.state.management._spaces.all_ids()
    return ids


@pytest.mark.requirement("BR-LIFE-025", "BR-LIFE-026", "BR-SPACE-007")
async def test_a_space_goes_into_another_service_with_all_it_has(tmp_path: Path) -> None:
    async with service(tmp_path / "a") as door:
        await door.formed(said("I moved to Lisbon."))
        await door.client.patch("/v1/home/management/update_space", json={"name": "Kitchen"})
        token = {"scope": "read", "name": "reader"}
        await door.client.post("/v1/home/management/add_space_token", json=token)
        before, facts = await door.result("info"), await door.kip("FIND(?a.id) WHERE { ?a ASSERTION {} }")
        answer = await door.client.post("/admin/home/export_space")
        assert answer.headers["content-type"] == "application/gzip"
        assert 'filename="home.brain"' in answer.headers["content-disposition"]
        archive, digest = answer.content, answer.headers["x-archive-digest"]
        await door.formed(said("I like tea."))  # the archive is of the moment it was made
    async with service(tmp_path / "b", space=None, archive_signing_key="", archive_pubkeys=(PUBLIC,)) as door:
        imported = (await bring_in(door, archive)).json()["result"]
        assert (imported["space_id"], imported["digest"]) == ("home", digest)
        assert imported["instance"] != imported["from"]["instance"]
        assert await door.result("info") == before
        assert await door.kip("FIND(?a.id) WHERE { ?a ASSERTION {} }") == facts
        tokens = (await door.client.get("/v1/home/management/space_tokens")).json()["result"]
        assert [kept["name"] for kept in tokens] == ["reader"]
        await door.formed(said("I like coffee."))  # and goes on


@pytest.mark.requirement("BR-LIFE-025")
@pytest.mark.parametrize("fault", [Unavailable("busy"), SerializationConflict()])
async def test_a_space_that_was_imported_and_cannot_be_opened_just_now_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    async with service(tmp_path) as door:
        archive = await export(door)
        spaces = door.client._transport.app.state.management._spaces  # type: ignore[attr-defined]

        def busy(_: str) -> None:
            raise fault

        with monkeypatch.context() as patched:
            patched.setattr(spaces, "get", busy)
            assert (await bring_in(door, archive, "kitchen")).status_code == 200
        assert (await door.client.get("/v1/kitchen/info")).status_code == 200


@pytest.mark.requirement("BR-AUTH-007", "BR-LIFE-025")
async def test_tokens_of_a_space_are_good_in_no_copy_of_another_id(tmp_path: Path) -> None:
    async with service(tmp_path) as door:
        token = {"scope": "*", "name": "writer"}
        minted = (await door.client.post("/v1/home/management/add_space_token", json=token)).json()["result"]
        assert (await bring_in(door, await export(door), "kitchen")).status_code == 200
        assert (await door.client.get("/v1/kitchen/management/space_tokens")).json()["result"] == []
        app = door.client._transport.app  # type: ignore[attr-defined]
        tokens = app.state.management._tokens
        with app.state.management._spaces.use("home") as home, app.state.management._spaces.use("kitchen") as copied:
            assert tokens.verify(home, minted["token"]).name == "writer"
            with pytest.raises(AuthenticationFailed):
                tokens.verify(copied, minted["token"])


@pytest.mark.requirement("BR-LIFE-025", "BR-SPACE-005")
async def test_an_archive_takes_nobodys_place_and_may_have_another_id(tmp_path: Path) -> None:
    async with service(tmp_path) as door:
        await door.formed(said("I like tea."))
        archive, before = await export(door), await door.result("info")
        await door.formed(said("I like coffee."))
        for space_id in (None, "home"):
            refused = await bring_in(door, archive, space_id)
            assert refused.status_code == 400
            assert "already exists" in refused.text
        for bad in ("", "A", "a-b", "../a", "a" * 65):
            assert (await bring_in(door, archive, bad)).status_code == 400
        assert (await bring_in(door, archive, "copy")).json()["result"]["space_id"] == "copy"
        copy = await Door(door.client, "copy").result("info")
        assert copy["db_stats"] == before["db_stats"]
        assert copy["id"] == "copy"
        assert await spaces_of(door) == ["copy", "home"]


def lines_of(archive: bytes) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(archive).splitlines()]


def packed(lines: list[Any]) -> bytes:
    return gzip.compress(b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines))


def changed(change: Callable[[list[Any]], object]) -> Callable[[bytes], bytes]:
    def do(archive: bytes) -> bytes:
        lines = lines_of(archive)
        change(lines)
        return packed(lines)

    return do


def elsewhere(lines: list[Any]) -> None:
    lines[0]["space"] = lines[1][1] = "../x"


def resigned(archive: bytes) -> bytes:
    """Signed anew, by somebody else."""
    lines = lines_of(archive)
    lines[-1]["signature"] = Signer(THEIRS).sign(lines[-1])
    return packed(lines)


def in_our_name(archive: bytes) -> bytes:
    """Signed by somebody else who says to be us."""
    lines = lines_of(archive)
    ours = lines[-1]["signature"]
    lines[-1]["signature"] = {**Signer(THEIRS).sign(lines[-1]), "key": ours["key"]}
    return packed(lines)


def bit_flipped(archive: bytes) -> bytes:
    data = bytearray(gzip.decompress(archive))
    at = data.index(b"Kitchen")
    data[at] ^= 1
    return gzip.compress(bytes(data))


HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda _: b"",
    "no gzip": lambda _: b"PK\x03\x04 a zip with ../../etc/passwd in it",
    "no lines": lambda _: gzip.compress(b""),
    "no archive": lambda _: gzip.compress(b'{"format": "other"}\n'),
    "cut off in its bytes": lambda archive: archive[: len(archive) // 2],
    "cut off by one byte": lambda archive: archive[:-1],
    "without its end": changed(lambda lines: lines.pop()),
    "without a row": changed(lambda lines: lines.pop(3)),
    "a row twice": changed(lambda lines: lines.insert(3, lines[3])),
    "a bit flipped": bit_flipped,
    "more after its end": lambda archive: archive + gzip.compress(b'["space"]\n'),
    "bytes after its end": lambda archive: archive + b"x",
    "another format": changed(lambda lines: lines[0].update(version=99)),
    "another id in its head": changed(lambda lines: lines[0].update(space="other")),
    "an id that leads elsewhere": changed(elsewhere),
    "unsigned": changed(lambda lines: lines[-1].pop("signature")),
    "a signature of nothing": changed(
        lambda lines: lines[-1].update(signature={"alg": "Ed25519", "key": "", "sig": ""})
    ),
    "a signature that is none": changed(lambda lines: lines[-1].update(signature=[1])),
    "another algorithm": changed(lambda lines: lines[-1]["signature"].update(alg="none")),
    "signed by somebody else": resigned,
    "signed in our name": in_our_name,
    "a bomb": lambda _: gzip.compress(b'{"format":"brain-archive"' + b" " * 200_000_000),
    "a bomb of rows": lambda archive: gzip.compress(
        gzip.decompress(archive).split(b"\n")[0] + b"\n" + (b'["client_key","x","C-1"]' + b" " * 9_999_999 + b"\n") * 20
    ),
    "deep": lambda archive: gzip.compress(gzip.decompress(archive).split(b"\n")[0] + b"\n" + b"[" * 100_000 + b"\n"),
}


@pytest.mark.requirement("BR-LIFE-025")
@pytest.mark.parametrize("kind", HOSTILE)
async def test_what_is_no_whole_archive_of_somebody_trusted_leaves_nothing(tmp_path: Path, kind: str) -> None:
    async with service(tmp_path) as door:
        await door.client.patch("/v1/home/management/update_space", json={"name": "Kitchen"})
        hostile = HOSTILE[kind](await export(door))
        answer = await bring_in(door, hostile, "copy")
        assert answer.status_code == 400, answer.text
        assert "the archive is refused" in answer.json()["error"]["message"]
        assert await spaces_of(door) == ["home"]
        assert (await Door(door.client, "copy").get("info")).status_code == 404


@pytest.mark.requirement("BR-HTTP-005")
async def test_an_archive_over_the_limit_is_not_received(tmp_path: Path) -> None:
    async with service(tmp_path, archive_limit_bytes=1_500) as door:
        archive = await export(door)
        assert len(archive) > 1_500
        too_large = await bring_in(door, archive, "copy")
        assert (too_large.status_code, "1500 bytes" in too_large.text) == (413, True)

        async def unannounced() -> AsyncIterator[bytes]:
            for at in range(0, len(archive), 500):
                yield archive[at : at + 500]

        headers = {"content-type": "application/gzip"}
        answer = await door.client.post(f"{ADMIN}?space_id=copy", content=unannounced(), headers=headers)
        assert answer.status_code == 413
        packed = await door.client.post(ADMIN, content=archive[:100], headers={**headers, "content-encoding": "gzip"})
        assert packed.status_code == 415
        assert await spaces_of(door) == ["home"]


async def test_without_keys_nothing_is_exported_or_imported(tmp_path: Path) -> None:
    async with service(tmp_path, archive_signing_key="") as door:
        refused = await door.client.post("/admin/home/export_space")
        assert refused.status_code == 400
        assert "ARCHIVE_SIGNING_KEY" in refused.text
        refused = await bring_in(door, b"x")
        assert refused.status_code == 400
        assert "ARCHIVE_PUBKEYS" in refused.text


async def test_only_administrators_take_spaces_out_and_in(tmp_path: Path) -> None:
    async with guarded(tmp_path, archive_signing_key=PRIVATE) as door:
        for name in ("cwt *", "cwt of all *", "token *", "manager read", "nobody"):
            for path in ("/admin/home/export_space", ADMIN):
                assert (await door.ask("POST", path, door.credentials["home"][name])).status_code == 401, name
        exported = await door.ask("POST", "/admin/home/export_space", door.credentials["home"]["manager write"])
        assert exported.status_code == 200
        missing = await door.ask("POST", "/admin/nowhere/export_space", door.credentials["home"]["manager write"])
        assert missing.status_code == 404


@pytest.mark.requirement("BR-LIFE-025")
def test_the_commands_write_and_take_what_the_service_takes_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    application = build(settings_for(tmp_path / "db"))
    application.spaces.create("home", owner="ana", tier=1)
    with application.spaces.get("home").store.dump() as rows:
        digest = tally_of(rows).digest
    application.spaces.close()

    def run(*words: str, key: str = PRIVATE, trusted: str = "") -> int:
        monkeypatch.setenv("ARCHIVE_SIGNING_KEY", key)
        monkeypatch.setenv("ARCHIVE_PUBKEYS", trusted)
        return main([*words, "--db", str(tmp_path / "db")])

    file = str(tmp_path / "home.brain")
    assert run("export", "home", "--to", file, key="") == 2
    assert run("export", "home", "--to", file) == 0
    assert digest in capsys.readouterr().out
    assert run("export", "home", "--to", file) == 1  # nothing is written over
    assert run("import", file, "--as", "copy", key="") == 2
    assert run("import", file, "--as", "copy", key="", trusted=text_of(THEIRS)[1]) == 1
    assert "nobody who is trusted" in capsys.readouterr().err
    assert run("import", file, "--as", "copy", key="", trusted=PUBLIC) == 0
    assert run("import", file) == 1
    assert "--as" in capsys.readouterr().err
    assert run("import", str(tmp_path / "missing.brain")) == 1
    assert run("restore", file, "--as", "third") == 0  # a signed archive is an archive


@pytest.mark.requirement("BR-CONF-018")
@pytest.mark.parametrize("variable", ["ARCHIVE_SIGNING_KEY", "ARCHIVE_PUBKEYS"])
def test_a_key_that_is_none_stops_the_start_unseen(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "swordfish")
    with pytest.raises(SettingsError, match=variable) as refused:
        load_settings()
    assert "swordfish" not in str(refused.value)
