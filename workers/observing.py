"""What operators see of a worker: the numbers of its whole pool, on the address of METRICS_ADDR.

A process of the pool writes its numbers into a file of its own, again and again, and the main process, which is the one
that is asked, adds them up. Files of processes that ended stay, so that no number ever falls.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog
from celery import signals

from brain import logs
from brain.observe.health import broker_check, store_check
from brain.observe.listener import Listener, routes_of
from brain.observe.measures import Measures
from brain.observe.metrics import Recorder, State
from brain.observe.observed import Observed
from brain.observe.traces import Tracer
from brain.settings import Settings
from brain.store.base import Store

if TYPE_CHECKING:
    from brain.app import Application

log = structlog.get_logger(__name__)

WRITE_S = 2.0
"""How often a process of the pool writes its numbers, if they changed."""

_FORK_S = 5.0
"""How long a fork waits for a check of the store."""


class Numbers:
    """Those of one worker. It is made before the fork, in the main process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder: Path | None = None
        self._listener: Listener | None = None
        self._recorder: Recorder | None = None
        self._store: LateStore | None = None
        self._tracer: Tracer | None = None
        self._written: State = {}
        self._lock = threading.Lock()

    def connect(self) -> None:
        """Serve from when the worker is ready, where it has an address of its own."""
        signals.worker_process_shutdown.connect(self._end, weak=False)
        if self._settings.own_metrics_address is not None:
            self._folder = Path(tempfile.mkdtemp(prefix="brain-numbers-"))
            signals.worker_ready.connect(self._serve, weak=False)

    def close(self) -> None:
        """Stop answering, and take the files away."""
        if self._listener is not None:
            self._listener.close()
        if self._store is not None:
            self._store.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def watched(self, build: Callable[[Settings], Application]) -> Callable[[Settings], Application]:
        """The same, with what the application counts written for the main process, and its traces sent."""

        def built(settings: Settings) -> Application:
            application = build(settings)
            self._tracer = application.observed.tracer
            self._tracer.start()
            if self._folder is not None:
                self._lock = threading.Lock()  # of this process, whatever the fork copied
                self._recorder = application.observed.measures.recorder
                threading.Thread(target=self._keep_writing, name="numbers", daemon=True).start()
            return application

        return built

    # --- in the main process ------------------------------------------------------------------------------------------

    def _serve(self, **_: Any) -> None:
        """Listen now, not before: a process of the pool must not inherit the socket, nor a lock of its thread."""
        address = self._settings.own_metrics_address
        assert address is not None  # noqa: S101 - as `connect` asked
        self._store = LateStore(self._settings)
        checks = (broker_check(self._settings, required=True), store_check(self._store))
        observed = Observed(Measures(self._settings), Tracer(self._settings), checks=lambda: checks)
        try:
            self._listener = Listener(address, routes_of(observed, self.of_the_pool))
        except OSError as fault:
            log.error("metrics_not_served", address=self._settings.metrics_addr, reason=fault.strerror)
            return
        self._listener.start()
        log.info("metrics_served", port=self._listener.address[1])

    def of_the_pool(self) -> list[State]:
        """What the processes of the pool have written, those that ended included."""
        states = []
        for path in self._folder.glob("*.json") if self._folder else ():
            with contextlib.suppress(OSError, ValueError):
                states.append(json.loads(path.read_bytes()))
        return states

    # --- in a process of the pool -------------------------------------------------------------------------------------

    def _keep_writing(self) -> None:
        pause = threading.Event()
        while not pause.wait(WRITE_S):
            try:
                self.write()
            except OSError as fault:
                log.warning("numbers_not_written", **logs.fault(fault))

    def write(self) -> None:
        """Write the numbers, whole or not at all, if they changed."""
        if self._recorder is None or self._folder is None:
            return
        with self._lock:
            state = self._recorder.state()
            if state == self._written:
                return
            draft = self._folder / f"{os.getpid()}.part"
            draft.write_text(json.dumps(state))
            draft.replace(self._folder / f"{os.getpid()}.json")
            self._written = state

    def _end(self, **_: Any) -> None:
        with contextlib.suppress(OSError):
            self.write()
        if self._tracer is not None:
            self._tracer.flush()


class LateStore:
    """The store of the main process, opened when it is first checked, and not there while the process forks.

    The pool is filled up again whenever one of its processes has ended: a connection that is open then would be in two
    processes.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store: Store | None = None
        self._lock = threading.Lock()
        self._is_held = False
        os.register_at_fork(before=self._before_fork, after_in_parent=self._after_fork, after_in_child=self._after_fork)

    def check(self) -> None:
        from brain.app import store_for

        with self._lock:
            if self._store is None:
                self._store = store_for(self._settings)
            self._store.check()

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def _before_fork(self) -> None:
        # A check that hangs holds the fork up no longer; the child never uses what it inherits then.
        self._is_held = self._lock.acquire(timeout=_FORK_S)
        if self._is_held:
            with contextlib.suppress(Exception):
                self._close()

    def _after_fork(self) -> None:
        if self._is_held:
            self._is_held = False
            self._lock.release()
