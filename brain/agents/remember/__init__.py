"""The `remember` tool: one structured document per pass, compiled by the host to one gated KIP MUTATE."""
