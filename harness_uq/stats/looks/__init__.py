"""Tests that hold at every look."""
