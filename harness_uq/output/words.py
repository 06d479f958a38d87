"""Numbers, intervals, names and counts as text, for tables, sentences and figures."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from harness_uq.data.resources import RESOURCE_METRICS
from harness_uq.messages.message import join_words

MAX_NAMED = 3
COMMAND = re.compile("`((?:harness-uq|inspect|-)[^`]*)`")  # a command or an option between backticks
_LARGEST_DECIMAL = 1e12
_MOST_DECIMALS = 9
_POINTS = 100.0


class Ends(Protocol):
    """The limits of an interval."""

    @property
    def low(self) -> float:
        """Lower limit."""

    @property
    def high(self) -> float:
        """Upper limit."""

    @property
    def level(self) -> float:
        """Nominal coverage."""


# values of columns: functions of a value and a number of decimals


def text(value: object, _: int = 0) -> str:
    """A name as it is; `-` for None."""
    return "-" if value is None else str(value)


def count(value: int | None, _: int = 0) -> str:
    """A number without separators; `-` for none."""
    return str(value or "-")


def integer(value: int | None, _: int = 0) -> str:
    """A number with thousands separators; `-` for None.

    >>> integer(12000), integer(None)
    ('12,000', '-')
    """
    return "-" if value is None else f"{value:,}"


def further(value: int | None, _: int = 0) -> str:
    """A number of further questions, such as `+1,200`; `-` for None."""
    return "-" if value is None else f"+{value:,}"


def times_trials(n: int | None, n_trials: int | None) -> str:
    """A number of questions, with that of their trials if there are several; `-` for None.

    >>> times_trials(50, None), times_trials(50, 4)
    ('50', '50×4')
    """
    if n is None:
        return "-"
    return str(n) if (n_trials or 1) == 1 else f"{n}×{n_trials}"


def number(value: float | None, digits: int = 4) -> str:
    """A number with `digits` decimals, fewer if it is large; `-` for None."""
    return "-" if value is None else _decimal(value, _decimals(value, digits))


def one_decimal(value: float | None, _: int = 0) -> str:
    """A number with one decimal; `-` for None."""
    return "-" if value is None else f"{value:.1f}"


def two_decimals(value: float | None, _: int = 0) -> str:
    """A number with two decimals; `-` for None."""
    return number(value, 2)


def three_decimals(value: float | None, _: int = 0) -> str:
    """A number with three decimals; `-` for None."""
    return number(value, 3)


def fixed_decimals(value: float, _: int = 0) -> str:
    """A number with exactly three decimals."""
    return f"{value:.3f}"


def interval(value: Ends | None, digits: int = 4) -> str:
    """`[low, high]` with the same decimals for both; `not estimable` for None."""
    if value is None:
        return "not estimable"
    decimals = min(_decimals(value.low, digits), _decimals(value.high, digits))
    return f"[{_decimal(value.low, decimals)}, {_decimal(value.high, decimals)}]"


def decisive_interval(value: Ends | None, thresholds: Sequence[float], digits: int = 4) -> str:
    """As `interval`, with more decimals if rounded limits would be on another side of a threshold."""
    if value is None:
        return interval(value)
    decimals = min(_decimals(value.low, digits), _decimals(value.high, digits))
    for more in range(decimals, max(decimals, _MOST_DECIMALS) + 1):
        if all(
            _is_same_side(end, round(end, more), threshold)
            for end in (value.low, value.high)
            for threshold in thresholds
        ):
            return f"[{_decimal(value.low, more)}, {_decimal(value.high, more)}]"
    return interval(value, digits)


def _is_same_side(value: float, rounded: float, threshold: float) -> bool:
    """Whether a value and the rounded one are both above, both below or both at a threshold."""
    return (value > threshold) == (rounded > threshold) and (value < threshold) == (rounded < threshold)


def interval_or_dash(value: Ends | None, digits: int = 4) -> str:
    """As `interval`; `-` for None."""
    return "-" if value is None else interval(value, digits)


def probability(value: float | None, _: int = 0) -> str:
    """A probability with three decimals, never rounded to 0 or 1; `-` for None."""
    if value is None:
        return "-"
    if value > 0.9995:
        return "> 0.999"
    return "< 0.001" if value < 0.0005 else f"{value:.3f}"


def percent(share: float | None, _: int = 0) -> str:
    """A share in per cent without decimals; `-` for None.

    >>> percent(0.123), percent(-0.001), percent(None)
    ('12 %', '0 %', '-')
    """
    return "-" if share is None else f"{round(100 * share) + 0:d} %"


def whole_percent(value: float) -> str:
    """A probability in percent, never rounded to certainty.

    >>> whole_percent(0.9999), whole_percent(0.25), whole_percent(0.0)
    ('>99', '25', '<1')
    """
    return ">99" if value > 0.99 else "<1" if value < 0.01 else f"{100 * value:.0f}"


def p_text(p: float) -> str:
    """A p-value, such as `p = 0.012` or `p < 0.001`.

    >>> p_text(0.0123), p_text(1e-9)
    ('p = 0.012', 'p < 0.001')
    """
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def time_text(time: str | None, _: int = 0) -> str:
    """A time of a log to the minute."""
    return (time or "-")[:16].replace("T", " ")


def decimals_of(metric: str, value: float | None, digits: int) -> int:
    """Number of decimals of a metric: more than `digits` for resources below 0.1, such as costs of a cent.

    >>> decimals_of("acc", 0.0012, 4), decimals_of("cost", 0.0012, 4), decimals_of("cost", 12.0, 4)
    (4, 6, 4)
    """
    if metric not in RESOURCE_METRICS or not value:
        return digits
    return digits + max(0, -math.floor(math.log10(abs(value))) - 1)


def _decimal(value: float, decimals: int) -> str:
    """The value with this number of decimals, without a minus sign if it rounds to zero."""
    if not abs(value) < _LARGEST_DECIMAL:
        return f"{value:.3e}"
    shown = f"{value:,.{decimals}f}"
    return shown if shown.strip("-0.") else shown.removeprefix("-")


def _decimals(value: float, digits: int) -> int:
    if abs(value) < 10 or not abs(value) < _LARGEST_DECIMAL:
        return digits
    return max(0, min(digits, 6 - len(str(int(abs(value)))) - 2))


# names and headings


def metric_name(metric: str, filter_name: str) -> str:
    """The metric, with its filter in parentheses if it has one.

    >>> metric_name("exact_match", "strict"), metric_name("acc", "none")
    ('exact_match (strict)', 'acc')
    """
    return metric if filter_name == "none" else f"{metric} ({filter_name})"


def task_title(task: str, metric: str, filter_name: str) -> str:
    """Heading of a task's rows.

    >>> task_title("gsm8k", "exact_match", "strict"), task_title("drop", "acc", "none")
    ('gsm8k, exact_match (strict)', 'drop, acc')
    """
    return f"{task}, {metric_name(metric, filter_name)}"


def interval_header(intervals: Iterable[Ends | None], default: str = "Interval") -> str:
    """Header of a column with intervals."""
    levels = sorted({round(100 * one.level, 6) for one in intervals if one})
    return f"{'/'.join(f'{level:g}' for level in levels)}% interval" if levels else default


# sentences


def counted(n: int, thing: str) -> str:
    """A number with its noun.

    >>> counted(1, "question"), counted(1200, "question")
    ('1 question', '1200 questions')
    """
    return f"{n} {thing}{'' if n == 1 else 's'}"


def count_of(n: int, noun: str) -> str:
    """A number with its noun and thousands separators.

    >>> count_of(1, "question"), count_of(1200, "question")
    ('1 question', '1,200 questions')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def join_names(names: Iterable[str], most: int = MAX_NAMED) -> str:
    """Up to `most` different names, and the number of the others. Names with commas are separated by semicolons.

    >>> join_names(["a", "b", "a"]), join_names("abcde"), join_names(["task, acc", "task, f1"])
    ('a, b', 'a, b, c and 2 more', 'task, acc; task, f1')
    """
    distinct = list(dict.fromkeys(names))
    named, n_more = distinct[:most], len(distinct) - most
    separator = "; " if any("," in name for name in named) else ", "
    return separator.join(named) + (f" and {n_more} more" if n_more > 0 else "")


