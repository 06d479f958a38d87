"""Comparisons of a gate: each score with its margin or required improvement, and the variation between runs."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

from harness_uq.analyses.comparison.compare_sides import compare_sides
from harness_uq.analyses.gating.runs import RunCounts
from harness_uq.analyses.overall.compare import compare_overall
from harness_uq.data.panel import MatchedScore
from harness_uq.data.question_groups import divided_logs
from harness_uq.data.selection import ScoreKey, select_runs
from harness_uq.data.task_log import TaskLog
from harness_uq.inference.compared_runs import Side
from harness_uq.inference.contrasts import std_error_of
from harness_uq.inference.decisions import Hypothesis, difference_hypothesis, prob_advantage, with_difference
from harness_uq.inference.evidence import with_best_evidence
from harness_uq.inference.labels import compare_with_labels
from harness_uq.inference.split_groups import split_by, with_values_of_groups
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.breakdown import GROUPS_OF_ONE_SYSTEM
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.messages.message import Message
from harness_uq.options import OVERALL
from harness_uq.results.comparison import Comparison, Difference
from harness_uq.results.estimate import Interval
from harness_uq.stats.pairs.run_variation import DistributionOverRuns, pooled_variation

if TYPE_CHECKING:
    from harness_uq.analyses.gating.gate import GateDesign


@dataclass(frozen=True, slots=True, eq=False)
class ComparedScore:
    """A comparison and what is required of it.

    `row`: comparison of the new system (A) with the baseline (B). `improve_by`: required improvement; None if the new
    system must not be worse by more than the margin. `matched`: the matched questions; None if questions are not
    matched. `is_group`: whether the questions are a group of those of a task. `over_runs`: the difference with the
    variation between runs; None if each system has one run.
    """

    row: Comparison
    improve_by: float | None = None
    matched: MatchedScore | None = None
    is_group: bool = False
    over_runs: DistributionOverRuns | None = None

    @property
    def hypothesis(self) -> Hypothesis | None:
        """What is required, with its p-values; None if the difference is not estimable."""
        return difference_hypothesis(self.row, self.improve_by, self.over_runs)

    @property
    def is_paired(self) -> bool:
        """Whether the difference rests on the matched questions alone."""
        if self.matched is None:
            return False
        first = self.matched.members[0]
        return self.matched.is_pooled or first.units is not None or not any(first.n_unmatched)


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """The logs that a gate compares.

    `counts`: numbers of runs of the new system and of the baseline.
    """

    new: Side
    baseline: Side
    counts: tuple[RunCounts, RunCounts] = (RunCounts(), RunCounts())

    def compared(self, new: Sequence[TaskLog], options: "GateDesign", plugins: Plugins) -> list[ComparedScore]:
        """Compare logs of the new system with the baseline."""
        if options.overall:
            row = _overall_comparison(new, self.baseline.logs, options, plugins)
            return [ComparedScore(row, options.improvement_of(row.task, row.metric))]
        scores = self._scores(new, options, plugins)
        if not options.by:
            return scores
        groups = self._divided(options, plugins)
        parts = split_by(new, options.by, options.compare.structure, plugins, self.baseline.logs)
        of_groups = groups._scores(parts, _options_of_groups(options, parts), plugins)
        return [*scores, *(replace(one, is_group=True) for one in of_groups if one.row.task != OVERALL)]

    def _divided(self, options: "GateDesign", plugins: Plugins) -> "Sides":
        """The sides with each group of questions as a task."""
        new, baseline = (
            with_groups(side, options, plugins, others=other.logs, only_groups=True)
            for side, other in ((self.new, self.baseline), (self.baseline, self.new))
        )
        counts = [
            runs.of_groups(log.task for log in side.logs)
            for runs, side in zip(self.counts, (new, baseline), strict=True)
        ]
        return Sides(new, baseline, (counts[0], counts[1]))

    def _scores(self, new: Sequence[TaskLog], options: "GateDesign", plugins: Plugins) -> list[ComparedScore]:
        """The comparisons; those of metrics with a margin of their own are last."""
        others = {data.metric for log in (*new, *self.baseline.logs) for data in log.data} - set(options.margins)
        families = [(others, options.compare.margin), *(({name}, margin) for name, margin in options.margins.items())]
        labels = options.labels
        of_labels = {labels.source} if labels is not None and isinstance(labels.source, str) else set()
        scores: list[ComparedScore] = []
        for metrics, margin in families:
            kept = (metrics | of_labels) if options.margins else None
            a, b = (
                _side(side, logs, kept, options, plugins)
                for side, logs in ((self.new, new), (self.baseline, self.baseline.logs))
            )
            if options.margins and not (a.chosen and b.chosen):
                continue
            how = replace(options.compare, margin=margin)
            matched: dict[ScoreKey, MatchedScore] = {}
            if labels is not None:
                rows = compare_with_labels((a, b), labels, how, plugins)
            else:
                rows, matched = compare_sides(a, b, how, plugins, is_tested_at_margin=False, pools_tasks=True)
            scores += [
                ComparedScore(row, options.improvement_of(row.task, row.metric), matched.get(row.key)) for row in rows
            ]
        return [self._with_runs(one, options.compare.level, plugins) for one in scores]

    def _with_runs(self, compared: ComparedScore, level: float, plugins: Plugins) -> ComparedScore:
        """The comparison with the variation between runs in its interval, probabilities and verdict."""
        row = compared.row
        if row.posterior is None or row.difference is None:
            return compared
        of_new, of_baseline = (
            runs.variation(row.key, side, plugins)
            for runs, side in zip(self.counts, (self.new, self.baseline), strict=True)
        )
        known = [one for one in (of_new, of_baseline) if one is not None]
        if not known:
            return compared
        n_runs = (of_new.df + 1 if of_new else 1, of_baseline.df + 1 if of_baseline else 1)
        over_runs = DistributionOverRuns(row.posterior, pooled_variation(known), n_runs)
        plain, (low, high) = row.difference.value, over_runs.interval(level)
        low, high = min(low, plain), max(high, plain)
        difference = Difference(plain, over_runs.sd, Interval(low, high, level, row.difference.interval.kind))
        changed = replace(
            with_difference(row, difference),
            prob_noninferior=prob_advantage(row, -row.margin, over_runs),
            prob_positive=None if row.prob_positive is None else 1.0 - float(over_runs.cdf(0.0)),
            minimum_detectable_effect=None,
        )
        return replace(compared, row=changed, over_runs=over_runs)


def _side(
    side: Side, logs: Sequence[TaskLog], metrics: Set[str] | None, options: "GateDesign", plugins: Plugins
) -> Side:
    """A side with other logs of the same system, of some metrics or of all."""
    if metrics is not None:
        logs = [replace(log, data=tuple(data for data in log.data if data.metric in metrics)) for log in logs]
    used = tuple(with_best_evidence(logs, plugins, options.compare.structure))
    return Side(side.system, used, select_runs(used).get(side.system, {}), tuple(logs))


def with_groups(
    side: Side, options: "GateDesign", plugins: Plugins, *, others: Iterable[TaskLog] = (), only_groups: bool = False
) -> Side:
    """The side with the groups of questions as further tasks, or as the only tasks.

    `others`: logs of the other side.
    """
    if not options.by:
        return side
    groups = split_by(side.logs, options.by, options.compare.structure, plugins, others)
    return side.with_logs(groups if only_groups else [*side.logs, *groups])


def groups_of_one_side(new: Side, baseline: Side, fields: Sequence[str]) -> Iterator[Message]:
    """Yield a warning for each field with groups of questions that only one of the sides has, on tasks of both."""
    sides = [[log for log in side.logs if not log.subtasks] for side in (new, baseline)]
    tasks = set.intersection(*({log.task for log in logs} for logs in sides))
    for name in fields:
        of_new, of_baseline = (
            dict.fromkeys(
                (log.task, label)
                for log, groups in divided_logs(logs, name, others)[0]
                for label in groups.labels
                if log.task in tasks
            )
            for logs, others in (sides, sides[::-1])
        )
        alone = dict.fromkeys(one[1] for one in (*of_new, *of_baseline) if one not in of_new or one not in of_baseline)
        if alone:
            yield GROUPS_OF_ONE_SYSTEM(n_groups=len(alone), field=name, groups=list(alone))


def _options_of_groups(options: "GateDesign", groups: Iterable[TaskLog]) -> "GateDesign":
    """The options with the margin and the required improvement of each task for its groups."""
    names = [log.task for log in groups]
    margins = with_values_of_groups(options.compare.margins, names)
    improve_by = with_values_of_groups(options.improve_by, names)
    return replace(options, compare=replace(options.compare, margins=margins), improve_by=improve_by)


def _overall_comparison(
    new: Sequence[TaskLog], baseline: Sequence[TaskLog], options: "GateDesign", plugins: Plugins
) -> Comparison:
    """Compare the overall scores of two systems, with the margin of the task `overall`.

    A decision at alpha is that of the interval at level 1 - alpha. If the posterior of the difference is unknown, the
    error counts as normal with the standard deviation of the interval. Raises DataError if there are fewer than two
    tasks, and NotEstimableError if there is no overall result, for the reason that its message gives.
    """
    result = compare_overall(new, baseline, options.compare, plugins)
    if result is None:
        raise DataError("an overall decision requires at least two tasks")
    if not result.differences:
        raise NotEstimableError(result.reason or "There is no overall result")
    (one,) = result.differences
    names = one.system, result.baseline or ""
    a, b = ({system.system: system for system in result.systems}[name] for name in names)
    metrics = dict.fromkeys((task.metric, task.filter) for task in result.tasks)
    metric, filter_name = next(iter(metrics)) if len(metrics) == 1 else ("mean of tasks", "none")
    interval = one.single_interval
    normal = interval.width / 2 / NormalDist().inv_cdf((1 + interval.level) / 2)
    std_error = normal if one.posterior is None else std_error_of(one.posterior)
    row = Comparison(
        task=OVERALL,
        metric=metric,
        filter=filter_name,
        system_a=names[0],
        system_b=names[1],
        scope=options.compare.scope,
        method="overall",
        value_a=a.value,
        value_b=b.value,
        difference=Difference(one.value, std_error, interval),
        verdict=one.single_verdict,
        verdict_corrected=one.single_verdict,
        verdict_text=one.verdict_text,
        prob_positive=one.prob_better if result.higher_is_better else 1 - one.prob_better,
        n_matched=a.n_questions,
        margin=options.compare.margin_of(OVERALL),
        higher_is_better=result.higher_is_better,
        posterior=one.posterior,
        messages=result.messages,
    )
    is_known = one.posterior is not None or std_error > 0
    return replace(row, prob_noninferior=prob_advantage(row, -row.margin) if is_known else None)
