"""The write gate: what each role may say to the engine, decided on the parsed statement and on what it would write.

Agents, doors and host helpers get their engine sessions here and nowhere else; `gate.py` is the place to start reading.
"""
