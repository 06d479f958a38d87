"""Compare two systems by groups of questions."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Unpack

import numpy as np
from scipy import stats

from harness_uq.analyses.breakdown.group_tests import DividedScore, GroupTests, TestedGroups, divided_scores
from harness_uq.analyses.breakdown.pooling import GroupValue, pooled_values, stable_errors
from harness_uq.data.selection import SelectedRun, higher_is_better
from harness_uq.data.structure import known_range
from harness_uq.inference.decisions import adjusted_p_values
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.sides import Side
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs
from harness_uq.messages.catalogue.breakdown import GROUPS_NOT_POOLED, GROUPS_WITH_ANY_SCORE
from harness_uq.messages.catalogue.comparison import VERDICT_DEPENDS_ON_MISSING
from harness_uq.options import Options, resolve
from harness_uq.options_typed import CompareKeywords
from harness_uq.results.breakdown import DifferenceBreakdown, GroupDifference
from harness_uq.results.comparison import Comparison
from harness_uq.results.result_list import ResultList


def compare_by(  # type: ignore[misc]
    a: Runs,
    b: Runs,
    by: str | Sequence[str],
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    **keywords: Unpack[CompareKeywords],
) -> ResultList[DifferenceBreakdown]:
    """Compare two systems on groups of questions, such as categories, languages or levels of difficulty.

    The verdict of each group is corrected for the groups of all returned breakdowns (Holm), so that two equal systems
    differ on any group with probability at most 1 - level. Partially pooled differences correct for the selection of
    extreme groups. A warning names each group whose verdict depends on trials without a score.

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
    options, selection = resolve("compare", options, keywords)
    plugins = plugins or load_plugins()
    sides = (
        Side.read(a, "A", plugins, options.structure, selection),
        Side.read(b, "B", plugins, options.structure, selection),
    )
    tests = GroupTests.of(sides, options, plugins)
    scores = [score for name in ([by] if isinstance(by, str) else by) for score in divided_scores(sides, name)]
    plain = [tests.as_logged(score) for score in scores]
    opened = [tests.open(score, one) for score, one in zip(scores, plain, strict=True)]
    if options.structure.missing.has_bounds:
        known = [(score, one) for score, one in zip(scores, opened, strict=True) if one is not None]
        return _breakdowns([score for score, _ in known], [one for _, one in known], options)
    rows = _breakdowns(scores, plain, options)
    if not tests.alternatives:
        return rows
    worst = [tests.worst(score, one) for score, one in zip(scores, plain, strict=True)]
    any_score = [one or other for one, other in zip(opened, plain, strict=True)]
    others = _breakdowns(scores, worst, options), _breakdowns(scores, any_score, options)
    return ResultList(map(_with_warnings, rows, *others, scores))


def _breakdowns(
    scores: Sequence[DividedScore], tested: Sequence[TestedGroups], options: Options
) -> ResultList[DifferenceBreakdown]:
    """The breakdowns of all scores, whose verdicts are corrected together."""
    p_values = [p for one in tested for p in one.p_values]
    adjusted = iter(adjusted_p_values(p_values))
    n_tests = sum(p is not None for p in p_values)
    rows = [
        _breakdown(score, one, list(islice(adjusted, len(one.p_values))), options)
        for score, one in zip(scores, tested, strict=True)
    ]
    return ResultList(replace(row, n_tests=n_tests) for row in rows)


def _breakdown(
    score: DividedScore, tested: TestedGroups, adjusted: Sequence[float | None], options: Options
) -> DifferenceBreakdown:
    (run_a, run_b), rows, notes = score.runs, tested.rows, score.notes
    is_open = any(row.identified_range is not None for row in rows)
    values = [None if is_open else _value(row) for row in rows]
    pooled = pooled_values(values, options.level, _possible_differences(score.runs, options))
    if is_open:
        notes = (*notes, GROUPS_WITH_ANY_SCORE(n_missing=sum(map(score.n_missing, score.labels))))
    elif pooled.spread is None:
        notes = (*notes, GROUPS_NOT_POOLED(n_groups=len(values) - values.count(None)))
    is_higher = higher_is_better(run_a.log, run_a.data.metric)
    sign = 1 if is_higher else -1
    differences = [
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
            adjusted_p=adjusted_p,
            verdict=verdict,
        )
        for label, row, value, interval, p, adjusted_p, verdict in zip(
            score.labels,
            rows,
            pooled.values,
            pooled.intervals,
            tested.p_values,
            adjusted,
            tested.verdicts(adjusted, 1 - options.level, is_higher=is_higher),
            strict=True,
        )
    ]
    return DifferenceBreakdown(
        system_a=run_a.log.system,
        system_b=run_b.log.system,
        task=run_a.log.task,
        metric=run_a.data.metric,
        filter=run_a.data.filter,
        field=score.groups[0].field,
        groups=tuple(sorted(differences, key=lambda one: _advantage(one, sign))),
        higher_is_better=is_higher,
        heterogeneity_p=_cochran([value for value in values if value is not None]),
        spread=pooled.spread,
        messages=notes,
    )


def _with_warnings(
    row: DifferenceBreakdown, worst: DifferenceBreakdown, any_score: DifferenceBreakdown, score: DividedScore
) -> DifferenceBreakdown:
    """Warn about the groups whose verdict is not the same under all policies for trials without a score."""
    of_worst, of_any = ({one.group: one for one in other.groups} for other in (worst, any_score))
    warnings = [
        VERDICT_DEPENDS_ON_MISSING(
            conclusion="verdict",
            n_missing=n_missing,
            dropped=one.verdict,
            worst=of_worst[one.group].verdict,
            open=of_any[one.group].verdict,
        ).of_group(row.task, row.field, one.group)
        for one in row.groups
        if (n_missing := score.n_missing(one.group))
        and one.value is not None
        and of_worst[one.group].value is not None
        and {of_worst[one.group].verdict, of_any[one.group].verdict} != {one.verdict}
    ]
    return replace(row, messages=(*warnings, *row.messages))


def _possible_differences(pair: tuple[SelectedRun, SelectedRun], options: Options) -> tuple[float, float] | None:
    """Smallest and largest possible difference of two scores; None if the range of either is unknown."""
    range_a, range_b = (known_range(run.data, options.structure.of_task(run.log.task).ranges) for run in pair)
    if range_a is None or range_b is None:
        return None
    return range_a[0] - range_b[1], range_a[1] - range_b[0]


def _value(row: Comparison) -> GroupValue | None:
    if row.difference is None:
        return None
    return GroupValue.of(row.difference.value, row.difference.std_error, row.n_matched)


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
