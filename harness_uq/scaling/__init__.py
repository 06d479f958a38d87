"""Many logs: read in parts, by one process or many, each log forgotten once its numbers are there."""
