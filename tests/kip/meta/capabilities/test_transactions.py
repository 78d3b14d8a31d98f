"""Isolation, atomic requests, kept outcomes; no signed receipts, no frames (KIP 2.0 §32 to §34, §75, §84)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kip.conftest import Space
from tests.kip.meta.capabilities.shown import CREATE, shows


@shows("serializable_isolation", "KI-CAP-003")
def test_serializable_isolation_is_accepted_and_no_other(space: Space) -> None:
    asked: dict[str, Any] = {"execution": {"mode": "independent", "isolation": "serializable"}}
    space.write(CREATE, envelope=asked)
    refused = space.outcome(CREATE, envelope={"execution": {"mode": "independent", "isolation": "snapshot"}}).response
    assert refused["error"]["code"] == "UnsupportedIsolation"


@shows("atomic_batch", "KI-CAP-004")
def test_an_atomic_request_is_one_commit_or_none(space: Space) -> None:
    request = {"kip": "2.0", "operations": [{"command": CREATE}, {"command": CREATE}], "execution": {"mode": "atomic"}}
    assert space.execute(request)["status"] == "succeeded"
    assert space.seq == 1
    request["operations"] = [{"command": CREATE}, {"command": 'CREATE CONCEPT ?x {TYPE "Nope"}'}]
    assert space.execute(request)["status"] == "failed"
    assert space.seq == 1


@shows("idempotency_retention", "KI-CAP-005")
def test_an_outcome_is_kept_under_its_key_for_the_stated_time_and_no_longer(space: Space) -> None:
    seconds = space.write("DESCRIBE CAPABILITIES")["capabilities"]["idempotency_retention"]["value"]["seconds"]
    keyed = {"execution": {"mode": "independent", "idempotency_key": "once"}}
    first = space.answer(CREATE, envelope=keyed)["receipt"]
    space.clock.advance(seconds * 1000 - 1)
    assert space.answer(CREATE, envelope=keyed)["receipt"] == first
    space.clock.advance(1)
    assert space.refused(CREATE, envelope=keyed) == "TransactionUnknown"
    assert space.seq == 1


@shows("signed_receipts", "KI-CAP-012", held=False)
def test_a_receipt_has_a_digest_and_no_signature(space: Space) -> None:
    receipt = space.receipt(CREATE)
    assert receipt["receipt_digest"].startswith("sha256:")
    assert not receipt.get("proofs")


@shows("streaming", "KI-CAP-013", "KI-ENV-039", held=False)
@pytest.mark.parametrize("place", ["options", "execution", None])
def test_nothing_is_answered_in_frames(space: Space, place: str | None) -> None:
    asked: dict[str, Any] = {place: {"mode": "independent"} if place == "execution" else {}} if place else {}
    (asked[place] if place else asked)["stream"] = True
    refused = space.outcome(CREATE, envelope=asked).response
    assert (refused["error"]["code"], space.seq) == ("InvalidRequestEnvelope", 0)
