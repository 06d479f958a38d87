"""Why our standard error differs from the harness's, as far as the numbers show it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from harness_uq.plots.rows import counted
from harness_uq.results.estimate import Estimate, finite_or_none

ALIKE = math.log(1.05)
ACCOUNTED = math.log(1.12)
LEFT_OPEN = 2 / 3
NEAR_BOUND = 10
FEW_QUESTIONS = 100


@dataclass(frozen=True, slots=True)
class ErrorRatio:
    """Our standard error over the harness's.

    Attributes
    ----------
    value : None where either is missing or the harness's is 0
    reason : a sentence; says so where the reason is not known
    """

    value: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class _Cause:
    """One thing that makes the two differ: the factor it alone would give, and a clause that names it."""

    factor: float
    clause: str


def error_ratio(row: Estimate) -> ErrorRatio:
    """Compare the two standard errors of an estimate and look for the reason in what is known of its structure.

    Possible causes: clusters or trials by the square root of the design effect; a ceiling or a small sample
    by the posterior sd over the binomial one; questions that the harness counted and the log does not hold. Those
    whose product comes closest to the ratio are its reason where they come within 12 % of it and leave less than two
    thirds of it, on the log scale.

    Parameters
    ----------
    row : one estimate, with what the harness reported

    Returns
    -------
    ErrorRatio; never a guess: where the causes do not account for the ratio, the reason says that
    """
    ours, theirs = finite_or_none(row.std_error), finite_or_none(row.harness.std_error)
    if not ours:
        return ErrorRatio(None, "no standard error can be given; see the warnings")
    if theirs is None:
        return ErrorRatio(None, "the harness gives no standard error")
    if theirs == 0:
        return ErrorRatio(None, "the harness's formula gives 0 where all scores are equal; that is not certainty")
    return ErrorRatio(ours / theirs, _reason(row, ours / theirs))


def _reason(row: Estimate, ratio: float) -> str:
    if abs(math.log(ratio)) <= ALIKE:
        return "the two agree within 5 %"
    if row.scope == "benchmark":
        return "another question: about exactly these questions only the trials' noise counts"
    if row.scope == "full":
        return "another question: only the questions that were not asked are uncertain"
    if "n_labels" in row.diagnostics:
        return "another question: what a person would give, of whom there are labels of some questions only"
    found = [cause for cause in (_units(row), _bound(row), _counted(row)) if abs(math.log(cause.factor)) > ALIKE / 2]
    chosen = min(_subsets(found), key=lambda causes: _unexplained(ratio, causes), default=())
    rest = _unexplained(ratio, chosen)
    clauses = "; ".join(cause.clause for cause in chosen)
    if chosen and rest <= min(ACCOUNTED, abs(math.log(ratio)) * LEFT_OPEN):
        return clauses
    if chosen and rest < abs(math.log(ratio)) / 2:
        return f"in part {clauses}; the rest is unknown"
    if abs(math.log(ratio)) <= ACCOUNTED:
        return "the two agree within 12 %; the reason for the rest is unknown"
    return "unknown: no clusters, trials, ceiling or small sample accounts for it"


def _subsets(causes: Sequence[_Cause]) -> list[tuple[_Cause, ...]]:
    return [chosen for size in range(1, len(causes) + 1) for chosen in combinations(causes, size)]


def _unexplained(ratio: float, causes: Sequence[_Cause]) -> float:
    """Log of what the causes' product leaves of the ratio."""
    return abs(math.log(ratio / math.prod(cause.factor for cause in causes)))


def _units(row: Estimate) -> _Cause:
    """Answers that come in clusters or repeats, counted as independent by the harness."""
    if row.design_effect is None or not row.design_effect > 0:
        return _Cause(1.0, "")
    factor = math.sqrt(row.design_effect)
    if row.n_clusters:
        what = f"clusters: answers that share a {row.cluster_key} resemble each other"
    else:
        what = f"trials: the {row.n_trials or 'repeated'} answers to one question resemble each other"
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
        what = f"{'ceiling' if p > 0.5 else 'floor'}: with few {kind} answers the harness's formula runs towards 0"
    elif n <= FEW_QUESTIONS:
        what = "few questions: the uniform prior counts as two more"
    else:
        return _Cause(1.0, "")
    return _Cause(factor, f"{what} (× {factor:.2f})")


def _counted(row: Estimate) -> _Cause:
    """Another number of questions behind the harness's value."""
    theirs, ours = row.harness.n, row.n_questions
    if not theirs or not ours or theirs == ours:
        return _Cause(1.0, "")
    factor = math.sqrt(theirs / ours)
    return _Cause(factor, f"the harness counted {counted(theirs, 'question')}, the log holds {ours} (× {factor:.2f})")
