"""Which questions runs share, how they were matched, and what holds on them."""
