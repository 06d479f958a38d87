"""Scores by a judge, corrected by the labels that a person gave to some of them."""
