"""Mean score that a person would give, from a judge's scores of all questions and a person's of some."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.common.posterior import BetaPosterior, DifferencePosterior
from harness_uq.stats.common.scalars import MOST_DRAWS, check_range, check_whole, generator
from harness_uq.stats.labels.graded import Graded, check_bounds, check_graded, mean_of_trials
from harness_uq.stats.means.bounded import tightness

_BLOCK = 2**21
_RELATIVE_ROUNDING = 1e-12
_LABELS_WITHOUT_COPIES = 20


class CorrectedDifference(BetaPosterior, DifferencePosterior):
    """Posterior of a difference of two corrected scores: a Beta stretched to ±(high - low)."""


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
    """Posterior of the mean score that a person would give on new questions.

    With f the judge's scores, h the person's, L the labelled questions, the mean is estimated by

        theta = mean_L(h) + beta (mean_all(f) - mean_L(f)),        beta = cov_L(f, h) / var_L(f),

    prediction-powered inference with the weight of least variance. Its posterior is that of a Dirichlet process over
    questions (or clusters, whose questions share a weight): theta is evaluated under Gamma(1) weights on them and
    prior atoms at the four corners {lowest f, highest f} × {low, high}. The corners weigh 1/2 each where every label is
    at a bound, (3 + s) / 8 otherwise; with clusters they have the mean size. s in [0, 1] says how tight the labels of
    independent questions are about beta f (`tightness` of `bounded_posterior`); s (n - 20) / 2 copies of n > 20 labels
    then dilute the corners, each of which counts n / (n + copies) labels. Variance is multiplied by n / (n - 1), n the
    units with labels, since the weight is estimated from them. Returned is the Beta on [low, high] with these moments.

    Where judge and labels are right or wrong and questions independent, the weights are exact: theta = p q1 + (1 - p)
    q0, where p, the share that the judge calls right, is Beta(1 + F, 1 + N - F), and q1, q0, the shares of its rights
    and wrongs that are right, are Beta(1/2 + right, 1/2 + wrong).

    Parameters
    ----------
    judge : array_like (n_questions,) or (n_questions, n_trials); scores on any scale; NaN is a trial that was not run
    human : array_like of the shape of `judge`, or one label a question, in [low, high]; NaN where there is none
    clusters : array_like (n_questions,) of labels, or None where questions are independent
    probabilities : array_like (n_questions,) or the shape of `judge`; with which probability each was labelled, in
        (0, 1], their common scale being immaterial; None where labels are a plain random sample
    low, high : bounds of the person's score
    n_draws : int; the ends are good to about 1 / sqrt(n_draws) of the interval's width
    rng : generator; None takes a fixed seed, so that the same data give the same numbers

    Raises
    ------
    DataError : if shapes differ, a question has no judge's score, or a label is outside [low, high]
    NotEstimableError : if fewer than three questions (or clusters) have a label

    Angelopoulos, Duchi & Zrnic (2023), arXiv 2311.01453, eq. 4 and prop. 2 for the weight; Rubin (1981) and Ferguson
    (1973) for the posterior.

    A judge that calls 60 of 100 right, and agrees with the person on the ten that she graded:

    >>> judge = [1] * 60 + [0] * 40
    >>> human = [1] * 6 + [float("nan")] * 90 + [0] * 4
    >>> low, high = judge_corrected_posterior(judge, human).interval()
    >>> low < 0.6 < high
    True
    """
    check_range(low, high)
    check_whole(n_draws, "n_draws", 1, MOST_DRAWS)
    rng = generator(rng)
    items = check_graded(judge, human, clusters, probabilities)
    labels = items.human[items.is_labelled]
    check_bounds(labels, low, high, "labels (human)")
    items = _rescaled(items, items.judge.min(), np.ptp(items.judge))
    mass, size = 2.0, 1.0
    if not _at(labels, (low, high)):
        tight = _tightness(items.sums(), low, high)
        mass, size = 1.5 + 0.5 * tight, _diluted(len(labels), tight)
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
    """Posterior of the difference, A - B, of the mean scores that a person would give on new questions.

    `judge_corrected_posterior` on each question's differences: the judge's, of all questions, and the person's, of
    those where both systems have a label. Prior atoms lie at {-R, 0, R} for judge and person alike, R the range, in
    the proportions 1 : 2 : 1 of either, and weigh 2 in all where every labelled difference is one of these, 1/2
    otherwise.

    Parameters
    ----------
    judge_a, judge_b : array_like (n_questions,) or (n_questions, n_trials); scores of the same questions on one scale;
        trials are averaged
    human_a, human_b : array_like (n_questions,) or (n_questions, n_trials), in [low, high]; NaN where there is none
    clusters, probabilities, low, high, n_draws, rng : as in `judge_corrected_posterior`; the probability is that of
        both labels

    Raises
    ------
    DataError : if shapes differ, or a label is outside [low, high]
    NotEstimableError : if fewer than three questions (or clusters) have labels of both systems

    Angelopoulos, Duchi & Zrnic (2023), arXiv 2311.01453; Miller (2024) for the gain of pairing.

    Two systems that judge and person grade alike everywhere: only the prior separates them.

    >>> grades = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1]
    >>> round(judge_corrected_difference(grades, grades, grades, grades).mean, 2)
    0.0
    """
    check_range(low, high)
    check_whole(n_draws, "n_draws", 1, MOST_DRAWS)
    rng = generator(rng)
    named = {"judge_a": judge_a, "judge_b": judge_b, "human_a": human_a, "human_b": human_b}
    grades = [mean_of_trials(scores, name) for name, scores in named.items()]
    if any(scores.shape != grades[0].shape for scores in grades):
        raise DataError(f"{', '.join(named)} must be of the same questions; got {[len(scores) for scores in grades]}")
    if np.isinf(grades).any():
        raise DataError(f"{', '.join(named)} must be finite, or NaN where there is none")
    if np.isnan(grades[:2]).any():
        question = np.flatnonzero(np.isnan(grades[:2]).any(axis=0))[0]
        raise DataError(f"judge_a or judge_b has no score of question {question}: leave it out")
    f_a, f_b, h_a, h_b = grades
    check_bounds(h_a, low, high, "human_a")
    check_bounds(h_b, low, high, "human_b")
    items = check_graded(f_a - f_b, h_a - h_b, clusters, probabilities)
    reach, width = float(np.nanmax([f_a, f_b]) - np.nanmin([f_a, f_b])), high - low
    mass = 2.0 if _at(items.human[items.is_labelled], (-width, 0.0, width)) else 0.5
    thirds = ((-1.0, 0.25), (0.0, 0.5), (1.0, 0.25))
    corners = [(f, h * width, mass * p * q) for f, p in thirds for h, q in thirds]
    mean, variance = _moments(_rescaled(items, 0.0, reach), corners, (-width, width), n_draws, rng)
    return CorrectedDifference.from_moments(mean, variance, -width, width)


def best_weight(sums: FloatArray) -> FloatArray:
    """The weight beta = cov_L(f, h) / var_L(f) from sums (..., 7) as `Graded.sums` gives; 0 where f does not vary."""
    f, h, ff, fh = (sums[..., k] / sums[..., 2] for k in (3, 4, 5, 6))
    spread = ff - f * f
    varies = spread > _RELATIVE_ROUNDING * ff
    return np.asarray(np.divide(fh - f * h, spread, out=np.zeros_like(f), where=varies))


def corrected_mean(sums: FloatArray) -> FloatArray:
    """The estimate theta from sums (..., 7) as `Graded.sums` gives."""
    gap = sums[..., 1] / sums[..., 0] - sums[..., 3] / sums[..., 2]
    return np.asarray(sums[..., 4] / sums[..., 2] + best_weight(sums) * gap)


def _tightness(sums: FloatArray, low: float, high: float) -> float:
    """How tight labels are about what the judge's scores say of them, in [0, 1]; 0 where questions share a weight."""
    if not np.allclose(sums[:, 0], 1.0):
        return 0.0
    labelled = sums[sums[:, 2] > 0]
    f, h = (labelled[:, k] / labelled[:, 2] for k in (3, 4))
    unexplained = h - best_weight(sums.sum(axis=0)) * (f - f.mean())
    return tightness(np.clip(unexplained, low, high), low, high)


