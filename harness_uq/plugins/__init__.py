"""Hooks and protocols, the manager that loads and isolates plugins, and reading through them."""
