"""Simulations that show what the intervals cover, how wide they are, and whether posteriors are calibrated."""
