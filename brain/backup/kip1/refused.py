"""Why an export did not become a Space; apart, so that a command can know it without the engine."""

from __future__ import annotations


class ConversionRefused(Exception):
    """The export cannot become a Space; the text says why, and names the line where it is one row."""
