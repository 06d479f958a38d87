"""Questions that changed between runs, and questions that give different answers in identical runs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats

FLAKY = 0.25
"""Questions whose probability of different answers in two runs is at least this are called flaky."""
LARGE_CHANGE = 0.5
"""Smallest change of the share of right answers with which a question counts as flipped."""
_CONCENTRATIONS = np.geomspace(0.05, 20.0, 25)
_FIRST_SHARE, _LARGEST_SHARE, _N_STEPS = 0.05, 0.5, 50


@dataclass(frozen=True, slots=True, eq=False)
class QuestionChanges:
    """Evidence about each question.

    For each question, `probability` is that its probability of a right answer changed, and `flakiness` the posterior
    mean of the probability that two runs before the change give different answers, 2 p (1 - p). `share` is the
    estimated share of questions that changed.
    """

    probability: FloatArray
    flakiness: FloatArray
    share: float


def question_changes(
    right_before: ArrayLike, n_before: ArrayLike, right_after: ArrayLike, n_after: ArrayLike
) -> QuestionChanges:
    """Estimate which questions changed, given right answers before and after a date.

    The numbers of right answers and of answers are (n_questions,). Raises DataError if shapes differ, or a number of
    right answers is negative or exceeds the number of answers.

    Before the change, question i is answered correctly with a probability p_i from a Beta distribution, whose
    concentration maximizes the marginal likelihood. A question that changed has a new, independent p_i from the same
    distribution. The share of changed questions is fitted by expectation-maximization, and is at most 1/2. Sources:
    Griffiths (1973), Biometrics 29, 637-648, equation 1 (beta-binomial distribution); Dempster, Laird and Rubin (1977),
    J. Royal Statistical Society B 39, 1-38.

    >>> found = question_changes([9, 0, 5, 9], [9, 9, 9, 9], [0, 0, 1, 2], [2, 2, 2, 2])
    >>> [bool(p > 0.5) for p in found.probability], int(np.argmax(found.flakiness))
    ([True, False, False, False], 2)
    """
    given = {"right_before": right_before, "n_before": n_before, "right_after": right_after, "n_after": n_after}
    s, n, x, m = (as_floats(values, name) for name, values in given.items())
    if not s.shape == n.shape == x.shape == m.shape or s.ndim != 1:
        raise DataError(f"{', '.join(given)} must have the same shape (n_questions,)")
    for right, total in ((s, n), (x, m)):
        if not (np.isfinite(total).all() and (right >= 0).all() and (right <= total).all()):
            raise DataError("numbers of right answers must be at least 0, and at most the numbers of answers")
    a, b = _fitted_beta(s, n)
    log_same = _log_beta_binomial(x, m, a + s, b + n - s)
    log_new = _log_beta_binomial(x, m, a, b)
    share = _FIRST_SHARE
    for _ in range(_N_STEPS):
        probability = special.expit(log_new - log_same + special.logit(share))
        share = float(np.clip(probability.mean(), 1e-6, _LARGEST_SHARE))
    first, second = a + s, b + n - s
    flakiness = 2 * first * second / ((first + second) * (first + second + 1))
    return QuestionChanges(np.asarray(probability), np.asarray(flakiness), share)


def _fitted_beta(s: FloatArray, n: FloatArray) -> tuple[float, float]:
    """Beta distribution with the mean of the data, with half an answer of either kind, and the likeliest spread."""
    mean = (s.sum() + 0.5) / (n.sum() + 1)
    fits = [
        float(_log_beta_binomial(s, n, mean * total, (1 - mean) * total).sum()) for total in _CONCENTRATIONS.tolist()
    ]
    total = float(_CONCENTRATIONS[int(np.argmax(fits))])
    return float(mean * total), float((1 - mean) * total)


def _log_beta_binomial(x: FloatArray, m: FloatArray, a: FloatArray | float, b: FloatArray | float) -> FloatArray:
    """Logarithm of the probability of x right answers of m, up to the binomial coefficient."""
    return np.asarray(special.betaln(a + x, b + m - x) - special.betaln(a, b))
