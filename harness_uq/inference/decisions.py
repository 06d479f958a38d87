"""Decide on hypotheses: which test gives a p-value, the correction for the family of tests, and the verdict.

A requirement, such as "not worse by more than the margin", has two null hypotheses. It fails if "the requirement is
met" is rejected with the correction for all hypotheses of the command. It passes if "the requirement is violated" is
rejected, without a correction (an intersection-union test, Berger 1982).

For independent questions with one right-or-wrong answer each, tests are exact: unconditional for a difference (Hsueh,
Liu and Chen 2001), binomial for a score (Clopper and Pearson 1934). For all other data a p-value is twice the tail of
the posterior, as an interval of level 1 - alpha has the tail alpha / 2 on each side. If a system has several runs, the
p-value is the tail of the distribution over runs. Without a posterior, it is twice the normal tail at the distance of
the bound from the score, where the unit is the distance of the interval's limit on that side.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from scipy import special

from harness_uq.data.arrays import FloatArray
from harness_uq.data.selection import ScoreKey
from harness_uq.inference.verdicts import VerdictInputs, verdict_sentence
from harness_uq.options import OVERALL
from harness_uq.results.comparison import Comparison, Difference, Verdict
from harness_uq.results.estimate import Estimate, Interval, Posterior
from harness_uq.results.gate import Decision, RequirementKind
from harness_uq.stats.pairs.exact_noninferiority import difference_limits, noninferiority_test
from harness_uq.stats.pairs.multiple_testing import Correction, adjust_p_values
from harness_uq.stats.pairs.run_variation import DistributionOverRuns
from harness_uq.stats.proportion.binomial import binomial_interval

BINOMIAL_METHODS = frozenset({"beta", "totals"})
_EXACT_METHODS = ("dirichlet", "latent-normal")
_WHOLE = 1e-9

Kind: TypeAlias = Literal["equal", "not_equivalent", "not_worse", "improves", "at_least", "at_most"]
Test: TypeAlias = Literal[
    "exact unconditional", "exact binomial", "posterior", "posterior and test", "over runs", "normal"
]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A requirement on a score or on a difference, and its p-values.

    `key`: task, metric and filter. `systems`: the system, or the two that are compared. `kind`: what is required.
    `bound`: margin, required improvement, or bound of the score. `p_met`: p-value of the null hypothesis that the
    requirement is met. `p_violated`: p-value of the null hypothesis that it is violated; None if this is not tested.
    """

    key: ScoreKey
    systems: tuple[str, ...]
    kind: Kind
    bound: float
    p_met: float
    p_violated: float | None
    test: Test


@dataclass(frozen=True, slots=True)
class Decided:
    """What the data show about a hypothesis.

    `p_met`, `p_violated`: as in `Hypothesis`; None if it is not tested. `adjusted_p`: `p_met`, adjusted for the family.
    `decision`: `fail` if the requirement is violated, `pass` if it is met, `undecided` if neither is shown.
    `decision_alone`: the same without the adjustment.
    """

    p_met: float | None
    p_violated: float | None
    adjusted_p: float | None
    decision: Decision
    decision_alone: Decision


@dataclass(frozen=True, slots=True)
class Family:
    """All hypotheses of a command; None stands for one that cannot be tested."""

    hypotheses: Sequence[Hypothesis | None]

    def decide(self, alpha: float, correction: Correction = "holm") -> tuple[Decided, ...]:
        """Decide on each hypothesis; the probability of any false failure is at most alpha (`bh`: their share)."""
        adjusted = adjusted_p_values([None if one is None else one.p_met for one in self.hypotheses], correction)
        return tuple(
            Decided(None, None, None, "undecided", "undecided")
            if one is None
            else Decided(one.p_met, one.p_violated, p, *(_decision(x, one.p_violated, alpha) for x in (p, one.p_met)))
            for one, p in zip(self.hypotheses, adjusted, strict=True)
        )


