"""What the parts of a settlement share: the Space they work in, reads, host writes, the fence of the lease."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from brain.gate.gate import host_session
from brain.kip.context import Session, WriteSet
from brain.kip.pipeline import Engine
from brain.store.base import ElementId, Lease, LeaseLost, Snapshot, Transaction
from brain.times import Timestamp


class OpenSpace(Protocol):
    """The Space as the service holds it open."""

    @property
    def engine(self) -> Engine: ...

    @property
    def self_id(self) -> ElementId: ...

    def snapshot(self) -> AbstractContextManager[Snapshot]: ...

    def transaction(self) -> AbstractContextManager[Transaction]: ...


class Refused(Exception):
    """The engine did not do what a part needs; the code is the engine's."""


@dataclass(slots=True)
class Work:
    """One settlement: everything its parts need, with the same "now" for all of them."""

    space: OpenSpace
    lease: Lease
    now_ms: int
    now: Timestamp
    session: Session
    lost: LeaseLost | None = None

    @classmethod
    def begin(cls, space: OpenSpace, lease: Lease, now_ms: int, now: Timestamp) -> Work:
        work = cls(space, lease, now_ms, now, host_session("upkeep"))
        work.session = host_session("upkeep", work._check_lease)
        return work

    def _check_lease(self, _: WriteSet, tx: Transaction) -> None:
        self.check_lease(tx)

    def check_lease(self, tx: Transaction) -> None:
        """LeaseLost when another worker has taken the Space over."""
        try:
            tx.check_lease(self.lease, self.space.engine.clock.now_ms())
        except LeaseLost as lost:
            self.lost = lost
            raise

    def read(self, command: str, **parameters: Any) -> Any:
        """The result of a read."""
        return self._run(command, parameters)["result"]

    def write(self, command: str, **parameters: Any) -> bool:
        """Whether a write changed anything; its key makes a second one change nothing."""
        return self.write_as(self.session, command, **parameters)

    def write_as(self, session: Session, command: str, **parameters: Any) -> bool:
        """The same through another session, for a write with a condition of its own."""
        return bool(self._run(command, parameters, session)["status"] == "succeeded")

    def _run(self, command: str, parameters: Mapping[str, Any], session: Session | None = None) -> Mapping[str, Any]:
        response = self.space.engine.run(command, parameters, session=session or self.session).response
        if self.lost is not None:
            raise self.lost
        results = response.get("results") or [response]
        if "error" in results[0]:
            raise Refused(results[0]["error"]["code"])
        answer: Mapping[str, Any] = results[0]
        return answer
