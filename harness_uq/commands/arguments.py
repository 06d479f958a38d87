"""Types of arguments: numbers with the range that they must lie in, names, and files of a known kind."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Number = TypeVar("Number", int, float)

_FIGURES = (".png", ".svg", ".pdf")


def _number(kind: Callable[[str], Number], holds: Callable[[Number], bool], what: str) -> Callable[[str], Number]:
    """Parser of numbers for which `holds`; others are refused with a sentence that ends in `what`."""

    def parse(text: str) -> Number:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not holds(value):
            raise argparse.ArgumentTypeError(f"must {what}; got {text!r}")
        return value

    return parse


_INFINITE = float("inf")

level = _number(float, lambda p: 0 < p < 1, "lie between 0 and 1, such as 0.95")
margin = _number(float, lambda d: 0 <= d < _INFINITE, "be the smallest difference that matters, 0 or more")
score = _number(float, lambda p: 0 < p < 1, "lie strictly between 0 and 1, such as 0.8")
correlation = _number(float, lambda r: -1 <= r <= 1, "lie between -1 and 1")
positive = _number(float, lambda x: 0 < x < _INFINITE, "be a number above 0")
not_negative = _number(float, lambda x: 0 <= x < _INFINITE, "be a number, 0 or more")
count = _number(int, lambda n: n > 0, "be a whole number, 1 or more")
seed = _number(int, lambda n: n >= 0, "be a whole number, 0 or more")


def task_margin(text: str) -> tuple[str | None, float]:
    """A task, or None for all, and the smallest difference that matters on it, from D or TASK=D."""
    task, _, number = text.rpartition("=")
    return task or None, margin(number)


def metric_range(text: str) -> tuple[str, tuple[float, float]]:
    """A metric, perhaps behind its task, and the range of its scores, from METRIC=LO,HI or TASK:METRIC=LO,HI."""
    metric, _, bounds = text.rpartition("=")
    try:
        low, high = (float(part) for part in bounds.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must look like METRIC=LO,HI, such as bleu=0,100; got {text!r}") from None
    if not (metric and low < high):
        raise argparse.ArgumentTypeError(f"must name a metric and a range with LO < HI; got {text!r}")
    return metric, (low, high)


def price(text: str) -> tuple[str, float]:
    """A factor and what one level of it costs, from NAME=PRICE."""
    name, _, amount = text.partition("=")
    if not name:
        raise argparse.ArgumentTypeError(f"must look like NAME=PRICE, such as prompt=50; got {text!r}")
    return name, not_negative(amount)


def column(text: str) -> tuple[str, list[str]]:
    """A part that a column of a table plays, and the names of its columns, from ROLE=NAME[,NAME]."""
    role, _, names = text.partition("=")
    if not (role and names.strip(", ")):
        raise argparse.ArgumentTypeError(f"must look like ROLE=NAME, such as score=correct; got {text!r}")
    return role.strip().replace("-", "_"), [name.strip() for name in names.split(",") if name.strip()]


def hyphenated(text: str) -> str:
    """A name with hyphens, however it was written."""
    return text.replace("_", "-")


def figure(text: str) -> Path:
    """A file to draw into."""
    path = Path(text)
    if path.suffix.lower() not in _FIGURES:
        raise argparse.ArgumentTypeError(f"must end in {', '.join(_FIGURES[:-1])} or {_FIGURES[-1]}; got {text!r}")
    return path
