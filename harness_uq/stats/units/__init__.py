"""Posteriors under Dirichlet weights of independent units: questions, or clusters of questions."""
