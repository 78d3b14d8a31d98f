"""The tour a new machine plays through its own HTTP API."""
