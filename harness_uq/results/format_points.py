"""Differences of scores, counts and lists as text.

Differences are in points if the scores lie in [0, 1], otherwise plain numbers.
"""

from collections.abc import Iterable

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


def count_of(n: int, noun: str) -> str:
    """A number with its noun and thousands separators.

    >>> count_of(1, "question"), count_of(1200, "question")
    ('1 question', '1,200 questions')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def join_with_and(texts: Iterable[str]) -> str:
    """Texts as a list in a sentence; at least one.

    >>> join_with_and(["a"]), join_with_and(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


def difference_number(value: float, *, in_points: bool) -> str:
    """A difference as text without its unit and without negative zero; points are hundredths.

    >>> difference_number(-0.0, in_points=True)
    '0'
    """
    if not in_points:
        return f"{value + 0.0:.3g}"
    points = _POINTS * value + 0.0
    text = f"{points:.1f}" if abs(points) >= 1 else f"{points:.2g}"
    return text.removesuffix(".0")
