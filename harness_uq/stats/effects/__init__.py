"""Scores of several tasks at once."""
