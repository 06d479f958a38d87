"""Clusters, trials and score types of a task, and the make-up of groups of tasks."""
