"""Laws of belief over what statements record, commit by commit: only what was said counts (§21.5, §24, §25.4)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.times import FixedClock
from tests.kip.conftest import Space, fresh
from tests.laws import law

requirement = pytest.mark.requirement

POLICIES = ("kip:memory-default", "kip:policy:baseline", "kip:policy:structural")
VALUES = ("a", "b", "c", "nobody said this")
SPEAKERS = 3
NOW = 1_789_862_400_000
LAW = law(20, by_night=2_000)

days = st.integers(1, 9).map(lambda month: f"2026-{month:02d}-01T00:00:00.000Z")
Saying = Mapping[str, Any]
sayings = st.fixed_dictionaries(
    {
        "value": st.sampled_from(VALUES[:3]),
        "by": st.integers(0, SPEAKERS - 1),
        "stance": st.sampled_from(["support", "support", "support", "reject", "uncertain"]),
        "mode": st.sampled_from(["stated", "observed", "inferred"]),
        "at": days,
    },
    optional={
        "valid": st.one_of(
            st.builds(lambda start: {"from": start}, days),
            st.builds(lambda pair: {"from": {"earliest": min(pair), "latest": max(pair)}}, st.tuples(days, days)),
            st.builds(lambda start: {"from": start, "until": "2026-10-01T00:00:00.000Z"}, days),
        ),
        "evidence": st.integers(0, SPEAKERS - 1),
    },
)
unrejecting = sayings.map(lambda said: {**said, "stance": "support" if said["stance"] == "reject" else said["stance"]})
questions = st.fixed_dictionaries(
    {
        "predicate": st.sampled_from(["knows_word", "posted_at"]),
        "policy": st.sampled_from(POLICIES),
        "at": st.sampled_from(["2025-06-01", "2026-03-15", "2026-09-20", "2026-10-01", "2030-01-01"]),
    }
)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    with fresh(tmp_path_factory.mktemp("recorded"), FixedClock(NOW)) as opened:
        opened.write('DEFINE PREDICATE "posted_at" {description: "Where somebody is posted.", functional: true}')
        opened.write('DEFINE PREDICATE "knows_word" {description: "A word somebody knows."}')
        yield opened


class Life:
    """A subject of its own with speakers of its own, and what was said about it, one commit a saying."""

    def __init__(self, space: Space, said: Sequence[Saying], question: Mapping[str, Any]) -> None:
        self._space = space
        self._question = question
        block = ['CREATE CONCEPT ?subject {TYPE "Person" NAME "Subject"}']
        for number in range(SPEAKERS):
            block.append(f'CREATE CONCEPT ?by{number} {{TYPE "Person" NAME "Speaker {number}"}}')
            fields = f'evidence_class: "message", payload: "m{number}"'
            block.append(f"CREATE EVIDENCE ?e{number} {{SET FIELDS {{{fields}}}}}")
        self._ids = space.handles(f"MUTATE {{ {' '.join(block)} }}")
        for saying in said:
            self.record(saying)

    def record(self, saying: Saying) -> None:
        values: dict[str, Any] = {
            **saying,
            "by": self._ids[f"by{saying['by']}"],
            "evidence": [self._ids[f"e{saying['evidence']}"]] if "evidence" in saying else None,
        }
        told = {name: value for name, value in values.items() if name != "value" and value is not None}
        members = ", ".join(f"{name}: :{name}" for name in told)
        text = f'ASSERT (:subject, "{self._question["predicate"]}", :value) {{{members}}}'
        self._space.write(text, subject=self._ids["subject"], value=saying["value"], **told)

    def verdicts(self) -> list[Any]:
        """Of every value: its status, what stands for and against it, and how many voices each side has."""
        return [self._verdict(value) for value in VALUES]

    def status(self, value: str) -> str:
        return str(self._verdict(value)[0])

    def _verdict(self, value: str) -> Any:
        text = (
            "FIND(?b.status, ?b.candidate_status, ?b.slot_status, ?b.leading, ?b.conflict_reasons,"
            " ?b.support.root_groups, ?b.opposition.root_groups)"
            f' WHERE {{ ?b BELIEF (:subject, "{self._question["predicate"]}", :value) }}'
            " FOR TIME :at WITH EPISTEMIC {policy: :policy}"
        )
        at = f"{self._question['at']}T00:00:00.000Z"
        values = {"subject": self._ids["subject"], "value": value, "at": at, "policy": self._question["policy"]}
        [[*verdict, support, opposition]] = self._space.write(text, **values)
        return [*verdict[:4], sorted(verdict[4]), len(support), len(opposition)]


@requirement("KI-BELIEF-050")
@LAW
@given(said=st.lists(sayings, min_size=2, max_size=6), question=questions, seed=st.integers(0, 999))
def test_the_order_of_recording_never_matters(
    space: Space, said: list[Saying], question: dict[str, Any], seed: int
) -> None:
    shuffled = list(said)
    random.Random(seed).shuffle(shuffled)
    assert Life(space, said, question).verdicts() == Life(space, shuffled, question).verdicts()


@requirement("KI-BELIEF-021", "KI-BELIEF-025", "KI-BELIEF-049")
@LAW
@given(said=st.lists(sayings, min_size=1, max_size=5), question=questions, times=st.integers(1, 4), data=st.data())
def test_repetition_never_corroborates(
    space: Space, said: list[Saying], question: dict[str, Any], times: int, data: st.DataObject
) -> None:
    life = Life(space, said, question)
    before = life.verdicts()
    for _ in range(times):
        life.record(data.draw(st.sampled_from(said)))
    assert life.verdicts() == before


@requirement("KI-BELIEF-017")
@LAW
@given(said=st.lists(unrejecting, max_size=6), question=questions)
def test_silence_never_rejects(space: Space, said: list[Saying], question: dict[str, Any]) -> None:
    """Where nobody said no, nothing is rejected, at no instant; what nobody spoke of is insufficient."""
    life = Life(space, said, question)
    assert "rejected" not in [life.status(value) for value in VALUES]
    assert life.status(VALUES[-1]) == "insufficient"
    assert all(life.status(value) == "insufficient" for value in VALUES if value not in [s["value"] for s in said])


@requirement("KI-BELIEF-017")
@LAW
@given(said=st.lists(sayings, max_size=6), question=questions)
def test_only_a_no_about_a_value_itself_rejects_it(space: Space, said: list[Saying], question: dict[str, Any]) -> None:
    life = Life(space, said, question)
    denied = {saying["value"] for saying in said if saying["stance"] == "reject"}
    assert {value for value in VALUES if life.status(value) == "rejected"} <= denied
