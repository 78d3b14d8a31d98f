"""Models that Spaces bring along: what their managers set, its key sealed at rest, and which model a run asks.

The key is written once and never told again. It is sealed together with where it may be sent, so that no other address
can be given it in the store. It goes along when a Space moves: it opens wherever the same sealing keys are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import structlog
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from brain.agents.model import Model
from brain.agents.own_model import FAMILIES, Effort, OwnProvider, UnusableModel, needs_address, takes_address
from brain.service.failures import InvalidInput
from brain.service.policy import Effective, policy_of
from brain.service.records import change_record, record_of
from brain.service.spaces import OpenSpace, Spaces
from brain.store.base import Document, Snapshot, Transaction
from brain.times import Clock

if TYPE_CHECKING:
    from brain.auth.sealing import Sealer

log = structlog.get_logger(__name__)

_DOCUMENT = ("space", "byok")
_HAS_OWN = "has_own_model"
"""Of the Space's record, which every run reads: whether there is such a document."""

_HINTED_FROM = 16
"""Characters of a key from which on its first ones may be shown."""

_OPTIONS = ("label", "effort", "bearer_auth", "stream", "context_window", "max_output")

_NO_SEALER = "this service keeps no keys of Spaces: its operator has not set SPACE_SECRET_KEYS"
_NO_LITELLM = "this service was installed without the code for language models (the extra `llm`)"
_GIVE_KEY = "api_key is missing; the one that is kept goes with the family and api_base it was set for, and no others"


