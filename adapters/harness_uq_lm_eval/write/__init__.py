"""Estimates written into logged runs, and taken out again."""
