"""Every request the service takes, by name. The first argument of those of a Space is its id."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from brain.client.calls import Call, Repeat, bare, data, kip, page, result, text

if TYPE_CHECKING:
    from brain.client import types as t

_RUN_S = 200.0
"""Longer than the service lets a recall take."""

_ARCHIVE_S = 3_600.0
_AGAIN = Repeat.ALWAYS
_ONCE = Repeat.NEVER


def _given(**members: Any) -> dict[str, Any]:
    """Members that were given; None is left out."""
    return {name: value for name, value in members.items() if value is not None}


# --- the service ------------------------------------------------------------------------------------------------------


def info() -> Call[t.ServiceInfo]:
    """What this service is."""
    return Call("GET /info", bare, repeat=_AGAIN)


def skill() -> Call[str]:
    """How an agent uses this service, as Markdown."""
    return Call("GET /SKILL.md", text, repeat=_AGAIN)


def openapi() -> Call[dict[str, Any]]:
    """The service's description of itself."""
    return Call("GET /openapi.json", bare, repeat=_AGAIN)


def manual() -> Call[str]:
    """The same for people, as HTML."""
    return Call("GET /docs", text, repeat=_AGAIN)


def favicon() -> Call[bytes]:
    """The icon of the service."""
    return Call("GET /favicon.ico", data, repeat=_AGAIN)


def touch_icon() -> Call[bytes]:
    """The same, larger."""
    return Call("GET /apple-touch-icon.webp", data, repeat=_AGAIN)


def alive() -> Call[t.Alive]:
    """Whether the process answers."""
    return Call("GET /healthz", bare, repeat=_AGAIN)


def ready() -> Call[t.Ready]:
    """Whether it should be sent requests, with every check; that it should not is an answer too."""
    return Call("GET /readyz", bare, repeat=_AGAIN, also=frozenset({503}))


def metrics() -> Call[str]:
    """Numbers in Prometheus' form."""
    return Call("GET /metrics", text, repeat=_AGAIN)


# --- administration ---------------------------------------------------------------------------------------------------


def create_space(space: str, *, user: str, tier: int) -> Call[t.SpaceInfo]:
    """Create a Space; InvalidRequest when there is one of this id."""
    return Call("POST /admin/create_space", result, body={"space_id": space, "user": user, "tier": tier})


def update_tier(space: str, *, user: str, tier: int) -> Call[t.Tier]:
    """Set how large the Space may become."""
    body = {"space_id": space, "user": user, "tier": tier}
    return _of(space, "POST /admin/{space_id}/update_space_tier", body, _AGAIN)


def flush(space: str) -> Call[t.FlushedSpace]:
    """Have all that was committed on the disk."""
    return _of(space, "POST /admin/{space_id}/flush_space", None, _AGAIN)


def close(space: str, *, timeout_ms: int | None = None) -> Call[t.ClosedSpace]:
    """Let what is in hand end and close the Space; the next access opens it."""
    return _of(space, "POST /admin/{space_id}/close_space", _given(timeout_ms=timeout_ms), _ONCE, seconds=_RUN_S)


def keep_open(space: str, kept_open: bool = True) -> Call[t.KeptOpen]:
    """Keep the Space open although nobody uses it, or no longer."""
    return _of(space, "POST /admin/{space_id}/keep_space_open", {"kept_open": kept_open}, _AGAIN)


def delete(space: str, *, confirm: str) -> Call[t.DeletedSpace]:
    """Delete the Space with everything in it, for good; `confirm` is its id once more."""
    return _of(space, "POST /admin/{space_id}/delete_space", {"confirm": confirm}, _ONCE, seconds=_RUN_S)


def export_space(space: str) -> Call[bytes]:
    """The whole Space, as of one moment, as a signed archive."""
    return Call("POST /admin/{space_id}/export_space", data, {"space_id": space}, repeat=_AGAIN, seconds=_ARCHIVE_S)


def import_space(archive: bytes, space: str | None = None) -> Call[t.ImportedSpace]:
    """Make a Space of an archive that somebody trusted signed, under its own id or another."""
    query = _given(space_id=space)
    return Call("POST /admin/import_space", result, content=archive, query=query, seconds=_ARCHIVE_S)


# --- management -------------------------------------------------------------------------------------------------------


def update_space(space: str, /, **members: Any) -> Call[Literal[True]]:
    """Change `name`, `description` (None empties them), `public`, `memory_policy`; what is left out keeps its value."""
    return _of(space, "PATCH /v1/{space_id}/management/update_space", members, _AGAIN)


def tokens(space: str) -> Call[list[t.Token]]:
    """The Space's tokens, of each only the beginning."""
    return _of(space, "GET /v1/{space_id}/management/space_tokens")


def add_token(
    space: str, name: str, scope: t.Scope, *, expires_at: int | None = None, labels: Sequence[str] | None = None
) -> Call[t.Token]:
    """Make a token, which is shown whole here and never again."""
    body = _given(name=name, scope=scope, expires_at=expires_at, labels=None if labels is None else list(labels))
    return _of(space, "POST /v1/{space_id}/management/add_space_token", body, _ONCE)


