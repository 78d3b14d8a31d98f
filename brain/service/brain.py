"""The one door: a method per operation. HTTP, MCP, workers and the command line call these and nothing behind them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from math import inf
from time import monotonic
from typing import Any, TypeVar

import anyio
import structlog

from brain import __version__, errors, logs
from brain.agents.jobs import Place, RecallJob, RecallResult
from brain.agents.model import Model
from brain.kip import respond
from brain.service import conversations, ledger, packets, status
from brain.service.byok import OwnModels
from brain.service.callers import Caller
from brain.service.conversations import COLLECTIONS
from brain.service.entries import cycle_input
from brain.service.failures import InvalidInput, NotFound, Unavailable
from brain.service.inputs import (
    CreateSpaceInput,
    FormationInput,
    KipInput,
    MaintenanceInput,
    PacketInput,
    ProbeInput,
    RecallInput,
)
from brain.service.outputs.memory import PacketOutput
from brain.service.policy import Effective
from brain.service.probe import probe
from brain.service.queries import Queries
from brain.service.queue import Queue
from brain.service.recalls import Answered, RecallRun, with_packet
from brain.service.records import record_of
from brain.service.room import check_room_for_input
from brain.service.spaces import OpenSpace, Spaces
from brain.service.turns import Turns
from brain.service.vocabulary import schema_drafts
from brain.settings import Settings
from brain.store.base import Document
from brain.times import Clock, timestamp

log = structlog.get_logger(__name__)

T = TypeVar("T")
Recall = Callable[[Place, RecallJob], Awaitable[RecallResult]]

DESCRIPTION = "A memory service for AI agents: attributed, dated, evidence-backed claims, answered with citations."

_THREADS = 16
"""Threads that accept and answer; callers' own KIP, which may run long, has others."""

_OF_ONE = 12
"""Of one Space at most."""

_PACKETS = 4
"""Packets put together at a time, in threads of their own: anybody may ask a public Space for many."""

_STOPPING = "the service is stopping; send the same request again"


