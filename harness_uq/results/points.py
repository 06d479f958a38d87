"""Differences of scores in words: points where scores lie in [0, 1], else plain numbers."""

_POINTS = 100.0


def amount(value: float, *, in_points: bool) -> str:
    """A difference in words: `4.2 points` for scores in [0, 1], else the number.

    >>> amount(0.042, in_points=True), amount(0.01, in_points=True), amount(0.5, in_points=False)
    ('4.2 points', '1 point', '0.5')
    """
    text = number(value, in_points=in_points)
    if not in_points:
        return text
    return f"{text} point" if text == "1" else f"{text} points"


def number(value: float, *, in_points: bool) -> str:
    """The number alone, in hundredths where told in points."""
    if not in_points:
        return f"{value:.3g}"
    points = _POINTS * value
    text = f"{points:.1f}" if abs(points) >= 1 else f"{points:.2g}"
    return text.removesuffix(".0")