class ModelConfigInput(BaseModel):
    """A Space's own model, replaced whole (API §7 ModelConfig).

    api_base  empty for the family's own address
    api_key   left out, empty, or as `GET` showed it: the one that is kept
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    family: Annotated[StrictStr, Field(max_length=64)]
    model: Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,255}$")]
    api_base: Annotated[StrictStr, Field(max_length=2_048)] | None = None
    api_key: Annotated[StrictStr, Field(max_length=4_096)] | None = None
    disabled: StrictBool | None = None
    label: Annotated[StrictStr, Field(max_length=256)] | None = None
    effort: Effort | None = None
    bearer_auth: StrictBool | None = None
    stream: StrictBool | None = None
    context_window: Annotated[StrictInt, Field(ge=1_024, le=100_000_000)] | None = None
    max_output: Annotated[StrictInt, Field(ge=256, le=100_000_000)] | None = None


class OwnModels:
    """Which model answers in a Space.

    default  answers where a Space has none of its own, or has switched it off
    make     a model of what a Space's managers chose
    """

    def __init__(self, default: Model, sealer: Sealer | None, make: Callable[[OwnProvider], Model]) -> None:
        self.default = default
        self._sealer = sealer
        self._make = make

    def of(self, reader: Snapshot, record: Mapping[str, Any] | None = None) -> Model:
        """The model of a Space; its record, where that was read already, saves a look at the store.

        One whose key cannot be opened fails at every call: its managers chose who reads their memory, and the default
        may be somebody else.
        """
        if not (record_of(reader) if record is None else record).get(_HAS_OWN):
            return self.default
        kept = reader.get(*_DOCUMENT)
        if kept is None or kept["disabled"]:
            return self.default
        from brain.auth.sealing import SecretUnreadable

        name = f"{kept['family']}/{kept['model']}"
        try:
            if self._sealer is None:
                raise SecretUnreadable
            key = self._sealer.open(kept["sealed"], _owner(kept))
        except SecretUnreadable:
            return UnusableModel(name, "the key of the space's own model cannot be opened; set it again")
        options = {option: kept[option] for option in _OPTIONS if option != "label" and kept.get(option) is not None}
        return self._make(OwnProvider(kept["family"], kept["model"], key, kept["api_base"] or None, **options))

    def terms(self, space: OpenSpace) -> tuple[Effective, Model]:
        """What a run in a Space goes by just now: its policy, and the model that answers."""
        with space.state() as now:
            record = record_of(now)
            return policy_of(record), self.of(now, record)


class Byok:
    """What managers may do with their Space's own model. Blocking; each method raises SpaceNotFound."""

    def __init__(self, spaces: Spaces, sealer: Sealer | None, allowed: Collection[str], clock: Clock) -> None:
        self._spaces = spaces
        self._sealer = sealer
        self._allowed = allowed
        self._clock = clock

    def shown(self, space_id: str) -> dict[str, Any] | None:
        """The configuration with the beginning of its key; None where there is none."""
        with self._spaces.use(space_id) as space, space.snapshot() as now:
            kept = now.get(*_DOCUMENT)
        return None if kept is None else _to_wire(kept)

    def set(self, space_id: str, asked: ModelConfigInput) -> None:
        """Replace the configuration; it holds from the next run on.

        raises  InvalidInput for a family or address a Space may not choose, without a key, and where none can be kept
        """
        family = asked.family.strip().lower()
        base = (asked.api_base or "").strip().rstrip("/")
        self._check_place(family, base)
        chosen = {"family": family, "model": asked.model, "api_base": base, "disabled": bool(asked.disabled)}
        options = {name: value for name in _OPTIONS if (value := getattr(asked, name)) is not None}
        with self._spaces.use(space_id) as space, space.transaction() as tx:
            key = self._key(tx, chosen, asked.api_key)
            tx.set(*_DOCUMENT, {**chosen, **options, **key, "updated_at": self._clock.now_ms()})
            change_record(tx, lambda record: record.update({_HAS_OWN: True}))
        log.info("space_byok_set", space=space_id, family=family, is_disabled=chosen["disabled"])

    def remove(self, space_id: str) -> bool:
        """Go back to the service's model; whether there was another."""
        with self._spaces.use(space_id) as space, space.transaction() as tx:
            was_there = tx.get(*_DOCUMENT) is not None
            tx.delete(*_DOCUMENT)
            change_record(tx, lambda record: record.pop(_HAS_OWN, None))
        log.info("space_byok_removed", space=space_id, was_there=was_there)
        return was_there

    def reseal(self, space_id: str) -> bool:
        """Seal the key anew with the first of the sealing keys; whether there was anything to do.

        raises  InvalidInput when it cannot be opened
        """
        from brain.auth.sealing import SecretUnreadable

        if self._sealer is None:
            raise InvalidInput(_NO_SEALER)
        with self._spaces.use(space_id) as space, space.transaction() as tx:
            kept = tx.get(*_DOCUMENT)
            if kept is None or self._sealer.is_current(kept["sealed"]):
                return False
            try:
                key = self._sealer.open(kept["sealed"], _owner(kept))
            except SecretUnreadable:
                raise InvalidInput("the key of the space's own model cannot be opened with these keys") from None
            tx.set(*_DOCUMENT, {**kept, "sealed": self._sealer.seal(key, _owner(kept))})
            return True

    # --- how ----------------------------------------------------------------------------------------------------------

    def _check_place(self, family: str, base: str) -> None:
        if family not in FAMILIES:
            raise InvalidInput(f"family must be one of {', '.join(FAMILIES)}")
        if find_spec("litellm") is None:
            raise InvalidInput(_NO_LITELLM)
        if not base:
            if needs_address(family):
                raise InvalidInput(f"{family} has no address of its own; give api_base")
            return
        if not takes_address(family):
            raise InvalidInput(f"{family} is asked at its own address; leave api_base empty")
        from brain.agents.outbound import AddressRefused, check_url

        try:
            check_url(base, self._allowed)
        except AddressRefused as refused:
            raise InvalidInput(f"api_base: {refused}") from None

    def _key(self, tx: Transaction, chosen: Mapping[str, Any], given: str | None) -> Document:
        kept = tx.get(*_DOCUMENT)
        given = (given or "").strip()
        if not given or (kept is not None and given == kept["shown"]):
            if kept is None or _owner(kept) != _owner(chosen):
                raise InvalidInput(_GIVE_KEY)
            return {"sealed": kept["sealed"], "shown": kept["shown"]}
        if not given.isascii() or not given.isprintable() or " " in given:
            raise InvalidInput("api_key must be plain printable characters")
        if self._sealer is None:
            raise InvalidInput(_NO_SEALER)
        shown = f"{given[:4]}…" if len(given) >= _HINTED_FROM else "…"
        return {"sealed": self._sealer.seal(given, _owner(chosen)), "shown": shown}


def _owner(kept: Mapping[str, Any]) -> str:
    """Whom a key is for, and where it may be sent."""
    return f"byok\n{kept['family']}\n{kept['api_base']}"


def _to_wire(kept: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: kept[name] for name in ("family", "model", "api_base")}
    options = {name: kept[name] for name in _OPTIONS if kept.get(name) is not None}
    return {**told, "api_key": kept["shown"], "disabled": kept["disabled"], **options}
