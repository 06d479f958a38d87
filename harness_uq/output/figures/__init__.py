"""Figures of results: what they show, and how matplotlib draws it."""
