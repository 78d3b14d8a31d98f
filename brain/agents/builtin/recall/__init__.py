"""Answering from memory: what a question asks, what the dossier holds of it, and how that is said."""
