"""Scores of repeated runs over time."""
