"""Decisions on the scores of a gate from the p-values of all its tests, and what the data could have shown."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from scipy import optimize, special

from harness_uq.comparison.compare import OVERALL
from harness_uq.data.selection import ScoreKey
from harness_uq.errors import NotEstimableError
from harness_uq.gating.compared_scores import ComparedScore, is_exact
from harness_uq.gating.requirements import RequiredScore, bound_p_values, requirement_row
from harness_uq.results.comparison import Comparison, Difference
from harness_uq.results.gate import Decision, GateRow, RequirementRow
from harness_uq.stats.design.power import detection_power, minimum_detectable_effect, required_questions
from harness_uq.stats.pairs.exact_noninferiority import noninferiority_test
from harness_uq.stats.pairs.multiple_testing import holm
from harness_uq.stats.pairs.run_variation import DistributionOverRuns, Normal, RunVariation

POWER = 0.8
_MOST_RUNS = 50
_MOST_QUESTIONS = 100.0  # times the number of questions

Decided: TypeAlias = tuple[tuple[GateRow, ...], tuple[RequirementRow, ...]]


@dataclass(frozen=True, slots=True)
class PValues:
    """p-values of "the requirement is met" (`met`) and of "it is violated" (`violated`).

    The new system fails if `met` is rejected, and passes if `violated` is.
    """

    met: float
    violated: float


def p_values(compared: ComparedScore) -> PValues | None:
    """p-values of a comparison; None if its difference is not estimable."""
    row, required = compared.row, compared.improve_by
    if row.prob_noninferior is None:
        return None
    if compared.over_runs is not None:
        prob_met = compared.prob_better_than(-row.margin if required is None else required)
        return PValues(prob_met, 1 - prob_met)
    if is_exact(row):
        return _exact(row, required)
    prob_met = row.prob_noninferior if required is None else compared.prob_better_than(required)
    return PValues(min(2 * prob_met, 1.0), min(2 * (1 - prob_met), 1.0))


def _exact(row: Comparison, required: float | None) -> PValues | None:
    if row.table is None:
        return None
    both, only_a, only_b, neither = row.table.both_right, row.table.only_a, row.table.only_b, row.table.both_wrong
    won, lost = (only_a, only_b) if row.higher_is_better else (only_b, only_a)
    if required is None:
        test = noninferiority_test((both, won, lost, neither), row.margin)
        return PValues(test.p_inferior, test.p_noninferior)
    # the new system is better by more than the required improvement if the baseline is worse by more than it
    swapped = noninferiority_test((both, lost, won, neither), required)
    return PValues(swapped.p_noninferior, swapped.p_inferior)


def decided_rows(compared: Sequence[ComparedScore], required: Sequence[RequiredScore], alpha: float) -> Decided:
    """Decide on all scores and bounds; failures are corrected by Holm's method for all of them."""
    p = [p_values(one) for one in compared]
    p_required = [bound_p_values(one.row, one.requirement.bound, one.over_runs) for one in required]
    tested = [values.met for values in p if values is not None]
    tested += [
        values.violated(one.requirement.kind)
        for one, values in zip(required, p_required, strict=True)
        if values is not None
    ]
    adjusted = iter(holm(tested).tolist() if tested else [])
    pooled = {
        (one.row.metric, one.row.filter)
        for one in compared
        if one.row.task == OVERALL and one.row.prob_noninferior is not None
    }
    rows = tuple(
        _row(one, values, None if values is None else next(adjusted), alpha, pooled)
        for one, values in zip(compared, p, strict=True)
    )
    bounded = tuple(
        requirement_row(one, values, None if values is None else next(adjusted), alpha)
        for one, values in zip(required, p_required, strict=True)
    )
    return rows, bounded


def _row(
    compared: ComparedScore,
    p: PValues | None,
    adjusted: float | None,
    alpha: float,
    pooled: Iterable[tuple[str, str]],
) -> GateRow:
    row, runs = compared.row, compared.over_runs
    decision: Decision = "undecided"
    if adjusted is not None and adjusted <= alpha:
        decision = "fail"
    elif p is not None and p.violated <= alpha:
        decision = "pass"
    is_needed = row.task == OVERALL or (row.metric, row.filter) not in pooled
    return GateRow(
        row,
        decision,
        is_needed and not compared.is_group,
        adjusted,
        None if p is None else p.met,
        improve_by=compared.improve_by,
        n_new_runs=1 if runs is None else runs.n_runs[0],
        n_baseline_runs=1 if runs is None else runs.n_runs[1],
        std_error_questions=None if runs is None else runs.questions.sd,
        std_error_runs=None if runs is None else runs.run_sd,
    )


def whole_decision(rows: Sequence[GateRow], required: Sequence[RequirementRow], missing: Sequence[object]) -> Decision:
    """The decision of the gate."""
    decisions = [*(row.decision for row in rows), *(row.decision for row in required)]
    if "fail" in decisions:
        return "fail"
    needed = [*(row.decision for row in rows if row.is_needed), *(row.decision for row in required)]
    return "pass" if not missing and all(decision == "pass" for decision in needed) else "undecided"


@dataclass(frozen=True, slots=True)
class PowerInputs:
    """What the power of a gate depends on, besides each comparison.

    Attributes
    ----------
    alpha : largest probability of a false failure
    n_tested : number of tests
    can_plan : whether further questions can be planned
    worst : p-values of the worst possible scores
    """

    alpha: float
    n_tested: int
    can_plan: bool
    worst: Mapping[ScoreKey, PValues | None]

    @property
    def strict(self) -> float:
        """The level at the first and strictest step of Holm's method."""
        return self.alpha / max(self.n_tested, 1)


