"""One proportion from independent questions."""
