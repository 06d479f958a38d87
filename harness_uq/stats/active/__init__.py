"""Active evaluation: which questions to ask next, and the score on all of them from a factor model of a history."""
