"""The composition root: settings in, wired services out. Nothing else knows which store, queue or model there is.

Agents, settlement and model are a third of what there is to import, and a process can say who it is without them: they
are imported when they are first needed, or by `warm`.
"""

from __future__ import annotations

import os
import socket
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette

from brain.agents.jobs import FormationJob, MaintenanceJob, Place, RecallJob, RecallResult, RunResult
from brain.agents.model import Model
from brain.agents.models import LateModel, Places, embedder_for, model_for, own_model_for
from brain.errors import SchemaPackageUnavailable
from brain.http.app import http_app
from brain.kip.library import PackageLibrary
from brain.observe.measures import Measures
from brain.observe.models import MeasuredModel
from brain.observe.observed import Observed
from brain.observe.runs import PassWatch, counted
from brain.observe.stores import MeasuredStore
from brain.observe.traces import Tracer
from brain.service.access import Doorkeeper
from brain.service.archives import Archives
from brain.service.brain import Brain
from brain.service.byok import Byok, OwnModels
from brain.service.changes import Changes
from brain.service.lifecycle import Lifecycle
from brain.service.management import Management
from brain.service.memory import Memory
from brain.service.passes import Passes
from brain.service.queue import Queue
from brain.service.space_tokens import SpaceTokens
from brain.service.spaces import OpenSpace, Spaces
from brain.service.writes import Writes
from brain.settings import Settings, SettingsError
from brain.store.base import Document, Lease, Store
from brain.store.sqlite import SqliteStore
from brain.times import Clock, SystemClock
from workers.embedded import EmbeddedRunner
from workers.places import SharedPlaces
from workers.wakeups import RemoteRunner, WakeUps

if TYPE_CHECKING:
    from brain.auth.cwt import CwtVerifier
    from brain.auth.sealing import Sealer
    from brain.backup.signing import Signer, Trusted
    from brain.observe.health import Check
    from brain.observe.outlook import Outlook


@dataclass(frozen=True, slots=True)
class Application:
    """Everything one process serves with."""

    settings: Settings
    spaces: Spaces
    queue: Queue
    passes: Passes
    runner: EmbeddedRunner | RemoteRunner
    brain: Brain
    management: Management
    byok: Byok
    http: Starlette
    model: Model
    observed: Observed

    def warm(self) -> None:
        """Import what the first pass and the first question need, so that they do not wait for it."""
        import brain.agents.formation
        import brain.agents.maintenance
        import brain.agents.recall
        import brain.upkeep.settle  # noqa: F401
        from brain.store.search import query_terms

        query_terms("warm")
        self.observed.tracer.start()
        if isinstance(self.runner, RemoteRunner):
            self.runner.warm()
        if isinstance(self.model, LateModel):
            self.model.load()


