"""Require that scores of a system reach a bound, or do not exceed one.

A requirement is met if "the score is below the bound" is rejected at alpha, and violated if "the score is at least the
bound" is rejected after Holm's correction for all tests of the gate. For independent questions with one right-or-wrong
answer each, both tests are exact binomial tests. For other scores the p-value is twice the tail of the posterior
beyond the bound. Without a posterior, it is twice the normal tail at the distance of the bound from the score, where
the unit is the distance of the interval's limit on that side.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TypeAlias

from scipy import stats

from harness_uq.comparison.sides import Side
from harness_uq.data.selection import ScoreKey, SelectedRun
from harness_uq.errors import DataError, StructureError, unknown_name
from harness_uq.estimation.estimate import estimate
from harness_uq.gating.named_metrics import NAMED_METRICS
from harness_uq.messages.catalogue.comparison import BOUND_OUTSIDE_RANGE, REQUIREMENT_NOT_SELECTED
from harness_uq.options import Options
from harness_uq.plugins.manager import Plugins
from harness_uq.results.estimate import Estimate
from harness_uq.results.gate import Decision, RequirementKind, RequirementRow
from harness_uq.stats.pairs.run_variation import DistributionOverRuns, RunVariation

BINOMIAL_METHODS = frozenset({"beta", "totals"})
_WHOLE = 1e-9
_HEADLINES = ("acc_norm", "acc")
_POWER = 0.8
_PERCENT = 100

Bounds: TypeAlias = float | Mapping[str, float] | Mapping[str | None, float]


@dataclass(frozen=True, slots=True)
class Requirement:
    """A bound on the scores of tasks.

    Attributes
    ----------
    kind : `at_least` or `at_most`
    bound : in units of the score
    task : name or pattern of tasks; None for all tasks
    metric : metric, or `METRIC,FILTER`; None for the first metric of each task, or `acc_norm` if it has one
    """

    kind: RequirementKind
    bound: float
    task: str | None = None
    metric: str | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.bound):
            raise DataError(f"the bound of a requirement is a number; got {self.bound}")

    @classmethod
    def parse(cls, kind: RequirementKind, name: str | None, bound: float) -> "Requirement":
        """Requirement of a name `TASK`, `TASK:METRIC`, a resource such as `cost`, or None.

        In the name of a group, `TASK, FIELD: GROUP`, the colon is followed by a space.

        >>> Requirement.parse("at_least", "gsm8k:exact_match,strict-match", 0.8).metric
        'exact_match,strict-match'
        >>> Requirement.parse("at_least", "safety, language: de", 0.8).task
        'safety, language: de'
        """
        if name in NAMED_METRICS:
            return cls(kind, bound, None, name)
        task, _, metric = re.sub(r":(?! )", "\0", name or "", count=1).partition("\0")
        return cls(kind, bound, task or None, metric or None)

    def select(self, chosen: Mapping[ScoreKey, SelectedRun]) -> list[ScoreKey]:
        """Return the task, metric and filter of each score that the requirement refers to.

        Raises
        ------
        DataError : if it refers to no score
        """
        tasks = list(dict.fromkeys(task for task, _, _ in chosen))
        wanted = [task for task in tasks if self.task is None or fnmatchcase(task, self.task)]
        if not wanted:
            raise DataError(unknown_name("task of a requirement", str(self.task), tasks, plural="tasks"))
        return [self._score([key for key in chosen if key[0] == task]) for task in wanted]

    def _score(self, offered: Sequence[ScoreKey]) -> ScoreKey:
        if self.metric is None:
            return min(offered, key=lambda key: _HEADLINES.index(key[1]) if key[1] in _HEADLINES else len(_HEADLINES))
        metric, _, filter_name = self.metric.partition(",")
        matching = [key for key in offered if key[1] == metric and filter_name in ("", key[2])]
        if not matching:
            raise DataError(
                unknown_name("metric of a requirement", self.metric, [key[1] for key in offered], plural="metrics")
            )
        return matching[0]


def requirements_of(at_least: Bounds | None, at_most: Bounds | None) -> tuple[Requirement, ...]:
    """The requirements of bounds that are one number, or numbers by `TASK` or `TASK:METRIC`."""
    given: tuple[tuple[RequirementKind, Bounds | None], ...] = (("at_least", at_least), ("at_most", at_most))
    return tuple(
        Requirement.parse(kind, name, bound)
        for kind, bounds in given
        for name, bound in (bounds if isinstance(bounds, Mapping) else {} if bounds is None else {None: bounds}).items()
    )


@dataclass(frozen=True, slots=True)
class BoundPValues:
    """p-values of "the score is at least the bound" (`below`) and of "the score is at most the bound" (`above`)."""

    below: float
    above: float

    def violated(self, kind: RequirementKind) -> float:
        """p-value of the hypothesis that the requirement is met."""
        return self.below if kind == "at_least" else self.above

    def met(self, kind: RequirementKind) -> float:
        """p-value of the hypothesis that the requirement is violated."""
        return self.above if kind == "at_least" else self.below


def bound_p_values(row: Estimate, bound: float, over_runs: DistributionOverRuns | None = None) -> BoundPValues | None:
    """Return the p-values of one-sided tests of a score against a bound; None if the score is not estimable.

    `over_runs` is the distribution of the score if the system has several runs.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404-413, for the exact binomial tests.
    """
    if row.interval is None or row.value is None:
        return None
    if over_runs is None and (counts := _binomial_counts(row)) is not None:
        right, n = counts
        rate = min(max(bound, 0.0), 1.0)
        return BoundPValues(float(stats.binom.cdf(right, n, rate)), float(stats.binom.sf(right - 1, n, rate)))
    distribution = over_runs or row.posterior
    if distribution is not None:
        below = float(distribution.cdf(bound))
        return BoundPValues(min(2 * (1 - below), 1.0), min(2 * below, 1.0))
    below = float(
        stats.norm.cdf(_standardized(bound, row.value, row.interval.low, row.interval.high, row.interval.level))
    )
    return BoundPValues(min(2 * (1 - below), 1.0), min(2 * below, 1.0))


def _binomial_counts(row: Estimate) -> tuple[int, int] | None:
    """Numbers of right answers and of questions; None if the score is not a share of independent questions."""
    if row.method not in BINOMIAL_METHODS or row.estimand != "mean" or not row.n_questions or row.value is None:
        return None
    right = row.value * row.n_questions
    return (round(right), row.n_questions) if abs(right - round(right)) <= _WHOLE * row.n_questions else None


def _standardized(bound: float, value: float, low: float, high: float, level: float) -> float:
    """Distance of the bound from the value in standard errors, taken from the interval's limit on the same side."""
    limit = high if bound >= value else low
    if limit == value:
        return math.copysign(math.inf, bound - value) if bound != value else 0.0
    return (bound - value) / abs(limit - value) * float(stats.norm.isf((1 - level) / 2))


