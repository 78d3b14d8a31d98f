"""A server that speaks the S3 protocol, in this process, on a port of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from brain.settings import Settings
from tests.service.world import settings_for

KEY_ID, SECRET, BUCKET = "an-access-key-id", "a-very-secret-access-key", "backups"


@contextmanager
def serving() -> Iterator[str]:
    """Its address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def settings_of(folder: Path, url: str, **changed: Any) -> Settings:
    values = {
        "aws_bucket": BUCKET,
        "aws_endpoint_url": url,
        "aws_access_key_id": KEY_ID,
        "aws_secret_access_key": SECRET,
    }
    return settings_for(folder, **{**values, **changed})


def client_of(url: str) -> Any:
    """The maker's own client, to look at what is there."""
    return boto3.client(
        "s3", endpoint_url=url, aws_access_key_id=KEY_ID, aws_secret_access_key=SECRET, region_name="us-east-1"
    )