def revoke_token(space: str, *, token: str | None = None, name: str | None = None) -> Call[bool]:
    """Take a token back; whether there was one."""
    body = _given(token=token, name=name)
    return _of(space, "POST /v1/{space_id}/management/revoke_space_token", body, _ONCE)


def restart_formation(space: str, conversation: int) -> Call[Literal[True]]:
    """Form once more what failed or was given up."""
    body = {"conversation": conversation}
    return _of(space, "PATCH /v1/{space_id}/management/restart_formation", body, _ONCE)


def own_model(space: str) -> Call[t.ModelConfig | None]:
    """The Space's own model; None where it has none."""
    return _of(space, "GET /v1/{space_id}/management/space_byok")


def set_own_model(space: str, model: t.OwnModel) -> Call[Literal[True]]:
    """Replace the Space's own model."""
    return _of(space, "PATCH /v1/{space_id}/management/space_byok", dict(model), _AGAIN)


def drop_own_model(space: str) -> Call[bool]:
    """Go back to the service's model; whether the Space had its own."""
    return _of(space, "DELETE /v1/{space_id}/management/space_byok", None, _ONCE)


# --- a Space ----------------------------------------------------------------------------------------------------------


def space_info(space: str) -> Call[t.SpaceInfo]:
    """Owner, visibility, tier and figures."""
    return _of(space, "GET /v1/{space_id}/info")


def status(space: str) -> Call[t.SpaceInfo]:
    """The same."""
    return _of(space, "GET /v1/{space_id}/status")


def formation_status(space: str) -> Call[t.FormationStatus]:
    """Whether passes are at work or due, and how far they have come."""
    return _of(space, "GET /v1/{space_id}/formation_status")


def memory_status(space: str) -> Call[t.MemoryStatus]:
    """Metrics, rates, the last reports."""
    return _of(space, "GET /v1/{space_id}/memory_status")


def schema_drafts(space: str) -> Call[t.SchemaDrafts]:
    """The words the Space made for itself."""
    return _of(space, "GET /v1/{space_id}/schema/drafts")


def promote(space: str, kind: Literal["ConceptType", "PredicateType"], source: str, target: str) -> Call[t.Promoted]:
    """Let a draft and an installed symbol match as one from now on."""
    body = {"kind": kind, "from": source, "to": target}
    return _of(space, "POST /v1/{space_id}/schema/promote", body, _ONCE)


# --- writing ----------------------------------------------------------------------------------------------------------


def form(
    space: str, messages: Sequence[t.Message], *, context: t.Context | None = None, timestamp: str | None = None
) -> Call[t.AgentOutput]:
    """Have messages read by a model, in the background; `conversation` is the run. Sent twice it is done twice, so it
    is never sent again by itself."""
    body = _given(messages=list(messages), context=context, timestamp=timestamp)
    return _of(space, "POST /v1/{space_id}/formation", body, _ONCE)


def remember(
    space: str,
    messages: Sequence[t.Message],
    document: Mapping[str, Any],
    *,
    context: t.Context | None = None,
    timestamp: str | None = None,
    key: str | None = None,
) -> Call[t.Remembered]:
    """Keep what a document says of some messages, all of it or nothing.

    key  stands for this request; one that is made for this call when left out, so that it can be sent again meanwhile
    """
    body = _given(messages=list(messages), document=dict(document), context=context, timestamp=timestamp)
    body["idempotency_key"] = key or str(uuid.uuid4())
    return _of(space, "POST /v1/{space_id}/remember", body, _AGAIN, seconds=_RUN_S)


def execute_kip(
    space: str,
    *commands: str,
    parameters: Mapping[str, Any] | None = None,
    sources: Sequence[t.Source] | None = None,
    mode: Literal["independent", "sequence", "atomic"] = "sequence",
    dry_run: bool | None = None,
    key: str | None = None,
) -> Call[t.KipResponse]:
    """Run KIP that may write, as the caller; each of `results` has a status of its own.

    key  as in `remember`
    """
    execution = {"mode": mode, "idempotency_key": key or str(uuid.uuid4())}
    body = {"operations": list(commands), "execution": execution}
    body |= _given(parameters=parameters, sources=None if sources is None else list(sources), dry_run=dry_run)
    return Call("POST /v1/{space_id}/execute_kip", kip, {"space_id": space}, body, repeat=_AGAIN)


def pin(space: str, entity: str, pinned: bool = True) -> Call[t.PinOutput]:
    """Keep an element out of retention archival, or no longer."""
    return _of(space, "POST /v1/{space_id}/memory/pin", {"entity": entity, "pinned": pinned}, _AGAIN)


def forget(space: str, entities: Sequence[str], *, dry_run: bool = False) -> Call[t.ForgetReport]:
    """Purge elements, or tell what that would come to."""
    body = {"entities": list(entities), "dry_run": dry_run}
    return _of(space, "POST /v1/{space_id}/memory/forget", body, _AGAIN if dry_run else _ONCE)


