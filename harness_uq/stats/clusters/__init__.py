"""Scores that come in clusters: beta-binomial and three-level posteriors, cluster-robust errors."""
