"""The store on Neo4j: many Spaces in one database, every node carrying its Space. docs/neo4j.md shows the model."""

from brain.store.neo4j.store import Neo4jStore

__all__ = ["Neo4jStore"]
