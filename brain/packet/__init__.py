"""The recall packet: what memory holds about a question, as counted data, put together without a model.

Start at `packet.py`: `gather` reads one snapshot, `pack` lets in whole items as long as they fit.
"""
