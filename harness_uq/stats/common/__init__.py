"""Shared parts of `stats`: input validation, root finding, modes, posteriors and importance sampling."""
