"""The one door: a method per operation. HTTP, MCP, workers and the command line call these and nothing behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import structlog
from anyio.to_thread import run_sync

from brain import __version__
from brain.agents.jobs import Place, RecallJob, RecallResult
from brain.agents.model import Model
from brain.kip.context import Session
from brain.service import conversations, ledger
from brain.service.conversations import COLLECTIONS, Collection, usage_to_wire
from brain.service.failures import InvalidInput, NotFound, OverTier
from brain.service.inputs import CreateSpaceInput, FormationInput, KipInput, MaintenanceInput, ProbeInput, RecallInput
from brain.service.passes import FORMATION, MAINTENANCE, Passes, cycle_input, takeable
from brain.service.probe import probe
from brain.service.spaces import OpenSpace, Spaces
from brain.settings import Settings
from brain.store.base import Kind
from brain.times import Clock, timestamp

log = structlog.get_logger(__name__)

T = TypeVar("T")
Recall = Callable[[Place, RecallJob], Awaitable[RecallResult]]

DESCRIPTION = "A memory service for AI agents: attributed, dated, evidence-backed claims, answered with citations."
DESCRIPTOR: dict[str, Any] = {
    "minimum_response_tokens": 256,
    "tokenizer": "o200k_base@tiktoken-rs-0.12",
    "default_budget": {"deadline_ms": 30000, "max_output_tokens": 4096},
    "bundles": ["memory_basic"],
    "kip_memory": "2.0",
}
"""The Memory Interface this service describes to its clients."""

_WIKI_COUNTERS = ("wiki_docs", "wiki_chunks", "wiki_versions", "wiki_queries", "wiki_digested", "wiki_stale_docs")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, as a door established it.

    principal  name of the principal, shown as a conversation's `user` and in what it writes
    channel    the door: `http`, `mcp`, `cli`
    """

    principal: str
    channel: str

    def reader(self) -> Session:
        """The session of this caller's own read-only KIP."""
        return Session(principal_id=self.principal, channel=self.channel, readonly=True)


