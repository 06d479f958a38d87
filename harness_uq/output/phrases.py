"""Phrases that several results share."""

from collections.abc import Iterable, Sequence
from typing import cast

from harness_uq.messages import HasMessages, Message
from harness_uq.messages.catalogue.comparison import TOTALS_USED
from harness_uq.messages.catalogue.estimation import MISSING_SCORES, MISSING_SCORES_BOUNDS, MISSING_SCORES_COUNTED
from harness_uq.messages.message import join_words
from harness_uq.output.sanitize import CODE
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate, Interval

_MAX_NAMED = 3
_MANY_MISSING = 0.01


def probability(value: float | None) -> str:
    """A probability with three decimals, never rounded to 0 or 1; `-` for None."""
    if value is None:
        return "-"
    if value > 0.9995:
        return "> 0.999"
    return "< 0.001" if value < 0.0005 else f"{value:.3f}"


def percent(share: float | None) -> str:
    """A share in per cent without decimals; `-` for None.

    >>> percent(0.123), percent(-0.001), percent(None)
    ('12 %', '0 %', '-')
    """
    return "-" if share is None else f"{round(100 * share) + 0:d} %"


def commands_as(text: str, before: str, after: str) -> str:
    """Replace the backticks around commands and options by `before` and `after`.

    >>> print(commands_as("`harness-uq plan` estimates how many, see `--help`", "", ""))
    harness-uq plan estimates how many, see --help
    """
    return CODE.sub(lambda match: f"{before}{match[1]}{after}", text)


def join_names(names: Iterable[str]) -> str:
    """Up to three different names, and the number of the others. Names with commas are separated by semicolons.

    >>> join_names(["a", "b", "a"]), join_names("abcde"), join_names(["task, acc", "task, f1"])
    ('a, b', 'a, b, c and 2 more', 'task, acc; task, f1')
    """
    distinct = list(dict.fromkeys(names))
    named, more = distinct[:_MAX_NAMED], len(distinct) - _MAX_NAMED
    separator = "; " if any("," in name for name in named) else ", "
    return separator.join(named) + (f" and {more} more" if more > 0 else "")


def listed(names: Sequence[str]) -> str:
    """Different names in a sentence, as `join_names`; `and` precedes the last of up to three names.

    >>> listed(["a", "b"]), listed("abc"), listed("abcde")
    ('a and b', 'a, b and c', 'a, b, c and 2 more')
    """
    distinct = list(dict.fromkeys(names))
    return join_words(distinct) if len(distinct) <= _MAX_NAMED else join_names(distinct)


def difference_header(rows: Iterable[Comparison]) -> str:
    """Header of the column with the intervals of differences."""
    return interval_header(row.difference.interval if row.difference else None for row in rows)


def interval_header(intervals: Iterable[Interval | None]) -> str:
    """Header of a column with intervals."""
    level = next((interval.level for interval in intervals if interval), None)
    return "Interval" if level is None else f"{100 * level:g}% interval"


def totals_sentence(rows: Iterable[HasMessages]) -> str:
    """Which logs contain only a part of their samples, so that totals were used; empty if there are none."""
    used = [message for row in rows for message in row.messages if message.code == TOTALS_USED.code]
    texts = list(dict.fromkeys(message.text for message in used))
    if len(texts) <= _MAX_NAMED:
        return " ".join(texts)
    n_systems = len({message.params["system"] for message in used})
    return f"The logs of {n_systems} systems contain only a part of their samples, so totals are used."


def missing_caveat(names: Iterable[str]) -> str:
    """A sentence on the tasks or groups whose verdicts depend on how missing scores are counted; empty without names.

    >>> missing_caveat(["arc", "boolq"])
    'The verdicts on arc, boolq depend on how missing scores are counted.'
    """
    listed = list(names)
    if not listed:
        return ""
    verdicts, depend = ("verdict", "depends") if len(listed) == 1 else ("verdicts", "depend")
    return f"The {verdicts} on {join_names(listed)} {depend} on how missing scores are counted."


def missing_sentence(rows: Iterable[Estimate]) -> str:
    """How many samples have no score and how they ended, if this is more than 1 % of a task's samples; else empty.

    A task counts with the metric that has the most scores, because some metrics apply to a part of the questions only.
    Of several tasks, the one with the largest share is described.
    """
    fewest: dict[str, tuple[int, int, object, str]] = {}
    for row in rows:
        count = _missing(row)
        if row.task not in fewest or count[0] < fewest[row.task][0]:
            fewest[row.task] = count
    many = [count for count in fewest.values() if count[0] > _MANY_MISSING * count[1]]
    if not many:
        return ""
    n, total, causes, treatments = max(many, key=lambda count: count[0] / count[1])
    return f"{n:,} of {total:,} samples {'has' if n == 1 else 'have'} no score{causes}: {treatments}."


def _missing(row: Estimate) -> tuple[int, int, object, str]:
    """Number of samples without a score, of all samples, how the former ended, and what they count as."""
    codes = (MISSING_SCORES.code, MISSING_SCORES_BOUNDS.code, MISSING_SCORES_COUNTED.code)
    counts = next((message for message in row.messages if message.code in codes), None)
    if counts is None:
        return 0, 1, "", ""
    treatments = cast("Sequence[str]", counts.params.get("treatments", ("left out of the mean",)))
    return _count(counts, "n_missing"), _count(counts, "n_trials"), counts.params["causes"], " and ".join(treatments)


def _count(message: Message, name: str) -> int:
    return int(cast("int", message.params[name]))