def n_to_decide(row: Estimate, bound: float, *, alpha: float, power: float) -> int | None:
    """Number of further questions with which a true score equal to the observed one is decided; None if unknown.

    It follows from the normal approximation n = (z_alpha + z_power)^2 variance / (score - bound)^2.
    """
    if row.value is None or not row.std_error or not row.n_questions or row.value == bound:
        return None
    variance = row.n_questions * row.std_error**2
    quantiles = float(stats.norm.isf(alpha) + stats.norm.isf(1 - power))
    return max(math.ceil(quantiles**2 * variance / (row.value - bound) ** 2) - row.n_questions, 0)


def _newest_estimates(rows: Iterable[Estimate], chosen: Mapping[ScoreKey, SelectedRun]) -> dict[ScoreKey, Estimate]:
    """Return the estimate of the selected run for each task, metric and filter."""
    return {row.key: row for row in rows if row.key in chosen and row.source == chosen[row.key].log.source}


@dataclass(frozen=True, slots=True, eq=False)
class RequiredScore:
    """A score with a bound.

    Attributes
    ----------
    requirement : the bound
    row : estimate of the score
    over_runs : distribution of the score over runs; None if the system has one run
    """

    requirement: Requirement
    row: Estimate
    over_runs: DistributionOverRuns | None = None

    def with_runs(self, variation: RunVariation | None) -> "RequiredScore":
        """The score with the variation between runs in its interval; unchanged if the system has one run."""
        row = self.row
        if variation is None or row.posterior is None or row.interval is None:
            return self
        over_runs = DistributionOverRuns(row.posterior, variation, (variation.df + 1,))
        low, high = over_runs.interval(row.interval.level)
        if row.structure is not None and row.structure.bounds is not None:
            low, high = max(low, row.structure.bounds[0]), min(high, row.structure.bounds[1])
        interval = replace(row.interval, low=low, high=high)
        return replace(self, row=replace(row, interval=interval, std_error=over_runs.sd), over_runs=over_runs)


