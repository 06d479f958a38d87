"""Compare two systems: estimate the difference between their scores and derive a verdict."""
