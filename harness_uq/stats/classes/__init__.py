"""Metrics of a confusion matrix."""
