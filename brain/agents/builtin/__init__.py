"""`builtin/offline`, the key-free deterministic model. Start with `model.py`."""

from brain.agents.builtin.model import NAME, OfflineModel

__all__ = ["NAME", "OfflineModel"]
