"""Estimate scores from task logs: build the problem, choose a method, apply it and build the result."""
