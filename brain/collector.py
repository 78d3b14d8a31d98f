"""How a process that runs for long uses Python's cyclic garbage collector."""

from __future__ import annotations

import gc

_ALLOCATIONS = 50_000
"""New containers until the youngest are looked through; Python's own 700 are used up by a dozen clauses."""


def settle() -> None:
    """Called once everything is loaded: what is there by then stays, and is looked through no more.

    Measured on blocks of a hundred claims this takes a fifth of their processor time away. Almost nothing here is a
    cycle: what a request makes is given back when it ends, and only the rare rest waits for the collector.
    """
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS, 20, 50)
