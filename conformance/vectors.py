"""Play the published vectors: `python -m conformance vectors FOLDER [-v] [--report FILE]`.

`cognitive-contracts.json` is decided case by case from its data; a harness vector names a scenario, which an adapter
plays on this engine (`conformance/scenarios`). A vector passes when every check it makes of the adapter's observations
holds; one that needs what this engine does not offer is reported as not decided, with what is missing, never as passed.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance import report
from conformance.answers import pointer
from conformance.level import claimable
from conformance.report import CaseResult
from conformance.scenarios.contracts import run_contracts
from conformance.scenarios.missing import MISSING
from conformance.scenarios.observed import SCENARIOS, Observed
from conformance.scenarios.world import Refused, World
from conformance.suite import figures

OUTCOMES = ("passed", "failed", "not decided")
CONTRACTS = "cognitive-contracts.json"
_PLAYED = ("belief", "documents", "erasure", "learning", "numbers", "records", "repair", "strength")


def run_vector(vector: Mapping[str, Any], group: str) -> CaseResult:
    """One harness vector."""
    name = vector["id"]
    play = SCENARIOS.get(name)
    if play is None:
        return CaseResult(group, name, "not decided", f"needs {MISSING.get(name, 'a scenario, and nobody wrote one')}")
    try:
        with World() as world:
            observed = play(world)
    except Refused as refusal:
        return CaseResult(group, name, "failed", f"the scenario was refused: {refusal}")
    except (LookupError, TypeError, ValueError) as error:
        return CaseResult(group, name, "failed", f"an answer was not of the shape the scenario reads: {error!r}")
    problems = [*_failed(vector.get("assertions", ()), observed), *_failed(vector.get("postconditions", ()), observed)]
    return CaseResult(group, name, "failed" if problems else "passed", "; ".join(problems))


def load_scenarios() -> None:
    """Import the modules whose scenarios register themselves."""
    for module in _PLAYED:
        importlib.import_module(f"conformance.scenarios.{module}")


def run_folder(folder: Path) -> Iterator[CaseResult]:
    """Every vector below a folder; groups are its folders and the parts of the contracts."""
    load_scenarios()
    for file in files_of(folder):
        document = json.loads(file.read_text("utf-8"))
        if file.name == CONTRACTS:
            yield from run_contracts(document)
        else:
            yield run_vector(document, file.parent.name)


def files_of(folder: Path) -> list[Path]:
    """The vectors below a folder, in order."""
    return sorted(folder.rglob("*.json"))


def vectors_of(folder: Path) -> list[Mapping[str, Any]]:
    """The harness vectors below a folder."""
    return [json.loads(file.read_text("utf-8")) for file in files_of(folder) if file.name != CONTRACTS]


def _failed(checks: Any, observed: Observed) -> Iterator[str]:
    for check in checks:
        source = observed.state if check["source"] == "state" else observed.step
        path, wanted = check["path"], check["expected"]
        if check["operator"] != "equals":
            yield f"{path}: unknown operator {check['operator']}"
            continue
        try:
            found = pointer(source, path)
        except (KeyError, IndexError, TypeError):
            yield f"{path}: not observed"
            continue
        if found != wanted or isinstance(found, bool) is not isinstance(wanted, bool):
            yield f"{path}: want {json.dumps(wanted)}, got {json.dumps(found)}"


def main(arguments: list[str]) -> int:
    """Print passed, failed and not decided per group and in all."""
    parser = argparse.ArgumentParser(prog="python -m conformance vectors", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the vectors")
    parser.add_argument("-v", "--verbose", action="store_true", help="say what failed and what is missing")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a JSON report")
    options = parser.parse_args(arguments)
    results = list(run_folder(options.folder))
    level, waiting = claimable(vectors_of(options.folder), results)
    for group in dict.fromkeys(result.group for result in results):
        found = [result for result in results if result.group == group]
        print(f"{group}: {figures(report.tally(found, OUTCOMES))}")
        for result in found:
            if result.outcome == "failed" or (options.verbose and result.outcome != "passed"):
                print(f"  {result.outcome}: {result.case}: {result.detail}")
    if options.report:
        report.write(options.report, report.document("vectors", files_of(options.folder), results, OUTCOMES))
    totals = report.tally(results, OUTCOMES)
    print(f"level, as far as these go: {level or 'none'}")
    for name, why in waiting.items():
        print(f"  more waits for {name}: {why}")
    print(figures(totals))
    return 1 if totals["failed"] else 0
