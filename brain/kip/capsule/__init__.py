"""Capsules: memory as a portable, immutable artifact that grants nothing (KIP 2.0 §37 to §41, §95)."""

from __future__ import annotations

from brain.kip.capsule.export import export_capsule
from brain.kip.capsule.inspect import capsule_faults, preview_import, verify_capsule

__all__ = ["capsule_faults", "export_capsule", "preview_import", "verify_capsule"]
