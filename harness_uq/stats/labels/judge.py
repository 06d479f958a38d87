"""Mean human score, from a judge's scores of all questions and human labels for a subset of them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.posterior import BetaPosterior, DifferencePosterior, Posterior
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite
from harness_uq.stats.common.validate_scalars import MAX_DRAWS, check_range, check_rng, check_whole
from harness_uq.stats.labels.label_arrays import Graded, check_graded, check_label_range, mean_of_trials
from harness_uq.stats.units.priors import PRIORS
from harness_uq.stats.units.records import record_draws

_RELATIVE_ROUNDING = 1e-12
_LABELS_WITHOUT_COPIES = 20
_TIGHT = 0.2  # standard deviation, relative to the distance to the farther bound, that reduces the tightness to 1/e
_SPREAD_TAIL = 0.02
_INTERIOR = 0.02


class CorrectedDifference(BetaPosterior, DifferencePosterior):
    """Posterior of a difference of two corrected scores: a Beta on ±(high - low)."""


def judge_corrected_posterior(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    low: float = 0.0,
    high: float = 1.0,
    n_draws: int = 10_000,
    rng: np.random.Generator | None = None,
) -> BetaPosterior:
    """Posterior of the mean score that a human would give on new questions.

    With the judge's scores f, the human labels h and the labelled questions L, the mean is estimated by

        theta = mean_L(h) + beta (mean_all(f) - mean_L(f)),        beta = cov_L(f, h) / var_L(f),

    which is prediction-powered inference with the weight of minimum variance.

    Parameters
    ----------
    judge : array_like, shape (n_questions,) or (n_questions, n_trials)
        Scores of the judge, on any scale; NaN for trials that were not run.
    human : array_like, shape of `judge` or (n_questions,)
        Human labels in [low, high]; NaN for items without a label.
    clusters : array_like, shape (n_questions,), optional
        Cluster labels. The default is independent questions.
    probabilities : array_like, shape (n_questions,) or shape of `judge`, optional
        Probabilities in (0, 1] with which items were labelled, up to a common factor. The default is a simple random
        sample.
    low, high : float, optional
        Bounds of the human score (default 0 and 1).
    n_draws : int, optional
        Number of draws (default 10,000). Limits are accurate to about 1 / sqrt(n_draws) of the interval width.
    rng : numpy.random.Generator, optional
        Random generator (default: seed 0, so that equal data give equal results).

    Returns
    -------
    BetaPosterior
        Posterior on [low, high].

    Raises
    ------
    DataError
        If shapes differ, a question has no judge's score, or a label is outside [low, high].
    NotEstimableError
        If fewer than three questions (or clusters) have a label.

    Notes
    -----
    The posterior is that of a Dirichlet process over questions (or clusters, whose questions share a weight). theta is
    evaluated under Gamma(1) weights on them and prior atoms at the four corners {lowest f, highest f} × {low, high}.
    The result is the Beta on [low, high] with the moments of theta.

    Each corner has mass 1/2 if every label is at a bound, otherwise (3 + s) / 8; with clusters it has the mean size.
    Here s in [0, 1] is the `tightness` of the labels of independent questions around beta f. Copies of the labels, s (n
    - 20) / 2 for n > 20, then dilute the corners, each of which counts as n / (n + copies) labels. The variance is
    multiplied by n / (n - 1), with n the number of labelled units, because the weight is estimated.

    If judge and labels are binary and questions independent, the masses are exact: theta = p q1 + (1 - p) q0, where the
    share p that the judge scores as right is Beta(1 + F, 1 + N - F), and the shares q1 and q0 of these and of the other
    answers that are right are Beta(1/2 + right, 1/2 + wrong).

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), arXiv 2311.01453, eq. 4 and prop. 2 for the weight; Rubin (1981) and Ferguson
    (1973) for the posterior.

    Examples
    --------
    A judge scores 60 of 100 answers as right, and agrees with all ten human labels:

    >>> judge = [1] * 60 + [0] * 40
    >>> human = [1] * 6 + [float("nan")] * 90 + [0] * 4
    >>> low, high = judge_corrected_posterior(judge, human).interval()
    >>> low < 0.6 < high
    True
    """
    check_range(low, high)
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    rng = check_rng(rng)
    items = check_graded(judge, human, clusters, probabilities)
    labels = items.human[items.is_labelled]
    check_label_range(labels, low, high, "labels (human)")
    items = _rescaled(items, items.judge.min(), np.ptp(items.judge))
    prior, size = PRIORS["corrected mean"], 1.0
    mass = prior.total
    if not _are_at(labels, (low, high)):
        concentration = _tightness(items.sums(), low, high)
        n = len(labels)
        mass = prior.total * (prior.graded + (1.0 - prior.graded) * concentration)
        # the size of a corner in labels, reduced by the copies of the observed labels in the prior
        size = n / (n + concentration * max(n - _LABELS_WITHOUT_COPIES, 0) / 2.0)
    corners = [(f, h, mass / 4) for f in (0.0, 1.0) for h in (low, high)]
    mean, variance = _moments(items, corners, (low, high), n_draws, rng, size)
    return BetaPosterior.from_moments(mean, variance, low, high)


def judge_corrected_difference(
    judge_a: ArrayLike,
    judge_b: ArrayLike,
    human_a: ArrayLike,
    human_b: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    low: float = 0.0,
    high: float = 1.0,
    n_draws: int = 10_000,
    rng: np.random.Generator | None = None,
) -> CorrectedDifference:
    """Posterior of the difference A - B of the mean scores that a human would give on new questions.

    It is `judge_corrected_posterior` for the per-question differences: those of the judge for all questions, and those
    of the human labels for questions with labels of both systems. Prior atoms are at {-R, 0, R} for judge and human,
    with R the range, in the proportions 1 : 2 : 1 of either. Their total mass is 2 if every labelled difference is one
    of these values, otherwise 1/2.

    Parameters
    ----------
    judge_a, judge_b : array_like, shape (n_questions,) or (n_questions, n_trials)
        Scores of the same questions on one scale; trials are averaged.
    human_a, human_b : array_like, shape (n_questions,) or (n_questions, n_trials)
        Human labels in [low, high]; NaN for items without a label.
    clusters, probabilities, low, high, n_draws, rng
        As in `judge_corrected_posterior`; the probability is that of having both labels.

    Returns
    -------
    CorrectedDifference
        Posterior on ±(high - low).

    Raises
    ------
    DataError
        If shapes differ, or a label is outside [low, high].
    NotEstimableError
        If fewer than three questions (or clusters) have labels of both systems.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), arXiv 2311.01453; Miller (2024) on the gain of pairing.

    Examples
    --------
    For two systems with equal judge scores and equal labels, the difference is centred at 0:

    >>> grades = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1]
    >>> round(judge_corrected_difference(grades, grades, grades, grades).mean, 2)
    0.0
    """
    check_range(low, high)
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    rng = check_rng(rng)
    named = {"judge_a": judge_a, "judge_b": judge_b, "human_a": human_a, "human_b": human_b}
    grades = [mean_of_trials(scores, name) for name, scores in named.items()]
    if any(scores.shape != grades[0].shape for scores in grades):
        raise DataError(f"{', '.join(named)} must have the same questions; got {[len(scores) for scores in grades]}")
    if np.isinf(grades).any():
        raise DataError(f"{', '.join(named)} must be finite, or NaN if missing")
    if np.isnan(grades[:2]).any():
        question = np.flatnonzero(np.isnan(grades[:2]).any(axis=0))[0]
        raise DataError(f"judge_a or judge_b has no score of question {question}. Leave it out")
    f_a, f_b, h_a, h_b = grades
    check_label_range(h_a, low, high, "human_a")
    check_label_range(h_b, low, high, "human_b")
    items = check_graded(f_a - f_b, h_a - h_b, clusters, probabilities)
    # the draws are those of a positive difference, so that an exchange of A and B changes only its sign
    gaps = float(items.human[items.is_labelled].mean()), float(items.judge.mean())
    sign = next((float(np.sign(gap)) for gap in gaps if abs(gap) > _RELATIVE_ROUNDING), 1.0)
    items = replace(items, judge=sign * items.judge, human=sign * items.human)
    reach, width = float(np.nanmax([f_a, f_b]) - np.nanmin([f_a, f_b])), high - low
    prior = PRIORS["corrected difference"]
    is_extreme = _are_at(items.human[items.is_labelled], (-width, 0.0, width))
    mass = prior.total * (1.0 if is_extreme else prior.graded)
    shares = tuple((point, m / prior.total) for point, m in zip(prior.points, prior.masses, strict=True))
    corners = [(f, h * width, mass * p * q) for f, p in shares for h, q in shares]
    mean, variance = _moments(_rescaled(items, 0.0, reach), corners, (-width, width), n_draws, rng)
    return CorrectedDifference.from_moments(sign * mean, variance, -width, width)


def correlated_difference(a: Posterior, b: Posterior, correlation: float, width: float) -> CorrectedDifference:
    """Posterior of the difference A - B of two corrected scores with this correlation.

    It is a Beta on ±width with the mean and the variance of the difference; `width` is the difference between the
    highest and the lowest possible score, and `correlation` is that of `corrected_correlation`.

    >>> a, b = BetaPosterior(80, 20, 0.0, 1.0), BetaPosterior(60, 40, 0.0, 1.0)
    >>> difference = correlated_difference(a, b, 0.5, 1.0)
    >>> round(difference.mean, 2), bool(difference.sd < np.hypot(a.sd, b.sd))
    (0.2, True)
    """
    variance = a.sd**2 + b.sd**2 - 2 * correlation * a.sd * b.sd
    return CorrectedDifference.from_moments(a.mean - b.mean, variance, -width, width)


def best_weight(sums: FloatArray) -> FloatArray:
    """Weight beta = cov_L(f, h) / var_L(f) from sums (..., 7) of `Graded.sums`; 0 if f does not vary."""
    f, h, ff, fh = (sums[..., k] / sums[..., 2] for k in (3, 4, 5, 6))
    spread = ff - f * f
    varies = spread > _RELATIVE_ROUNDING * ff
    return np.asarray(np.divide(fh - f * h, spread, out=np.zeros_like(f), where=varies))


def corrected_mean(sums: FloatArray) -> FloatArray:
    """Estimate theta from sums (..., 7) of `Graded.sums`."""
    gap = sums[..., 1] / sums[..., 0] - sums[..., 3] / sums[..., 2]
    return np.asarray(sums[..., 4] / sums[..., 2] + best_weight(sums) * gap)


def _tightness(sums: FloatArray, low: float, high: float) -> float:
    """`tightness` of the labels around their prediction from the judge's scores; 0 if questions share a weight."""
    if not np.allclose(sums[:, 0], 1.0):
        return 0.0
    labelled = sums[sums[:, 2] > 0]
    f, h = (labelled[:, k] / labelled[:, 2] for k in (3, 4))
    unexplained = h - best_weight(sums.sum(axis=0)) * (f - f.mean())
    return tightness(np.clip(unexplained, low, high), low, high)


