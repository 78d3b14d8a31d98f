"""Backing up, restoring and copying Spaces: between a store and files, and from store to store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from brain.backup import archive
from brain.backup.bucket import Buckets, Place
from brain.backup.signing import Signer, Trusted
from brain.store.base import SpaceStore, Store
from brain.store.dump import Tally, renamed
from brain.times import timestamp


def backup(store: Store, space_id: str, folder: Path, now_ms: int) -> archive.Written:
    """Write one Space into `<folder>/<space id>-<time>.brain`, as of one moment, while others use it.

    raises  SpaceMissing; StoreFormatError; FileExistsError when a backup was written within the same second; OSError
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    made_at = timestamp(now_ms)
    stamp = made_at[:19].replace("-", "").replace(":", "")
    path = folder / f"{space_id}-{stamp}Z{archive.SUFFIX}"
    with closing(store.open(space_id)) as space, space.dump() as rows:
        return archive.write(rows, path, made_at)


def backup_into(buckets: Buckets, folder: Place, store: Store, space_id: str, now_ms: int) -> tuple[Place, Tally]:
    """Write one Space into an archive of a bucket, by way of this machine's disk.

    raises  as `backup` does; BucketFailure
    """
    with TemporaryDirectory(prefix="brain-backup-") as scratch:
        written = backup(store, space_id, Path(scratch), now_ms)
        place = folder.below(written.path.name)
        buckets.put(written.path, place)
    return place, written.tally


def export(store: Store, space_id: str, path: Path, now_ms: int, signer: Signer) -> archive.Written:
    """Write one Space into a signed archive of that name, as of one moment, while others use it.

    raises  as `backup` does; FileExistsError when there is such a file
    """
    with closing(store.open(space_id)) as space, space.dump() as rows:
        return archive.write(rows, path, timestamp(now_ms), signer)


def restore(
    store: Store, path: Path, *, space_id: str | None = None, replace: bool = False, trusted: Trusted | None = None
) -> tuple[SpaceStore, Tally]:
    """A Space from an archive, under the archive's name or another; the caller closes it.

    trusted  who must have signed it, which is found out before anything is stored; None to take it unsigned
    raises   as `Store.load` does; OSError when the file cannot be opened
    """
    if trusted is not None:
        archive.check(path, trusted)
    with archive.opened(path, trusted) as opened:
        rows = opened.rows if space_id is None else renamed(opened.rows, space_id)
        return store.load(rows, replace=replace), opened.tally


@contextmanager
def fetched(buckets: Buckets, place: Place) -> Iterator[Path]:
    """An archive of a bucket on this machine's disk, for the block; BucketFailure."""
    with TemporaryDirectory(prefix="brain-restore-") as scratch:
        path = Path(scratch) / "archive"
        buckets.get(place, path)
        yield path


def copy(source: Store, target: Store, space_id: str, *, name: str | None = None, replace: bool = False) -> Tally:
    """A Space of one store in another as well; what was committed to it meanwhile is not in the copy.

    raises  SpaceMissing; as `Store.load` does
    """
    tally = Tally()
    with closing(source.open(space_id)) as space, space.dump() as rows:
        given = tally.following(rows if name is None else renamed(rows, name))
        target.load(given, replace=replace).close()
    return tally
