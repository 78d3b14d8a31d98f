"""Archives of Spaces in an S3 bucket, or in a store that speaks the same protocol: where backups go and come from.

Nothing is served from a bucket. An archive is whole on this machine's disk before it is sent and before a Space is made
of it, so a slow network holds no snapshot and no writer; both ways it goes in parts, in bounded memory.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brain.settings import Settings, SettingsError

SCHEME = "s3://"

_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
_LONGEST_KEY = 1_024
_PART = 16 * 1024 * 1024
"""Bytes of one part; a larger archive than 10,000 of them takes larger parts."""

_AT_ONCE = 4
_PIECE = 1024 * 1024
_CONNECT_S, _ANSWER_S = 10, 60
_MISSING = ("404", "NoSuchKey", "NotFound")
_NO_LIBRARY = "S3 needs the extra: pip install 'brain-memory[s3]'"


class BucketFailure(Exception):
    """The bucket could not be used; the text names what failed, and no secret."""


@dataclass(frozen=True, slots=True)
class Place:
    """A bucket, and a key or the beginning of keys in it; empty for none."""

    bucket: str
    key: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.key}"

    def below(self, name: str) -> Place:
        """The object of a name in this folder."""
        folder = self.key.strip("/")
        return Place(self.bucket, f"{folder}/{name}" if folder else name)


def place_of(text: str, settings: Settings) -> Place:
    """Where `s3://BUCKET/KEY` is; `s3:///KEY` is in AWS_BUCKET.

    raises  SettingsError for what is no such place
    """
    bucket, _, key = text.removeprefix(SCHEME).partition("/")
    bucket = bucket or settings.aws_bucket
    if not bucket:
        raise SettingsError(f"{text} names no bucket, and AWS_BUCKET is not set")
    if _BUCKET.fullmatch(bucket) is None or len(key.encode()) > _LONGEST_KEY or not key.isprintable():
        raise SettingsError(f"{text!r} is no place in a bucket; that is s3://BUCKET/KEY")
    return Place(bucket, key)


class Buckets:
    """The buckets that one set of credentials opens.

    part_bytes  what is sent at a time
    """

    def __init__(self, settings: Settings, *, part_bytes: int = _PART) -> None:
        """SettingsError when the library is not installed, or takes no such settings."""
        try:
            import boto3
            from boto3.s3.transfer import TransferConfig
            from botocore.config import Config
            from botocore.exceptions import BotoCoreError
        except ImportError:
            raise SettingsError(_NO_LIBRARY) from None
        for name in ("boto3", "botocore", "s3transfer", "urllib3"):
            logging.getLogger(name).setLevel(logging.WARNING)  # below, it tells headers
        endpoint = settings.aws_endpoint_url or None
        key_id, secret, token = (
            value.get_secret_value() or None
            for value in (settings.aws_access_key_id, settings.aws_secret_access_key, settings.aws_session_token)
        )
        try:
            self._client: Any = boto3.session.Session().client(
                "s3",
                endpoint_url=endpoint,
                region_name=settings.aws_region or ("us-east-1" if endpoint else None),
                aws_access_key_id=key_id,
                aws_secret_access_key=secret,
                aws_session_token=token if key_id else None,
                config=Config(
                    connect_timeout=_CONNECT_S,
                    read_timeout=_ANSWER_S,
                    retries={"mode": "standard", "max_attempts": 5},
                    s3={"addressing_style": "path" if endpoint else "auto"},
                    # Not every store that speaks the protocol knows the newer checksums.
                    request_checksum_calculation="when_required" if endpoint else "when_supported",
                    response_checksum_validation="when_required" if endpoint else "when_supported",
                ),
            )
        except (BotoCoreError, ValueError) as fault:
            raise SettingsError(f"the AWS_ settings cannot be used ({type(fault).__name__})") from None
        self._transfer = TransferConfig(
            multipart_threshold=part_bytes, multipart_chunksize=part_bytes, max_concurrency=_AT_ONCE
        )

    def check(self, bucket: str) -> None:
        """BucketFailure unless there is such a bucket, and it may be looked into."""
        with _told(f"{SCHEME}{bucket}"):
            self._client.head_bucket(Bucket=bucket)

    def put(self, file: Path, place: Place) -> None:
        """Send a file, and read back what arrived.

        raises  FileExistsError when there is such an object; BucketFailure, and the object is not there then
        """
        with _told(str(place)):
            if self._has(place):
                raise FileExistsError(17, "File exists", str(place))
            self._client.upload_file(str(file), place.bucket, place.key, Config=self._transfer)
            sent = hashlib.sha256()
            with file.open("rb") as opened:
                for piece in iter(lambda: opened.read(_PIECE), b""):
                    sent.update(piece)
            if self._sha256(place) != sent.hexdigest():
                self._client.delete_object(Bucket=place.bucket, Key=place.key)
                raise BucketFailure(f"{place}: what arrived is not what was sent")

    def get(self, place: Place, file: Path) -> None:
        """Fetch an object into a file; BucketFailure."""
        with _told(str(place)):
            self._client.download_file(place.bucket, place.key, str(file), Config=self._transfer)

    def _has(self, place: Place) -> bool:
        from botocore.exceptions import ClientError

        try:
            self._client.head_object(Bucket=place.bucket, Key=place.key)
        except ClientError as fault:
            if _code(fault) in _MISSING:
                return False
            raise
        return True

    def _sha256(self, place: Place) -> str:
        hashed = hashlib.sha256()
        with closing(self._client.get_object(Bucket=place.bucket, Key=place.key)["Body"]) as body:
            for piece in body.iter_chunks(_PIECE):
                hashed.update(piece)
        return hashed.hexdigest()


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Failures of the library as ours: its own texts may quote what was sent."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as fault:
        raise BucketFailure(f"{what}: {_reason(fault)}") from None
    except (Boto3Error, BotoCoreError) as fault:
        inner = fault.__cause__ or fault.__context__
        reason = _reason(inner) if isinstance(inner, ClientError) else f"cannot be reached ({type(fault).__name__})"
        raise BucketFailure(f"{what}: {reason}") from None


def _reason(fault: Any) -> str:
    code = _code(fault)
    if code == "NoSuchBucket":
        return "there is no such bucket"
    return "there is nothing of that name" if code in _MISSING else f"refused ({code})"


def _code(fault: Any) -> str:
    """`NoSuchBucket` and the like; a number where the answer had no text."""
    return re.sub(r"[^A-Za-z0-9.]", "", str(fault.response.get("Error", {}).get("Code", "")))[:64] or "unknown"
