"""Mutants of logs: each is read or named, whatever was done to it."""