def tightness(scores: ArrayLike, low: float, high: float) -> float:
    """Concentration of scores away from the bounds, between 0 and 1.

    It is k exp(-(r / 0.2)^2). Here r is the largest plausible standard deviation (the upper limit of the one-sided 98 %
    interval for normal scores) over the distance from the mean to the farther bound, and k = min(1, u / 0.02) with u
    the mean of (x - low)(high - x) / (high - low)^2, which is 0 if all scores are at a bound.

    `scores` are in [low, high]; the result is 0 for fewer than two.

    >>> round(tightness([0.79, 0.81] * 50, 0, 1), 2), tightness([0, 1, 1], 0, 1)
    (0.99, 0.0)
    """
    check_range(low, high)
    x = (check_finite(scores, "scores", 1) - low) / (high - low)
    n = len(x)
    if n < 2:
        return 0.0
    mean = float(x.mean())
    interior = min(1.0, float(np.mean(x * (1.0 - x))) / _INTERIOR)
    largest = float(np.sum((x - mean) ** 2)) / float(special.chdtri(n - 1, 1.0 - _SPREAD_TAIL))
    ratio = largest / (_TIGHT * max(mean, 1.0 - mean)) ** 2
    return max(interior, 0.0) * float(np.exp(-ratio))


def _rescaled(items: Graded, origin: float, unit: float) -> Graded:
    """Judge's scores as (f - origin) / unit, which does not change theta; all 0 if they do not vary."""
    return replace(items, judge=(items.judge - origin) / (unit or 1.0))


