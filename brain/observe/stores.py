"""A store that is measured: the same store, with the time it takes told."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any

from brain.observe.measures import Measures
from brain.observe.traces import Tracer
from brain.store.base import Document, Snapshot, SpaceStore, Store, Transaction
from brain.store.dump import Row
from brain.times import Seq


class MeasuredSpace:
    """See `brain.store.base.SpaceStore`."""

    def __init__(self, space: SpaceStore, measures: Measures, tracer: Tracer) -> None:
        self.space_id = space.space_id
        self.instance_id = space.instance_id
        self._space = space
        self._measures = measures
        self._tracer = tracer

    def snapshot(
        self, seq: Seq | None = None, *, timeout_ms: int | None = None, assumed: bool = False
    ) -> AbstractContextManager[Snapshot]:
        opened = self._space.snapshot(seq, timeout_ms=timeout_ms, assumed=assumed)
        return _Timed(opened, self._measures, None, "open", None)

    def transaction(
        self, *, timeout_ms: int | None = None, durable: bool = True, assumed: bool = False
    ) -> AbstractContextManager[Transaction]:
        opened = self._space.transaction(timeout_ms=timeout_ms, durable=durable, assumed=assumed)
        return _Timed(opened, self._measures, self._tracer, "begin", "commit")

    def head(self) -> Seq:
        return self._space.head()

    def flush(self) -> None:
        self._space.flush()

    def dump(self) -> AbstractContextManager[Iterator[Row]]:
        return self._space.dump()

    def close(self) -> None:
        self._space.close()


class MeasuredStore:
    """See `brain.store.base.Store`."""

    def __init__(self, store: Store, measures: Measures, tracer: Tracer) -> None:
        self._store = store
        self._measures = measures
        self._tracer = tracer

    def create(self, space_id: str, *, now_ms: int, controls: Mapping[str, Document] | None = None) -> SpaceStore:
        return self._measured(self._store.create(space_id, now_ms=now_ms, controls=controls))

    def open(self, space_id: str) -> SpaceStore:
        return self._measured(self._store.open(space_id))

    def load(self, rows: Iterable[Row], *, replace: bool = False) -> SpaceStore:
        return self._measured(self._store.load(rows, replace=replace))

    def exists(self, space_id: str) -> bool:
        return self._store.exists(space_id)

    def spaces(self) -> Iterable[str]:
        return self._store.spaces()

    def delete(self, space_id: str) -> None:
        self._store.delete(space_id)

    def finish_removals(self) -> list[str]:
        return self._store.finish_removals()

    def holds(self, space_id: str, instance_id: str) -> dict[str, int]:
        return self._store.holds(space_id, instance_id)

    def with_work(self, *, unindexed: bool) -> Iterable[str] | None:
        return self._store.with_work(unindexed=unindexed)

    def check(self) -> None:
        self._store.check()

    def close(self) -> None:
        self._store.close()

    def _measured(self, space: SpaceStore) -> SpaceStore:
        return MeasuredSpace(space, self._measures, self._tracer)


class _Timed:
    """A context manager whose entering and leaving are timed; with a span around, where there is a tracer."""

    __slots__ = ("_entering", "_inner", "_leaving", "_measures", "_span", "_tracer")

    def __init__(
        self,
        inner: AbstractContextManager[Any],
        measures: Measures,
        tracer: Tracer | None,
        entering: str,
        leaving: str | None,
    ) -> None:
        self._inner = inner
        self._measures = measures
        self._tracer = tracer
        self._entering = entering
        self._leaving = leaving
        self._span: ExitStack | None = None

    def __enter__(self) -> Any:
        if self._tracer is not None and self._tracer.is_on:
            self._span = ExitStack()
            self._span.enter_context(self._tracer.span("store.transaction"))
        started = time.perf_counter()
        try:
            entered = self._inner.__enter__()
        except BaseException:
            self._end_span()
            raise
        self._measures.store_seconds.observe(time.perf_counter() - started, self._entering)
        return entered

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        started = time.perf_counter()
        try:
            return self._inner.__exit__(kind, fault, trace)
        finally:
            if self._leaving is not None:
                leaving = self._leaving if kind is None else "rollback"
                self._measures.store_seconds.observe(time.perf_counter() - started, leaving)
            self._end_span()

    def _end_span(self) -> None:
        if self._span is not None:
            span, self._span = self._span, None
            span.close()
