"""Cells and phrases that several reports share."""

import re
from collections.abc import Iterable

from harness_uq.report.columns import interval
from harness_uq.results.comparison import Comparison

_MAX_NAMED = 3
_COMMAND = re.compile("`(harness-uq[^`]*)`")


def probability(value: float | None) -> str:
    """A probability with three decimals, never rounded to certainty; `-` where there is none."""
    if value is None:
        return "-"
    if value > 0.9995:
        return "> 0.999"
    return "< 0.001" if value < 0.0005 else f"{value:.3f}"


def commands_as(text: str, before: str, after: str) -> str:
    """The commands of this package, between backticks in `text`, between `before` and `after` instead.

    >>> print(commands_as("more questions: `harness-uq plan` says how many", "", ""))
    more questions: harness-uq plan says how many
    """
    return _COMMAND.sub(lambda found: f"{before}{found[1]}{after}", text)


def named(names: Iterable[str]) -> str:
    """Up to three names, and how many more there are."""
    distinct = list(dict.fromkeys(names))
    more = len(distinct) - _MAX_NAMED
    return ", ".join(distinct[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def difference_header(rows: Iterable[Comparison]) -> str:
    """Header of the column of difference intervals, with their level."""
    level = next((row.difference.interval.level for row in rows if row.difference), None)
    return "Interval" if level is None else f"{100 * level:g}% interval"


def difference_cell(row: Comparison) -> str:
    """A difference's interval, or words where there is none."""
    return interval(row.difference.interval if row.difference else None)
