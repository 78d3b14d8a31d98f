"""Outside suites, our own cases and benchmarks: `python -m conformance --help`."""
