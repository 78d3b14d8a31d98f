"""A worker process for tests: the real one, with the keeper as its model and a clock that can be set.

`python -m tests.workers.worker`; what it is asked to remember may also say `[kill]`: the process that works on it ends.
While there is a file `deaf` beside the Spaces it takes no messages. WATCH_LOOK_S says how often it looks after itself.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from brain.agents.model import ModelAnswer, ModelRequest
from brain.agents.turns import FormationTurn
from brain.app import Application, build
from brain.settings import Settings, load_settings
from brain.times import SystemClock
from tests.service.keeper import Keeper
from workers import watch
from workers.transport import QoS
from workers.worker import work


class DeadlyKeeper(Keeper):
    """See above."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        turn = request.task
        if isinstance(turn, FormationTurn) and "[kill]" in turn.lines[-1].text:
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().answer(request)


class SetClock(SystemClock):
    """The system's clock, as many milliseconds later as a file says at the moment."""

    def __init__(self, offset: Path) -> None:
        self._offset = offset

    def now_ms(self) -> int:
        later = int(self._offset.read_text()) if self._offset.exists() else 0
        return super().now_ms() + later


def _build(settings: Settings) -> Application:
    return build(
        settings,
        model=DeadlyKeeper(pause_s=float(os.environ.get("KEEPER_PAUSE_S", "0.02"))),
        clock=SetClock(settings.local_db_path.parent / "clock"),
    )


def _may_be_deaf(settings: Settings) -> None:
    deaf, hears = settings.local_db_path.parent / "deaf", QoS.can_consume
    QoS.can_consume = lambda qos: not deaf.exists() and hears(qos)
    watch.LOOK_S = float(os.environ.get("WATCH_LOOK_S", watch.LOOK_S))


if __name__ == "__main__":
    settings = load_settings()
    _may_be_deaf(settings)
    sys.exit(work(settings, build=_build))
