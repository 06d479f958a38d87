"""Anytime-valid tests and intervals."""
