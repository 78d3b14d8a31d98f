"""The store contract, by subject."""
