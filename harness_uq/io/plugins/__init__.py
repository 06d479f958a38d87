"""Hooks and protocols of plugins, the plugin manager, and reading logs with the readers of plugins."""
