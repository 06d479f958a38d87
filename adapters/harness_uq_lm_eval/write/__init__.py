"""Write estimates into logged runs, and remove them again."""
