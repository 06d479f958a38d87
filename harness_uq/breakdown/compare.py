"""Compare two systems by groups of questions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np
from scipy import stats

from harness_uq.breakdown.pooling import GroupValue, pooled_values, stable_errors
from harness_uq.comparison.build_rows import DifferenceKeywords
from harness_uq.comparison.compare import CompareOptions, compare
from harness_uq.comparison.sides import Side, common_keys
from harness_uq.data.run_selection import SelectedRun, higher_is_better
from harness_uq.data.task_log import Scores
from harness_uq.messages import Message
from harness_uq.messages.catalogue.breakdown import GROUPS_NOT_POOLED
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.runs import Runs
from harness_uq.results.breakdown import DifferenceBreakdown, GroupDifference
from harness_uq.results.comparison import Comparison
from harness_uq.results.result_list import ResultList
from harness_uq.stats.pairs.multiple_testing import holm
from harness_uq.structure.detection import known_range
from harness_uq.structure.option_keywords import ScoreKeywords, options_with, selection_of
from harness_uq.structure.question_groups import QuestionGroups, divided_logs, part_of


class CompareByKeywords(ScoreKeywords, DifferenceKeywords, total=False):
    """Options of `compare_by`."""


def compare_by(
    a: Runs,
    b: Runs,
    by: str | Sequence[str],
    options: CompareOptions | None = None,
    *,
    plugins: Plugins | None = None,
    **keywords: Unpack[CompareByKeywords],
) -> ResultList[DifferenceBreakdown]:
    """Compare two systems on groups of questions, such as categories, languages or levels of difficulty.

    The verdict of each group is corrected for the number of groups (Holm), so that two equal systems differ on any
    group with probability at most 1 - level. Partially pooled differences correct for the selection of extreme groups.

    Parameters
    ----------
    a, b : runs of one system each: paths or results in memory
    by : field of the questions' documents or metadata, or several fields, as for `estimate_by`
    options : options of the comparisons
    plugins : plugins to use; by default the installed ones
    **keywords : options as for `compare`

    Returns
    -------
    One breakdown per field, task, metric and filter that both systems have. Its groups begin with those on which the
    first system loses most

    Raises
    ------
    LogError : if no log can be read from a path
    DataError : if an argument holds several systems
    NotEstimableError : if the systems have no task and metric in common
    StructureError : if no task has the field, or the field has too many values
    TypeError : if an option does not exist
    """
    options = options_with(options or CompareOptions(), keywords, "compare_by")
    plugins = plugins or load_plugins()
    structure, selection = options.structure.without_bounds("compare_by"), selection_of(keywords)
    sides = [Side.read(runs, name, plugins, structure, selection) for runs, name in ((a, "A"), (b, "B"))]
    options = replace(options, structure=structure.without_policies)
    matched, _ = common_keys(*sides)
    pairs = [(sides[0].chosen[first], sides[1].chosen[second]) for first, second in matched]
    pairs = [pair for pair in pairs if all(isinstance(run.data, Scores) for run in pair)]
    rows = ResultList[DifferenceBreakdown]()
    for name in [by] if isinstance(by, str) else by:
        groups, notes = _groups(pairs, name)
        for pair in pairs:
            of_a, of_b = (groups.get(id(run.log)) for run in pair)
            if of_a is not None and of_b is not None:
                rows.append(_breakdown(pair, (of_a, of_b), notes, options, plugins))
    return rows


def _groups(
    pairs: Sequence[tuple[SelectedRun, SelectedRun]], name: str
) -> tuple[dict[int, QuestionGroups], tuple[Message, ...]]:
    """Groups of each log by its identity."""
    logs = {id(run.log): run.log for pair in pairs for run in pair}
    divided, notes = divided_logs(logs.values(), name)
    return {id(log): groups for log, groups in divided}, notes


def _breakdown(
    pair: tuple[SelectedRun, SelectedRun],
    groups: tuple[QuestionGroups, QuestionGroups],
    notes: tuple[Message, ...],
    options: CompareOptions,
    plugins: Plugins,
) -> DifferenceBreakdown:
    labels = [label for label in groups[0].labels if label in groups[1].labels]
    rows = [_compared(pair, groups, label, options, plugins) for label in labels]
    values = [_value(row) for row in rows]
    pooled = pooled_values(values, options.level, _possible_differences(pair, options))
    if pooled.spread is None:
        notes = (*notes, GROUPS_NOT_POOLED(n_groups=len(values) - values.count(None)))
    p_values = [_p_value(row) for row in rows]
    tested = [p for p in p_values if p is not None]
    adjusted = iter(holm(tested).tolist() if tested else [])
    is_higher = higher_is_better(pair[0].log, pair[0].data.metric)
    sign = 1 if is_higher else -1
    differences = [
        _with_verdict(
            GroupDifference(
                group=label,
                n_questions=row.n_matched,
                value_a=row.value_a,
                value_b=row.value_b,
                value=row.difference.value if row.difference else None,
                interval=row.difference.interval if row.difference else None,
                std_error=row.difference.std_error if row.difference else None,
                pooled_value=value,
                pooled_interval=interval,
                p_value=p,
                adjusted_p=None if p is None else next(adjusted),
            ),
            1 - options.level,
            is_higher=is_higher,
        )
        for label, row, value, interval, p in zip(labels, rows, pooled.values, pooled.intervals, p_values, strict=True)
    ]
    (run_a, run_b) = pair
    return DifferenceBreakdown(
        system_a=run_a.log.system,
        system_b=run_b.log.system,
        task=run_a.log.task,
        metric=run_a.data.metric,
        filter=run_a.data.filter,
        field=groups[0].field,
        groups=tuple(sorted(differences, key=lambda one: _advantage(one, sign))),
        higher_is_better=is_higher,
        heterogeneity_p=_cochran([value for value in values if value is not None]),
        spread=pooled.spread,
        messages=notes,
    )


def _possible_differences(pair: tuple[SelectedRun, SelectedRun], options: CompareOptions) -> tuple[float, float] | None:
    """Smallest and largest possible difference of two scores; None if the range of either is unknown."""
    range_a, range_b = (known_range(run.data, options.structure.of_task(run.log.task).ranges) for run in pair)
    if range_a is None or range_b is None:
        return None
    return range_a[0] - range_b[1], range_a[1] - range_b[0]


def _compared(
    pair: tuple[SelectedRun, SelectedRun],
    groups: tuple[QuestionGroups, QuestionGroups],
    label: str,
    options: CompareOptions,
    plugins: Plugins,
) -> Comparison:
    """Compare the systems on the questions of one group."""
    logs = [
        part_of(replace(run.log, data=(run.data,)), of_run.rows(label))
        for run, of_run in zip(pair, groups, strict=True)
    ]
    return compare(logs[0], logs[1], options, plugins=plugins)[0]


def _p_value(row: Comparison) -> float | None:
    """Twice the posterior tail beyond 0, but at least the p-value of McNemar's exact test, or of t.

    A posterior tail has its error rate on average only, which many groups would add up.
    """
    if row.prob_positive is None:
        return None
    return max(2 * min(row.prob_positive, 1 - row.prob_positive), row.p_value or 0.0)


def _value(row: Comparison) -> GroupValue | None:
    if row.difference is None:
        return None
    return GroupValue.of(row.difference.value, row.difference.std_error, row.n_matched)


def _with_verdict(row: GroupDifference, alpha: float, *, is_higher: bool) -> GroupDifference:
    """Set the verdict by the adjusted p-value."""
    if row.adjusted_p is None or row.adjusted_p > alpha or not row.value:
        return row
    return replace(row, verdict="better" if (row.value > 0) == is_higher else "worse")


def _advantage(row: GroupDifference, sign: int) -> tuple[bool, float]:
    """Key that sorts the groups on which A loses most first, and groups without a difference last."""
    value = row.value if row.pooled_value is None else row.pooled_value
    return value is None, sign * (value or 0.0)


def _cochran(values: Sequence[GroupValue]) -> float | None:
    """p-value of Cochran's Q test that all differences are equal; None with fewer than two groups."""
    if len(values) < 2:
        return None
    weights = 1 / stable_errors(values) ** 2
    y = np.array([one.value for one in values])
    q = float((weights * (y - np.average(y, weights=weights)) ** 2).sum())
    return float(stats.chi2.sf(q, len(values) - 1))
