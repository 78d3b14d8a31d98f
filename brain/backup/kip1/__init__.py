"""Memory of KIP 1.x in a 2.0 Space (§103): read from an export, mapped, written; one way, and never by guessing."""
