"""Intervals in runs of Inspect AI: command line, hook, registered metrics and early stopping."""
