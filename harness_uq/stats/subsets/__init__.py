"""Subsets of a benchmark: which questions to draw, and estimates of the score on all of them."""
