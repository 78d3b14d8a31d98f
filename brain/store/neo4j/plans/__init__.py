"""Read plans of the language as single statements of Cypher: exactly what running them step by step answers, or nothing."""
