"""Writing: from a parsed KML statement to the write set a transaction commits. Start at `run.run_kml`."""

from brain.kip.write.ingest import IngestEntry
from brain.kip.write.run import run_kml
from brain.kip.write.work import Ledger

__all__ = ["IngestEntry", "Ledger", "run_kml"]
