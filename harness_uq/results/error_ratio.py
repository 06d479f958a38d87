"""Reasons why the standard error of harness_uq differs from that of the harness."""

import math
from dataclasses import dataclass
from itertools import combinations

from harness_uq.output.words import counted
from harness_uq.results.estimate import Estimate, finite_or_none

ALIKE = math.log(1.05)
ACCOUNTED = math.log(1.12)
LEFT_OPEN = 2 / 3
NEAR_BOUND = 10
FEW_QUESTIONS = 100


@dataclass(frozen=True, slots=True)
class ErrorRatio:
    """The standard error of harness_uq divided by that of the harness.

    `value`: None if either is missing or that of the harness is 0, negative or extreme. `reason`: why the ratio is not
    1, or that the reason is unknown.
    """

    value: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class _Cause:
    """One reason for a difference: the factor that it explains, and a clause that names it."""

    factor: float
    clause: str


def error_ratio(row: Estimate) -> ErrorRatio:
    """Compare the two standard errors of an estimate, and explain their ratio.

    Possible causes are clusters or trials (square root of the design effect), a ceiling or a small sample (posterior
    standard deviation over the binomial one), and questions that the harness counted but the log lacks. The reason is
    the set of causes whose product is closest to the ratio, if it is within 12 % of the ratio and leaves less than two
    thirds of it unexplained on the log scale. `row`: one estimate, with the result of the harness. Returns: ErrorRatio;
    if the causes do not explain the ratio, the reason is "unknown".
    """
    ours, theirs = finite_or_none(row.std_error), finite_or_none(row.harness.std_error)
    if not ours:
        return ErrorRatio(None, "not estimable; see the warnings")
    if theirs is None:
        return ErrorRatio(None, "the harness reports no standard error")
    if theirs == 0:
        return ErrorRatio(None, "the formula of the harness gives 0 if all scores are equal, which is not certainty")
    ratio = ours / theirs
    if not 0 < ratio < math.inf:
        return ErrorRatio(None, "the standard error of the harness is negative, or out of any range")
    return ErrorRatio(ratio, _reason(row, ratio))


def _reason(row: Estimate, ratio: float) -> str:
    if abs(math.log(ratio)) <= ALIKE:
        return "they agree within 5 %"
    if row.scope == "benchmark":
        return "different estimand: with scope benchmark, only trial-to-trial noise counts"
    if row.scope == "full":
        return "different estimand: with scope full, only the questions that were not run are uncertain"
    if "n_labels" in row.diagnostics:
        return "different estimand: the score by human labels, which cover some questions only"
    causes = [cause for cause in (_units(row), _bound(row), _counted(row)) if abs(math.log(cause.factor)) > ALIKE / 2]
    subsets = [subset for size in range(len(causes) + 1) for subset in combinations(causes, size)]
    # the part of the ratio that the causes do not explain, as an absolute logarithm
    unexplained = {subset: abs(math.log(ratio / math.prod(cause.factor for cause in subset))) for subset in subsets}
    chosen = min(unexplained, key=unexplained.__getitem__)
    rest = unexplained[chosen]
    clauses = "; ".join(cause.clause for cause in chosen)
    if chosen and rest <= min(ACCOUNTED, abs(math.log(ratio)) * LEFT_OPEN):
        return clauses
    if chosen and rest < abs(math.log(ratio)) / 2:
        return f"partly {clauses}; the rest is unknown"
    if abs(math.log(ratio)) <= ACCOUNTED:
        return "they agree within 12 %; the reason is unknown"
    return "unknown: clusters, trials, ceiling effects and sample size do not explain it"


def _units(row: Estimate) -> _Cause:
    """Clusters or repeated trials that the harness counts as independent."""
    if row.design_effect is None or not row.design_effect > 0:
        return _Cause(1.0, "")
    factor = math.sqrt(row.design_effect)
    if row.n_clusters:
        what = f"clusters: answers with the same {row.cluster_key} are correlated"
    else:
        what = f"trials: the {row.n_trials or 'repeated'} answers to a question are correlated"
    return _Cause(factor, f"{what} (× {factor:.2f})")


def _bound(row: Estimate) -> _Cause:
    """Posterior sd over the binomial standard error, at the number of independent questions."""
    n = row.effective_questions or row.n_questions
    is_binary = row.structure is not None and row.structure.score_type == "binary" and row.estimand == "mean"
    if not is_binary or row.posterior_mean is None or row.value is None or not n or n <= 1 or not 0 < row.value < 1:
        return _Cause(1.0, "")
    p, mean = row.value, (1 + n * row.value) / (n + 2)
    factor = math.sqrt(mean * (1 - mean) / (n + 3)) / math.sqrt(p * (1 - p) / (n - 1))
    rare = n * min(p, 1 - p)
    if rare < NEAR_BOUND and factor > 1:
        kind = "wrong" if p > 0.5 else "right"
        what = f"{'ceiling' if p > 0.5 else 'floor'}: with few {kind} answers the formula of the harness is too small"
    elif n <= FEW_QUESTIONS:
        what = "few questions: the uniform prior has the weight of two questions"
    else:
        return _Cause(1.0, "")
    return _Cause(factor, f"{what} (× {factor:.2f})")


def _counted(row: Estimate) -> _Cause:
    """A different number of questions behind the value of the harness."""
    theirs, ours = row.harness.n, row.n_questions
    if not theirs or not ours or theirs == ours:
        return _Cause(1.0, "")
    factor = math.sqrt(theirs / ours)
    return _Cause(factor, f"the harness counted {counted(theirs, 'question')}, the log has {ours} (× {factor:.2f})")
