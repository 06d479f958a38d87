"""Live runs: lm-eval with uncertainty in its tables and results."""