def listed(names: Sequence[str]) -> str:
    """Different names in a sentence, as `join_names`; `and` precedes the last of up to three names.

    >>> listed(["a", "b"]), listed("abc"), listed("abcde")
    ('a and b', 'a, b and c', 'a, b, c and 2 more')
    """
    distinct = list(dict.fromkeys(names))
    return join_words(distinct) if len(distinct) <= MAX_NAMED else join_names(distinct)


def amount(value: float, *, in_points: bool) -> str:
    """A difference as text, with its unit if it is in points.

    >>> amount(0.042, in_points=True), amount(0.01, in_points=True), amount(0.5, in_points=False)
    ('4.2 points', '1 point', '0.5')
    """
    shown = difference_number(value, in_points=in_points)
    if not in_points:
        return shown
    return f"{shown} point" if shown == "1" else f"{shown} points"


def difference_number(value: float, *, in_points: bool) -> str:
    """A difference as text without its unit and without negative zero; points are hundredths.

    >>> difference_number(-0.0, in_points=True)
    '0'
    """
    if not in_points:
        return f"{value + 0.0:.3g}"
    points = _POINTS * value + 0.0
    shown = f"{points:.1f}" if abs(points) >= 1 else f"{points:.2g}"
    return shown.removesuffix(".0")


def commands_as(sentence: str, before: str, after: str) -> str:
    """Replace the backticks around commands and options by `before` and `after`.

    >>> print(commands_as("`harness-uq plan` estimates how many, see `--help`", "", ""))
    harness-uq plan estimates how many, see --help
    """
    return COMMAND.sub(lambda match: f"{before}{match[1]}{after}", sentence)
