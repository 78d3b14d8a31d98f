"""The texts that travel with the program: `prompts/` and `kip_reference/`.

An installed wheel carries them inside the package; a checkout has them beside it.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

Folder = Literal["kip_reference", "prompts"]

_PACKAGE = Path(__file__).parent


class BundledTextMissing(Exception):
    """The installation lacks a text it was built with."""


def folder(name: Folder) -> Path:
    """Where a folder of texts stands; BundledTextMissing when it stands nowhere."""
    for place in (_PACKAGE / "bundled" / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise BundledTextMissing(f"the folder {name} is missing from this installation")


@lru_cache(maxsize=64)
def text(name: Folder, file: str) -> str:
    """One file's text, read once."""
    path = folder(name) / file
    if not path.is_file():
        raise BundledTextMissing(f"{name}/{file} is missing from this installation")
    return path.read_text("utf-8")


def files(name: Folder) -> list[str]:
    """The file names of a folder, sorted."""
    return sorted(path.name for path in folder(name).glob("*.md"))
