"""`brain backup`, `brain restore`, `brain export`, `brain import` and `brain migrate copy`."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

from brain.settings import Settings, SettingsError

Commands = Any
"""What `add_subparsers` gives."""

_KEPT = tuple(name for name in get_args(Settings.model_fields["storage"].annotation) if name != "memory")
"""Stores that outlive a process."""


def add_parsers(commands: Commands) -> list[argparse.ArgumentParser]:
    """The commands; settings are still to be added to them."""
    backup = commands.add_parser("backup", help="write Spaces into archive files, while they are in use")
    _add_spaces(backup)
    backup.add_argument(
        "--to", required=True, metavar="FOLDER", help="folder of the archives, or s3://BUCKET/FOLDER of a bucket"
    )
    backup.set_defaults(run=run_backup)

    restore = commands.add_parser("restore", help="make a Space from an archive file")
    restore.add_argument("file", help="the archive, or s3://BUCKET/KEY of one in a bucket")
    restore.add_argument("--as", dest="name", metavar="SPACE", help="id of the Space, if not the archive's")
    _add_replace(restore)
    restore.set_defaults(run=run_restore)

    out = commands.add_parser("export", help="write a Space into a signed archive, while it is in use")
    out.add_argument("space", help="id of the Space")
    out.add_argument("--to", required=True, type=Path, metavar="FILE", help="the archive; there must be no such file")
    out.set_defaults(run=run_export)

    into = commands.add_parser("import", help="make a Space from an archive that somebody trusted signed")
    into.add_argument("file", type=Path, help="the archive")
    into.add_argument("--as", dest="name", metavar="SPACE", help="id of the Space, if not the archive's")
    into.set_defaults(run=run_import)

    migrate = commands.add_parser("migrate", help="move Spaces between stores")
    deeds = migrate.add_subparsers(dest="deed", metavar="DEED", required=True)
    copy = deeds.add_parser("copy", help="copy Spaces from one store into another, history included")
    _add_spaces(copy)
    stores = f"{' or '.join(_KEPT)}; `local:FOLDER` for another folder than LOCAL_DB_PATH"
    copy.add_argument("--from", dest="source", required=True, metavar="STORE", help=f"where they are: {stores}")
    copy.add_argument("--to", dest="target", required=True, metavar="STORE", help="where they go")
    copy.add_argument("--as", dest="name", metavar="SPACE", help="id of the copy, if not the same; for one Space")
    _add_replace(copy)
    copy.set_defaults(run=run_copy)
    old = deeds.add_parser("kip1", help="make a Space from an export of a KIP 1.x Space")
    old.add_argument("file", type=Path, help="the export: UPSERT scripts, as UTF-8 text")
    old.add_argument("space", help="id of the Space; there must be no such one")
    old.add_argument("--owner", required=True, metavar="PRINCIPAL", help="who owns it")
    old.add_argument("--tier", type=int, default=3, help="size it may come to, 10^(tier+2) Concepts; 3 unless given")
    old.set_defaults(run=run_kip1)
    return [backup, restore, out, into, copy, old]


def run_backup(asked: argparse.Namespace, settings: Settings) -> int:
    """One archive per Space; those that fail are named and the others written all the same."""
    from brain.app import store_for
    from brain.backup import work
    from brain.backup.bucket import SCHEME, Buckets, place_of
    from brain.times import SystemClock

    place = place_of(asked.to, settings) if asked.to.startswith(SCHEME) else None
    buckets = Buckets(settings) if place is not None else None

    def one(space_id: str) -> str:
        if place is not None and buckets is not None:
            at, tally = work.backup_into(buckets, place, store, space_id, SystemClock().now_ms())
            return f"{at}\t{tally.digest}\t{tally.rows['commit']} commits"
        written = work.backup(store, space_id, Path(asked.to), SystemClock().now_ms())
        return f"{written.path}\t{written.tally.digest}\t{written.tally.rows['commit']} commits"

    with _used(store_for(settings)) as store:
        return _each(list(store.spaces()) if asked.all else [asked.space], one)


def run_restore(asked: argparse.Namespace, settings: Settings) -> int:
    """The Space complete under its name, or nothing changed."""
    from brain.app import store_for
    from brain.backup import work
    from brain.backup.bucket import SCHEME, Buckets, place_of

    def archive() -> contextlib.AbstractContextManager[Path]:
        if asked.file.startswith(SCHEME):
            return work.fetched(Buckets(settings), place_of(asked.file, settings))
        return contextlib.nullcontext(Path(asked.file))

    def one(_: str) -> str:
        with archive() as file:
            space, tally = work.restore(store, file, space_id=asked.name, replace=asked.replace)
        space.close()
        return f"{space.space_id}\t{tally.digest}\t{tally.rows['commit']} commits"

    with _used(store_for(settings)) as store:
        return _each([asked.name or Path(asked.file).name], one)


def run_export(asked: argparse.Namespace, settings: Settings) -> int:
    """The archive complete under its name, or no file."""
    from brain.app import store_for
    from brain.backup import work
    from brain.times import SystemClock

    signer, _ = _keys(settings)
    if signer is None:
        raise SettingsError("ARCHIVE_SIGNING_KEY is not set: there is nothing to sign the archive with")

    def one(space_id: str) -> str:
        written = work.export(store, space_id, asked.to, SystemClock().now_ms(), signer)
        return f"{written.path}\t{written.tally.digest}\t{written.tally.rows['commit']} commits"

    with _used(store_for(settings)) as store:
        return _each([asked.space], one)


def run_import(asked: argparse.Namespace, settings: Settings) -> int:
    """The Space complete under a name nobody has, or nothing changed."""
    from brain.app import store_for
    from brain.backup import work

    _, trusted = _keys(settings)
    if trusted is None:
        raise SettingsError("neither ARCHIVE_PUBKEYS nor ARCHIVE_SIGNING_KEY is set: there is nobody to trust")

    def one(_: str) -> str:
        space, tally = work.restore(store, asked.file, space_id=asked.name, trusted=trusted)
        space.close()
        return f"{space.space_id}\t{tally.digest}\t{tally.rows['commit']} commits"

    with _used(store_for(settings)) as store:
        return _each([asked.name or asked.file.name], one, instead="--as gives this one another id")


def _keys(settings: Settings) -> Any:
    from brain.backup.signing import keys_of

    return keys_of(settings.archive_signing_key.get_secret_value(), settings.archive_pubkeys)


def run_copy(asked: argparse.Namespace, settings: Settings) -> int:
    """Each Space complete in the other store, or not there."""
    from brain.backup import work

    if asked.name is not None and asked.all:
        raise SettingsError("--as names one Space; it cannot be used with --all")
    if asked.source == asked.target and asked.name is None:
        raise SettingsError("--from and --to are one store; --as has to name the copy")

    def one(space_id: str) -> str:
        tally = work.copy(source, target, space_id, name=asked.name, replace=asked.replace)
        return f"{asked.name or space_id}\t{tally.digest}\t{tally.rows['commit']} commits"

    with _used(_store(asked.source, settings)) as source, _used(_store(asked.target, settings)) as target:
        return _each(list(source.spaces()) if asked.all else [asked.space], one)


def run_kip1(asked: argparse.Namespace, settings: Settings) -> int:
    """The Space complete in the store, or not there; what was done is kept beside the file for the next try."""
    from brain.app import store_for
    from brain.backup.kip1.convert import convert
    from brain.service.failures import ServiceFailure
    from brain.service.records import check_tier
    from brain.service.spaces import check_space_id
    from brain.times import SystemClock

    try:
        check_space_id(asked.space)
        check_tier(asked.tier)
    except ServiceFailure as fault:
        raise SettingsError(fault.message) from None

    def one(space_id: str) -> str:
        counts = convert(
            store,
            asked.file,
            space_id,
            owner=asked.owner,
            tier=asked.tier,
            packages=settings.space_packages,
            clock=SystemClock(),
        )
        return "\t".join([space_id, *(f"{number} {became}" for became, number in sorted(counts.items()))])

    with _used(store_for(settings)) as store:
        return _each([asked.space], one, instead="choose another id")


# --- how --------------------------------------------------------------------------------------------------------------


def _add_spaces(command: argparse.ArgumentParser) -> None:
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("space", nargs="?", help="id of the Space")
    which.add_argument("--all", action="store_true", help="every Space of the store")


def _add_replace(command: argparse.ArgumentParser) -> None:
    command.add_argument("--replace", action="store_true", help="let it take the place of the Space of its id")


def _store(named: str, settings: Settings) -> Any:
    """The store that `--from` or `--to` names; SettingsError when it names none."""
    from brain.app import store_for

    name, colon, folder = named.partition(":")
    if name not in _KEPT or (colon and (name != "local" or not folder)):
        raise SettingsError(f"{named!r} is no store; there are {', '.join(_KEPT)} and local:FOLDER")
    changed: dict[str, Any] = {"storage": name} | ({"local_db_path": Path(folder)} if folder else {})
    return store_for(settings.model_copy(update=changed))


@contextlib.contextmanager
def _used(store: Any) -> Iterator[Any]:
    try:
        yield store
    finally:
        store.close()


def _each(
    names: list[str], do: Callable[[str], str], *, instead: str = "--replace lets this one take its place"
) -> int:
    """Do it for each and print what came of it; 1 when one failed, told on the error stream.

    instead  what to do when the Space is there already
    """
    from brain.backup.bucket import BucketFailure
    from brain.backup.kip1.refused import ConversionRefused
    from brain.errors import KipError
    from brain.store.base import SpaceExists, SpaceInUse, SpaceMissing, StoreFormatError
    from brain.store.dump import DamagedDump

    failed = False
    for name in names:
        try:
            print(do(name), flush=True)
            continue
        except SpaceMissing:
            reason = "there is no such Space"
        except SpaceExists as exists:
            reason = f"there is a Space {exists} already; {instead}"
        except SpaceInUse:
            reason = "the Space is open in another process; stop it first"
        except (BucketFailure, ConversionRefused, DamagedDump, StoreFormatError) as fault:
            reason = str(fault)
        except FileExistsError as fault:
            reason = f"{fault.filename2 or fault.filename} is there already"
        except OSError as fault:
            reason = f"{fault.filename}: {fault.strerror}"
        except KipError as fault:
            reason = fault.message
        print(f"{name}: {reason}", file=sys.stderr)
        failed = True
    return int(failed)
