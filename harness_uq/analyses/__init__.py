"""Analyses of logs: one module, or one folder, for each question that a user asks."""
