"""The registry of error codes (KIP 2.0 §86, §87)."""

from __future__ import annotations

import pytest

from brain.errors import REGISTRY, Category, KipError, Retry


@pytest.mark.requirement("KI-ERR-002")
def test_there_are_these_categories() -> None:
    named = (
        "syntax protocol schema data epistemic governance transaction history search artifact resource transport system"
    )
    assert {category.value for category in Category} == set(named.split())
    assert {kind.category for kind in REGISTRY.values()} <= set(Category)


@pytest.mark.requirement("KI-ERR-003")
def test_there_are_these_classes_of_retry() -> None:
    named = (
        "safe_same_request requires_refresh requires_new_snapshot requires_different_input requires_authority "
        "requires_reacquire_artifact outcome_lookup_required non_retryable"
    )
    assert {retry.value for retry in Retry} == set(named.split())
    assert {kind.retry_class for kind in REGISTRY.values()} <= set(Retry)


@pytest.mark.requirement("KI-ERR-001")
@pytest.mark.parametrize("kind", list(REGISTRY.values()), ids=list(REGISTRY))
def test_each_error_says_what_how_to_mend_it_and_whether_to_try_again(kind: type[KipError]) -> None:
    wire = kind().to_wire()
    assert wire["code"] == kind.__name__
    assert wire["message"]
    assert wire["hint"]
    assert wire["retry"] == {"class": kind.retry_class.value}
    assert "details" not in wire
    told = kind("This.", hint="That.", retry=Retry.SAFE_SAME_REQUEST, after_ms=50, details={"a": 1}).to_wire()
    assert (told["message"], told["hint"], told["details"]) == ("This.", "That.", {"a": 1})
    assert told["retry"] == {"class": "safe_same_request", "after_ms": 50}
