"""Compare the manifests in docs/requirements with the marks the tests carry: `… requirements [--list] [PREFIX…]`.

Prints, per priority and area, rows without a test (each one with `--list`; with a prefix only ids that begin with it)
and marks without a row; exits 1 on such a mark, and 2 when the tests cannot be collected, since then nobody knows.
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


class CollectionError(Exception):
    """The tests could not be collected whole, so their marks say nothing."""


def marks(folder: Path = ROOT / "tests") -> Counter[str]:
    """How many tests carry each id, read from the marks as pytest collects them; CollectionError when it cannot."""
    listing = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "conformance.marks", str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if listing.returncode != 0:
        raise CollectionError("\n".join(listing.stdout.splitlines()[-20:]) or listing.stderr)
    found: Counter[str] = Counter()
    for line in listing.stdout.splitlines():
        if line.startswith("MARK "):
            found.update(_MARK.findall(line))
    return found


def main(arguments: list[str]) -> int:
    """Print the comparison."""
    prefixes = tuple(argument for argument in arguments if not argument.startswith("-")) or ("",)
    known = {row: priority for row, priority in rows().items() if row.startswith(prefixes)}
    try:
        carried = marks()
    except CollectionError as error:
        print(f"the tests cannot be collected:\n{error}")
        return 2
    unknown = sorted(mark for mark in set(carried) - set(known) if mark.startswith(prefixes))
    missing = sorted(set(known) - set(carried))
    for priority in "ABC":
        total = [row for row, given in known.items() if given == priority]
        left = [row for row in missing if known[row] == priority]
        print(f"priority {priority}: {len(total) - len(left)} of {len(total)} rows have a test")
    areas = Counter((row.rsplit("-", 1)[0], known[row]) for row in missing)
    for area in sorted({area for area, _ in areas}):
        counts = ", ".join(f"{areas[area, given]} {given}" for given in "ABC" if areas[area, given])
        print(f"  {area}: {counts} without a test")
    if "--list" in arguments:
        for row in missing:
            print(f"no test: {row} ({known[row]})")
    for mark in unknown:
        print(f"mark without a row: {mark}")
    print(f"rows {len(known)}, with a test {len(known) - len(missing)}, marks without a row {len(unknown)}")
    return 1 if unknown else 0
