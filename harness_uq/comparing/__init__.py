"""Is A better than B: differences of two systems' scores, and verdicts on them."""
