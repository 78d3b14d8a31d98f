"""Scenarios of the published vectors, played on this engine.

Each observation comes from an answer of the engine, never from what the vector expects; `observed.py` says how a
scenario is registered, `missing.py` names what the engine lacks for the scenarios nobody plays yet.
"""
