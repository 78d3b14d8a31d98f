"""The composition root: settings in, wired services out. Nothing else knows which store, queue or model there is."""

from __future__ import annotations

import os
import socket
import uuid
from dataclasses import dataclass

from starlette.applications import Starlette

from brain.agents import formation, maintenance, recall
from brain.agents.model import Model
from brain.agents.models import model_for
from brain.http.app import http_app
from brain.kip.library import PackageLibrary
from brain.service.brain import Brain
from brain.service.passes import Passes
from brain.service.spaces import Spaces
from brain.settings import Settings
from brain.store.base import Store
from brain.times import Clock, SystemClock
from brain.upkeep.settle import settle
from workers.embedded import EmbeddedRunner


@dataclass(frozen=True, slots=True)
class Application:
    """Everything one process serves with."""

    settings: Settings
    spaces: Spaces
    passes: Passes
    runner: EmbeddedRunner
    brain: Brain
    http: Starlette


def store_for(settings: Settings) -> Store:
    """The store the settings choose."""
    from brain.store.sqlite import SqliteStore

    if settings.storage == "memory":
        return SqliteStore.in_memory()
    return SqliteStore(settings.local_db_path, durability=settings.sqlite_durability)


def spaces_for(settings: Settings, *, clock: Clock | None = None, store: Store | None = None) -> Spaces:
    """The Spaces the settings name."""
    return Spaces(
        store or store_for(settings),
        PackageLibrary.bundled(),
        clock=clock or SystemClock(),
        packages=settings.space_packages,
    )


def build(
    settings: Settings, *, clock: Clock | None = None, model: Model | None = None, store: Store | None = None
) -> Application:
    """Wire one application; clock, model and store may be given, by tests and embedding hosts."""
    clock = clock or SystemClock()
    spaces = spaces_for(settings, clock=clock, store=store)
    model = model or model_for(settings)
    passes = Passes(
        clock=clock,
        settings=settings,
        holder=f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}",
        model=model,
        form=formation.form,
        maintain=maintenance.maintain,
        settle=settle,
    )
    runner = EmbeddedRunner(spaces, passes, settings)
    brain = Brain(
        settings=settings,
        spaces=spaces,
        passes=passes,
        model=model,
        recall=recall.recall,
        clock=clock,
        wake=runner.wake,
    )
    return Application(settings, spaces, passes, runner, brain, http_app(brain, settings, background=runner.running))