def _decision(p_met: float | None, p_violated: float | None, alpha: float) -> Decision:
    if p_met is not None and p_met <= alpha:
        return "fail"
    return "pass" if p_violated is not None and p_violated <= alpha else "undecided"


def adjusted_p_values(p_values: Sequence[float | None], correction: Correction = "holm") -> list[float | None]:
    """The p-values of one family after correction; None stands for a missing test, which does not count."""
    adjusted = adjusted_array(np.array([np.nan if p is None else p for p in p_values]), correction)
    return [None if np.isnan(p) else p for p in adjusted.tolist()]


def adjusted_array(p_values: FloatArray, correction: Correction) -> FloatArray:
    """As `adjusted_p_values`, for an array in which NaN stands for a missing test."""
    adjusted, tested = p_values.copy(), ~np.isnan(p_values)
    if tested.any():
        adjusted[tested] = adjust_p_values(p_values[tested], correction)
    return adjusted


def verdict_of(evidence: VerdictInputs) -> tuple[Verdict, str]:
    """Return the verdict and a sentence that explains it.

    >>> verdict_of(VerdictInputs(0.012, 0.061, "new", "old"))
    ('better', 'new is better than old, by 1.2 to 6.1 points.')
    >>> verdict_of(VerdictInputs(-0.087, 0.031, "new", "old", detectable=0.084))[0]
    'undecided'
    """
    verdict: Verdict = "undecided"
    if -evidence.margin < evidence.low and evidence.high < evidence.margin:
        verdict = "equivalent"
    elif evidence.low > 0:
        verdict = "better"
    elif evidence.high < 0:
        verdict = "worse"
    return verdict, verdict_sentence(verdict, evidence)


# ---------------------------------------------------------------- differences


def with_difference(row: Comparison, difference: Difference) -> Comparison:
    """The comparison with another interval and its verdict, and without what followed from the former one."""
    advantage = advantage_limits(replace(row, difference=difference))
    verdict, text = verdict_of(
        VerdictInputs(*advantage, row.system_a, row.system_b, row.margin, in_points=row.in_points)
    )
    return replace(
        row,
        difference=difference,
        verdict=verdict,
        verdict_corrected=verdict,
        verdict_p_value=None,
        verdict_p_adjusted=None,
        verdict_text=text,
        next_step="",
        n_additional_questions=None,
        p_value=None,
    )


def with_corrected_verdicts(rows: Sequence[Comparison], level: float) -> list[Comparison]:
    """Add the verdicts after correction by Holm's method over all tasks and metrics.

    The p-value of `better` and `worse` is twice the posterior tail beyond 0, that of `equivalent` twice the larger tail
    beyond the margin. With several tasks, the p-value of `better` and `worse` is at least that of the test of no
    difference (McNemar's exact test, or t), as a posterior tail has its error rate on average only. A verdict is kept
    if its adjusted p-value is at most 1 - level. Rows that summarize others are corrected for their own number (see
    `families`), and a single row keeps its verdict. `rows`: comparisons of two systems. `level`: level of the
    intervals from which the verdicts follow.

    References
    ----------
    Holm (1979), Scand. J. Stat. 6, 65-70.
    """
    is_alone = alone_in_family(rows)
    hypotheses = [_of_verdict(row, is_alone=alone) for row, alone in zip(rows, is_alone, strict=True)]
    return [
        replace(
            row,
            verdict_p_value=decided.p_met,
            verdict_p_adjusted=decided.adjusted_p,
            verdict_corrected=row.verdict if decided.decision == "fail" or alone else "undecided",
        )
        for row, alone, decided in zip(rows, is_alone, _of_families(rows, hypotheses, 1 - level), strict=True)
    ]


def worse_rows(rows: Sequence[Comparison], level: float = 0.95) -> list[Comparison]:
    """Return the comparisons in which A is worse than B by more than the margin after correction.

    Without a margin, these are the rows whose corrected verdict is `worse`. With one, Holm's method over twice the tail
    of the posterior beyond the margin must also reject that A is not worse by more. `rows`: comparisons returned by
    `compare`.
    """
    hypotheses = [
        None
        if (p := row.prob_noninferior) is None
        else _of_row(row, "not_worse", row.margin, min(2 * p, 1.0), "posterior")
        for row in rows
    ]
    return [
        row
        for row, beyond in zip(rows, _of_families(rows, hypotheses, 1 - level), strict=True)
        if row.verdict_corrected == "worse" and (not row.margin or beyond.decision == "fail")
    ]