class ForgetfulStore(SqliteStore):
    """A store that is gone when it is closed: a folder of its own, on no disk that has to be waited for."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="brain-memory-")
        super().__init__(Path(self._scratch.name), clock=clock, durability="normal")

    def close(self) -> None:
        super().close()
        self._scratch.cleanup()


def store_for(settings: Settings, *, clock: Clock | None = None) -> Store:
    """The store the settings choose; SettingsError for a folder that cannot be made or written."""
    if settings.storage == "memory":
        return ForgetfulStore(clock=clock)
    if settings.storage == "neo4j":
        return _neo4j(settings, clock)
    try:
        return SqliteStore(settings.local_db_path, clock=clock, durability=settings.sqlite_durability)
    except OSError as fault:
        folder = settings.local_db_path
        raise SettingsError(
            f"cannot start: LOCAL_DB_PATH: the folder {folder} cannot be read and written: {fault.strerror}"
        ) from None


def _neo4j(settings: Settings, clock: Clock | None) -> Store:
    """A store that is not spoken to before it is needed: a database that is down for now stops no start."""
    try:
        from brain.store.neo4j import Neo4jStore  # with its driver, which takes a tenth of a second to import
    except ImportError:
        raise SettingsError("cannot start: STORAGE: neo4j needs the extra: pip install 'brain-memory[neo4j]'") from None
    return Neo4jStore(
        settings.neo4j_uri,
        settings.neo4j_user,
        settings.neo4j_password.get_secret_value(),
        database=settings.neo4j_database,
        deployment=settings.neo4j_deployment,
        clock=clock,
    )


def spaces_for(settings: Settings, *, clock: Clock | None = None, store: Store | None = None) -> Spaces:
    """The Spaces the settings name; SettingsError for a package that does not exist."""
    clock, library = clock or SystemClock(), PackageLibrary.bundled()
    for name in settings.space_packages:
        try:
            library.resolve(name)
        except SchemaPackageUnavailable as unknown:
            raise SettingsError(f"cannot start: SPACE_PACKAGES: {unknown.message} {unknown.hint}") from None
    return Spaces(
        store or store_for(settings, clock=clock),
        library,
        clock=clock,
        packages=settings.space_packages,
        embedder=embedder_for(settings),
    )


def build(
    settings: Settings, *, clock: Clock | None = None, model: Model | None = None, store: Store | None = None
) -> Application:
    """Wire one application; clock, model and store may be given, by tests and embedding hosts."""
    clock = clock or SystemClock()
    measures, tracer = Measures(settings), Tracer(settings)
    store = MeasuredStore(store or store_for(settings, clock=clock), measures, tracer)
    spaces = spaces_for(settings, clock=clock, store=store)
    places = Places(settings.llm_max_concurrency, SharedPlaces(settings) if settings.work_queue == "celery" else None)
    model = model or model_for(settings, places)
    sealer = _sealer(settings)
    models = OwnModels(
        MeasuredModel(model, measures, tracer),
        sealer,
        lambda chosen: MeasuredModel(own_model_for(chosen, settings, places), measures, tracer),
    )
    holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    queue = Queue(clock=clock, holder=holder, lease_ttl_ms=settings.lease_ttl_ms)
    passes = Passes(
        clock=clock,
        settings=settings,
        queue=queue,
        models=models,
        form=counted("formation", _form, measures, lambda result: result.usage),
        maintain=counted("maintenance", _maintain, measures, lambda result: result.usage),
        settle=_settle,
        watched=PassWatch(measures, tracer),
    )
    runner: EmbeddedRunner | RemoteRunner = (
        RemoteRunner(spaces, settings, WakeUps(settings))
        if settings.work_queue == "celery"
        else EmbeddedRunner(spaces, queue, passes, settings)
    )
    brain = Brain(
        settings=settings,
        spaces=spaces,
        queue=queue,
        models=models,
        recall=counted("recall", _recall, measures, lambda result: result.run.usage),
        clock=clock,
        wake=runner.wake,
    )
    tokens = SpaceTokens(clock)
    doorkeeper = Doorkeeper(_verifier(settings, clock), settings.managers, tokens, spaces)
    observed = Observed(
        measures,
        tracer,
        checks=lambda: _checks(settings, store, spaces),
        outlook=lambda: _outlook(spaces, clock),
    )
    management = Management(spaces, tokens, clock)
    lifecycle = Lifecycle(spaces, store, clock, release=runner.release, stop_recalls=brain.stop_recalls_in)
    byok = Byok(spaces, sealer, settings.byok_allowed_hosts, clock)
    http = http_app(
        brain,
        settings,
        doorkeeper=doorkeeper,
        management=management,
        byok=byok,
        lifecycle=lifecycle,
        archives=Archives(spaces, store, clock, lambda: _archive_keys(settings)),
        memory=Memory(spaces, queue, clock, timeout_ms=settings.kip_timeout_ms),
        writes=Writes(spaces, settings, clock, queue),
        changes=Changes(spaces, timeout_ms=settings.kip_timeout_ms, is_over=lambda: observed.is_draining),
        observed=observed,
        background=runner.running,
    )
    return Application(settings, spaces, queue, passes, runner, brain, management, byok, http, model, observed)


def _checks(settings: Settings, store: Store, spaces: Spaces) -> tuple[Check, ...]:
    from brain.observe.health import checks_for

    return checks_for(settings, store, spaces)


def _outlook(spaces: Spaces, clock: Clock) -> Outlook:
    from brain.observe.outlook import Outlook

    return Outlook(spaces, clock)


def _archive_keys(settings: Settings) -> tuple[Signer | None, Trusted | None]:
    from brain.backup.signing import keys_of

    return keys_of(settings.archive_signing_key.get_secret_value(), settings.archive_pubkeys)


def _sealer(settings: Settings) -> Sealer | None:
    """Of Spaces' secrets; None where none can be kept."""
    if not settings.sealing_keys:
        return None
    from brain.auth.sealing import Sealer

    return Sealer.of_texts(settings.sealing_keys)


def _verifier(settings: Settings, clock: Clock) -> CwtVerifier | None:
    """Of callers' tokens; None where authentication is off, which then costs no import of the cryptography."""
    if not settings.ed25519_pubkeys:
        return None
    from brain.auth.cwt import CwtVerifier, read_public_keys

    return CwtVerifier(read_public_keys(settings.ed25519_pubkeys), clock)


async def _form(place: Place, job: FormationJob) -> RunResult:
    from brain.agents.formation import form

    return await form(place, job)


async def _recall(place: Place, job: RecallJob) -> RecallResult:
    from brain.agents.recall import recall

    return await recall(place, job)


async def _maintain(place: Place, job: MaintenanceJob) -> RunResult:
    from brain.agents.maintenance import maintain

    return await maintain(place, job)


def _settle(space: OpenSpace, scope: str, parameters: Mapping[str, Any], lease: Lease) -> Document:
    from brain.upkeep.settle import settle

    return settle(space, scope, parameters, lease)
