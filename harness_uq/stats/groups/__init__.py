"""Scores of groups of questions: partial pooling, and tests whether groups differ."""
