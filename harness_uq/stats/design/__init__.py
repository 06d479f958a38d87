"""How large a run must be."""
