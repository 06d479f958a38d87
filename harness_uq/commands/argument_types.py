"""Types of arguments: numbers with a valid range, NAME=VALUE pairs, and files with a valid suffix."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Number = TypeVar("Number", int, float)

_FIGURES = (".png", ".svg", ".pdf")


def _number(kind: Callable[[str], Number], is_valid: Callable[[Number], bool], valid: str) -> Callable[[str], Number]:
    """Parser of numbers for which `is_valid` is true; `valid` describes them in the error for others."""

    def parse(text: str) -> Number:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not is_valid(value):
            raise argparse.ArgumentTypeError(f"invalid value {text!r}. Give {valid}.")
        return value

    return parse


_INFINITE = float("inf")

level = _number(float, lambda p: 0 < p < 1, "a number between 0 and 1, such as 0.95")
margin = _number(float, lambda d: 0 <= d < _INFINITE, "the smallest difference that matters, 0 or more")
_bound = _number(float, lambda x: abs(x) < _INFINITE, "a number, such as 0.8")
score = _number(float, lambda p: 0 < p < 1, "a number between 0 and 1, such as 0.8")
_chance = _number(float, lambda p: 0 <= p < 1, "a number from 0 to 1, such as 0.25")
share = _number(float, lambda p: 0 <= p <= 1, "a number from 0 to 1, such as 0.1")
correlation = _number(float, lambda r: -1 <= r <= 1, "a number from -1 to 1")
positive = _number(float, lambda x: 0 < x < _INFINITE, "a number above 0")
not_negative = _number(float, lambda x: 0 <= x < _INFINITE, "a number, 0 or more")
count = _number(int, lambda n: n > 0, "a whole number, 1 or more")
seed = _number(int, lambda n: n >= 0, "a whole number, 0 or more")


def task_margin(text: str) -> tuple[str | None, float]:
    """The task, None for all tasks, and the margin of an argument `D` or `TASK=D`."""
    task, _, number = text.rpartition("=")
    return task or None, margin(number)


def score_bound(text: str) -> tuple[str | None, float]:
    """The task with or without its metric, None for all tasks, and the bound of an argument `[TASK[:METRIC]=]B`."""
    name, _, number = text.rpartition("=")
    return name or None, _bound(number)


def task_chance(text: str) -> tuple[str, float]:
    """The task and the score of random answers, of an argument `TASK=P`."""
    task, _, number = text.rpartition("=")
    if not task:
        raise argparse.ArgumentTypeError(f"invalid value {text!r}. Give TASK=P, such as arc=0.25.")
    return task, _chance(number)


def metric_range(text: str) -> tuple[str, tuple[float, float]]:
    """The metric, with its task if one is given, and the range of an argument `METRIC=LO,HI` or `TASK:METRIC=LO,HI`."""
    metric, _, bounds = text.rpartition("=")
    try:
        low, high = (float(part) for part in bounds.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid value {text!r}. Give METRIC=LO,HI, such as bleu=0,100.") from None
    if not (metric and low < high):
        raise argparse.ArgumentTypeError(f"invalid value {text!r}. Give a metric and a range with LO < HI.")
    return metric, (low, high)


def price(text: str) -> tuple[str, float]:
    """The factor and the cost of one level of it, of an argument `NAME=PRICE`."""
    name, _, amount = text.partition("=")
    if not name:
        raise argparse.ArgumentTypeError(f"invalid value {text!r}. Give NAME=PRICE, such as prompt=50.")
    return name, not_negative(amount)


def column(text: str) -> tuple[str, list[str]]:
    """The role and the names of the columns of an argument `ROLE=NAME[,NAME]`."""
    role, _, names = text.partition("=")
    if not (role and names.strip(", ")):
        raise argparse.ArgumentTypeError(f"invalid value {text!r}. Give ROLE=NAME, such as score=correct.")
    return role.strip().replace("-", "_"), [name.strip() for name in names.split(",") if name.strip()]


def figure(text: str) -> Path:
    """The file of a figure."""
    path = Path(text)
    if path.suffix.lower() not in _FIGURES:
        endings = f"{', '.join(_FIGURES[:-1])} or {_FIGURES[-1]}"
        raise argparse.ArgumentTypeError(f"invalid file {text!r}. Give a name that ends in {endings}.")
    return path
