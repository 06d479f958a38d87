"""Durations between logged times."""

from datetime import datetime


def seconds_between(start: str | None, end: str | None) -> float | None:
    """Seconds from one ISO time to another; None if one is unknown, only one has a zone, or the end is earlier.

    >>> seconds_between("2026-01-01T00:00:00Z", "2026-01-01T00:01:30+00:00")
    90.0
    """
    if start is None or end is None:
        return None
    try:
        seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return seconds if seconds >= 0 else None
