"""Whether an engine stays as fast as its Space grows: claims by the hundred thousand, and what they cost on the way."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

from conformance.bench.engine import Driver, Ours
from conformance.bench.people import ASSERT, CLAIMS_OF_A_BLOCK, READS, block_of, claim_of, load, parameters_of

_PERSONS_OF = 14_286
"""Concepts in the Space that is claimed about, of which seven in ten are Persons: some 10,000."""

_SINGLES = 100
_LOOKS = 21
_SHOWN = ("point", "hop", "BELIEF SLOT", "SEARCH rare")


def bench_growth(claims: int, step: int, store: str, *, concepts: int = _PERSONS_OF) -> None:
    """Write claims in blocks of a hundred, and after every `step` of them time single claims and reads.

    Each claim is a statement nobody made before: a Proposition, an Assertion and what search finds them by. The pace
    printed is that of the blocks alone.
    """
    driver = Ours(store)
    try:
        ids, _ = load(lambda command, parameters: driver.run(command, parameters)[0], concepts)
        columns = ("claims", "claims/s", "ASSERT, ms", *(f"{name}, ms" for name in _SHOWN), "peak, MB")
        print(f"growth on {store}: blocks of {CLAIMS_OF_A_BLOCK} claims about {len(ids)} Persons, medians")
        print("".join(f"{column:>18}" for column in columns))
        for written in range(0, claims, step):
            until = min(written + step, claims)
            spent = _blocks(driver, ids, written, until)
            singles = [driver.run(ASSERT, claim_of(ids, until + turn))[1] for turn in range(_SINGLES)]
            reads = [_read(driver, name, len(ids)) for name in _SHOWN]
            row = [f"{(until - written) / spent:.0f}", f"{statistics.median(singles):.3f}"]
            row += [f"{milliseconds:.3f}" for milliseconds in reads]
            print("".join(f"{cell:>18}" for cell in (f"{until}", *row, f"{driver.peak_mb():.0f}")), flush=True)
    finally:
        driver.close()


def _blocks(driver: Driver, ids: Sequence[str], first: int, until: int) -> float:
    """Write claims `first` to `until`; the seconds it took."""
    spent = 0.0
    for base in range(first, until, CLAIMS_OF_A_BLOCK):
        numbers = range(base, min(base + CLAIMS_OF_A_BLOCK, until))
        command, bound = block_of("speaks", {n: (ids[n % len(ids)], f"dialect {n}") for n in numbers})
        begun = time.perf_counter()
        driver.run(command, bound)
        spent += time.perf_counter() - begun
    return spent


def _read(driver: Driver, name: str, persons: int) -> float:
    command = READS[name]
    asked = ((turn * 7919 + 13) % persons for turn in range(_LOOKS))
    times = [driver.run(command, parameters_of(command, number))[1] for number in asked]
    return statistics.median(times[1:])
