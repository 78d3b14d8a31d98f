"""Run fixtures, the published engine suite's or our own.

`python -m conformance suite FOLDER|FILE… [-v] [--store STORE] [--report FILE]`
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from conformance import report
from conformance.engine import EngineAdapter
from conformance.fixtures import fixtures_of, run_fixture
from conformance.places import add_option
from conformance.report import CaseResult

OUTCOMES = ("passed", "failed", "unsupported")


def main(arguments: list[str]) -> int:
    """Print passed, failed and unsupported per file and in all."""
    parser = argparse.ArgumentParser(prog="python -m conformance suite", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, help="fixtures, or folders of them")
    parser.add_argument("-v", "--verbose", action="store_true", help="say why a case did not pass")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a JSON report")
    add_option(parser)
    options = parser.parse_args(arguments)
    files = sorted(file for path in options.paths for file in (path.glob("*.json") if path.is_dir() else [path]))
    results: list[CaseResult] = []
    with EngineAdapter(store=options.store) as engine:
        for file in files:
            found = [one for fixture in fixtures_of(file) for one in run_fixture(engine, fixture, file.stem)]
            print(f"{file.name}: {figures(report.tally(found, OUTCOMES))}")
            for result in found:
                if options.verbose and result.outcome != "passed":
                    print(f"  {result.outcome}: {result.case}: {result.detail}")
            results += found
    if options.report:
        report.write(options.report, report.document("suite", files, results, OUTCOMES))
    totals = report.tally(results, OUTCOMES)
    print(figures(totals))
    return 1 if totals["failed"] else 0


def figures(counts: Mapping[str, int]) -> str:
    """`passed 3, failed 0` and so on."""
    return ", ".join(f"{name} {count}" for name, count in counts.items())
