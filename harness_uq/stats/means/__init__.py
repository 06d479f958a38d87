"""Means of bounded and unbounded scores, and corpus statistics."""