class Brain:
    """Everything a door may ask."""

    def __init__(
        self,
        *,
        settings: Settings,
        spaces: Spaces,
        queue: Queue,
        models: OwnModels,
        recall: Recall,
        clock: Clock,
        wake: Callable[[str, conversations.Collection], None],
    ) -> None:
        self._settings = settings
        self._spaces = spaces
        self._queue = queue
        self._models = models
        self._recall = recall
        self._clock = clock
        self._wake = wake
        self._threads = Turns(_THREADS, of_one=_OF_ONE)
        self._packets = Turns(_PACKETS, of_one=_PACKETS // 2)
        self._queries = Queries(settings.kip_timeout_ms, settings.kip_max_concurrency)
        self._recalls: dict[anyio.CancelScope, str] = {}
        self._is_stopping = False

    def stop_recalls(self) -> None:
        """The process stops: end the recalls under way, each with `Unavailable`, and begin no others."""
        self._is_stopping = True
        for scope in self._recalls:
            scope.cancel()

    def stop_recalls_in(self, space_id: str) -> None:
        """End the recalls under way in one Space, each with `Unavailable`; from the event loop only."""
        for scope, where in self._recalls.items():
            if where == space_id:
                scope.cancel()

    def wake_formation(self, space_id: str) -> None:
        """Have the inputs of a Space looked at; from the event loop only."""
        self._wake(space_id, "formation")

    # --- service and Spaces -------------------------------------------------------------------------------------------

    def info(self) -> dict[str, Any]:
        """What this service is; the same for everybody."""
        return {
            "name": "brain",
            "version": __version__,
            "sharding": self._settings.sharding_idx,
            "description": DESCRIPTION,
            "memory_interface": status.DESCRIPTOR,
        }

    async def create_space(self, asked: CreateSpaceInput, owner: str) -> dict[str, Any]:
        """Create a Space; InvalidInput, SpaceTaken."""

        def create() -> dict[str, Any]:
            return status.space_info(self._spaces.create(asked.space_id, owner=owner, tier=asked.tier))

        info = await self._in_thread(asked.space_id, create)
        log.info("space_created", space=asked.space_id, tier=asked.tier)
        return info

    async def check_space(self, space_id: str) -> None:
        """SpaceNotFound or InvalidInput unless the Space is there."""
        if not self._spaces.is_open(space_id):
            await self._in_thread(space_id, lambda: self._spaces.get(space_id))

    async def space_info(self, space_id: str) -> dict[str, Any]:
        """A Space's figures."""
        return await self._in_space(space_id, status.space_info)

    async def formation_status(self, space_id: str) -> dict[str, Any]:
        """Whether passes are at work and how far they came."""
        return await self._in_space(space_id, lambda space: status.formation_status(space, self._queue))

    async def memory_status(self, space_id: str) -> dict[str, Any]:
        """Metrics, rates and the last reports."""
        return await self._in_space(space_id, status.memory_status)

    async def schema_drafts(self, space_id: str) -> dict[str, Any]:
        """The words the Space made for itself."""
        return await self._in_space(space_id, schema_drafts)

    # --- formation and maintenance ------------------------------------------------------------------------------------

    async def submit_formation(self, space_id: str, asked: FormationInput, caller: Caller) -> dict[str, Any]:
        """Accept messages durably and answer at once; they are formed in order of arrival.

        raises  InvalidInput, SpaceNotFound, OverTier
        """
        number, model = await self._in_space(space_id, lambda space: self._accept_formation(space, asked, caller))
        self._wake(space_id, "formation")
        return _accepted(number, model)

    def _accept_formation(self, space: OpenSpace, asked: FormationInput, caller: Caller) -> tuple[int, str]:
        stored = {
            "messages": [
                {
                    "role": line.role,
                    "content": line.content,
                    "name": line.name,
                    "observed_at": line.observed_at,
                    "utc_offset_minutes": line.utc_offset_minutes,
                }
                for line in asked.said(timestamp(self._clock.now_ms()))
            ],
            "context": asked.context.model_dump(exclude_none=True),
        }
        shown = [message.to_wire() for message in asked.messages]
        with space.transaction() as tx:
            record = record_of(tx)
            check_room_for_input(tx, record)
            number = self._queue.accept_formation(
                tx, stored, user=caller.principal, messages=shown, request_id=caller.request_id
            )
            return number, self._models.of(tx, record).name

    async def start_maintenance(self, space_id: str, asked: MaintenanceInput, caller: Caller) -> dict[str, Any]:
        """Start one cycle and answer at once; Busy while another pass is at work."""

        def accept(space: OpenSpace) -> tuple[int, str]:
            with space.snapshot() as now:
                done = ledger.progress(now)["formation_processed_id"]
                model = self._models.of(now).name
            stored = cycle_input(asked.scope, asked.trigger, done, asked.parameters.effective())
            number = self._queue.accept_cycle(space, stored, user=caller.principal, request_id=caller.request_id)
            return number, model

        number, model = await self._in_space(space_id, accept)
        self._wake(space_id, "maintenance")
        return _accepted(number, model)

    # --- reading ------------------------------------------------------------------------------------------------------

    async def recall(self, space_id: str, asked: RecallInput, caller: Caller) -> dict[str, Any]:
        """Answer a question in words, or with a packet where there is a budget (AgentOutput)."""
        return (await self._answer(space_id, asked, caller)).agent_output()

    async def recall_structured(self, space_id: str, asked: RecallInput, caller: Caller) -> dict[str, Any]:
        """Answer a question with its citations, or with a packet where there is a budget (RecallOutput)."""
        return (await self._answer(space_id, asked, caller)).recall_output()

    async def packet(self, space_id: str, asked: PacketInput, caller: Caller) -> tuple[PacketOutput, str]:
        """What memory holds for a question, and the text that was counted; no model is asked."""

        def put_together() -> tuple[PacketOutput, str]:
            with self._spaces.use(space_id) as space:
                return packets.packet(space, asked, caller, self._clock)

        return await self._packets.run(space_id, put_together, monotonic() + self._settings.kip_timeout_ms / 1000)

    async def _answer(self, space_id: str, asked: RecallInput, caller: Caller) -> Answered:
        if self._is_stopping:
            raise Unavailable(_STOPPING)
        space = await self._in_thread(space_id, lambda: self._spaces.hold(space_id))
        scope = anyio.CancelScope()
        self._recalls[scope] = space_id
        try:
            with scope:
                return await self._answer_in(space, asked, caller)
        finally:
            del self._recalls[scope]
            space.unpin()
        raise Unavailable(_STOPPING)

    async def _answer_in(self, space: OpenSpace, asked: RecallInput, caller: Caller) -> Answered:
        def begin() -> tuple[Effective, Model, RecallRun]:
            terms = self._models.terms(space)
            return *terms, RecallRun(space, self._clock, query=asked.query, user=caller.principal)

        policy, model, run = await self._in_thread(space.id, begin)
        place = Place(
            space_id=space.id,
            engine=space.engine,
            self_id=space.self_id,
            model=model,
            clock=self._clock,
            attribution=self._settings.memory_attribution,
            transcript=run.keep_transcript,
        )
        budget = packets.budget_of(asked.budget, policy.recall_budget)
        job = RecallJob(
            query=asked.query,
            max_rounds=policy.recall_max_rounds,
            planning=None if budget is None else budget.planning,
            **asked.context.model_dump(),
        )
        packet = None
        try:
            result = await self._recall(place, job)
            if budget is not None:
                made = await self._packets.run(
                    space.id, lambda: packets.recalled(space, asked, result, budget, caller, self._clock)
                )
                packet, result = made, with_packet(result, made)
        except anyio.get_cancelled_exc_class():
            why = "the service stopped" if self._is_stopping else "nobody waited for the answer any more"
            with anyio.CancelScope(shield=True):
                await self._in_thread(space.id, lambda: run.cancel(f"cancelled: {why}"))
            log.info("recall_cancelled", space=space.id, conversation=run.number)
            raise
        except Exception as fault:
            log.error("recall_broke", space=space.id, conversation=run.number, **logs.fault(fault))
            await self._in_thread(space.id, lambda: run.fail("internal_error: the recall ended unexpectedly"))
            raise
        await self._in_thread(space.id, lambda: run.end(result, packet.delivered if packet else ()))
        log.info(
            "recall_ended",
            space=space.id,
            conversation=run.number,
            stopped=result.run.stopped,
            rounds=result.run.rounds,
            citations=len(result.citations),
            model=result.run.model,
        )
        return Answered(run.number, result, packet, budget)

    async def probe(self, space_id: str, asked: ProbeInput, caller: Caller) -> dict[str, Any]:
        """Whether anything is there to be found; no model is asked.

        raises  Unavailable when there was no time for it
        """
        ends = monotonic() + self._settings.kip_timeout_ms / 1000
        return await self._in_space(
            space_id,
            lambda space: probe(space, asked.query, asked.limit, session=caller.reader(), clock=self._clock, ends=ends),
            ends,
        )

    async def execute_kip_readonly(self, space_id: str, asked: KipInput, caller: Caller) -> dict[str, Any]:
        """Run KQL and META for a bounded time; what parses to a write is refused inside the answer, and so is one
        request too many at a time."""
        request = asked.envelope(deadline_ms=self._settings.kip_timeout_ms)

        def ask(deadline_ms: int) -> dict[str, Any]:
            envelope = request | {"options": request["options"] | {"deadline_ms": deadline_ms}}
            with self._spaces.use(space_id) as space:
                return space.engine.execute(envelope, caller.reader()).response

        try:
            return await self._queries.answer(space_id, ask)
        except (errors.RateLimited, errors.ExecutionTimeout) as refused:
            return respond.refused(refused, request)

    # --- conversations ------------------------------------------------------------------------------------------------

    async def conversation(self, space_id: str, collection: str, number: int) -> dict[str, Any]:
        """One run in full."""
        return conversations.to_wire(await self._record(space_id, collection, number), self._clock.now_ms())

    async def conversation_delta(
        self, space_id: str, collection: str, number: int, messages_offset: int, artifacts_offset: int
    ) -> dict[str, Any]:
        """What a run has added since the caller's offsets."""
        record = await self._record(space_id, collection, number)
        return conversations.delta(record, messages_offset, artifacts_offset, self._clock.now_ms())

    async def conversation_page(
        self, space_id: str, collection: str, *, cursor: str | None, limit: int
    ) -> tuple[list[dict[str, Any]], str | None]:
        """A page of runs and the cursor of the next."""
        _check_collection(collection)

        def read(space: OpenSpace) -> tuple[list[dict[str, Any]], str | None]:
            with space.snapshot() as now:
                return conversations.page(
                    now, collection, cursor=cursor, limit=min(max(limit, 1), 100), now_ms=self._clock.now_ms()
                )

        return await self._in_space(space_id, read)

    async def _record(self, space_id: str, collection: str, number: int) -> Document:
        _check_collection(collection)

        def read(space: OpenSpace) -> Document | None:
            with space.snapshot() as now:
                return conversations.read(now, collection, number)

        record = await self._in_space(space_id, read)
        if record is None:
            raise NotFound(f"no conversation {number} in {collection}")
        return record

    # --- how ----------------------------------------------------------------------------------------------------------

    async def _in_space(self, space_id: str, work: Callable[[OpenSpace], T], ends: float = inf) -> T:
        """Work on a Space in a thread, which holds it open meanwhile.

        ends    until when to wait for a turn, a moment of the monotonic clock in seconds
        raises  TurnMissed
        """

        def run() -> T:
            with self._spaces.use(space_id) as space:
                return work(space)

        return await self._in_thread(space_id, run, ends)

    async def _in_thread(self, space_id: str, work: Callable[[], T], ends: float = inf) -> T:
        return await self._threads.run(space_id, work, ends)


def _accepted(number: int, model: str) -> dict[str, Any]:
    """What is told of a run that was queued."""
    return {
        "content": "",
        "conversation": number,
        "usage": {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "requests": 0},
        "model": model,
    }


def _check_collection(collection: str) -> None:
    if collection not in COLLECTIONS:
        raise InvalidInput(f"collection must be one of {', '.join(COLLECTIONS)}")