def required_scores(
    new: Side, requirements: Sequence[Requirement], compared: Options, plugins: Plugins
) -> list[RequiredScore]:
    """Each requirement with the estimate of each score that it refers to.

    Raises
    ------
    DataError : if a requirement refers to no score
    StructureError : if a bound lies outside the range of the scores
    """
    keys = [(requirement, key) for requirement in requirements for key in requirement.select(new.chosen)]
    if not keys:
        return []
    rows = _newest_estimates(estimate(new.logs, compared.estimation, plugins=plugins), new.chosen)
    required = [RequiredScore(requirement, rows[key]) for requirement, key in keys]
    for one in required:
        _check_bound(one.requirement.bound, one.row)
    return required


def _check_bound(bound: float, row: Estimate) -> None:
    """Check that a score can lie on both sides of the bound.

    Raises
    ------
    StructureError : if it cannot; the message suggests the bound that was probably intended
    """
    bounds = (0.0, 1.0) if row.method in BINOMIAL_METHODS else row.structure.bounds if row.structure else None
    if bounds is None or bounds[0] <= bound <= bounds[1]:
        return
    scaled = bound / _PERCENT
    suggestion = f" Did you mean {scaled:g}?" if bounds[0] <= scaled <= bounds[1] else ""
    raise StructureError(
        BOUND_OUTSIDE_RANGE(
            bound=bound, metric=row.metric, task=row.task, low=bounds[0], high=bounds[1], suggestion=suggestion
        )
    )


def check_selected(option: str, named: Iterable[str], selected: Iterable[str]) -> None:
    """Check that a selection of tasks contains the tasks that an option names.

    Parameters
    ----------
    option : for the message
    named : names or patterns of tasks, or names of groups of questions `TASK, FIELD: GROUP`
    selected : the selected tasks

    Raises
    ------
    DataError : if the selection does not contain one of them
    """
    tasks = sorted(set(selected))
    for name in named:
        if not any(fnmatchcase(task, name) or name.startswith(f"{task}, ") for task in tasks):
            raise DataError(REQUIREMENT_NOT_SELECTED(option=option, task=name, selected=tasks))


def requirement_row(
    required: RequiredScore, p: BoundPValues | None, adjusted: float | None, alpha: float
) -> RequirementRow:
    """Return the decision on a requirement, given its p-values and the adjusted p-value of a violation."""
    requirement, row = required.requirement, required.row
    p_met = None if p is None else p.met(requirement.kind)
    decision: Decision = "undecided"
    if adjusted is not None and adjusted <= alpha:
        decision = "fail"
    elif p_met is not None and p_met <= alpha:
        decision = "pass"
    # the number is known only if nothing but the questions varies
    is_open = decision == "undecided" and required.over_runs is None
    n = n_to_decide(row, requirement.bound, alpha=alpha, power=_POWER) if is_open else None
    unadjusted = None if p is None else p.violated(requirement.kind)
    return RequirementRow(row, requirement.kind, requirement.bound, decision, p_met, adjusted, unadjusted, n)
