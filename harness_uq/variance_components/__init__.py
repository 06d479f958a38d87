"""Estimate the variance due to seeds, prompts, judges and other settings that differ between runs of one model."""
