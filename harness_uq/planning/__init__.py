"""What to run next."""
