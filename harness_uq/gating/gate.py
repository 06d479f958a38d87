"""Whether a new system is worse than a baseline by more than a margin: several scores at one rate of error.

A score fails where Holm's procedure over all scores rejects "not worse by more than the margin" at the tail of the
interval, (1 - level)/2, and passes where "worse by more than the margin" is rejected there. The gate fails where any
score does, so that systems that are nowhere worse by more than the margin rarely fail. It passes if every score that
is needed does: since all have to, that takes no correction (an intersection-union test, Berger 1982). The tests are
those of `compare`. What is promised of either error is twice the tail, 1 - level: a posterior's tail is a rate on
average only, and of 4 questions on which equals differ all 4 go one way in 1 of 16 cases, where it says 0.015.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness_uq.comparison.compare import OVERALL, CompareOptions, compare
from harness_uq.comparison.sides import Side, common_keys
from harness_uq.data.task_log import TaskLog
from harness_uq.errors import DataError
from harness_uq.gating.sides import worst_logs
from harness_uq.messages.catalogue.comparison import UNKNOWN_MARGIN_METRIC
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.readers import Runs
from harness_uq.results.comparison import Comparison
from harness_uq.results.gate import Decision, Gate, GateRow, ScoreName
from harness_uq.stats.design.power import detection_power, minimum_detectable_effect, required_questions
from harness_uq.stats.pairs.multiple_testing import holm

_POWER = 0.8


@dataclass(frozen=True, slots=True)
class GateOptions:
    """How to decide.

    Attributes
    ----------
    compare : how to compare; its `margin` is that of the metrics which `margins` does not name
    margins : smallest drop that matters by metric, >= 0
    """

    compare: CompareOptions
    margins: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if wrong := [margin for margin in self.margins.values() if not margin >= 0]:
            raise DataError(f"a margin is the smallest drop that matters and not negative; got {wrong[0]}")

    @property
    def alpha(self) -> float:
        """Promised largest chance of a false failure, and of a false pass: 1 - level."""
        return 1 - self.compare.level

    @property
    def tail(self) -> float:
        """At which either is tested: a tail of the interval."""
        return self.alpha / 2


def gate(new: Runs, baseline: Runs, options: GateOptions, *, plugins: Plugins | None = None) -> Gate:
    """Decide whether a new system is worse than a baseline by more than a margin, and report the power of the data.

    Parameters
    ----------
    new, baseline : logged runs of one system each: paths, or task logs already read
    options : how to decide
    plugins : the installed ones by default

    Raises
    ------
    LogError : if a path gives no log
    DataError : if one argument holds several systems, or a margin names a metric that is not compared
    NotEstimableError : if the two have no task and metric in common
    """
    offered = plugins or load_plugins()
    use_samples = options.compare.structure.use_samples
    named = ((new, "the new system"), (baseline, "the baseline"))
    sides = [Side.read(runs, name, offered, use_samples=use_samples) for runs, name in named]
    decided = decide(sides[0], sides[1], options, offered)
    worst = worst_logs(sides[0].logs, options.compare.structure)
    rows = _compared(worst, sides[1].logs, options, offered) if worst else []
    can_fail = {(row.task, row.metric, row.filter): row.prob_noninferior for row in rows}
    n_tested = sum(row.adjusted_p is not None for row in decided.rows)
    return replace(decided, rows=tuple(_with_power(row, can_fail, n_tested, options) for row in decided.rows))


def decide(new: Side, baseline: Side, options: GateOptions, plugins: Plugins) -> Gate:
    """The decision alone.

    Raises
    ------
    DataError, NotEstimableError : as `gate`
    """
    matched, _ = common_keys(new, baseline)
    there = {key for _, key in matched}
    rows = _compared(new.logs, baseline.logs, options, plugins)
    if unknown := sorted(set(options.margins) - {row.metric for row in rows}):
        raise DataError(
            UNKNOWN_MARGIN_METRIC(metric=unknown[0], known=sorted({row.metric for row in rows}) or ["none"])
        )
    decided = _decided(rows, options.tail)
    missing = tuple(ScoreName(*key) for key in baseline.chosen if key not in there)
    return Gate(_whole(decided, missing), options.alpha, decided, missing)


def _compared(
    new: Sequence[TaskLog], old: Sequence[TaskLog], options: GateOptions, plugins: Plugins
) -> list[Comparison]:
    """Comparisons with the margin of each metric; those of metrics with a margin of their own come last."""
    parts = [({metric}, margin) for metric, margin in options.margins.items()]
    own = set(options.margins)
    rest = {data.metric for log in (*new, *old) for data in log.data} - own
    rows: list[Comparison] = []
    for metrics, margin in [(rest, options.compare.margin), *parts]:
        a, b = new, old
        if own:
            a, b = (
                [replace(log, data=tuple(data for data in log.data if data.metric in metrics)) for log in logs]
                for logs in (new, old)
            )
        if not own or all(any(log.data for log in logs) for logs in (a, b)):
            rows += compare(a, b, replace(options.compare, margin=margin), plugins=plugins)
    return rows


def _decided(rows: Sequence[Comparison], tail: float) -> tuple[GateRow, ...]:
    p = [row.prob_noninferior for row in rows]
    tested = [value for value in p if value is not None]
    adjusted = iter(holm(np.clip(tested, 0, 1)).tolist() if tested else [])
    pooled = {(row.metric, row.filter) for row in rows if row.task == OVERALL and row.prob_noninferior is not None}
    return tuple(
        _decided_row(row, None if value is None else next(adjusted), tail, pooled)
        for row, value in zip(rows, p, strict=True)
    )


def _decided_row(row: Comparison, adjusted: float | None, tail: float, pooled: Iterable[tuple[str, str]]) -> GateRow:
    decision: Decision = "undecided"
    if adjusted is not None and adjusted <= tail:
        decision = "fail"
    elif row.prob_noninferior is not None and row.prob_noninferior >= 1 - tail:
        decision = "pass"
    return GateRow(row, decision, row.task == OVERALL or (row.metric, row.filter) not in pooled, adjusted)


def _whole(rows: Sequence[GateRow], missing: Sequence[object]) -> Decision:
    if any(row.decision == "fail" for row in rows):
        return "fail"
    needed = [row for row in rows if row.is_needed]
    return "pass" if not missing and all(row.decision == "pass" for row in needed) else "undecided"


def _with_power(
    row: GateRow, worst: Mapping[tuple[str, str, str], float | None], n_tested: int, options: GateOptions
) -> GateRow:
    """The row with what its data could show; of an equal new system, and at the first, strictest step of Holm."""
    comparison, strict = row.comparison, options.tail / max(n_tested, 1)
    p_worst = worst.get((comparison.task, comparison.metric, comparison.filter))
    can_fail = None if p_worst is None else p_worst <= strict
    if comparison.difference is None or not comparison.difference.std_error > 0:
        return replace(row, can_fail=can_fail)
    variance = comparison.difference.std_error**2
    passing = float(detection_power(comparison.margin, 1, variance, level=1 - options.tail, alternative="one-sided"))
    drop = float(minimum_detectable_effect(1, variance, level=1 - strict, power=_POWER, alternative="one-sided"))
    return replace(
        row,
        power_to_pass=passing,
        minimum_failing_drop=comparison.margin + drop,
        n_additional_questions=_more(comparison, options.tail) if passing < _POWER else None,
        can_fail=can_fail,
    )


def _more(comparison: Comparison, tail: float) -> int | None:
    """Questions beyond these with which an equal passes in 80 of 100 runs; None without a margin or known questions."""
    if not comparison.margin or comparison.n_matched is None or comparison.difference is None:
        return None
    variance = comparison.n_matched * comparison.difference.std_error**2
    needed = required_questions(comparison.margin, variance, level=1 - tail, power=_POWER, alternative="one-sided")
    return int(needed) - comparison.n_matched
