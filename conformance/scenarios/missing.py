"""What this engine lacks for the vectors no scenario plays yet, by vector id."""

from __future__ import annotations

from collections.abc import Mapping

_INTERFACE = "memory_interface, which is not offered"
_LEARNING = "trials and their verdicts (validated learning), which are not offered"

MISSING: Mapping[str, str] = {
    **{f"KIP2-MIF-{number:03d}": _INTERFACE for number in range(1, 18)},
    **{f"KIP2-REL-{number:03d}": _INTERFACE for number in (5, 8, 9, 13)},
    **{f"KIP2-MEM-{number:03d}": _LEARNING for number in (4, 5, 18)},
    "KIP2-MEM-008": "identity_repair, which is not offered",
    "KIP2-MEM-010": "briefings with recall coverage, which are not offered",
    "KIP2-MEM-023": "briefings with recall coverage, which are not offered",
    "KIP2-REL-006": "prospective_trials, which is not offered",
    "KIP2-REL-012": "memory_experience, which is not offered",
    "KIP2-REL-016": "capsule_import, which is not offered",
    "KIP2-REL-017": "memory_learning, which is not offered",
}
