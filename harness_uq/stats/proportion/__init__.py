"""One proportion of independent questions."""
