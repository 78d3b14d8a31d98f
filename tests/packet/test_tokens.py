"""Counting tokens: the published encoding, without a network."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.packet import tokens
from brain.packet.tokens import EncodingBroken, count, encoding, ranked
from tests.laws import law

PUBLISHED = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""SHA-256 of OpenAI's o200k_base.tiktoken, as tiktoken states it."""


@pytest.mark.requirement("BR-RECALL-028")
def test_the_table_is_that_of_the_published_file() -> None:
    lines = b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(ranked()))
    assert hashlib.sha256(lines).hexdigest() == PUBLISHED


@pytest.mark.requirement("BR-RECALL-028")
def test_texts_are_cut_as_tiktoken_cuts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import tiktoken_ext.openai_public as published

    monkeypatch.setattr(published, "load_tiktoken_bpe", lambda *_, **__: {})
    known = published.o200k_base()
    assert encoding()._pat_str == known["pat_str"]
    assert encoding()._special_tokens == known["special_tokens"]


@pytest.mark.parametrize(
    "text, tokens_of_it",
    [("", 0), ("hello world", 2), ('{"id":"P-1"}', 7), ("你好，世界", 3), ("🙂", 1), ("<|endoftext|>", 7)],
)
def test_known_counts(text: str, tokens_of_it: int) -> None:
    assert count(text) == tokens_of_it


@law(60)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_text_is_a_command_to_the_counter(text: str) -> None:
    spelled = encoding().encode_ordinary(text)
    assert count(text) == len(spelled)
    assert encoding().decode(spelled) == text


@pytest.mark.requirement("BR-RECALL-028")
def test_nothing_is_fetched_and_no_folder_of_others_is_read(tmp_path: Path) -> None:
    """A fresh process that cannot open a connection, with an empty cache of tiktoken's own."""
    program = (
        "import socket\n"
        "def refuse(*a, **k): raise AssertionError('a connection')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from brain.packet.tokens import count\n"
        "print(count('hello world'))\n"
    )
    empty = {"TIKTOKEN_CACHE_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=empty, cwd=Path.cwd())
    assert (done.stdout.strip(), list(tmp_path.iterdir())) == ("2", []), done.stderr


def test_a_damaged_table_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_DIGEST", "0" * 64)
    with pytest.raises(EncodingBroken, match=r"o200k_base\.xz"):
        ranked()
