"""What managers and administrators may change about a Space: its record, its tier, its tokens. Blocking."""

from __future__ import annotations

from typing import Any

import structlog

from brain.auth.credentials import Scope
from brain.service.failures import InvalidInput
from brain.service.inputs import AddSpaceTokenInput, RevokeSpaceTokenInput, UpdateSpaceInput
from brain.service.records import change_record, check_tier
from brain.service.space_tokens import SpaceTokens
from brain.service.spaces import Spaces
from brain.times import Clock

log = structlog.get_logger(__name__)


class Management:
    """One method per operation; each raises SpaceNotFound for a Space that is not there."""

    def __init__(self, spaces: Spaces, tokens: SpaceTokens, clock: Clock) -> None:
        self._spaces = spaces
        self._tokens = tokens
        self._clock = clock

    def update_space(self, space_id: str, asked: UpdateSpaceInput) -> None:
        """Change what is given; what is not given stays."""
        given = asked.to_record()
        with self._spaces.use(space_id) as space, space.transaction() as tx:
            change_record(tx, lambda record: record.update(given))
        log.info("space_updated", space=space_id, members=sorted(given))

    def update_tier(self, space_id: str, tier: int) -> dict[str, Any]:
        """Set the tier (SpaceTier); it holds for the next input."""
        check_tier(tier)
        set_ = {"tier": tier, "updated_at": self._clock.now_ms()}
        with self._spaces.use(space_id) as space, space.transaction() as tx:
            change_record(tx, lambda record: record.update(tier=set_))
        log.info("space_tier_set", space=space_id, tier=tier)
        return set_

    def tokens(self, space_id: str) -> list[dict[str, Any]]:
        """Every Space token, none of them in full."""
        with self._spaces.use(space_id) as space:
            return self._tokens.listed(space)

    def add_token(self, space_id: str, asked: AddSpaceTokenInput) -> dict[str, Any]:
        """Mint a Space token; the only answer that carries it."""
        with self._spaces.use(space_id) as space:
            minted = self._tokens.mint(
                space, scope=Scope(asked.scope), name=asked.name, expires_at=asked.expires_at, labels=asked.labels
            )
        log.info("space_token_added", space=space_id, token_name=minted["name"], scope=asked.scope)
        return minted

    def revoke_token(self, space_id: str, asked: RevokeSpaceTokenInput) -> bool:
        """Whether there was such a token."""
        if asked.token is None and asked.name is None:
            raise InvalidInput("give the token or its name")
        with self._spaces.use(space_id) as space:
            is_revoked = self._tokens.revoke(space, token=asked.token, name=asked.name)
        log.info("space_token_revoked", space=space_id, is_revoked=is_revoked)
        return is_revoked
