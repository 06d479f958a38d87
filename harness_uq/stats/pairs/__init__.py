"""Comparisons of two or more systems: differences, joint posteriors and ranks."""
