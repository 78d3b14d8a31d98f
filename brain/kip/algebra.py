"""Steps of a read plan."""

from __future__ import annotations


class Step:
    """Base of every step."""
