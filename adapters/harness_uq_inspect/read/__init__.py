"""Logs of Inspect AI as they are on disk, read without importing inspect_ai."""
