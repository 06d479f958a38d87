"""Questions tried several times: Bayes@N, the benchmark's own score, events in k trials."""
