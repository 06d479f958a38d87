"""Results as immutable values: estimates, comparisons, rankings, plans."""
