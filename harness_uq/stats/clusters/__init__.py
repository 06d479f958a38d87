"""Clustered scores: beta-binomial and three-level posteriors, and cluster-robust standard errors."""