def families(rows: Sequence[Comparison]) -> list[int]:
    """The family of each row, which Holm's method corrects by itself, as a number.

    A row over all tasks or a group of tasks repeats the questions of its tasks. Rows over all tasks are therefore one
    family, single tasks another, groups of tasks a third, and groups of groups further ones.
    """
    subtasks = {row.task: row.subtasks for row in rows}

    def height(task: str) -> int:
        members = subtasks.get(task, ())
        return 1 + max(map(height, members)) if members else 0

    return [-1 if row.task == OVERALL else height(row.task) for row in rows]


def alone_in_family(rows: Sequence[Comparison]) -> list[bool]:
    """Whether each row is in a family with at most one difference, so that there is nothing to correct for."""
    of_row = families(rows)
    sizes = Counter(family for row, family in zip(rows, of_row, strict=True) if row.difference is not None)
    return [sizes[family] <= 1 for family in of_row]


def _of_families(rows: Sequence[Comparison], hypotheses: Sequence[Hypothesis | None], alpha: float) -> list[Decided]:
    """Decide on the rows of each family together."""
    decided: dict[int, Decided] = {}
    of_row = families(rows)
    for family in set(of_row):
        members = [k for k, one in enumerate(of_row) if one == family]
        found = Family([hypotheses[k] for k in members]).decide(alpha)
        decided |= dict(zip(members, found, strict=True))
    return [decided[k] for k in range(len(rows))]


def _of_verdict(row: Comparison, *, is_alone: bool) -> Hypothesis | None:
    """The hypothesis that a verdict rejects; of an undecided one, that with the smallest p-value."""
    if row.difference is None or row.posterior is None:
        return None
    outside = 1.0
    if row.margin and row.verdict in ("equivalent", "undecided"):
        outside = 2 * _larger_tail(row, row.posterior)
    equivalence = _of_row(row, "not_equivalent", row.margin, min(outside, 1.0), "posterior")
    if row.verdict == "equivalent":
        return equivalence
    below = float(row.posterior.cdf(0.0))
    different = max(2 * min(below, 1 - below), 0.0 if is_alone else row.p_value or 0.0)
    equality = _of_row(row, "equal", 0.0, different, "posterior" if is_alone else "posterior and test")
    return equivalence if equivalence.p_met < equality.p_met else equality


def _larger_tail(row: Comparison, posterior: Posterior) -> float:
    """The larger of the error probabilities of "smaller than the margin" in both directions."""
    if row.posterior_interval is None or row.table is None or not is_exact(row):
        return max(float(posterior.cdf(-row.margin)), 1 - float(posterior.cdf(row.margin)))
    both, only_a, only_b, neither = astuple(row.table)
    tables = (both, only_a, only_b, neither), (both, only_b, only_a, neither)
    return max(noninferiority_test(table, row.margin).p_noninferior for table in tables)


def verdict_p_value(row: Comparison) -> float | None:
    """The p-value of the hypothesis that the verdict of a group of questions rejects; None if it is not estimable.

    That of equal systems is twice the posterior tail beyond 0, but at least the p-value of McNemar's exact test, or of
    t. A posterior tail has its error rate on average only, which many groups would add up.
    """
    hypothesis = _of_verdict(row, is_alone=False)
    return None if hypothesis is None else hypothesis.p_met


def interval_of_test(row: Comparison, tail: float, over_runs: DistributionOverRuns | None = None) -> Interval | None:
    """The differences that the test of a row does not reject; None if its own interval decides.

    `tail`: error probability of each limit.
    """
    if row.difference is None:
        return None
    level = round(1 - 2 * tail, 12)
    if over_runs is not None:
        return Interval(*over_runs.interval(level), level, row.difference.interval.kind)
    if row.table is None or not is_exact(row):
        return None
    return Interval(*difference_limits(astuple(row.table), tail), level, "confidence")


