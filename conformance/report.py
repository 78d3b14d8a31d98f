"""What a run found, as a document: `--report FILE` of the suite, vectors and oracle runners.

The shape is `report.schema.json` beside this file. A report tells of answers only: how well anybody remembers with this
engine is another measurement, and until one is made `behavior.status` says so.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brain import __version__
from brain.kip.capabilities import CONFORMANCE_LEVEL, REGISTRY


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How one case went.

    group    the fixture, folder or file it stands in
    outcome  one of the runner's own words, the keys of its totals
    detail   why, when it is not what was hoped for
    """

    group: str
    case: str
    outcome: str
    detail: str = ""


def tally(results: Iterable[CaseResult], outcomes: Sequence[str]) -> dict[str, int]:
    """How many results had each outcome, in the order given."""
    found = Counter(result.outcome for result in results)
    return {outcome: found[outcome] for outcome in outcomes}


def document(
    command: str, files: Iterable[Path], results: Sequence[CaseResult], outcomes: Sequence[str]
) -> dict[str, Any]:
    """The report of one run; the same material and engine give the same document."""
    groups = dict.fromkeys(result.group for result in results)
    return {
        "format": "Brain-Conformance-Report",
        "format_version": "1",
        "subject": {
            "name": "Brain",
            "version": __version__,
            "kip": "2.0",
            "level": CONFORMANCE_LEVEL,
            "capabilities": sorted(name for name, found in REGISTRY.items() if found.is_supported),
            "store": "sqlite",
        },
        "command": command,
        "material": [
            {"file": file.name, "digest": f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"} for file in files
        ],
        "totals": tally(results, outcomes),
        "groups": {group: tally((one for one in results if one.group == group), outcomes) for group in groups},
        "results": [_entry(result) for result in results],
        "behavior": {"status": "not_run"},
    }


def write(path: Path, found: dict[str, Any]) -> None:
    """Put a report into a file, keys in order."""
    path.write_text(json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")


def _entry(result: CaseResult) -> dict[str, str]:
    entry = {"group": result.group, "case": result.case, "outcome": result.outcome}
    return {**entry, "detail": result.detail} if result.detail else entry
