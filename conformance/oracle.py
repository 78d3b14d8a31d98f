"""Compare with the reference engine.

`python -m conformance oracle FOLDER|FILE… [-v] [--store STORE] [--live BINARY] [--report FILE]`

Answers come from a recording, or, with `--live`, from the reference engine's binary running beside. Either is what that
engine does, not always what the specification says; differences that the specification decides for us are listed, with
what decides, in `differences.md`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from conformance import report
from conformance.live import Peer
from conformance.places import add_option
from conformance.played import Answer, Case, OurPlayer, differences, played, recorded
from conformance.report import CaseResult

OUTCOMES = ("equal", "listed", "differs")
LISTING = Path(__file__).with_name("differences.md")
_ROW = re.compile(r"^\| `([a-z0-9-]+)` \| (?:steps? ([0-9, -]+): )?", re.M)

Listing = Mapping[str, frozenset[int] | None]


def listing(text: str) -> Listing:
    """Steps whose difference is decided, by case; None where a row names no steps and so speaks of all."""
    found: dict[str, frozenset[int] | None] = {}
    for case_id, steps in _ROW.findall(text):
        before = found.get(case_id, frozenset())
        found[case_id] = None if not steps or before is None else before | frozenset(_numbers(steps))
    return found


def judged(case: Case, group: str, problems: Mapping[int, str], listed: Listing) -> CaseResult:
    """How a case went: equal, different only where a row says so, or different otherwise."""
    case_id = str(case["id"])
    decided = listed.get(case_id, frozenset())
    open_ones = {index: problem for index, problem in problems.items() if decided is not None and index not in decided}
    outcome = "differs" if open_ones else "listed" if problems else "equal"
    detail = "; ".join(f"step {index}: {problem}" for index, problem in (open_ones or problems).items())
    return CaseResult(group, case_id, outcome, detail)


def needless(case: Case, problems: Mapping[int, str], listed: Listing) -> list[int]:
    """Listed steps of a case that do not differ (any more)."""
    return sorted((listed.get(str(case["id"])) or frozenset()) - problems.keys())


def main(arguments: list[str]) -> int:
    """Print differences that are not listed, rows without a difference, and the figures."""
    parser = argparse.ArgumentParser(prog="python -m conformance oracle", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, help="recordings, or folders of them")
    parser.add_argument("-v", "--verbose", action="store_true", help="say what differs")
    parser.add_argument("--live", metavar="BINARY", help="ask this reference engine instead of the recording")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a JSON report")
    add_option(parser)
    options = parser.parse_args(arguments)
    files = sorted(file for path in options.paths for file in (path.glob("*.jsonl") if path.is_dir() else [path]))
    listed = listing(LISTING.read_text("utf-8"))
    results: list[CaseResult] = []
    rows_to_drop: dict[str, list[int]] = {}
    with ExitStack() as stack:
        ours = OurPlayer(options.store)
        stack.callback(ours.close)
        peer = stack.enter_context(Peer([options.live])) if options.live else None
        for file, case in _cases(files):
            expected = _answers_of(peer, case) if peer else recorded(case)
            problems = differences(ours, case, expected)
            results.append(judged(case, file.stem, problems, listed))
            if peer is None and (idle := needless(case, problems, listed)):
                rows_to_drop[str(case["id"])] = idle
    for result in results:
        if result.outcome == "differs":
            print(f"differs: {result.case}" + (f": {result.detail}" if options.verbose else ""))
    for case_id, steps in rows_to_drop.items():
        print(f"listed without need: {case_id}, steps {', '.join(map(str, steps))}")
    if options.report:
        report.write(options.report, report.document("oracle", files, results, OUTCOMES))
    counts = report.tally(results, OUTCOMES)
    print(
        f"{len(results)} cases: {counts['equal']} equal, {counts['listed']} differ as listed, "
        f"{counts['differs']} differ otherwise"
    )
    return 1 if counts["differs"] or rows_to_drop else 0


def _cases(files: Sequence[Path]) -> Iterator[tuple[Path, Case]]:
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            yield file, json.loads(line)


def _answers_of(peer: Peer, case: Case) -> dict[int, Answer]:
    return {index: answer for index, answer in played(peer, case) if answer is not None}


def _numbers(text: str) -> Iterator[int]:
    """The numbers of "2, 5-7"."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
