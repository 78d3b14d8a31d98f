"""Semantic erasure: taking away what was learned from a source, by a plan that outlives it (KIP 2.0 §60.7)."""

from __future__ import annotations

from brain.kip.erasure.executor import Eraser, Handlers
from brain.kip.erasure.record import ErasureReport, Target

__all__ = ["Eraser", "ErasureReport", "Handlers", "Target"]
