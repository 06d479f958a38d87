"""Rank several systems with uncertainty."""
