"""Clusters, trials and score types of a task, and the composition of groups of tasks."""
