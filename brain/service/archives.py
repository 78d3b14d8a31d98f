"""A whole Space as one signed archive: written and taken by administrators, whatever store it lives in.

An archive is kept on the disk while it is sent or received, so that memory stays bounded and a slow client holds no
snapshot. What comes in is read to its end, digest and signature included, before anything of it is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from brain.errors import KipError, Retry
from brain.service.failures import InvalidInput, SpaceNotFound, SpaceTaken, SpaceUnreadable, Unavailable
from brain.service.spaces import Spaces, check_space_id
from brain.store.base import SpaceExists, SpaceMissing, Store, StoreFormatError
from brain.store.dump import DamagedDump, renamed
from brain.times import Clock, timestamp

if TYPE_CHECKING:
    from brain.backup.signing import Signer, Trusted

log = structlog.get_logger(__name__)

_NO_SIGNER = "this service signs no archives: its operator has not set ARCHIVE_SIGNING_KEY"
_NO_TRUST = "this service takes no archives: its operator has set neither ARCHIVE_PUBKEYS nor ARCHIVE_SIGNING_KEY"


class Archives:
    """Exports and imports Spaces. Blocking.

    keys  who signs here, None for nobody, and whose archives are taken, None for nobody's; asked when needed
    """

    def __init__(
        self,
        spaces: Spaces,
        store: Store,
        clock: Clock,
        keys: Callable[[], tuple[Signer | None, Trusted | None]],
    ) -> None:
        self._spaces = spaces
        self._store = store
        self._clock = clock
        self._keys = keys

    def export(self, space_id: str, path: Path) -> dict[str, Any]:
        """Write the Space, as of one moment and while others use it, into a new file; what is in it.

        raises  SpaceNotFound; InvalidInput where nobody signs; OSError
        """
        from brain.backup import archive

        signer, _ = self._keys()
        if signer is None:
            raise InvalidInput(_NO_SIGNER)
        made_at = timestamp(self._clock.now_ms())
        with self._spaces.use(space_id) as space, space.store.dump() as rows:
            written = archive.write(rows, path, made_at, signer)
        log.info("space_exported", space=space_id, digest=written.tally.digest)
        return _told(space_id, written.head, written.tally)

    def check_may_import(self) -> None:
        """InvalidInput where no archive is taken: known before one is received."""
        if self._keys()[1] is None:
            raise InvalidInput(_NO_TRUST)

    def import_(self, path: Path, space_id: str | None) -> dict[str, Any]:
        """Make a Space of a file, under the archive's id or another that nobody has; what was in it.

        raises  InvalidInput for what is no whole archive of somebody trusted; SpaceTaken. Nothing is there then
        """
        from brain.backup import archive

        trusted = self._keys()[1]
        if trusted is None:
            raise InvalidInput(_NO_TRUST)
        try:
            head, _ = archive.check(path, trusted)
            name = head.space_id if space_id is None else space_id
            check_space_id(name)
            with self._spaces.barred(name):
                if self._store.exists(name):
                    raise SpaceTaken(f"space {name} already exists; import under another id")
                with archive.opened(path, trusted) as opened:
                    loaded = self._store.load(opened.rows if space_id is None else renamed(opened.rows, name))
                with closing(loaded):
                    instance = loaded.instance_id
            self._open_or_undo(name)
        except SpaceExists as exists:
            raise SpaceTaken(f"space {exists} already exists; import under another id") from exists
        except (DamagedDump, StoreFormatError) as fault:
            raise InvalidInput(f"the archive is refused: {fault}") from fault
        log.info("space_imported", space=name, digest=opened.tally.digest)
        return {**_told(name, head, opened.tally), "instance": instance}

    def _open_or_undo(self, space_id: str) -> None:
        """A Space that cannot be used here, for want of a package say, is not left behind."""
        try:
            self._spaces.get(space_id)
        except Unavailable:
            return  # it is there whole, and may be opened in a moment
        except (KipError, SpaceUnreadable) as fault:
            if isinstance(fault, KipError) and fault.retry is Retry.SAFE_SAME_REQUEST:
                return
            self._store.delete(space_id)
            raise InvalidInput(f"the archive is refused: its space cannot be opened here: {fault}") from fault
        except (SpaceMissing, SpaceNotFound):
            raise SpaceNotFound("the space was deleted while it was imported") from None


def _told(space_id: str, head: Any, tally: Any) -> dict[str, Any]:
    return {
        "space_id": space_id,
        "from": {"space_id": head.space_id, "instance": head.instance_id, "made_at": head.made_at},
        "digest": tally.digest,
        "rows": dict(tally.rows),
    }
