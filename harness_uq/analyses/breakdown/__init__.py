"""Scores and differences by groups of questions, such as categories or languages."""
