"""Chaos on a real deployment ends well; and its judge sees what went wrong where something did."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from conformance.chaos import run
from conformance.chaos.clients import Sent
from conformance.chaos.judge import Verdict, judge
from tests.service.keeper import Keeper
from tests.service.world import World, settings_for, with_model, world


@pytest.mark.slow
@pytest.mark.requirement(
    "BR-FORM-031", "BR-FORM-032", "BR-FORM-037", "BR-LIFE-011", "BR-LIFE-012", "BR-OPS-003", "BR-OPS-008", "BR-OPS-023"
)
def test_everything_is_killed_at_random_and_each_input_is_formed_once_or_reported(tmp_path: Path) -> None:
    verdict = run(tmp_path, store="sqlite", inputs=50, seconds=30, kills=4, settle_s=120, seed=5)
    assert verdict.is_good, verdict.table()
    assert sum(verdict.faults.values()) == 0
    assert int(str(verdict.facts["accepted"])) >= 50


def remembering(folder: Path, *texts: str, forms: bool = True, model: Any = None) -> World:
    """A Space `ash` that was told something by the model without a key, or another."""
    home = World(with_model(folder, model), Keeper())
    home.create("ash")
    anyio.run(partial(home.submit, *texts, space_id="ash"))
    if forms:
        anyio.run(partial(home.work, "ash"))
    return home


def judged(folder: Path, *sent: Sent) -> Verdict:
    return judge(
        settings_for(folder),
        sent,
        missing=0,
        store="sqlite",
        seed=0,
        kills={"worker killed": 1},
        killing_s=1.0,
        settled_s=1.0,
    )


def told(*things: str, number: int | None) -> Sent:
    return Sent("ash", things, number)


def faults(verdict: Verdict) -> dict[str, int]:
    assert verdict.is_good == (not any(verdict.faults.values()))
    assert ("NOT GOOD" in verdict.table()) != verdict.is_good
    return {name: count for name, count in verdict.faults.items() if count}


def test_what_was_accepted_and_is_remembered_once_is_good(tmp_path: Path) -> None:
    remembering(tmp_path, "I own a boat.", "I own a car.").application.spaces.close()
    verdict = judged(tmp_path, told("boat", number=1), told("car", number=None), told("kite", number=None))
    assert faults(verdict) == {}
    assert (verdict.facts["formed"], verdict.facts["accepted"], verdict.facts["  of these accepted"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("texts", "sent", "forms", "expected"),
    [
        (["I own a boat."], [told("boat", number=1), told("car", number=2)], True, {"accepted and lost": 1}),
        (["I own a boat."], [told("car", number=1)], True, {"accepted as something else": 1}),
        (
            ["I own a boat.", "I own a car."],
            [told("boat", number=1)],
            True,
            {"records nobody sent": 1},
        ),
        (["I own a boat."], [told("boat", number=1)], False, {"not ended": 1, "entries left in a queue": 1}),
    ],
)
def test_what_is_lost_strange_or_left_is_a_fault(
    texts: Sequence[str], sent: Sequence[Sent], forms: bool, expected: dict[str, int], tmp_path: Path
) -> None:
    remembering(tmp_path, *texts, forms=forms).application.spaces.close()
    assert faults(judged(tmp_path, *sent)) == expected


def test_words_and_claims_that_are_there_twice_are_a_fault(tmp_path: Path) -> None:
    remembering(tmp_path, "I own a boat.", "I own a boat.").application.spaces.close()
    found = faults(judged(tmp_path, told("boat", number=1), told("boat", number=2)))
    assert found["words put down twice"] == 1
    assert set(found) <= {"words put down twice", "claims doubled", "formed and not remembered"}


def test_an_input_that_is_called_formed_and_is_not_remembered_is_a_fault(tmp_path: Path) -> None:
    remembering(tmp_path, "I own a boat.", model=Keeper()).application.spaces.close()
    assert faults(judged(tmp_path, told("boat", number=1))) == {"formed and not remembered": 1}


def test_a_lease_that_nobody_holds_any_more_and_was_not_given_back_is_a_fault(tmp_path: Path) -> None:
    home = remembering(tmp_path, "I own a boat.")
    with home.application.spaces.get("ash").transaction() as tx:
        tx.acquire_lease("pass", "somebody", ttl_ms=1, now_ms=0)
    home.application.spaces.close()
    assert faults(judged(tmp_path, told("boat", number=1))) == {"leases left": 1}


def test_a_run_in_which_nothing_was_killed_or_accepted_proves_nothing(tmp_path: Path) -> None:
    world(tmp_path).application.spaces.close()
    remembering(tmp_path, "I own a boat.").application.spaces.close()
    arguments: dict[str, Any] = {"missing": 0, "store": "sqlite", "seed": 0, "killing_s": 1.0, "settled_s": 1.0}
    settings = settings_for(tmp_path)
    assert judge(settings, [told("boat", number=1)], kills={"x": 1}, **arguments).is_good
    assert not judge(settings, [told("boat", number=1)], kills={}, **arguments).is_good
    assert not judge(settings, [], kills={"x": 1}, **arguments).is_good
    assert not judge(settings, [told("boat", number=1)], kills={"x": 1}, **{**arguments, "missing": 1}).is_good
