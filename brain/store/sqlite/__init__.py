"""The SQLite store: one WAL file per Space, shared by any number of threads and processes."""

from brain.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
