"""Two deterministic systems of different ability, for lm-evaluation-harness and for Inspect AI."""
