"""Estimates written into logs of Inspect AI, and taken out again."""
