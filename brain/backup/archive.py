"""One Space in one file: gzip over lines of JSON, a head, the Space's rows, and an end that proves them complete.

    {"format": "brain-archive", "version": 1, "space": …, "instance": …, "made_at": …, "release": …}
    ["space", …]
    …
    {"end": true, "rows": {"commit": 12, …}, "digest": "sha256-sum:…", "sha256": "…"}

`sha256` is taken over every byte before the last line, `digest` is that of `brain.store.dump.Tally`. A file without its
end was cut off and is refused, and so is one that anybody changed without taking both anew: the digests tell damage.
Who made it is told by a `signature` in the last line, where there is one (`brain.backup.signing`).
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson

from brain import __version__
from brain.backup.signing import Signer, Trusted
from brain.backup.wire import row_of
from brain.store.dump import DamagedDump, Row, SpaceRow, Tally, members
from brain.times import Timestamp

FORMAT, VERSION = "brain-archive", 1
SUFFIX = ".brain"

_LONGEST_LINE = 64 * 1024 * 1024
"""Bytes: far more than a row can have, far less than a crafted file could unpack to."""

_LEVEL = 5

_MOST_TIMES = 200
_SLACK = 64 * 1024 * 1024
"""Bytes an archive may unpack to: so many times its own, and these. Rows pack to a
twentieth, a bomb to a thousandth."""


@dataclass(frozen=True, slots=True)
class Head:
    """What an archive says it holds.

    instance  of the Space that was dumped
    """

    space_id: str
    instance_id: str
    made_at: Timestamp
    release: str


@dataclass(frozen=True, slots=True)
class Written:
    """What a whole archive holds."""

    path: Path
    head: Head
    tally: Tally


def write(rows: Iterable[Row], path: Path, made_at: Timestamp, signer: Signer | None = None) -> Written:
    """Write an archive under a name nobody has yet, for this user only, and read it back before it gets the name.

    signer  signs it; None for an archive without a signature

    raises  FileExistsError; OSError; whatever iterating the rows raises. There is no file then
    """
    draft = path.with_name(f".{path.name}.part")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            # No name and no time in the packed stream: the same rows make the same bytes.
            with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
                tally = _write(rows, packed, made_at, signer)
            file.flush()
            os.fsync(file.fileno())
        with opened(draft) as archive:
            for _ in archive.rows:
                pass
            if archive.tally.digest != tally.digest:
                raise DamagedDump("the archive is not what was written")
        os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return Written(path, archive.head, tally)


def _write(rows: Iterable[Row], packed: gzip.GzipFile, made_at: Timestamp, signer: Signer | None) -> Tally:
    tally, hashed = Tally(), hashlib.sha256()

    def put(value: Any) -> None:
        line = orjson.dumps(value) + b"\n"
        hashed.update(line)
        packed.write(line)

    for row in tally.following(rows):
        if isinstance(row, SpaceRow):
            head = {"format": FORMAT, "version": VERSION, "space": row.space_id, "instance": row.instance_id}
            put({**head, "made_at": made_at, "release": __version__})
        put(members(row))
    end: dict[str, Any] = {"end": True, "rows": tally.rows, "digest": tally.digest, "sha256": hashed.hexdigest()}
    if signer is not None:
        end["signature"] = signer.sign(end)
    packed.write(orjson.dumps(end) + b"\n")
    return tally


class Archive:
    """An archive that is being read: its rows once, in bounded memory.

    tally    of the rows so far
    most     bytes it may unpack to
    trusted  keys one of which must have signed it; None to take it unsigned
    """

    def __init__(self, file: IO[bytes], *, most: int, trusted: Trusted | None = None) -> None:
        self._file = file
        self._left = most
        self._trusted = trusted
        self._hashed = hashlib.sha256()
        self.tally = Tally()
        self.head = _head(self._line())
        self.rows: Iterator[Row] = self._rows()

    def _rows(self) -> Generator[Row, None, None]:
        """Every row; DamagedDump in the place of the end when the file is not whole."""
        while True:
            before = self._hashed.copy()
            line = self._line()
            if line.startswith(b"{"):
                self._end(_object(line), before.hexdigest())
                return
            row = row_of(_json(line))
            if isinstance(row, SpaceRow) and row.space_id != self.head.space_id:
                raise DamagedDump("the archive's head names another Space than its rows")
            self.tally.add(row)
            yield row

    def _line(self) -> bytes:
        with _whole():
            line = self._file.readline(_LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise DamagedDump("the archive is cut off" if len(line) < _LONGEST_LINE else "a line is too long")
        self._left -= len(line)
        if self._left < 0:
            raise DamagedDump("the archive unpacks to far more than any archive would")
        self._hashed.update(line)
        return line

    def _end(self, end: dict[str, Any], sha256: str) -> None:
        with _whole():
            more = self._file.read(1)
        if end.get("sha256") != sha256 or end.get("digest") != self.tally.digest or more:
            raise DamagedDump("the archive is not what was written: its digest differs")
        if self._trusted is not None:
            self._trusted.check(end)


@contextmanager
def opened(path: Path, trusted: Trusted | None = None) -> Iterator[Archive]:
    """An archive to read.

    trusted  as in `Archive`; it is known with the last row whether one of them signed it
    raises  OSError when there is no such file; DamagedDump for what is no archive, or one of a newer format
    """
    most = _MOST_TIMES * path.stat().st_size + _SLACK
    with path.open("rb") as file, gzip.GzipFile(fileobj=file) as packed:
        # A binary file in all but its declared type.
        yield Archive(packed, most=most, trusted=trusted)  # type: ignore[arg-type]


def check(path: Path, trusted: Trusted | None) -> tuple[Head, Tally]:
    """Read an archive to its end and say what it holds; DamagedDump, NotTrusted, OSError."""
    with opened(path, trusted) as archive:
        for _ in archive.rows:
            pass
        return archive.head, archive.tally


@contextmanager
def _whole() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError, zlib.error) as error:
        raise DamagedDump("the archive is cut off, or no archive") from error


def _head(line: bytes) -> Head:
    head = _object(line)
    if head.get("format") != FORMAT:
        raise DamagedDump("the file is no archive of a Space")
    if head.get("version") != VERSION:
        raise DamagedDump(f"the archive has format {head.get('version')!r}, this release reads {VERSION}")
    values = [head.get(name) for name in ("space", "instance", "made_at", "release")]
    if not all(isinstance(value, str) for value in values):
        raise DamagedDump("the archive's head is incomplete")
    return Head(*map(str, values))


def _object(line: bytes) -> dict[str, Any]:
    value = _json(line)
    if not isinstance(value, dict):
        raise DamagedDump("the file is no archive of a Space")
    return value


def _json(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except ValueError as error:
        raise DamagedDump("there is a line that is no JSON") from error
