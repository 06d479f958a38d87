"""Evaluate a new system on fewer questions, with the scores of earlier systems."""