def _above_alpha(part: Difference | Estimate | None) -> float:
    """The smallest p-value that is not significant at the level of an interval."""
    return float(np.nextafter(1 - part.interval.level, 1)) if part is not None and part.interval is not None else 0.0


def advantage_limits(row: Comparison) -> tuple[float, float]:
    """Limits of the interval of the advantage of A; infinite without an interval."""
    if row.difference is None:
        return -np.inf, np.inf
    low, high = row.difference.interval.low, row.difference.interval.high
    return (low, high) if row.higher_is_better else (-high, -low)


def with_interval(row: Comparison, interval: Interval) -> Comparison:
    """The comparison with another interval and its verdict; the former interval remains as that of the posterior."""
    if row.difference is None:
        return row
    former, difference = row.posterior_interval or row.difference.interval, replace(row.difference, interval=interval)
    other = with_difference(row, difference)
    is_open, is_held = other.verdict == "undecided", row.verdict_corrected == row.verdict
    return replace(
        row,
        difference=difference,
        posterior_interval=former,
        verdict=other.verdict,
        verdict_text=row.verdict_text if row.identical_runs_note and is_open else other.verdict_text,
        verdict_corrected=other.verdict if is_held else "undecided",
        next_step=row.next_step if is_open else "",
        n_additional_questions=row.n_additional_questions if is_open else None,
    )


def is_exact(row: Comparison) -> bool:
    """Whether the questions are independent, have equal weights and one right-or-wrong answer each."""
    return row.table is not None and row.method in _EXACT_METHODS


def difference_hypothesis(
    row: Comparison, improve_by: float | None, over_runs: DistributionOverRuns | None = None
) -> Hypothesis | None:
    """The hypothesis that A is not worse than B by more than the margin, or better by a required improvement.

    `row`: comparison of A with B. `improve_by`: required improvement; None if A must not be worse by more than the
    margin. `over_runs`: distribution of the difference if a system has several runs. Returns: The hypothesis; None if
    the difference is not estimable.
    """
    if row.prob_noninferior is None:
        return None
    kind: Kind = "not_worse" if improve_by is None else "improves"
    bound = row.margin if improve_by is None else improve_by
    if over_runs is not None:
        p_met = prob_advantage(row, -bound if improve_by is None else bound, over_runs)
        return _of_row(row, kind, bound, p_met, "over runs", 1 - p_met)
    if row.table is not None and is_exact(row):
        both, only_a, only_b, neither = row.table.both_right, row.table.only_a, row.table.only_b, row.table.both_wrong
        won, lost = (only_a, only_b) if row.higher_is_better else (only_b, only_a)
        if improve_by is None:
            test = noninferiority_test((both, won, lost, neither), bound)
            return _of_row(row, kind, bound, test.p_inferior, "exact unconditional", test.p_noninferior)
        # A is better by more than the required improvement if B is worse by more than it
        test = noninferiority_test((both, lost, won, neither), bound)
        return _of_row(row, kind, bound, test.p_noninferior, "exact unconditional", test.p_inferior)
    prob_met = row.prob_noninferior if improve_by is None else prob_advantage(row, bound)
    p_met, p_violated = min(2 * prob_met, 1.0), min(2 * (1 - prob_met), 1.0)
    low, high = advantage_limits(row)
    threshold, least = -bound if improve_by is None else bound, _above_alpha(row.difference)
    # an interval that was extended to the observed difference shows less than the posterior
    p_met = p_met if high < threshold else max(p_met, least)
    p_violated = p_violated if low > threshold else max(p_violated, least)
    return _of_row(row, kind, bound, p_met, "posterior", p_violated)


