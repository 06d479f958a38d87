"""Live runs: uncertainty in the tables and results of lm-eval."""
