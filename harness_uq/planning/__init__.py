"""Plan the size of a run."""
