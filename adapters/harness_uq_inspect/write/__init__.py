"""Write estimates into logs of Inspect AI, and remove them again."""
