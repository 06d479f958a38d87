"""Differences of scores as text: in points if the scores lie in [0, 1], otherwise as plain numbers."""

_POINTS = 100.0


def amount(value: float, *, in_points: bool) -> str:
    """A difference as text, with its unit if it is in points.

    >>> amount(0.042, in_points=True), amount(0.01, in_points=True), amount(0.5, in_points=False)
    ('4.2 points', '1 point', '0.5')
    """
    text = difference_number(value, in_points=in_points)
    if not in_points:
        return text
    return f"{text} point" if text == "1" else f"{text} points"


def difference_number(value: float, *, in_points: bool) -> str:
    """A difference as text without its unit; points are hundredths."""
    if not in_points:
        return f"{value:.3g}"
    points = _POINTS * value
    text = f"{points:.1f}" if abs(points) >= 1 else f"{points:.2g}"
    return text.removesuffix(".0")
