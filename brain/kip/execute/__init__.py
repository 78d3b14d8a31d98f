"""Run the steps of a read plan over batches of rows, with one store call per step and batch.

A row is a list with one cell per variable of the plan (`bindings.py`), a batch is a list of rows, and every step is a
function from batches to batches, so that rows stream and memory stays with the answer, not with the Space.
`blocks.py` puts steps together, `results.py` makes answers of rows. `graph.py` is the only place that reads the store.
"""
