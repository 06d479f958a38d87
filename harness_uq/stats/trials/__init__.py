"""Repeated trials of questions: Bayes@N, the benchmark score, pass@k and related metrics."""
