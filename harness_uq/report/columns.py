"""The columns of the tables for people, shared by every table format."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness_uq.results.estimate import Estimate, Interval

_LONGEST_WRITTEN_OUT = 1e12


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its header, the text of a cell, and whether it holds numbers."""

    header: str
    cell: Callable[[Estimate], str]
    is_number: bool = False


def columns(rows: Sequence[Estimate]) -> list[Column]:
    """Columns for these rows; one that would be empty, or would say the same on every row, is left out."""
    level = level_header(rows)
    candidates = [
        (Column("Run", run_time), _has_reruns(rows)),
        (Column("Task", lambda e: e.task), True),
        (Column("Metric", _metric), True),
        (Column("Value", lambda e: number(e.value), True), True),
        (Column(level, lambda e: interval(e.interval), True), True),
        (Column("±", lambda e: number(e.std_error), True), True),
        (Column("Harness", lambda e: number(e.harness.value), True), any(_differs(e) for e in rows)),
        (Column("± harness", lambda e: number(e.harness.std_error), True), True),
        (Column("Questions", _questions, True), True),
        (Column("Clusters", _clusters), any(e.n_clusters for e in rows)),
        (Column("ICC", lambda e: number(e.icc, 2), True), any(e.icc is not None for e in rows)),
        (Column("Deff", lambda e: number(e.design_effect, 2), True), any(e.design_effect is not None for e in rows)),
        (Column("Scope", lambda e: e.scope), len({e.scope for e in rows}) > 1),
        (Column("Method", _method), True),
    ]
    return [column for column, is_wanted in candidates if is_wanted]


def legend(rows: Sequence[Estimate]) -> dict[str, str]:
    """What the columns of these rows mean, by header; under an empty one what holds of them all."""
    estimands = dict.fromkeys(f"{e.scope} {e.estimand}" for e in rows if e.interval)
    scopes = dict.fromkeys(e.scope for e in rows if e.interval)
    said = f"Estimand: {', '.join(estimands)}: {', '.join(_SCOPES[s] for s in scopes)}." if scopes else ""
    parts = {"": said, "±": "±: standard error (posterior sd), beside the harness's own."}
    if any(e.interval and e.interval.kind == "hdi" for e in rows):
        parts["Method"] = "hdi: highest-density credible interval."
    parts["ICC"] = "ICC: correlation of answers within a cluster or question."
    parts["Deff"] = "Deff: variance against that of as many independent answers."
    return parts


_SCOPES = {
    "population": "the score expected on new questions of the same kind",
    "benchmark": "the score expected on exactly these questions, tried again and again",
    "full": "the score on the whole benchmark",
}


def number(value: float | None, digits: int = 4) -> str:
    """A number with `digits` decimals, fewer where it is large; `-` where there is none."""
    if value is None:
        return "-"
    return _written(value, _decimals(value, digits))


def interval(value: Interval | None, digits: int = 4) -> str:
    """`[low, high]` with the same decimals, or words where there is none."""
    if value is None:
        return "not estimable"
    decimals = min(_decimals(value.low, digits), _decimals(value.high, digits))
    return f"[{_written(value.low, decimals)}, {_written(value.high, decimals)}]"


def _written(value: float, decimals: int) -> str:
    return f"{value:,.{decimals}f}" if abs(value) < _LONGEST_WRITTEN_OUT else f"{value:.3e}"


def _decimals(value: float, digits: int) -> int:
    if abs(value) < 10 or not abs(value) < _LONGEST_WRITTEN_OUT:
        return digits
    return max(0, min(digits, 6 - len(str(int(abs(value)))) - 2))


def level_header(rows: Sequence[Estimate]) -> str:
    """Header of the column of intervals."""
    level = next((e.interval.level for e in rows if e.interval), 0.95)
    return f"{100 * level:g}% interval"


def run_time(row: Estimate) -> str:
    """When the run began, to the minute."""
    return (row.source.time or "-")[:16].replace("T", " ")


def _has_reruns(rows: Sequence[Estimate]) -> bool:
    """Whether one system's task and metric occurs in several runs, which only their time tells apart."""
    return len({(e.system, e.task, e.metric, e.filter, e.scope, e.estimand) for e in rows}) < len(rows)


def _differs(row: Estimate) -> bool:
    """Whether the harness reported another value, from more questions than the log holds."""
    reported = row.harness.value
    return reported is not None and row.value is not None and abs(reported - row.value) > 1e-6


def _metric(row: Estimate) -> str:
    return row.metric if row.filter == "none" else f"{row.metric} ({row.filter})"


def _questions(row: Estimate) -> str:
    if row.n_questions is None:
        return "-"
    return str(row.n_questions) if (row.n_trials or 1) == 1 else f"{row.n_questions}×{row.n_trials}"


def _clusters(row: Estimate) -> str:
    return f"{row.n_clusters} {row.cluster_key}" if row.n_clusters else "-"


def _method(row: Estimate) -> str:
    if row.interval is None:
        return "-"
    return f"{row.method}, {row.interval.kind}" if row.interval.kind != "confidence" else row.method
