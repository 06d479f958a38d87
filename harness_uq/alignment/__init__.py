"""Match the questions that several runs share, with their clusters and scores."""
