"""Means of bounded scores, and statistics of weighted sums."""
