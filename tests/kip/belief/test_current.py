"""An answer of belief is of the state it names, however much is written meanwhile (KIP 2.0 §21.9)."""

from __future__ import annotations

import threading

import pytest

from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from tests.kip.conftest import Space

ROUNDS = 30
ASK = 'FIND(?b.status) WHERE { ?b BELIEF ("C-1", "speaks", "no") }'


@pytest.mark.requirement("KI-BELIEF-070")
def test_no_answer_tells_of_another_state_than_the_one_it_names(space: Space) -> None:
    """One writes and takes back without a pause, two read; what each reader was told is then asked of the past."""
    space.write('CREATE CONCEPT ?ann {TYPE "Person" NAME "Ann"}')
    known = space.seq
    over = threading.Event()
    told: list[tuple[int, int, str]] = []

    def read() -> None:
        engine = Engine(space.store, PackageLibrary.bundled(), clock=space.clock)
        while True:
            is_last = over.is_set()
            at_least = known
            (answer,) = engine.run(ASK).response["results"]
            told.append((at_least, answer["context"]["snapshot_seq"], answer["result"][0]))
            if is_last:
                return

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(ROUNDS):
        made = space.handles('ASSERT ?a ("C-1", "speaks", "no") {by: "C-1", mode: "stated"}')["a"]
        known = space.seq
        space.write('TRANSITION :a TO "retracted"', a=made)
        known = space.seq
    over.set()
    for reader in readers:
        reader.join()
    assert all(at_least <= seq for at_least, seq, _ in told), "an answer was of a state that was over when it was asked"
    assert {status for _, _, status in told} <= {"accepted", "insufficient"}
    for seq in sorted({seq for _, seq, _ in told}):
        past = space.write(f"{ASK} AS OF SEQ {seq}")
        assert {status for _, of, status in told if of == seq} == set(past)
    earlier = space.answer(f"{ASK} AS OF SEQ {space.seq - 1}")
    assert (earlier["context"]["snapshot_seq"], earlier["result"]) == (space.seq - 1, ["accepted"])
    assert space.write(ASK) == ["insufficient"]
