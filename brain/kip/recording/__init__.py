"""Recording repair: taking back what the Brain wrote down and nobody had said (KIP 2.0 §57.8)."""

from brain.kip.recording.repair import Repaired, repair_recording
from brain.kip.recording.request import Replacement

__all__ = ["Repaired", "Replacement", "repair_recording"]
