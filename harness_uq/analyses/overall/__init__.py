"""Combine the scores of several tasks into one overall result."""
