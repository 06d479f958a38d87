"""Part of a benchmark: which questions to draw, and the score on all of them."""
