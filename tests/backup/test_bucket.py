"""Backups go to an S3 bucket and come back from it, by the commands an operator types."""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brain.backup.bucket import BucketFailure, Buckets, Place, place_of
from brain.commands import main
from brain.doctor import services
from brain.settings import Settings, SettingsError, load_settings
from tests.backup import s3
from tests.backup.s3 import BUCKET, KEY_ID, SECRET, client_of
from tests.backup.test_archives import add, names, with_space

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with s3.serving() as address:
        client_of(address).create_bucket(Bucket=BUCKET)
        yield address


@pytest.fixture
def bucket(url: str) -> Iterator[Any]:
    """The maker's own client; the bucket is empty before."""
    client = client_of(url)
    for one in client.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
        client.delete_object(Bucket=BUCKET, Key=one["Key"])
    yield client
    client.close()


@pytest.fixture
def settings(tmp_path: Path, url: str, bucket: Any, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Of a Space `home` with Ana and Bo in it; temporary files go to a folder of the test's."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    made = s3.settings_of(tmp_path / "db", url)
    with_space(made, "home", add("Ana", "Bo"), make=True)
    return made


def run(settings: Settings, *words: str) -> int:
    """A command with the settings of the bucket as an operator has them: in the environment."""
    given = {
        "AWS_BUCKET": settings.aws_bucket,
        "AWS_ENDPOINT_URL": settings.aws_endpoint_url,
        "AWS_ACCESS_KEY_ID": settings.aws_access_key_id.get_secret_value(),
        "AWS_SECRET_ACCESS_KEY": settings.aws_secret_access_key.get_secret_value(),
    }
    with pytest.MonkeyPatch.context() as environment:
        for name, value in given.items():
            environment.setenv(name, value)
        return main([*words, "--local-db-path", str(settings.local_db_path)])


def keys(client: Any) -> list[str]:
    return [one["Key"] for one in client.list_objects_v2(Bucket=BUCKET).get("Contents", ())]


@pytest.mark.requirement("BR-LIFE-025", "BR-CONF-024")
class TestBackupAndRestore:
    def test_a_space_goes_to_the_bucket_and_comes_back_as_it_was(
        self, settings: Settings, bucket: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(settings, "backup", "home", "--to", f"s3://{BUCKET}/nightly/") == 0
        [key] = keys(bucket)
        place, digest, commits = capsys.readouterr().out.strip().split("\t")
        assert place == f"s3://{BUCKET}/{key}"
        assert key.startswith("nightly/home-")
        with_space(settings, "home", add("Cleo"))
        assert run(settings, "restore", place) == 1
        assert "--replace" in capsys.readouterr().err
        assert run(settings, "restore", place, "--replace") == 0
        assert capsys.readouterr().out.strip().split("\t") == ["home", digest, commits]
        assert with_space(settings, "home", names) == ["Ana", "Bo", "Brain"]
        assert list((tmp_path / "scratch").iterdir()) == []

    def test_all_spaces_go_to_the_bucket_that_is_set_and_one_comes_back_under_another_name(
        self, settings: Settings, bucket: Any
    ) -> None:
        with_space(settings, "away", add("Dora"), make=True)
        assert run(settings, "backup", "--all", "--to", "s3:///") == 0
        away, home = sorted(keys(bucket))
        assert away.startswith("away-")
        assert home.startswith("home-")
        assert run(settings, "restore", f"s3:///{away}", "--as", "trial") == 0
        assert with_space(settings, "trial", names) == ["Brain", "Dora"]

    def test_an_archive_that_was_damaged_in_the_bucket_makes_no_space(
        self, settings: Settings, bucket: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run(settings, "backup", "home", "--to", "s3:///")
        [key] = keys(bucket)
        whole = bucket.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        changed = gzip.compress(gzip.decompress(whole).replace(b'"Ana"', b'"Eva"'))
        for damaged, told in ((whole[:-40], "cut off"), (changed, "its digest differs")):
            bucket.put_object(Bucket=BUCKET, Key=key, Body=damaged)
            assert run(settings, "restore", f"s3:///{key}", "--as", "trial") == 1
            assert told in capsys.readouterr().err
        assert not (settings.local_db_path / "trial.db").exists()

    def test_what_cannot_be_reached_or_is_not_there_is_told_without_a_secret(
        self, settings: Settings, url: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            closed = f"http://127.0.0.1:{probe.getsockname()[1]}"
        for changed, words, told in (
            ({}, ("restore", "s3:///nothing.brain"), "there is nothing of that name"),
            ({}, ("backup", "home", "--to", "s3://no-such-bucket/x"), "there is no"),
            ({"aws_endpoint_url": closed}, ("backup", "home", "--to", "s3:///"), "cannot be reached"),
        ):
            assert run(settings.model_copy(update=changed), *words) == 1
            said = "".join(capfd.readouterr())
            assert told in said
            assert SECRET not in said
            assert KEY_ID not in said
        assert with_space(settings, "home", names) == ["Ana", "Bo", "Brain"]

    def test_a_place_that_is_none_is_wrong_words(self, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(settings.model_copy(update={"aws_bucket": ""}), "backup", "home", "--to", "s3:///x") == 2
        assert "AWS_BUCKET" in capsys.readouterr().err
        for text in ("s3://a b/x", "s3://x/k", f"s3://bucket/{'k' * 1025}", "s3://bucket/a\nb", "s3://../x"):
            with pytest.raises(SettingsError, match="no place in a bucket"):
                place_of(text, settings)


@pytest.mark.requirement("BR-LIFE-025")
def test_a_large_archive_goes_in_parts_and_comes_back_in_bounded_memory(url: str, bucket: Any, tmp_path: Path) -> None:
    file = tmp_path / "large"
    with file.open("wb") as opened:
        for _ in range(96):
            opened.write(os.urandom(MIB))
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from brain.backup.bucket import Buckets, Place\n"
        "from tests.backup import s3\n"
        "buckets = Buckets(s3.settings_of(Path('unused'), sys.argv[1]), part_bytes=5 * 2**20)\n"
        "buckets.check(s3.BUCKET)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "place = Place(s3.BUCKET, 'large')\n"
        "buckets.put(Path(sys.argv[2]), place)\n"
        "buckets.get(place, Path(sys.argv[2] + '.back'))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, url, str(file)], check=True, capture_output=True, text=True, timeout=120
    )
    assert int(done.stdout) < 64 * 1024, "kilobytes more than before, for 96 MiB"
    assert bucket.head_object(Bucket=BUCKET, Key="large")["ETag"].strip('"').endswith("-20")
    back = Path(f"{file}.back")
    assert hashlib.sha256(back.read_bytes()).digest() == hashlib.sha256(file.read_bytes()).digest()


@pytest.mark.requirement("BR-LIFE-025")
class TestTheBucket:
    def test_what_is_there_is_not_overwritten(self, settings: Settings, bucket: Any, tmp_path: Path) -> None:
        bucket.put_object(Bucket=BUCKET, Key="kept", Body=b"old")
        (tmp_path / "new").write_bytes(b"new")
        with pytest.raises(FileExistsError):
            Buckets(settings).put(tmp_path / "new", Place(BUCKET, "kept"))
        assert bucket.get_object(Bucket=BUCKET, Key="kept")["Body"].read() == b"old"

    def test_what_arrives_changed_does_not_stay(self, settings: Settings, bucket: Any, tmp_path: Path) -> None:
        """A store that loses what it was given, and one that is written to by somebody else at the same moment."""
        (tmp_path / "file").write_bytes(b"as it was sent")
        buckets = Buckets(settings)
        upload = buckets._client.upload_file

        def and_change(file: str, name: str, key: str, **more: Any) -> None:
            upload(file, name, key, **more)
            bucket.put_object(Bucket=name, Key=key, Body=b"something else")

        buckets._client.upload_file = and_change
        with pytest.raises(BucketFailure, match="not what was sent"):
            buckets.put(tmp_path / "file", Place(BUCKET, "file"))
        assert keys(bucket) == []

    def test_nothing_is_logged_of_what_is_sent(
        self, settings: Settings, bucket: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "file").write_bytes(b"x")
        with caplog.at_level(logging.DEBUG):
            Buckets(settings).put(tmp_path / "file", Place(BUCKET, "file"))
        told = caplog.text
        assert "Authorization" not in told
        assert SECRET not in told


@pytest.mark.requirement("BR-CONF-017", "BR-CONF-024")
def test_the_doctor_looks_at_the_bucket_where_there_is_one(settings: Settings) -> None:
    def found(**changed: Any) -> list[Any]:
        return list(services.bucket(settings.model_copy(update=changed)))

    assert found(aws_bucket="") == []
    [well] = found()
    assert (well.level, well.subject) == ("ok", "backups")
    [missing] = found(aws_bucket="no-such-bucket")
    assert missing.level == "warning"
    assert SECRET not in str(missing)


@pytest.mark.requirement("BR-CONF-024", "BR-CONF-017")
def test_half_a_key_and_an_address_that_is_none_stop_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://elsewhere")  # a setting of the library's own, which it takes
    load_settings()
    for name, value in (("AWS_ACCESS_KEY_ID", KEY_ID), ("AWS_ENDPOINT_URL", "s3.example.com"), ("AWS_BUKET", "x")):
        with monkeypatch.context() as environment:
            environment.setenv(name, value)
            with pytest.raises(SettingsError, match="AWS_") as refused:
                load_settings()
        assert value not in str(refused.value) or value == "x"


@pytest.mark.requirement("BR-CONF-024")
def test_the_library_is_imported_only_for_a_bucket() -> None:
    program = "import sys, brain.app, brain.commands, brain.backup.work; print('boto3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "False\n"