class Brain:
    """Everything a door may ask."""

    def __init__(
        self,
        *,
        settings: Settings,
        spaces: Spaces,
        passes: Passes,
        model: Model,
        recall: Recall,
        clock: Clock,
        wake: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._spaces = spaces
        self._passes = passes
        self._model = model
        self._recall = recall
        self._clock = clock
        self._wake = wake
        self._threads = anyio.CapacityLimiter(16)

    # --- service and Spaces -------------------------------------------------------------------------------------------

    def info(self) -> dict[str, Any]:
        """What this service is; the same for everybody."""
        return {
            "name": "brain",
            "version": __version__,
            "sharding": self._settings.sharding_idx,
            "description": DESCRIPTION,
            "memory_interface": DESCRIPTOR,
        }

    async def create_space(self, asked: CreateSpaceInput, owner: str) -> dict[str, Any]:
        """Create a Space; InvalidInput, SpaceTaken."""
        space = await self._in_thread(lambda: self._spaces.create(asked.space_id, owner=owner, tier=asked.tier))
        log.info("space_created", space=space.id, tier=asked.tier)
        return await self.space_info(space.id)

    async def space_info(self, space_id: str) -> dict[str, Any]:
        """A Space's figures, from counters only."""
        return await self._in_thread(lambda: self._space_info(self._spaces.get(space_id)))

    def _space_info(self, space: OpenSpace) -> dict[str, Any]:
        record = space.record()
        with space.snapshot() as now:
            counts, progress = now.counts(), ledger.progress(now)
            return {
                "id": space.id,
                "name": record["name"],
                "description": record["description"],
                "owner": record["owner"],
                "db_stats": {"space_seq": now.seq, **{f"{kind.value}s": counts.get(kind, 0) for kind in Kind}},
                "concepts": counts.get(Kind.CONCEPT, 0),
                "propositions": counts.get(Kind.PROPOSITION, 0),
                "conversations": conversations.count(now, "formation"),
                "public": record["public"],
                "tier": record["tier"],
                **{f"{agent}_usage": usage_to_wire(ledger.usage_of(now, agent)) for agent in COLLECTIONS},
                "formation_processed_id": progress["formation_processed_id"],
                "maintenance_processed_id": progress["maintenance_processed_id"],
                "maintenance_at": progress["maintenance_at"],
                "memory_interface": {**DESCRIPTOR, "default_space": {"id": space.id}},
                **dict.fromkeys(_WIKI_COUNTERS, 0),
            }

    async def formation_status(self, space_id: str) -> dict[str, Any]:
        """Whether passes are at work and how far they came."""
        return await self._in_thread(lambda: self._formation_status(self._spaces.get(space_id)))

    def _formation_status(self, space: OpenSpace) -> dict[str, Any]:
        at = self._clock.now_ms()
        with space.snapshot() as now:
            counts, progress = now.counts(), ledger.progress(now)
            return {
                "id": space.id,
                "concepts": counts.get(Kind.CONCEPT, 0),
                "propositions": counts.get(Kind.PROPOSITION, 0),
                "conversations": conversations.count(now, "formation"),
                "formation_processing": bool(takeable(now.work(FORMATION), at)),
                "maintenance_processing": bool(takeable(now.work(MAINTENANCE), at)),
                "formation_processed_id": progress["formation_processed_id"],
                "maintenance_processed_id": progress["maintenance_processed_id"],
                "maintenance_at": progress["maintenance_at"],
            }

    async def memory_status(self, space_id: str) -> dict[str, Any]:
        """Metrics, rates and the last reports."""
        return await self._in_thread(lambda: self._memory_status(self._spaces.get(space_id)))

    def _memory_status(self, space: OpenSpace) -> dict[str, Any]:
        with space.snapshot() as now:
            counts, metrics = now.counts(), ledger.metrics(now)
            maintenance = ledger.usage_of(now, "maintenance")
            reports = {
                name: ledger.report(now, name)
                for name in ("last_settlement", "last_self_test", "last_shadow", "last_schema_audit")
            }
        spent = (maintenance.input_tokens or 0) + (maintenance.output_tokens or 0)
        probes = metrics["probe_hits"] + metrics["probe_misses"]
        rates = {
            "groundability": _rate(metrics["self_test_grounded"], metrics["self_test_tested"]),
            "probe_hit_rate": _rate(metrics["probe_hits"], probes),
            "correction_rate": _rate(metrics["corrections"], metrics["recalls_completed"]),
            "avg_uncertainty": _rate(metrics["uncertainty_sum"], metrics["uncertainty_reports"]),
            "maintenance_tokens_per_recall": _rate(spent, metrics["recalls_completed"]),
        }
        graph = {"concepts": counts.get(Kind.CONCEPT, 0), "propositions": counts.get(Kind.PROPOSITION, 0)}
        known = {name: value for name, value in {**rates, **reports}.items() if value is not None}
        return {"metrics": metrics, "graph": graph, **known}

    # --- formation and maintenance ------------------------------------------------------------------------------------

    async def submit_formation(self, space_id: str, asked: FormationInput, caller: Caller) -> dict[str, Any]:
        """Accept messages durably and answer at once; they are formed in order of arrival.

        raises  InvalidInput, SpaceNotFound, OverTier
        """
        number = await self._in_thread(lambda: self._accept_formation(self._spaces.get(space_id), asked, caller))
        self._wake(space_id)
        return self._accepted(number)

    def _accept_formation(self, space: OpenSpace, asked: FormationInput, caller: Caller) -> int:
        now = self._clock.now_ms()
        said = asked.said(timestamp(now))
        context = asked.context.model_dump(exclude_none=True)
        with space.transaction() as tx:
            record = tx.get("space", "record") or {}
            most = 10 ** (record["tier"]["tier"] + 2)
            size = max(tx.counts().get(Kind.CONCEPT, 0), conversations.count(tx, "formation"))
            if size > most:
                raise OverTier(f"node limit exceeded: {size} of {most}; raise the tier of the space to go on")
            number = conversations.open_conversation(
                tx,
                "formation",
                user=caller.principal,
                messages=[message.model_dump(exclude_none=True) for message in asked.messages],
                stored_input={
                    "messages": [
                        {
                            "role": line.role,
                            "content": line.content,
                            "name": line.name,
                            "observed_at": line.observed_at,
                        }
                        for line in said
                    ],
                    "context": context,
                },
                now_ms=now,
            )
            tx.enqueue(FORMATION, {"conversation": number})
        return number

    async def start_maintenance(self, space_id: str, asked: MaintenanceInput, caller: Caller) -> dict[str, Any]:
        """Start one cycle and answer at once; Busy while another pass is at work."""

        def accept() -> int:
            space = self._spaces.get(space_id)
            with space.snapshot() as now:
                done = ledger.progress(now)["formation_processed_id"]
            stored = cycle_input(
                asked.scope, asked.trigger, done, asked.parameters.model_dump(exclude_none=True, by_alias=False)
            )
            return self._passes.accept_maintenance(space, stored, user=caller.principal)

        number = await self._in_thread(accept)
        self._wake(space_id)
        return self._accepted(number)

    def _accepted(self, number: int) -> dict[str, Any]:
        return {
            "content": "",
            "conversation": number,
            "usage": {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "requests": 0},
            "model": self._model.name,
        }

    # --- reading ------------------------------------------------------------------------------------------------------

    async def recall(self, space_id: str, asked: RecallInput, caller: Caller) -> dict[str, Any]:
        """Answer a question in words (AgentOutput)."""
        number, result = await self._answer(space_id, asked, caller)
        output: dict[str, Any] = {
            "content": result.run.content,
            "conversation": number,
            "usage": usage_to_wire(result.run.usage),
            "model": result.run.model,
        }
        if result.run.failed_reason is not None:
            output["failed_reason"] = result.run.failed_reason
        return output

    async def recall_structured(self, space_id: str, asked: RecallInput, caller: Caller) -> dict[str, Any]:
        """Answer a question with its citations (RecallOutput)."""
        number, result = await self._answer(space_id, asked, caller)
        output: dict[str, Any] = {
            "answer": result.run.content,
            "found": bool(result.found) if result.found is not None else bool(result.citations),
            "conversation": number,
            "usage": usage_to_wire(result.run.usage),
            "model": result.run.model,
        }
        if result.uncertainty is not None:
            output["uncertainty"] = result.uncertainty
        if result.citations:
            output["memories"] = [dict(citation.wire) for citation in result.citations]
        if result.run.failed_reason is not None:
            output["failed_reason"] = result.run.failed_reason
        return output

    async def _answer(self, space_id: str, asked: RecallInput, caller: Caller) -> tuple[int, RecallResult]:
        space = await self._in_thread(lambda: self._spaces.get(space_id))
        number = await self._in_thread(lambda: self._open_recall(space, asked, caller))
        space.pins += 1
        try:
            result = await self._recall(self._place(space, "recall", number), self._recall_job(asked))
        except asyncio.CancelledError:
            await asyncio.shield(self._in_thread(lambda: self._close_recall(space, number, None)))
            raise
        finally:
            space.pins -= 1
        await self._in_thread(lambda: self._close_recall(space, number, result))
        return number, result

    def _recall_job(self, asked: RecallInput) -> RecallJob:
        context = asked.context
        return RecallJob(
            query=asked.query,
            counterparty=context.counterparty,
            agent=context.agent,
            source=context.source,
            topic=context.topic,
        )

    def _place(self, space: OpenSpace, collection: Collection, number: int) -> Place:
        return Place(
            space_id=space.id,
            engine=space.engine,
            self_id=space.self_id,
            model=self._model,
            clock=self._clock,
            attribution=self._settings.memory_attribution,
            transcript=lambda messages, usage: self._passes.keep_transcript(space, collection, number, messages, usage),
        )

    def _open_recall(self, space: OpenSpace, asked: RecallInput, caller: Caller) -> int:
        with space.transaction() as tx:
            return conversations.open_conversation(
                tx,
                "recall",
                user=caller.principal,
                messages=[{"role": "user", "content": asked.query}],
                stored_input={"query": asked.query},
                now_ms=self._clock.now_ms(),
                status="working",
            )

    def _close_recall(self, space: OpenSpace, number: int, result: RecallResult | None) -> None:
        now = self._clock.now_ms()
        with space.transaction() as tx:
            if result is None:
                conversations.change(tx, "recall", number, now, status="cancelled", failed_reason="the caller left")
                return
            failed = result.run.failed_reason
            conversations.change(
                tx,
                "recall",
                number,
                now,
                status="completed" if failed is None else "failed",
                failed_reason=failed,
                model=result.run.model,
                usage=usage_to_wire(result.run.usage),
                extra={
                    "answer": result.run.content,
                    "citations": [dict(citation.wire) for citation in result.citations],
                    "rounds": result.run.rounds,
                    "stopped": result.run.stopped,
                    "prompt_digest": result.run.prompt_digest,
                },
            )
            ledger.add_usage(tx, "recall", result.run.usage)
            if failed is None:
                ledger.add_metrics(
                    tx,
                    now,
                    recalls_completed=1,
                    entities_recalled=len(result.citations),
                    **(
                        {"uncertainty_reports": 1, "uncertainty_sum": result.uncertainty}
                        if result.uncertainty is not None
                        else {}
                    ),
                )

    async def probe(self, space_id: str, asked: ProbeInput, caller: Caller) -> dict[str, Any]:
        """Whether anything is there to be found; no model is asked."""
        return await self._in_thread(
            lambda: probe(
                self._spaces.get(space_id), asked.query, asked.limit, session=caller.reader(), clock=self._clock
            )
        )

    async def execute_kip_readonly(self, space_id: str, asked: KipInput, caller: Caller) -> dict[str, Any]:
        """Run KQL and META; a statement that parses to a write is refused inside the answer."""
        envelope = asked.envelope()
        return await self._in_thread(
            lambda: self._spaces.get(space_id).engine.execute(envelope, caller.reader()).response
        )

    # --- conversations ------------------------------------------------------------------------------------------------

    async def conversation(self, space_id: str, collection: str, number: int) -> dict[str, Any]:
        """One run in full."""
        return conversations.to_wire(await self._record(space_id, collection, number))

    async def conversation_delta(
        self, space_id: str, collection: str, number: int, messages_offset: int, artifacts_offset: int
    ) -> dict[str, Any]:
        """What a run has added since the caller's offsets."""
        record = await self._record(space_id, collection, number)
        return conversations.delta(record, messages_offset, artifacts_offset)

    async def conversation_page(
        self, space_id: str, collection: str, *, cursor: str | None, limit: int
    ) -> tuple[list[dict[str, Any]], str | None]:
        """A page of runs and the cursor of the next."""
        _check_collection(collection)

        def read() -> tuple[list[dict[str, Any]], str | None]:
            with self._spaces.get(space_id).snapshot() as now:
                return conversations.page(now, collection, cursor=cursor, limit=min(max(limit, 1), 100))

        return await self._in_thread(read)

    async def _record(self, space_id: str, collection: str, number: int) -> Any:
        _check_collection(collection)

        def read() -> Any:
            with self._spaces.get(space_id).snapshot() as now:
                return conversations.read(now, collection, number)

        record = await self._in_thread(read)
        if record is None:
            raise NotFound(f"no conversation {number} in {collection}")
        return record

    async def check_space(self, space_id: str) -> None:
        """SpaceNotFound or InvalidInput unless the Space is there."""
        await self._in_thread(lambda: self._spaces.get(space_id))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await run_sync(work, limiter=self._threads)


def _rate(part: float, whole: float) -> float | None:
    """Part of whole, or None when there is no whole."""
    return part / whole if whole else None


def _check_collection(collection: str) -> None:
    if collection not in COLLECTIONS:
        raise InvalidInput(f"collection must be one of {', '.join(COLLECTIONS)}")