def user(space: str, key: str, name: str | None = None) -> Call[t.Concept]:
    """The Person of a key, made when there is none; a name that is given is theirs from now on."""
    return _of(space, "POST /v1/{space_id}/get_or_init_user", _given(user=key, name=name), _AGAIN)


def maintain(
    space: str,
    scope: Literal["daydream", "quick", "full"] = "daydream",
    *,
    trigger: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Call[t.AgentOutput]:
    """Start a maintenance cycle, in the background."""
    body = _given(scope=scope, trigger=trigger, parameters=parameters)
    return _of(space, "POST /v1/{space_id}/maintenance", body, _ONCE)


# --- reading ----------------------------------------------------------------------------------------------------------


def recall(
    space: str, query: str, *, context: t.Context | None = None, budget: t.Budget | None = None
) -> Call[t.AgentOutput]:
    """An answer in words."""
    body = _given(query=query, context=context, budget=budget)
    return _of(space, "POST /v1/{space_id}/recall", body, Repeat.REFUSED, seconds=_RUN_S)


def ask(
    space: str, query: str, *, context: t.Context | None = None, budget: t.Budget | None = None
) -> Call[t.RecallOutput]:
    """An answer with its citations."""
    body = _given(query=query, context=context, budget=budget)
    return _of(space, "POST /v1/{space_id}/recall_structured", body, Repeat.REFUSED, seconds=_RUN_S)


def packet(
    space: str,
    query: str,
    *,
    context: t.Context | None = None,
    budget: t.Budget | None = None,
    at: str | None = None,
) -> Call[t.PacketOutput]:
    """What memory alone finds for a question, in a budget of tokens; no model is asked."""
    body = _given(query=query, context=context, budget=budget, at=at)
    return _of(space, "POST /v1/{space_id}/packet", body, _AGAIN)


def probe(space: str, query: str, *, limit: int | None = None) -> Call[t.ProbeOutput]:
    """Whether anything is there to be found; no model is asked."""
    return _of(space, "POST /v1/{space_id}/probe", _given(query=query, limit=limit), _AGAIN)


def execute_kip_readonly(
    space: str,
    *commands: str,
    parameters: Mapping[str, Any] | None = None,
    mode: Literal["independent", "sequence", "atomic"] = "independent",
    snapshot_token: str | None = None,
) -> Call[t.KipResponse]:
    """Run KQL and META; each of `results` has a status of its own."""
    body: dict[str, Any] = {"operations": list(commands), "execution": {"mode": mode}}
    body |= _given(parameters=parameters)
    if snapshot_token is not None:
        body["read"] = {"snapshot_token": snapshot_token}
    return Call("POST /v1/{space_id}/execute_kip_readonly", kip, {"space_id": space}, body, repeat=_AGAIN)


def attention(space: str, cursor: str | None = None, *, limit: int | None = None) -> Call[t.AttentionRecall]:
    """Watches that fired and Commitments that fell due, in order."""
    query = _given(attention_cursor=cursor, limit=limit)
    return _of(space, "GET /v1/{space_id}/memory/attention", query=query)


def conversations(
    space: str, collection: t.Collection = "formation", *, cursor: str | None = None, limit: int | None = None
) -> Call[t.Page[t.Conversation]]:
    """Runs of agents, the newest page first."""
    query = _given(collection=collection, cursor=cursor, limit=limit)
    return Call("GET /v1/{space_id}/conversations", page, {"space_id": space}, query=query, repeat=_AGAIN)


def conversation(space: str, number: int, collection: t.Collection = "formation") -> Call[t.Conversation]:
    """One run, also while it goes on."""
    return Call(
        "GET /v1/{space_id}/conversations/{conversation_id}",
        result,
        {"space_id": space, "conversation_id": number},
        query={"collection": collection},
        repeat=_AGAIN,
    )


def conversation_delta(
    space: str,
    number: int,
    collection: t.Collection = "formation",
    *,
    messages_offset: int = 0,
    artifacts_offset: int = 0,
) -> Call[t.ConversationDelta]:
    """What a run has added since what the caller has."""
    return Call(
        "GET /v1/{space_id}/conversations/{conversation_id}/delta",
        result,
        {"space_id": space, "conversation_id": number},
        query={"collection": collection, "messages_offset": messages_offset, "artifacts_offset": artifacts_offset},
        repeat=_AGAIN,
    )


def changes(
    space: str,
    cursor: str | None = None,
    *,
    after: int | Literal["now"] | None = None,
    limit: int | None = None,
    wait: int | None = None,
) -> Call[t.Page[dict[str, Any]]]:
    """Commits behind a place, in order; `next_cursor` is always there. `follow` goes on by itself."""
    query = _given(cursor=cursor, after=after, limit=limit, wait=wait)
    return Call("GET /v1/{space_id}/changes", page, {"space_id": space}, query=query, repeat=_AGAIN)


def _of(
    space: str,
    route: str,
    body: Any = None,
    repeat: Repeat = _AGAIN,
    *,
    query: Mapping[str, Any] | None = None,
    seconds: float | None = None,
) -> Call[Any]:
    """A request of a Space whose answer comes in the ordinary envelope."""
    return Call(route, result, {"space_id": space}, body, query or {}, repeat, seconds)
