"""Inspect AI with intervals while it runs: its command line, the hook, metrics and early stopping."""
