"""Benchmarks: `python -m conformance bench [PART …] [--sizes N,…] [--spaces N,…] [--store STORE] [--peer BINARY]`.

Each figure is the median of repeated runs on this machine, in milliseconds unless said. With `--peer`, the reference
engine's binary does the same in the same run; figures of the reference's service are those published for a machine like
these. Nothing here ever fails a build.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from conformance.bench.engine import bench_engine
from conformance.bench.growth import bench_growth
from conformance.bench.language import bench_parse
from conformance.bench.service import bench_service
from conformance.bench.writers import bench_writers
from conformance.places import add_option

_PARTS = ("parse", "engine", "writers", "service")
_LONG = "growth"
"""The part that takes from minutes to an hour, and runs only when it is named."""


def main(arguments: Sequence[str]) -> int:
    """Run the named parts, or all."""
    parser = argparse.ArgumentParser(prog="conformance bench", description="Measure; nothing here fails a build.")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(_PARTS)}; all when none is named; or {_LONG}"
    )
    parser.add_argument("--sizes", default="10000", help="Concepts in the engine's Space; comma-separated")
    parser.add_argument("--claims", type=int, default=10_000, help="claims in the service's Space; those growth writes")
    parser.add_argument("--step", type=int, default=100_000, help="claims between two lines of growth")
    parser.add_argument("--peer", metavar="BINARY", help="measure this reference engine beside ours")
    parser.add_argument(
        "--peer-up-to", type=int, metavar="N", help="no larger sizes of it; its load grows by the square"
    )
    parser.add_argument("--spaces", default="1,2,5,10", help="how many Spaces are written at once; comma-separated")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="that the writers are spread over")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each line of writers")
    add_option(parser)
    options = parser.parse_args(arguments)
    unknown = [part for part in options.parts if part not in (*_PARTS, _LONG)]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}")
    parts = options.parts or _PARTS
    if "parse" in parts:
        bench_parse()
    if "engine" in parts:
        bench_engine(
            [int(size) for size in options.sizes.split(",")], options.peer, options.store, peer_up_to=options.peer_up_to
        )
    if "writers" in parts:
        spaces = [int(number) for number in options.spaces.split(",")]
        bench_writers(spaces, options.processes, options.seconds, options.store)
    if "service" in parts:
        bench_service(options.claims)
    if _LONG in parts:
        bench_growth(options.claims, options.step, options.store)
    return 0
