"""Comparisons of a gate: each score with its margin or required improvement, and the variation between runs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

from harness_uq.comparison.compare import compare
from harness_uq.comparison.sides import Side
from harness_uq.comparison.verdicts import VerdictInputs, verdict_of
from harness_uq.data.selection import select_runs
from harness_uq.data.task_log import TaskLog
from harness_uq.estimation.split_groups import split_by, with_values_of_groups
from harness_uq.gating.overall_row import overall_comparison
from harness_uq.gating.repeated_runs import RunCounts
from harness_uq.messages.catalogue.breakdown import GROUPS_OF_ONE_SYSTEM
from harness_uq.messages.message import Message
from harness_uq.options import OVERALL
from harness_uq.plugins.manager import Plugins
from harness_uq.results.comparison import Comparison, Difference
from harness_uq.results.estimate import Interval
from harness_uq.stats.pairs.run_variation import DistributionOverRuns, pooled_variation
from harness_uq.structure.question_groups import divided_logs

if TYPE_CHECKING:
    from harness_uq.gating.gate import GateDesign


def is_exact(row: Comparison) -> bool:
    """Whether the questions are independent, have equal weights and one right-or-wrong answer each."""
    return row.table is not None and row.method in ("dirichlet", "latent-normal")


@dataclass(frozen=True, slots=True, eq=False)
class ComparedScore:
    """A comparison and what is required of it.

    Attributes
    ----------
    row : comparison of the new system (A) with the baseline (B)
    improve_by : required improvement; None if the new system must not be worse by more than the margin
    is_group : whether the questions are a group of those of a task
    over_runs : the difference with the variation between runs; None if each system has one run
    """

    row: Comparison
    improve_by: float | None = None
    is_group: bool = False
    over_runs: DistributionOverRuns | None = None

    def prob_better_than(self, threshold: float) -> float:
        """Probability that the advantage of the new system exceeds a threshold."""
        distribution = self.over_runs or self.row.posterior
        if distribution is None:
            one = self.row.difference
            if one is None or not one.std_error > 0:
                return float("nan")
            sign = 1 if self.row.higher_is_better else -1
            return NormalDist().cdf((sign * one.value - threshold) / one.std_error)
        if self.row.higher_is_better:
            return 1.0 - float(distribution.cdf(threshold))
        return float(distribution.cdf(-threshold))


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """The logs that a gate compares.

    Attributes
    ----------
    new, baseline : the sides
    counts : numbers of runs of the new system and of the baseline
    """

    new: Side
    baseline: Side
    counts: tuple[RunCounts, RunCounts] = (RunCounts(), RunCounts())

    def compared(self, new: Sequence[TaskLog], options: "GateDesign", plugins: Plugins) -> list[ComparedScore]:
        """Compare logs of the new system with the baseline."""
        if options.overall:
            row = overall_comparison(new, self.baseline.logs, options.compare, plugins)
            return [ComparedScore(row, options.improvement_of(row.task, row.metric))]
        rows = self._rows(new, options, plugins)
        if not options.by:
            return rows
        groups = self._divided(options, plugins)
        parts = split_by(new, options.by, options.compare.structure, plugins, self.baseline.logs)
        of_groups = groups._rows(parts, _options_of_groups(options, parts), plugins)
        return [*rows, *(replace(one, is_group=True) for one in of_groups if one.row.task != OVERALL)]

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

    def _rows(self, new: Sequence[TaskLog], options: "GateDesign", plugins: Plugins) -> list[ComparedScore]:
        return [
            self._with_runs(ComparedScore(row, options.improvement_of(row.task, row.metric)), options, plugins)
            for row in _comparisons(new, self.baseline.logs, options, plugins)
        ]

    def _with_runs(self, compared: ComparedScore, options: "GateDesign", plugins: Plugins) -> ComparedScore:
        row = compared.row
        if row.posterior is None:
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
        return _with_over_runs(compared, over_runs, options.compare.level)


def with_groups(
    side: Side, options: "GateDesign", plugins: Plugins, *, others: Iterable[TaskLog] = (), only_groups: bool = False
) -> Side:
    """The side with the groups of questions as further tasks, or as the only tasks.

    Parameters
    ----------
    others : logs of the other side
    """
    if not options.by:
        return side
    groups = split_by(side.logs, options.by, options.compare.structure, plugins, others)
    logs = (*(() if only_groups else side.logs), *groups)
    return replace(side, logs=logs, chosen=select_runs(logs)[side.system])


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


def _with_over_runs(compared: ComparedScore, over_runs: DistributionOverRuns, level: float) -> ComparedScore:
    """The comparison with the variation between runs in its interval, probabilities and verdict."""
    row = compared.row
    if row.difference is None:
        return compared
    plain, (low, high) = row.difference.value, over_runs.interval(level)
    low, high = min(low, plain), max(high, plain)
    with_runs = replace(compared, over_runs=over_runs)
    ends = (low, high) if row.higher_is_better else (-high, -low)
    verdict, text = verdict_of(VerdictInputs(*ends, row.system_a, row.system_b, row.margin, in_points=row.in_points))
    changed = replace(
        row,
        difference=Difference(plain, over_runs.sd, Interval(low, high, level, row.difference.interval.kind)),
        prob_noninferior=with_runs.prob_better_than(-row.margin),
        prob_positive=None if row.prob_positive is None else 1.0 - float(over_runs.cdf(0.0)),
        p_value=None,
        verdict=verdict,
        verdict_text=text,
        verdict_adjusted=None,
        verdict_p_adjusted=None,
        next_step="",
        n_additional_questions=None,
        minimum_detectable_effect=None,
    )
    return replace(with_runs, row=changed)


def _comparisons(
    new: Sequence[TaskLog], old: Sequence[TaskLog], options: "GateDesign", plugins: Plugins
) -> list[Comparison]:
    """Comparisons, those of metrics with a margin of their own last."""
    parts = [({metric}, margin) for metric, margin in options.margins.items()]
    own = set(options.margins)
    rest = {data.metric for log in (*new, *old) for data in log.data} - own
    source, shift = (options.labels.source, options.labels.max_shift) if options.labels else (None, 0.0)
    of_labels = {source} if isinstance(source, str) else set()
    rows: list[Comparison] = []
    for metrics, margin in [(rest, options.compare.margin), *parts]:
        a, b = new, old
        if own:
            a, b = (
                [
                    replace(log, data=tuple(data for data in log.data if data.metric in metrics | of_labels))
                    for log in logs
                ]
                for logs in (new, old)
            )
        if not own or all(any(log.data for log in logs) for logs in (a, b)):
            compared = replace(options.compare, margin=margin)
            rows += compare(a, b, compared, labels=source, grader_shift=shift, plugins=plugins)
    return rows
