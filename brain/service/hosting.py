"""What the service itself writes in a Space, on nobody's behalf."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import structlog

from brain import logs
from brain.errors import KipError, Retry
from brain.kip.context import Session
from brain.service.failures import Unavailable
from brain.store.base import ElementId

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

log = structlog.get_logger(__name__)

_REVIEWED = ("space", "words_reviewed")

SELF_KEY = "$self"
"""Key of the Person that stands for the Brain itself (§5.6)."""

HOST = Session(principal_id="brain:host", channel="host", default_policy="kip:memory-default")
"""The host's own session."""


class HostRefused(RuntimeError):
    """A command of the host's own was refused; `error` is the engine's. A defect, unless a caller chose its values."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"host command refused: {error['code']}: {error['message']}")
        self.error = error


def host_write(engine: Engine, command: str, parameters: Mapping[str, Any], *, is_dry_run: bool = False) -> Any:
    """Run one command as the host and give its result.

    raises  Unavailable when the store keeps it from working for now; HostRefused
    """
    outcome = engine.run(command, parameters, session=HOST, options={"dry_run": is_dry_run})
    answer = outcome.response["results"][0] if outcome.response["results"] else outcome.response
    if "error" in answer:
        retry = answer["error"]["retry"]
        if retry["class"] == Retry.SAFE_SAME_REQUEST:
            raise Unavailable(answer["error"]["message"], after_s=-(-retry.get("after_ms", 1000) // 1000))
        raise HostRefused(answer["error"])
    return answer["result"]


def ensure_self(engine: Engine) -> ElementId:
    """The self Concept: created and designated in a Space's first commits, found by its key ever after (§5.6)."""
    found = host_write(engine, 'FIND(?s.id) WHERE { ?s {type: "Person", key: :key} }', {"key": SELF_KEY})
    if not found:
        created = host_write(
            engine,
            'UPSERT CONCEPT ?self { MATCH {type: "Person", key: :key} SET FIELDS {name: :name} }',
            {"key": SELF_KEY, "name": "Brain"},
        )
        found = [created["handles"]["self"]]
    self_id = ElementId(found[0])
    engine.designate_self(self_id, HOST)
    return self_id


def review_words(engine: Engine) -> None:
    """Have the Space's drafted words reviewed (§20.16), where a process died before it asked for that; looked at once
    for each vocabulary. A Space that cannot be written to now is not looked at."""
    with engine.space.snapshot(assumed=True) as now:
        schema = now.control("schema") or {}
        looked_at = {"version": schema.get("version")}
        if not any(schema.get("drafts", {}).values()) or now.get(*_REVIEWED) == looked_at:
            return
    from brain.agents.hostwrites import HostWriteFailed, HostWrites

    try:
        HostWrites(engine, HOST).review_drafts()
        with engine.space.transaction(durable=False) as tx:
            tx.set(*_REVIEWED, looked_at)
    except (HostWriteFailed, KipError) as failed:
        log.warning("words_not_reviewed", space=engine.space.space_id, **logs.fault(failed))
