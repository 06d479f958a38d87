"""Decide whether a system is worse than a baseline by more than a margin, and whether its scores keep to bounds.

A score fails if Holm's procedure over all scores rejects "not worse by more than the margin" at alpha = 1 - level. It
passes if "worse by at least the margin" is rejected at alpha. Required bounds of scores are tested in the same way, and
Holm's procedure covers them too. The gate fails if any test fails, so that it fails with probability at most alpha if
no score is worse by more than the margin and every bound is kept. It passes if every required score and every bound
passes, which needs no correction (an intersection-union test, Berger 1982).

For independent questions with one right-or-wrong answer each, both tests are exact and unconditional (Hsueh, Liu and
Chen 2001). For all other scores the p-value is twice the tail of the posterior of the difference beyond the margin: a
posterior tail is an error rate on average only, and an interval of level 1 - alpha has the tail alpha / 2. An exact
test at alpha decides like an interval of level 1 - 2 alpha, that is 90 % for a level of 95 %.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from harness_uq.comparison.build_rows import DifferenceKeywords
from harness_uq.comparison.compare import OVERALL, CompareOptions, compare
from harness_uq.comparison.judge_correction import HumanLabels
from harness_uq.comparison.sides import Side, common_keys
from harness_uq.data.task_log import TaskLog
from harness_uq.errors import DataError
from harness_uq.estimation.auxiliary_data import human_labels, selection_with_labels
from harness_uq.gating.missing_scores import with_missing_scores
from harness_uq.gating.overall_row import overall_comparison
from harness_uq.gating.requirements import (
    Bounds,
    Requirement,
    bound_p_values,
    required_scores,
    requirement_row,
    requirements_of,
)
from harness_uq.gating.sides import worst_logs
from harness_uq.messages.catalogue.comparison import UNKNOWN_MARGIN_METRIC
from harness_uq.overall.options import OverallOptions
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.runs import Runs
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.gate import Decision, Gate, GateRow, RequirementRow, ScoreName
from harness_uq.stats.design.power import detection_power, minimum_detectable_effect, required_questions
from harness_uq.stats.pairs.exact_noninferiority import noninferiority_test
from harness_uq.stats.pairs.multiple_testing import holm
from harness_uq.structure.option_keywords import ScoreKeywords, options_with, selection_of

if TYPE_CHECKING:
    from pathlib import Path

    from harness_uq.io.human_labels import Label

_POWER = 0.8


@dataclass(frozen=True, slots=True)
class GateOptions:
    """Options of a gate.

    Attributes
    ----------
    compare : options of the comparisons; their `margin` applies to metrics that `margins` does not name
    margins : smallest drop that matters by metric, >= 0
    requirements : bounds on scores of the new system
    overall : how the tasks are combined if only their overall result decides; None if each score does. Requirements
        apply in both cases
    labels : human labels that correct the scores of a grader in the comparisons
    """

    compare: CompareOptions
    margins: Mapping[str, float] = field(default_factory=dict)
    requirements: tuple[Requirement, ...] = ()
    overall: OverallOptions | None = None
    labels: HumanLabels | None = None

    def __post_init__(self) -> None:
        if self.labels and (self.overall or self.requirements):
            raise DataError("a gate with human labels supports neither bounds of scores nor an overall result")
        if wrong := [margin for margin in self.margins.values() if not margin >= 0]:
            raise DataError(f"a margin is the smallest drop that matters and not negative; got {wrong[0]}")

    @property
    def alpha(self) -> float:
        """Largest probability of a false failure, and of a false pass: 1 - level."""
        return 1 - self.compare.level

    def without_policies(self) -> "GateOptions":
        """These options for logs to which the policies for missing scores have been applied."""
        return replace(self, compare=replace(self.compare, structure=self.compare.structure.without_policies))


class GateKeywords(ScoreKeywords, DifferenceKeywords, total=False):
    """Options of `gate` and `self_test`."""

    margins: Mapping[str, float]


def gate(
    new: Runs,
    baseline: "Runs | None" = None,
    options: GateOptions | None = None,
    *,
    at_least: Bounds | None = None,
    at_most: Bounds | None = None,
    overall: OverallOptions | None = None,
    labels: "str | Path | Sequence[Label] | None" = None,
    grader_shift: float = 0.1,
    plugins: Plugins | None = None,
    **keywords: Unpack[GateKeywords],
) -> Gate:
    """Decide whether a system is worse than a baseline by more than a margin, and whether its scores keep to bounds.

    Parameters
    ----------
    new, baseline : runs of one system each: paths or results in memory, as for `read_logs`. Without a baseline, only
        bounds are tested
    options : margins, bounds and options of the comparisons
    at_least, at_most : bounds of the new system's scores, for all tasks, or by `TASK` or `TASK:METRIC`, where TASK may
        be a pattern. Without a metric, the bound applies to the first metric of the task, or `acc_norm` if it has one.
        They take precedence over the bounds in `options`
    overall : decide only by the overall result of the tasks, combined in this way, with the margin of `overall`
    labels, grader_shift : human labels that correct the scores of a grader, as for `compare`. Every task must then pass
    plugins : plugins to use; by default the installed ones
    **keywords : options with the names of the command line: `margin` (and `margins` by task or metric), `level`,
        `scope`, `seed`, `cluster`, `range`, `use_samples`, `task`, `metric`, `filter` and `model`; also `method`
        and `power` as for `compare`. They take precedence over `options`

    Raises
    ------
    LogError : if a path gives no log
    DataError : if there is neither a baseline nor a bound, or a baseline without a margin; if one argument holds
        several systems; or if a margin or a bound names a task or metric that does not exist
    NotEstimableError : if the two have no task and metric in common
    TypeError : if an option does not exist
    """
    offered = plugins or load_plugins()
    named = [(new, "the new system"), *([] if baseline is None else [(baseline, "the baseline")])]
    chosen = gate_options(options, keywords, "gate", needs_margin=baseline is not None)
    if at_least is not None or at_most is not None:
        chosen = replace(chosen, requirements=requirements_of(at_least, at_most))
    if overall is not None:
        chosen = replace(chosen, overall=overall)
    if baseline is None and not chosen.requirements:
        raise DataError("gate requires a baseline, or a bound of a score such as at_least=0.8")
    selection = selection_with_labels(selection_of(keywords), labels)
    sides = [Side.read(runs, name, offered, chosen.compare.structure, selection) for runs, name in named]
    if labels is not None:
        source = human_labels(labels, [log for side in sides for log in side.logs])
        chosen = replace(chosen, labels=HumanLabels(source, grader_shift))
    settings = with_margins(chosen, keywords.get("margins"), [log for side in sides for log in side.logs])
    own, others = sides[0], sides[1:]
    both = own, others[0] if others else None
    decided = with_missing_scores(
        decide(*both, settings, offered),
        both,
        settings.compare,
        offered,
        partial(decide, options=settings, plugins=offered),
        lambda: _decide(_as_logged(own), _as_logged(both[1]) if both[1] else None, settings, offered),
        has_overall=settings.overall is not None,
    )
    settings = settings.without_policies()
    worst = worst_logs(own.logs, settings.compare.structure) if others and settings.labels is None else []
    rows = _compared(worst, others[0].logs, settings, offered) if worst else []
    can_fail = {(row.task, row.metric, row.filter): _p_values(row) for row in rows}
    n_tested = sum(row.adjusted_p is not None for row in decided.rows)
    n_tested += sum(row.adjusted_p is not None for row in decided.requirements)
    return replace(decided, rows=tuple(_with_power(row, can_fail, n_tested, settings) for row in decided.rows))


def gate_options(
    options: GateOptions | None, keywords: Mapping[str, Any], function: str, *, needs_margin: bool = True
) -> GateOptions:
    """The options, with those that are given as keywords replaced, except for `margins`.

    Raises
    ------
    DataError : if no margin is given
    TypeError : if an option does not exist
    """
    if needs_margin and options is None and not {"margin", "margins"} & keywords.keys():
        raise DataError(
            f"{function} requires a margin, the largest drop of a score that is allowed, such as margin=0.01"
        )
    given = options or GateOptions(CompareOptions())
    compared = options_with(given.compare, keywords, function)
    return replace(given, compare=replace(compared, margins=given.compare.margins))


def with_margins(options: GateOptions, margins: Mapping[str, float] | None, logs: Iterable[TaskLog]) -> GateOptions:
    """The options with other margins of single tasks and metrics; a name that is not a task is that of a metric."""
    if margins is None:
        return options
    tasks = {OVERALL, *(log.task for log in logs)}
    of_tasks = {name: margin for name, margin in margins.items() if name in tasks}
    of_metrics = {name: margin for name, margin in margins.items() if name not in tasks}
    return replace(options, compare=replace(options.compare, margins=of_tasks), margins=of_metrics)


def decide(new: Side, baseline: Side | None, options: GateOptions, plugins: Plugins) -> Gate:
    """The decision alone; without a baseline, on the requirements only.

    Raises
    ------
    DataError, NotEstimableError : as `gate`
    """
    return _decide(new, baseline, options.without_policies(), plugins)


def _as_logged(side: Side) -> Side:
    """The side before policies for missing scores were applied."""
    return replace(side, logs=side.logged)


def _decide(new: Side, baseline: Side | None, options: GateOptions, plugins: Plugins) -> Gate:
    rows = [] if baseline is None else _compared(new.logs, baseline.logs, options, plugins)
    if unknown := sorted(set(options.margins) - {row.metric for row in rows}):
        raise DataError(
            UNKNOWN_MARGIN_METRIC(metric=unknown[0], known=sorted({row.metric for row in rows}) or ["none"])
        )
    decided, required = _decided(
        rows, required_scores(new, options.requirements, options.compare, plugins), options.alpha
    )
    missing = () if baseline is None else _missing_scores(new, baseline)
    return Gate(_whole(decided, required, missing), options.alpha, decided, missing, required)


def _missing_scores(new: Side, baseline: Side) -> tuple[ScoreName, ...]:
    """Scores of the baseline that the new runs lack."""
    matched, _ = common_keys(new, baseline)
    there = {key for _, key in matched}
    return tuple(ScoreName(*key) for key in baseline.chosen if key not in there)


def _compared(
    new: Sequence[TaskLog], old: Sequence[TaskLog], options: GateOptions, plugins: Plugins
) -> list[Comparison]:
    """Comparisons, those of metrics with a margin of their own last; or the overall one alone."""
    if options.overall is not None:
        return [overall_comparison(new, old, options.overall, options.compare, plugins)]
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


@dataclass(frozen=True, slots=True)
class _PValues:
    """p-values of "not worse by more than the margin" (`inferior`) and of "worse by at least it" (`noninferior`)."""

    inferior: float
    noninferior: float


def _p_values(row: Comparison) -> _PValues | None:
    """p-values of a comparison; None if its difference is not estimable."""
    if row.prob_noninferior is None:
        return None
    if not _is_exact(row) or row.table is None:
        return _PValues(min(2 * row.prob_noninferior, 1.0), min(2 * (1 - row.prob_noninferior), 1.0))
    both, only_a, only_b, neither = row.table.both_right, row.table.only_a, row.table.only_b, row.table.both_wrong
    won, lost = (only_a, only_b) if row.higher_is_better else (only_b, only_a)
    test = noninferiority_test((both, won, lost, neither), row.margin)
    return _PValues(test.p_inferior, test.p_noninferior)


def _is_exact(row: Comparison) -> bool:
    """Whether the questions are independent, have equal weights and one right-or-wrong answer each."""
    return row.table is not None and row.method in ("dirichlet", "latent-normal")


def _decided(
    rows: Sequence[Comparison], required: Sequence[tuple[Requirement, Estimate]], alpha: float
) -> tuple[tuple[GateRow, ...], tuple[RequirementRow, ...]]:
    p = [_p_values(row) for row in rows]
    p_required = [bound_p_values(row, requirement.bound) for requirement, row in required]
    tested = [values.inferior for values in p if values is not None]
    tested += [
        values.violated(requirement.kind)
        for (requirement, _), values in zip(required, p_required, strict=True)
        if values is not None
    ]
    adjusted = iter(holm(tested).tolist() if tested else [])
    pooled = {(row.metric, row.filter) for row in rows if row.task == OVERALL and row.prob_noninferior is not None}
    compared = tuple(
        _decided_row(row, values, None if values is None else next(adjusted), alpha, pooled)
        for row, values in zip(rows, p, strict=True)
    )
    bounded = tuple(
        requirement_row(requirement, row, values, None if values is None else next(adjusted), alpha)
        for (requirement, row), values in zip(required, p_required, strict=True)
    )
    return compared, bounded


def _decided_row(
    row: Comparison, p: _PValues | None, adjusted: float | None, alpha: float, pooled: Iterable[tuple[str, str]]
) -> GateRow:
    decision: Decision = "undecided"
    if adjusted is not None and adjusted <= alpha:
        decision = "fail"
    elif p is not None and p.noninferior <= alpha:
        decision = "pass"
    return GateRow(row, decision, row.task == OVERALL or (row.metric, row.filter) not in pooled, adjusted)


def _whole(rows: Sequence[GateRow], required: Sequence[RequirementRow], missing: Sequence[object]) -> Decision:
    decisions = [*(row.decision for row in rows), *(row.decision for row in required)]
    if "fail" in decisions:
        return "fail"
    needed = [*(row.decision for row in rows if row.is_needed), *(row.decision for row in required)]
    return "pass" if not missing and all(decision == "pass" for decision in needed) else "undecided"


def _with_power(
    row: GateRow, worst: Mapping[tuple[str, str, str], _PValues | None], n_tested: int, options: GateOptions
) -> GateRow:
    """Add what the data could show: of an equally good system, and at the strictest step of Holm's procedure."""
    comparison, strict = row.comparison, options.alpha / max(n_tested, 1)
    p_worst = worst.get((comparison.task, comparison.metric, comparison.filter))
    can_fail = None if p_worst is None else p_worst.inferior <= strict
    if comparison.difference is None or not comparison.difference.std_error > 0:
        return replace(row, can_fail=can_fail)
    tails = 1 if _is_exact(comparison) else 2
    level, variance = 1 - options.alpha / tails, comparison.difference.std_error**2
    passing = float(detection_power(comparison.margin, 1, variance, level=level, alternative="one-sided"))
    strictest = 1 - strict / tails
    drop = float(minimum_detectable_effect(1, variance, level=strictest, power=_POWER, alternative="one-sided"))
    return replace(
        row,
        power_to_pass=passing,
        minimum_failing_drop=comparison.margin + drop,
        n_additional_questions=_n_additional(comparison, level) if passing < _POWER and not options.labels else None,
        can_fail=can_fail,
    )


def _n_additional(comparison: Comparison, level: float) -> int | None:
    """Number of additional questions with which an equally good system passes in 80 % of runs; None if unknown."""
    is_identical = comparison.identical_runs_note is not None
    if not comparison.margin or comparison.n_matched is None or comparison.difference is None or is_identical:
        return None
    variance = comparison.n_matched * comparison.difference.std_error**2
    needed = required_questions(comparison.margin, variance, level=level, power=_POWER, alternative="one-sided")
    return max(int(needed) - comparison.n_matched, 0)
