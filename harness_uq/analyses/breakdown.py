"""Scores and differences of two systems by groups of questions: from each group alone, and partially pooled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from harness_uq.analyses.comparison.compare_sides import compare_sides
from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.question_groups import QuestionGroups, divided_logs, part_of, usable_fields
from harness_uq.data.selection import ScoreKey, SelectedRun, higher_is_better
from harness_uq.data.structure import codes_of, known_range, score_type_of
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.inference.compared_runs import Side, common_keys
from harness_uq.inference.decisions import adjusted_p_values, verdict_p_value
from harness_uq.inference.estimates import estimate_logs
from harness_uq.inference.evidence import with_policies
from harness_uq.inference.marginals import with_structure_of_task
from harness_uq.inference.scenarios import identified_difference, over_scenarios
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.breakdown import (
    GROUPS_ARE_CLUSTERS,
    GROUPS_NOT_POOLED,
    GROUPS_OF_ONE_SYSTEM,
    GROUPS_WITH_ANY_SCORE,
    UNKNOWN_GROUP_FIELD,
)
from harness_uq.messages.catalogue.comparison import VERDICT_DEPENDS_ON_MISSING
from harness_uq.messages.errors import StructureError
from harness_uq.messages.message import Message
from harness_uq.options import Options
from harness_uq.results.breakdown import Breakdown, DifferenceBreakdown, GroupDifference, GroupScore
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.stats.groups.heterogeneity import heterogeneity_test
from harness_uq.stats.groups.partial_pooling import pool_groups

FEWEST_GROUPS = 3
_PRIOR_QUESTIONS = 4.0
Sides = tuple[Side, Side]

# ---------------------------------------------------------------- partial pooling


@dataclass(frozen=True, slots=True)
class GroupValue:
    """Value of a group with its standard error and its number of questions."""

    value: float
    std_error: float
    n_questions: int

    @classmethod
    def of(cls, value: float | None, std_error: float | None, n_questions: int | None) -> "GroupValue | None":
        """Return the value; None if it has no standard error."""
        return cls(value, std_error, n_questions) if value is not None and std_error and n_questions else None


@dataclass(frozen=True, slots=True)
class PooledValues:
    """Pooled value and interval of each group, None for groups without a value, and the spread between groups.

    `spread` is None if there are too few groups to pool.
    """

    values: tuple[float | None, ...]
    intervals: tuple[Interval | None, ...]
    spread: float | None = None


def pooled_values(
    groups: Sequence[GroupValue | None], level: float, bounds: tuple[float, float] | None = None
) -> PooledValues:
    """Return the partially pooled values of at least three groups; with fewer, no group has one.

    The variance per question of each group counts as if four questions with the mean variance of all groups were added:
    a small group whose answers are all right would otherwise seem to be known exactly. `groups`: value of each group;
    None if it is not estimable. `level`: probability of the intervals. `bounds`: smallest and largest possible value,
    to which intervals are limited. True values lie between them, so the limits do not change the coverage of the
    intervals.
    """
    known = [(k, one) for k, one in enumerate(groups) if one is not None]
    values: list[float | None] = [None] * len(groups)
    intervals: list[Interval | None] = [None] * len(groups)
    if len(known) < FEWEST_GROUPS:
        return PooledValues(tuple(values), tuple(intervals))
    present = [one for _, one in known]
    found = pool_groups([one.value for one in present], stable_errors(present), level=level)
    low, high = (end if bounds is None else np.clip(end, *bounds) for end in (found.low, found.high))
    for position, (k, _) in enumerate(known):
        values[k] = float(found.means[position])
        intervals[k] = Interval(float(low[position]), float(high[position]), level, "quantile")
    return PooledValues(tuple(values), tuple(intervals), found.spread)


def stable_errors(groups: Sequence[GroupValue]) -> FloatArray:
    """Return the standard errors, with variances per question that are shrunk towards their mean."""
    n = np.array([one.n_questions for one in groups], float)
    per_question = n * np.array([one.std_error for one in groups]) ** 2
    common = float(np.average(per_question, weights=n))
    smooth = (n * per_question + _PRIOR_QUESTIONS * common) / (n + _PRIOR_QUESTIONS)
    return np.asarray(np.sqrt(smooth / n))


# ---------------------------------------------------------------- scores


def estimate_groups(
    logs: Sequence[TaskLog], fields: Sequence[str], options: Options, plugins: Plugins
) -> Iterator[Breakdown]:
    """Estimate the scores of groups of questions: one breakdown per field, system, task, metric and filter. Raises
    StructureError if no task has a field, or the field has too many values.
    """
    structure = options.structure.without_bounds("scores of groups (--by)")
    read = with_policies([log for log in logs if not log.subtasks], structure)
    options = replace(options, structure=structure.without_policies)
    for name in fields:
        divided, notes = divided_logs(read, name)
        for log, groups in divided:
            for data in log.data:
                if isinstance(data, Scores):
                    yield _score_breakdown(log, data, groups, notes, options, plugins)


def _score_breakdown(
    log: TaskLog, data: Scores, groups: QuestionGroups, notes: tuple[Message, ...], options: Options, plugins: Plugins
) -> Breakdown:
    whole, score = with_structure_of_task(log, options.structure, plugins), (data.metric, data.filter)
    of_parts = [estimate_logs([part], options, plugins) for _, part in groups.parts(whole)]
    rows = [next(row for row in of_part if (row.metric, row.filter) == score) for of_part in of_parts]
    _, bounds, _ = score_type_of(data, options.structure.of_task(log.task).ranges)
    values = [GroupValue.of(row.value, row.std_error, row.n_questions) for row in rows]
    pooled = pooled_values(values, options.level, bounds)
    if pooled.spread is None:
        notes = (*notes, GROUPS_NOT_POOLED(n_groups=len(values) - values.count(None)))
    notes = (*notes, *_cluster_note(groups.field, rows))
    scores = tuple(
        GroupScore(label, row.n_questions or 0, row.n_clusters, row.value, row.interval, row.std_error, value, interval)
        for label, row, value, interval in zip(groups.labels, rows, pooled.values, pooled.intervals, strict=True)
    )
    return Breakdown(
        system=log.system,
        task=log.task,
        metric=data.metric,
        filter=data.filter,
        field=groups.field,
        groups=scores,
        source=log.source,
        heterogeneity_p=_heterogeneity(log, data, groups, options, plugins) if options.estimand == "mean" else None,
        spread=pooled.spread,
        messages=notes,
    )


def _cluster_note(field: str, rows: Sequence[Estimate | Comparison]) -> tuple[Message, ...]:
    """A note if each group is one cluster, except groups of a single question."""
    sizes = {row.n_clusters for row in rows if row.n_clusters is not None}
    return (GROUPS_ARE_CLUSTERS(field=field),) if sizes == {1} else ()


def _heterogeneity(
    log: TaskLog, data: Scores, groups: QuestionGroups, options: Options, plugins: Plugins
) -> float | None:
    """p-value of the test whether groups differ; None with fewer than two groups of scored questions."""
    scored = np.flatnonzero(np.isfinite(data.values).any(axis=1))
    codes = groups.codes[scored]
    if len(np.unique(codes)) < 2:
        return None
    cluster_codes = codes_of(data, clusters_of(log, options.structure, plugins))
    clusters = None if cluster_codes is None else cluster_codes[scored]
    means = np.nanmean(data.values[scored], axis=1)
    return heterogeneity_test(means, codes, clusters, rng=np.random.default_rng(options.seed)).p_value


# ---------------------------------------------------------------- differences


def compare_groups(
    sides: Sides, fields: Sequence[str], options: Options, plugins: Plugins
) -> list[DifferenceBreakdown]:
    """Compare two systems on groups of questions: one breakdown per field, task, metric and filter that both have.

    A warning names each group whose verdict depends on trials without a score. Raises NotEstimableError if the systems
    have no task and metric in common, and StructureError if no task has a field, or the field has too many values.
    """
    structure = options.structure
    known = replace(options, structure=structure.without_policies)
    scores = [score for name in fields for score in _divided_scores(sides, name)]
    plain = [score.tests(score.runs, known, plugins) for score in scores]

    def tests_of(a: Side, b: Side | None) -> list["list[_Test] | None"]:
        """The tests with other scores of the trials without a score; None if they are unknown."""
        runs = [score.runs_of((a, b or sides[1])) for score in scores]
        return [
            score.tests(pair, known, plugins, one) if _have_scores(pair) else None
            for score, pair, one in zip(scores, runs, plain, strict=True)
        ]

    others = over_scenarios(sides, structure, plugins, tests_of)
    if others is None:
        return _breakdowns(scores, plain, options)
    opened = [_opened(*tests, options.level) for tests in zip(plain, *others.ends, strict=True)]
    if others.worst is None:
        usable = [(score, one) for score, one in zip(scores, opened, strict=True) if one is not None]
        return _breakdowns([score for score, _ in usable], [one for _, one in usable], options)
    worst = [one or other for one, other in zip(others.worst, plain, strict=True)]
    any_score = [one or other for one, other in zip(opened, plain, strict=True)]
    rows = (_breakdowns(scores, tests, options) for tests in (plain, worst, any_score))
    return list(map(_with_warnings, *rows, scores))


class _Test(NamedTuple):
    """The comparison of a group, the difference that is tested, and the p-value of its verdict; None if not tested."""

    row: Comparison
    value: float | None
    p_value: float | None


@dataclass(frozen=True, slots=True, eq=False)
class _DividedScore:
    """A score of both systems, and the groups of its questions; `keys`, `runs` and `groups` are of the two systems."""

    keys: tuple[ScoreKey, ScoreKey]
    runs: tuple[SelectedRun, SelectedRun]
    groups: tuple[QuestionGroups, QuestionGroups]
    notes: tuple[Message, ...]

    @property
    def labels(self) -> list[str]:
        """The groups that both systems have."""
        return [label for label in self.groups[0].labels if label in self.groups[1].labels]

    def n_missing(self, label: str) -> int:
        """Number of trials of a group without a score, of both systems."""
        return sum(
            int(np.isnan(run.data.values[groups.rows(label)]).sum())
            for run, groups in zip(self.runs, self.groups, strict=True)
            if isinstance(run.data, Scores) and run.data.missing is not None
        )

    def runs_of(self, sides: Sides) -> tuple[SelectedRun, SelectedRun]:
        """The runs with other scores of the trials without a score."""
        return sides[0].chosen[self.keys[0]], sides[1].chosen[self.keys[1]]

    def tests(
        self,
        runs: tuple[SelectedRun, SelectedRun],
        options: Options,
        plugins: Plugins,
        complete: "Sequence[_Test] | None" = None,
    ) -> "list[_Test]":
        """The tests of all groups; those of groups that lack no score are `complete`, if they are given."""
        found = []
        for k, label in enumerate(self.labels):
            if complete is not None and not self.n_missing(label):
                found.append(complete[k])
                continue
            side_a, side_b = (
                _part(run, groups.rows(label), options, plugins) for run, groups in zip(runs, self.groups, strict=True)
            )
            row = compare_sides(side_a, side_b, options, plugins)[0][0]
            found.append(_Test(row, row.difference.value if row.difference else None, verdict_p_value(row)))
        return found


def _part(run: SelectedRun, rows: IntArray, options: Options, plugins: Plugins) -> Side:
    """Some of the questions of a run."""
    whole = with_structure_of_task(replace(run.log, data=(run.data,)), options.structure, plugins)
    return Side.read(part_of(whole, rows), run.log.system, plugins, options.structure)


def _divided_scores(sides: Sides, name: str) -> Iterator[_DividedScore]:
    """Yield the scores of single questions that both systems have, with their groups by a field."""
    matched, _ = common_keys(*sides)
    chosen = [(keys, (sides[0].chosen[keys[0]], sides[1].chosen[keys[1]])) for keys in matched]
    scores = [(keys, runs) for keys, runs in chosen if _have_scores(runs)]
    logs = {id(run.log): run.log for _, runs in scores for run in runs}
    divided, notes = divided_logs(logs.values(), name)
    groups = {id(log): of_log for log, of_log in divided}
    in_both = [one for one in scores if all(id(run.log) in groups for run in one[1])]
    if scores and not in_both:
        lacking = next(run.log for _, runs in scores for run in runs if id(run.log) not in groups)
        raise StructureError(
            UNKNOWN_GROUP_FIELD(task=lacking.task, field=name, known=usable_fields(lacking) or ["none"])
        )
    for keys, runs in in_both:
        of_a, of_b = (groups[id(run.log)] for run in runs)
        labels = dict.fromkeys((*of_a.labels, *of_b.labels))
        alone = [label for label in labels if label not in of_a.labels or label not in of_b.labels]
        warnings = (GROUPS_OF_ONE_SYSTEM(n_groups=len(alone), field=name, groups=alone),) if alone else ()
        yield _DividedScore(keys, runs, (of_a, of_b), (*warnings, *notes))


def _have_scores(runs: tuple[SelectedRun, SelectedRun]) -> bool:
    return all(isinstance(run.data, Scores) for run in runs)


def _opened(
    plain: Sequence[_Test], first: Sequence[_Test] | None, second: Sequence[_Test] | None, level: float
) -> list[_Test] | None:
    """The tests if trials without a score may have any score; None if the possible scores are unknown.

    The p-value is the larger one of both ends, or 1 if these have different verdicts and differences of unlike sign.
    """
    if first is None or second is None:
        return None
    opened = []
    for one, low, high in zip(plain, first, second, strict=True):
        p = None if low.p_value is None or high.p_value is None else max(low.p_value, high.p_value)
        is_alike = low.row.verdict == high.row.verdict or np.sign(low.value or 0.0) == np.sign(high.value or 0.0)
        row = one.row if low is one else identified_difference(one.row, (low.row, high.row), level)
        opened.append(_Test(row, low.value, p if p is None or is_alike else 1.0))
    return opened


def _breakdowns(
    scores: Sequence[_DividedScore], tested: Sequence[Sequence[_Test]], options: Options
) -> list[DifferenceBreakdown]:
    """The breakdowns of all scores; the verdicts of the groups of one task are corrected together."""
    tasks = [score.keys[0][0] for score in scores]
    p_values: dict[str, list[float | None]] = {task: [] for task in tasks}
    for task, tests in zip(tasks, tested, strict=True):
        p_values[task] += [test.p_value for test in tests]
    n_tests = {task: sum(p is not None for p in of_task) for task, of_task in p_values.items()}
    adjusted = {task: iter(adjusted_p_values(of_task)) for task, of_task in p_values.items()}
    return [
        _difference_breakdown(score, tests, list(islice(adjusted[task], len(tests))), n_tests[task], options)
        for task, score, tests in zip(tasks, scores, tested, strict=True)
    ]


def _difference_breakdown(
    score: _DividedScore, tests: Sequence[_Test], adjusted: Sequence[float | None], n_tests: int, options: Options
) -> DifferenceBreakdown:
    (run_a, run_b), notes = score.runs, score.notes
    is_open = any(test.row.identified_range is not None for test in tests)
    values = [None if is_open else _value(test.row) for test in tests]
    pooled = pooled_values(values, options.level, _possible_differences(score.runs, options))
    if is_open:
        notes = (*notes, GROUPS_WITH_ANY_SCORE(n_missing=sum(map(score.n_missing, score.labels))))
    elif pooled.spread is None:
        notes = (*notes, GROUPS_NOT_POOLED(n_groups=len(values) - values.count(None)))
    is_higher = higher_is_better(run_a.log, run_a.data.metric)
    notes = (*notes, *_cluster_note(score.groups[0].field, [test.row for test in tests]))
    differences = [
        GroupDifference(
            group=label,
            n_questions=test.row.n_matched,
            n_clusters=test.row.n_clusters,
            value_a=test.row.value_a,
            value_b=test.row.value_b,
            value=test.row.difference.value if test.row.difference else None,
            interval=test.row.difference.interval if test.row.difference else None,
            std_error=test.row.difference.std_error if test.row.difference else None,
            pooled_value=value,
            pooled_interval=interval,
            p_value=test.p_value,
            adjusted_p=p,
            verdict=test.row.verdict,
            verdict_corrected=test.row.verdict if p is not None and p <= 1 - options.level else "undecided",
        )
        for label, test, value, interval, p in zip(
            score.labels, tests, pooled.values, pooled.intervals, adjusted, strict=True
        )
    ]
    return DifferenceBreakdown(
        system_a=run_a.log.system,
        system_b=run_b.log.system,
        task=run_a.log.task,
        metric=run_a.data.metric,
        filter=run_a.data.filter,
        field=score.groups[0].field,
        groups=tuple(sorted(differences, key=lambda one: _advantage(one, 1 if is_higher else -1))),
        higher_is_better=is_higher,
        margin=options.margin_of(run_a.log.task),
        heterogeneity_p=_cochran([value for value in values if value is not None]),
        spread=pooled.spread,
        n_tests=n_tests,
        messages=notes,
    )


def _with_warnings(
    row: DifferenceBreakdown, worst: DifferenceBreakdown, any_score: DifferenceBreakdown, score: _DividedScore
) -> DifferenceBreakdown:
    """Warn about the groups whose corrected verdict is not the same under all policies for trials without a score."""
    of_worst, of_any = ({one.group: one for one in other.groups} for other in (worst, any_score))
    warnings = [
        VERDICT_DEPENDS_ON_MISSING(
            conclusion="verdict",
            n_missing=n_missing,
            dropped=one.verdict_corrected,
            worst=of_worst[one.group].verdict_corrected,
            open=of_any[one.group].verdict_corrected,
        ).of_group(row.task, row.field, one.group)
        for one in row.groups
        if (n_missing := score.n_missing(one.group))
        and one.value is not None
        and of_worst[one.group].value is not None
        and {of[one.group].verdict_corrected for of in (of_worst, of_any)} != {one.verdict_corrected}
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
    return float(chdtrc(len(values) - 1, q))
