"""Immutable results of all analyses: estimates, comparisons, rankings, plans and others."""