def _diluted(n_labels: int, tight: float) -> float:
    """What a corner counts for in labels where the prior also holds copies of those seen."""
    return n_labels / (n_labels + tight * max(n_labels - _LABELS_WITHOUT_COPIES, 0) / 2.0)


def _rescaled(items: Graded, origin: float, unit: float) -> Graded:
    """Judge's scores as (f - origin) / unit, of which theta does not depend; all 0 where they do not vary."""
    return replace(items, judge=(items.judge - origin) / (unit or 1.0))


def _moments(
    items: Graded,
    corners: Sequence[tuple[float, float, float]],
    bounds: tuple[float, float],
    n_draws: int,
    rng: np.random.Generator | None,
    corner_size: float = 1.0,
) -> tuple[float, float]:
    """Posterior mean and variance of theta, the latter for an estimated weight; a corner is so many labels' worth."""
    sums = items.sums()
    is_labelled = sums[:, 2] > 0
    rows, counts = np.unique(sums, axis=0, return_counts=True)
    size, labelled_size = sums[:, 0].mean(), sums[is_labelled, 2].mean()
    varies = bool(np.ptp(items.judge) > 0)
    atoms = np.array([[1.0, f * varies, 1.0, f * varies, h, f * f * varies, f * h * varies] for f, h, _ in corners])
    atoms *= np.where(np.arange(7) < 2, size, corner_size * labelled_size)
    rows = np.vstack([rows, atoms])
    shapes = np.append(counts, [mass for _, _, mass in corners])
    rng = rng or np.random.default_rng(0)
    draws = np.empty(n_draws)
    step = max(1, _BLOCK // len(rows))
    for start in range(0, n_draws, step):
        weights = rng.standard_gamma(shapes, (min(step, n_draws - start), len(rows)))
        draws[start : start + step] = corrected_mean(weights @ rows)
    draws = np.clip(draws, *bounds)
    n = int(is_labelled.sum())
    return float(draws.mean()), float(draws.var()) * (n / (n - 1) if varies else 1.0)


def _at(values: FloatArray, points: Sequence[float]) -> bool:
    """Whether every value is one of the points."""
    distance = np.min([np.abs(values - point) for point in points], axis=0)
    return bool((distance <= _RELATIVE_ROUNDING * max(abs(point) for point in points)).all())
