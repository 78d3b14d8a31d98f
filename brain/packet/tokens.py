"""Tokens, counted exactly: the o200k_base encoding, whatever model answers (BR-RECALL-025, BR-RECALL-028).

The encoding's table travels with the program, so that nothing is fetched: `o200k_base.xz` holds its 199,998 byte
strings in the order of their ranks, each behind its length in one byte. They are those of OpenAI's published
`o200k_base.tiktoken` (MIT licence), which stores the same in base64; a test compares the two by that file's digest.
"""

from __future__ import annotations

import hashlib
import lzma
import threading
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

TOKENIZER = "o200k_base@tiktoken-rs-0.12"
"""The encoding's name on the wire."""

TOKENIZERS = (TOKENIZER, "o200k_base@tiktoken-rs-0.12.0")
"""The names it goes by; they mean the same."""

Count = Callable[[str], int]
"""Tokens of a text."""

_TABLE = "o200k_base.xz"
_DIGEST = "bac143fe7fe950090c6e4ed9a2f80de5412a92495758b52becbbe5a7eea25ecb"

_WORD = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CAPITAL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTED = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERN = "|".join(
    (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_CAPITAL}*{_WORD}+{_CONTRACTED}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_CAPITAL}+{_WORD}*{_CONTRACTED}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
"""How the encoding cuts a text before it merges anything."""

_SPECIAL = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}


class EncodingBroken(Exception):
    """The table of the encoding is missing from this installation, or is not what it should be."""


_loaded: list[Encoding] = []
_loading = threading.Lock()


def count(text: str) -> int:
    """How many tokens a text is; what looks like a special token in it is ordinary text.

    The first call takes about half a second, in which the table is read. Thread-safe.

    raises  EncodingBroken
    """
    return len(encoding().encode_ordinary(text))


def encoding() -> Encoding:
    """The encoding itself; EncodingBroken as `count`."""
    if not _loaded:
        with _loading:
            if not _loaded:
                _loaded.append(_load())
    return _loaded[0]


def ranked() -> list[bytes]:
    """The byte strings of the encoding by rank."""
    try:
        raw = lzma.decompress(files("brain.packet").joinpath(_TABLE).read_bytes())
    except (OSError, lzma.LZMAError) as broken:
        raise EncodingBroken(f"{_TABLE} of this installation cannot be read") from broken
    if hashlib.sha256(raw).hexdigest() != _DIGEST:
        raise EncodingBroken(f"{_TABLE} of this installation is not the table it should be")
    tokens, at = [], 0
    while at < len(raw):
        end = at + 1 + raw[at]
        tokens.append(raw[at + 1 : end])
        at = end
    return tokens


def _load() -> Encoding:
    import tiktoken  # takes a while, and is needed only by who counts

    ranks = {token: rank for rank, token in enumerate(ranked())}
    return tiktoken.Encoding("o200k_base", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens=_SPECIAL)