def with_power(row: GateRow, over_runs: DistributionOverRuns | None, inputs: PowerInputs) -> GateRow:
    """Add what the data could show: of an equally good system, and at the strictest step of Holm's procedure."""
    one = row.comparison
    p_worst = inputs.worst.get(one.key)
    row = replace(row, can_fail=None if p_worst is None else p_worst.met <= inputs.strict)
    if one.difference is None or not one.difference.std_error > 0:
        return row
    if row.improve_by is not None:
        is_open = row.decision == "undecided" and over_runs is None and inputs.can_plan
        return replace(row, n_additional_questions=_n_for_improvement(row, one.difference, inputs) if is_open else None)
    if over_runs is not None:
        return _with_power_over_runs(row, over_runs, inputs)
    tails = 1 if is_exact(one) else 2
    level, variance = 1 - inputs.alpha / tails, one.difference.std_error**2
    passing = float(detection_power(one.margin, 1, variance, level=level, alternative="one-sided"))
    strictest = 1 - inputs.strict / tails
    drop = float(minimum_detectable_effect(1, variance, level=strictest, power=POWER, alternative="one-sided"))
    return replace(
        row,
        power_to_pass=passing,
        minimum_failing_drop=one.margin + drop,
        n_additional_questions=_n_additional(one, one.margin, level) if passing < POWER and inputs.can_plan else None,
    )


def _n_additional(comparison: Comparison, distance: float, level: float) -> int | None:
    """Number of additional questions that show with 80 % power that a difference is not zero; None if unknown."""
    is_identical = comparison.identical_runs_note is not None
    if not distance > 0 or comparison.n_matched is None or comparison.difference is None or is_identical:
        return None
    variance = comparison.n_matched * comparison.difference.std_error**2
    try:
        needed = required_questions(distance, variance, level=level, power=POWER, alternative="one-sided")
    except NotEstimableError:
        return None  # the distance is too small to be shown with any number of questions
    return max(int(needed) - comparison.n_matched, 0)


def _n_for_improvement(row: GateRow, difference: Difference, inputs: PowerInputs) -> int | None:
    """Number of additional questions that decide about an improvement if the observed one is the true one."""
    sign = 1 if row.comparison.higher_is_better else -1
    distance = abs(sign * difference.value - (row.improve_by or 0.0))
    return _n_additional(row.comparison, distance, 1 - inputs.alpha / (1 if is_exact(row.comparison) else 2))


def _with_power_over_runs(row: GateRow, over_runs: DistributionOverRuns, inputs: PowerInputs) -> GateRow:
    margin = row.comparison.margin
    power = _PowerOverRuns.of(over_runs, margin, inputs.alpha)
    strict = over_runs.mean - float(over_runs.quantile(inputs.strict))
    row = replace(
        row,
        power_to_pass=power.to_pass(),
        minimum_failing_drop=margin + strict + float(special.ndtri(POWER)) * over_runs.sd,
    )
    if row.decision != "undecided" or power.to_pass() >= POWER:
        return row
    n = row.comparison.n_matched
    factor = power.question_factor()
    more = None if n is None or factor is None else math.ceil(n * (factor - 1))
    return replace(row, n_additional_runs=power.additional_runs(), n_additional_questions=more)


@dataclass(frozen=True, slots=True)
class _PowerOverRuns:
    """Probability that an equally good system passes, by the normal approximation of the observed difference."""

    runs: RunVariation
    n_runs: tuple[int, ...]
    question_sd: float
    margin: float
    alpha: float

    @classmethod
    def of(cls, over_runs: DistributionOverRuns, margin: float, alpha: float) -> "_PowerOverRuns":
        return cls(over_runs.runs, over_runs.n_runs, over_runs.questions.sd, margin, alpha)

    def to_pass(self, n_baseline: int | None = None, factor: float = 1.0) -> float:
        """The power with this number of runs of the baseline, and this multiple of the questions."""
        n_new, n_now = self.n_runs
        n_runs = (n_new, n_baseline or n_now)
        noise = self.runs.trial_variance / factor
        mean_square = max(self.runs.run_variance + noise, self.runs.mean_square / factor)
        expected = RunVariation(self.runs.df + n_runs[1] - n_now, mean_square, noise)
        distribution = DistributionOverRuns(Normal(0.0, self.question_sd / factor**0.5), expected, n_runs)
        critical = -float(distribution.quantile(self.alpha))
        return float(special.ndtr((self.margin - critical) / distribution.sd))

    def additional_runs(self) -> int | None:
        """Number of further runs for a power of 80 %; None if 50 runs do not suffice."""
        numbers = range(self.n_runs[1] + 1, _MOST_RUNS + 1)
        needed = bisect_left(numbers, POWER, key=self.to_pass)
        return numbers[needed] - self.n_runs[1] if needed < len(numbers) else None

    def question_factor(self) -> float | None:
        """Multiple of the questions for a power of 80 %; None if 100 times as many do not suffice."""
        if self.to_pass(factor=_MOST_QUESTIONS) < POWER:
            return None
        return float(
            optimize.brentq(lambda factor: self.to_pass(factor=factor) - POWER, 1.0, _MOST_QUESTIONS, rtol=1e-3)
        )