def prob_advantage(row: Comparison, threshold: float, over_runs: DistributionOverRuns | None = None) -> float:
    """Probability that the advantage of A exceeds a threshold; NaN if it is unknown."""
    distribution = over_runs or row.posterior
    if distribution is None:
        if row.difference is None or not row.difference.std_error > 0:
            return float("nan")
        sign = 1 if row.higher_is_better else -1
        return NormalDist().cdf((sign * row.difference.value - threshold) / row.difference.std_error)
    if row.higher_is_better:
        return 1.0 - float(distribution.cdf(threshold))
    return float(distribution.cdf(-threshold))


def _of_row(
    row: Comparison, kind: Kind, bound: float, p_met: float, test: Test, p_violated: float | None = None
) -> Hypothesis:
    return Hypothesis(row.key, (row.system_a, row.system_b), kind, bound, p_met, p_violated, test)


# ---------------------------------------------------------------- bounds of scores


def bound_hypothesis(
    row: Estimate, kind: RequirementKind, bound: float, over_runs: DistributionOverRuns | None = None
) -> Hypothesis | None:
    """The hypothesis that a score reaches a bound or does not exceed it; None if the score is not estimable.

    `over_runs` is the distribution of the score if the system has several runs.
    """
    if row.interval is None or row.value is None:
        return None
    test: Test
    if over_runs is None and (counts := _binomial_counts(row)) is not None:
        right, n = counts
        rate = min(max(bound, 0.0), 1.0)
        test = "exact binomial"
        p_reached, p_kept = float(special.bdtr(right, n, rate)), float(special.bdtrc(right - 1, n, rate))
    else:
        distribution = over_runs or row.posterior
        test = "over runs" if over_runs else "normal" if distribution is None else "posterior"
        below = _normal_tail(row, row.interval, bound) if distribution is None else float(distribution.cdf(bound))
        p_reached, p_kept = min(2 * (1 - below), 1.0), min(2 * below, 1.0)
        if over_runs is None:
            least, interval = _above_alpha(row), _equal_tails(row) or row.interval
            p_reached = p_reached if interval.high < bound else max(p_reached, least)
            p_kept = p_kept if interval.low > bound else max(p_kept, least)
    p_met, p_violated = (p_reached, p_kept) if kind == "at_least" else (p_kept, p_reached)
    return Hypothesis(row.key, (row.system,), kind, bound, p_met, p_violated, test)


def score_interval_of_test(row: Estimate, tail: float) -> Interval | None:
    """The scores that the test of a bound does not reject; None if the interval of the row decides."""
    if row.interval is None or (counts := _binomial_counts(row)) is None:
        return _equal_tails(row)
    low, high = binomial_interval(*counts, 1 - 2 * tail, "clopper_pearson")
    return Interval(float(low), float(high), round(1 - 2 * tail, 12), "confidence")


def _equal_tails(row: Estimate) -> Interval | None:
    """The interval with equal tails, which contains the score; None if the row has it, or the posterior is unknown."""
    if row.interval is None or row.posterior is None or row.value is None or row.interval.kind != "hdi":
        return None
    low, high = row.posterior.interval(row.interval.level, "quantile")
    return Interval(min(low, row.value), max(high, row.value), row.interval.level, "quantile")


def _binomial_counts(row: Estimate) -> tuple[int, int] | None:
    """Numbers of right answers and of questions; None if the score is not a share of independent questions."""
    if row.method not in BINOMIAL_METHODS or row.estimand != "mean" or not row.n_questions or row.value is None:
        return None
    right = row.value * row.n_questions
    return (round(right), row.n_questions) if abs(right - round(right)) <= _WHOLE * row.n_questions else None


def _normal_tail(row: Estimate, interval: Interval, bound: float) -> float:
    """P(score < bound) of a normal distribution, scaled by the interval's limit on the side of the bound."""
    value = row.value or 0.0
    limit = interval.high if bound >= value else interval.low
    if limit == value:
        return 0.5 if bound == value else float(bound > value)
    z = float(special.ndtri((1 + interval.level) / 2))
    return float(special.ndtr((bound - value) / abs(limit - value) * z))
