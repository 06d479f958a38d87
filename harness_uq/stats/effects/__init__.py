"""Crossed and nested effects, groups of tasks, and partially pooled tables of systems and tasks."""