def _moments(
    items: Graded,
    corners: Sequence[tuple[float, float, float]],
    bounds: tuple[float, float],
    n_draws: int,
    rng: np.random.Generator | None,
    corner_size: float = 1.0,
) -> tuple[float, float]:
    """Posterior mean and variance of theta, the latter corrected for the estimated weight.

    `corners` are (judge score, label, mass); `corner_size` is their size in labels.
    """
    sums = items.sums()
    is_labelled = sums[:, 2] > 0
    rows, counts = np.unique(sums, axis=0, return_counts=True)
    size, labelled_size = sums[:, 0].mean(), sums[is_labelled, 2].mean()
    varies = bool(np.ptp(items.judge) > 0)
    atoms = np.array([[1.0, f * varies, 1.0, f * varies, h, f * f * varies, f * h * varies] for f, h, _ in corners])
    atoms *= np.where(np.arange(7) < 2, size, corner_size * labelled_size)
    rows = np.vstack([rows, atoms])
    shapes = np.append(counts, [mass for _, _, mass in corners])
    draws = np.clip(corrected_mean(record_draws(rows, shapes, n_draws, rng or np.random.default_rng(0))), *bounds)
    n = int(is_labelled.sum())
    return float(draws.mean()), float(draws.var()) * (n / (n - 1) if varies else 1.0)


def _are_at(values: FloatArray, points: Sequence[float]) -> bool:
    """Whether every value is one of the points."""
    distance = np.min([np.abs(values - point) for point in points], axis=0)
    return bool((distance <= _RELATIVE_ROUNDING * max(abs(point) for point in points)).all())
