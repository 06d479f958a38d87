"""The columns of tables of estimates, and how numbers and intervals are written in every table."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness_uq.data.resources import RESOURCE_METRICS
from harness_uq.results.estimate import Estimate, Interval

_LARGEST_DECIMAL = 1e12


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table of estimates.

    Attributes
    ----------
    header : the heading
    cell : text of an estimate's cell
    is_number : whether the cells are numbers
    name : the name by which `--columns` selects the column
    is_shown : whether the column is rendered if no columns are selected
    in_paper : whether it also belongs to a table for a paper if no columns are selected
    spare : on short lines, columns with the largest value are dropped first; a column with 0 is never dropped
    """

    header: str
    cell: Callable[[Estimate], str]
    is_number: bool = False
    name: str = ""
    is_shown: bool = True
    in_paper: bool = False
    spare: int = 0


def estimate_columns(rows: Sequence[Estimate], digits: int = 4) -> list[Column]:
    """Every column of these estimates; those that are empty or the same in each row are not shown by default."""
    metrics = {metric_name(e.metric, e.filter) for e in rows}
    scores = {(e.system, e.task, e.metric, e.filter, e.scope, e.estimand) for e in rows}
    has_reruns = len(scores) < len(rows)  # some estimates differ only in the time of their run
    differs = any(_differs(e) for e in rows)

    def decimals(row: Estimate) -> int:
        return decimals_of(row.metric, row.value, digits)

    return [
        Column("Run", run_time, name="run", is_shown=has_reruns),
        Column("Task", lambda e: e.task, name="task", in_paper=True),
        Column("Metric", lambda e: metric_name(e.metric, e.filter), name="metric", in_paper=len(metrics) > 1),
        Column("Value", lambda e: format_number(e.value, decimals(e)), True, "value", in_paper=True),
        Column(level_header(rows), lambda e: format_interval(e.interval, decimals(e)), True, "interval", in_paper=True),
        Column("SE", lambda e: format_number(e.std_error, decimals(e)), True, "se", spare=1),
        Column("Harness value", lambda e: format_number(e.harness.value, digits), True, "harness", differs, spare=2),
        Column("Harness SE", lambda e: format_number(e.harness.std_error, digits), True, "harness-se", spare=2),
        Column("Questions", _questions, True, "questions", in_paper=True),
        Column(
            "Clusters",
            lambda e: f"{e.n_clusters} {e.cluster_key}" if e.n_clusters else "-",
            name="clusters",
            is_shown=any(e.n_clusters for e in rows),
        ),
        Column("ICC", lambda e: format_number(e.icc, 2), True, "icc", spare=3),
        Column("Deff", lambda e: format_number(e.design_effect, 2), True, "deff"),
        Column("Scope", lambda e: e.scope, name="scope", is_shown=len({e.scope for e in rows}) > 1),
        Column("Method", _method, name="method", spare=4),
    ]


def legend(rows: Sequence[Estimate]) -> dict[str, str]:
    """The meaning of the columns of these estimates, by header; the estimand has an empty header."""
    estimated = [row for row in rows if row.interval]
    by_scope: dict[str, dict[str, None]] = {}
    for row in estimated:
        by_scope.setdefault(row.scope, {})[row.estimand] = None
    scopes = [f"{', '.join(names)} ({scope}: {SCOPE_MEANINGS[scope]})" for scope, names in by_scope.items()]
    texts = {
        "": f"Estimand: {'; '.join(scopes)}." if scopes else "",
        "SE": "SE: standard error; for Bayesian methods the posterior standard deviation.",
        "Harness SE": "Harness SE: the standard error that the harness reported.",
        "ICC": "ICC: correlation of scores within a cluster or question.",
        "Deff": "Deff: design effect, the variance relative to independent answers.",
    }
    if any(row.interval and row.interval.kind == "hdi" for row in rows):
        texts["Method"] = "hdi: highest-density credible interval."
    return texts


SCOPE_MEANINGS = {
    "population": "the expected score on new questions of the same kind",
    "benchmark": "the expected score on exactly these questions over repeated trials",
    "full": "the score on the whole benchmark, of which the run used a part",
}


def format_number(value: float | None, digits: int = 4) -> str:
    """A number with `digits` decimals, fewer if it is large; `-` for None."""
    if value is None:
        return "-"
    return _decimal(value, _decimals(value, digits))


def decimals_of(metric: str, value: float | None, digits: int) -> int:
    """Number of decimals of a metric: more than `digits` for resources below 0.1, such as costs of a cent.

    >>> decimals_of("acc", 0.0012, 4), decimals_of("cost", 0.0012, 4), decimals_of("cost", 12.0, 4)
    (4, 6, 4)
    """
    if metric not in RESOURCE_METRICS or not value:
        return digits
    return digits + max(0, -math.floor(math.log10(abs(value))) - 1)


def format_interval(value: Interval | None, digits: int = 4) -> str:
    """`[low, high]` with the same decimals for both; `not estimable` for None."""
    if value is None:
        return "not estimable"
    decimals = min(_decimals(value.low, digits), _decimals(value.high, digits))
    return f"[{_decimal(value.low, decimals)}, {_decimal(value.high, decimals)}]"


def metric_name(metric: str, filter_name: str) -> str:
    """The metric, with its filter in parentheses if it has one.

    >>> metric_name("exact_match", "strict"), metric_name("acc", "none")
    ('exact_match (strict)', 'acc')
    """
    return metric if filter_name == "none" else f"{metric} ({filter_name})"


def level_header(rows: Sequence[Estimate]) -> str:
    """Header of the column of intervals."""
    level = next((row.interval.level for row in rows if row.interval), 0.95)
    return f"{100 * level:g}% interval"


def run_time(row: Estimate) -> str:
    """Start of the run, to the minute."""
    return (row.source.time or "-")[:16].replace("T", " ")


def _decimal(value: float, decimals: int) -> str:
    """The value with this number of decimals, without a minus sign if it rounds to zero."""
    if not abs(value) < _LARGEST_DECIMAL:
        return f"{value:.3e}"
    text = f"{value:,.{decimals}f}"
    return text if text.strip("-0.") else text.removeprefix("-")


def _decimals(value: float, digits: int) -> int:
    if abs(value) < 10 or not abs(value) < _LARGEST_DECIMAL:
        return digits
    return max(0, min(digits, 6 - len(str(int(abs(value)))) - 2))


def _differs(row: Estimate) -> bool:
    """Whether the harness reported a value that the logged scores do not give."""
    reported = row.harness.value
    return reported is not None and row.value is not None and abs(reported - row.value) > 1e-6


def _questions(row: Estimate) -> str:
    if row.n_questions is None:
        return "-"
    return str(row.n_questions) if (row.n_trials or 1) == 1 else f"{row.n_questions}×{row.n_trials}"


def _method(row: Estimate) -> str:
    if row.interval is None:
        return "-"
    return f"{row.method}, {row.interval.kind}" if row.interval.kind != "confidence" else row.method
