"""Compare the manifests in docs/requirements with the marks the tests carry.

Prints ids without a test (per area; each one with `--list`) and marks without a row; exits 1 on such a mark.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_ROW = re.compile(r"^\| ((?:KI|BR|ST|SY|FO)-[A-Z]+-\d{3}) \|.*\| ([ABC])!? \|\s*$")
_MARK = re.compile(r"""(?:KI|BR|ST|SY|FO)-[A-Z]+-\d{3}""")


def rows(folder: Path = ROOT / "docs" / "requirements") -> dict[str, str]:
    """Every live requirement id with its priority (A, B, C)."""
    found: dict[str, str] = {}
    for manifest in sorted(folder.glob("*.md")):
        for line in manifest.read_text("utf-8").splitlines():
            match = _ROW.match(line)
            if match:
                found[match[1]] = match[2]
    return found


def marks(folder: Path = ROOT / "tests") -> Counter[str]:
    """How many tests carry each id, read from the marks as pytest collects them."""
    listing = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "conformance.marks", str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    found: Counter[str] = Counter()
    for line in listing.stdout.splitlines():
        if line.startswith("MARK "):
            found.update(_MARK.findall(line))
    return found


def main(arguments: list[str]) -> int:
    """Print the comparison."""
    known, carried = rows(), marks()
    unknown = sorted(set(carried) - set(known))
    missing = sorted(set(known) - set(carried))
    for priority in "ABC":
        total = [row for row, given in known.items() if given == priority]
        left = [row for row in missing if known[row] == priority]
        print(f"priority {priority}: {len(total) - len(left)} of {len(total)} rows have a test")
    areas = Counter(row.rsplit("-", 1)[0] for row in missing)
    for area, count in sorted(areas.items()):
        print(f"  {area}: {count} without a test")
    if "--list" in arguments:
        for row in missing:
            print(f"no test: {row} ({known[row]})")
    for mark in unknown:
        print(f"mark without a row: {mark}")
    print(f"rows {len(known)}, with a test {len(known) - len(missing)}, marks without a row {len(unknown)}")
    return 1 if unknown else 0
