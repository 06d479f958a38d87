"""Scores of a grader model, corrected with human labels for a subset of the questions."""
