"""Difference of two systems' scores by human labels, if only one system's answers have labels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, as_floats, validated_codes
from harness_uq.stats.common.validate_scalars import MAX_DRAWS, check_number, check_rng, check_whole
from harness_uq.stats.labels.judge import CorrectedDifference
from harness_uq.stats.labels.label_arrays import label_weights
from harness_uq.stats.trials.partial_identification import OuterPosterior
from harness_uq.stats.units.records import record_draws

_FEWEST = 3


@dataclass(frozen=True, slots=True)
class OneSidedCorrection:
    """Difference A - B of the shares of right answers, with a grader whose errors are known for one system only.

    Attributes
    ----------
    equal : CorrectedDifference
        Posterior of the difference if the grader's errors are the same for both systems.
    outer : OuterPosterior
        Posteriors of the lowest and the highest difference if the errors differ by up to `max_shift`.
    j : float
        Posterior mean of the grader's J = sensitivity + specificity - 1 on the answers with labels.
    j_interval : tuple of float
        Equal-tailed 95 % interval of J.
    """

    equal: CorrectedDifference
    outer: OuterPosterior
    j: float
    j_interval: tuple[float, float]


def one_sided_correction(
    judge_a: ArrayLike,
    judge_b: ArrayLike,
    human_a: ArrayLike | None = None,
    human_b: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    max_shift: float = 0.1,
    n_draws: int = 10_000,
    rng: np.random.Generator | None = None,
) -> OneSidedCorrection:
    """Correct the difference of two systems with the grader's errors on the answers of one of them.

    With the shares p of answers that the grader scores as right, and its sensitivity s and specificity c on the
    answers with labels, say those of A, the shares of right answers are, by Rogan and Gladen's estimator,

        theta_A = (p_A + c - 1) / (s + c - 1),        theta_B = (p_B + c' - 1) / (s' + c' - 1),

    where s' - s, c' - c and their sum are at most `max_shift` in absolute value.

    Parameters
    ----------
    judge_a, judge_b : array_like, shape (n_questions,)
        Grades of the same questions, 0 or 1.
    human_a, human_b : array_like, shape (n_questions,)
        Labels of the answers of A or of B in [0, 1], such as the share of people who label the answer as right; NaN
        without a label. Exactly one of the two is given.
    clusters : array_like, shape (n_questions,), optional
        Cluster labels. The default is independent questions.
    probabilities : array_like, shape (n_questions,), optional
        Probabilities in (0, 1] with which answers were labeled, as in `grader_errors`. The default is a simple random
        sample.
    max_shift : float, optional
        Largest difference of sensitivity, of specificity and of their sum between the systems, in [0, 1] (default
        0.1).
    n_draws : int, optional
        Number of draws (default 10,000).
    rng : numpy.random.Generator, optional
        Random generator (default: seed 0, so that equal data give equal results).

    Raises
    ------
    DataError
        If labels of both or of no system are given, shapes differ, `max_shift` is outside [0, 1], a grade is neither 0
        nor 1, a label is outside [0, 1], or a probability is not in (0, 1].
    NotEstimableError
        If fewer than three questions (or clusters) have a label.

    Notes
    -----
    All shares are evaluated under the same Gamma(1) weights of the questions (or clusters, whose questions share a
    weight), a Bayesian bootstrap. The prior adds weights Gamma(1/2) to each of the four grades of A and B, and to each
    combination of grade and label, so that a share is never known exactly. A label h counts as h right and 1 - h
    wrong answers; with s = E[f h] / E[h] and c = E[(1 - f)(1 - h)] / E[1 - h], the estimator is exact for E[h].

    References
    ----------
    Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test", Am. J. Epidemiol. 107, 71-76,
    equation 1; Rubin (1981), "The Bayesian bootstrap"; Manski (2003), "Partial identification of probability
    distributions", for the range of differences.

    Examples
    --------
    >>> grades_a, grades_b = [1] * 70 + [0] * 30, [1] * 50 + [0] * 50
    >>> labels = [1] * 18 + [0] * 2 + [float("nan")] * 70 + [0] * 9 + [1]
    >>> found = one_sided_correction(grades_a, grades_b, labels)
    >>> low, high = found.equal.interval()
    >>> found.outer.interval()[0] < low < 0.2 < high
    True
    """
    if (human_a is None) == (human_b is None):
        raise DataError("give the labels of one system, either human_a or human_b")
    name, human = ("human_a", human_a) if human_b is None else ("human_b", human_b)
    grades_a, grades_b = _grades(judge_a, "judge_a"), _grades(judge_b, "judge_b")
    h = _labels([] if human is None else human, name)
    if not grades_a.shape == grades_b.shape == h.shape:
        shapes = f"{grades_a.shape}, {grades_b.shape} and {h.shape}"
        raise DataError(f"judge_a, judge_b and {name} must have the same questions; got shapes {shapes}")
    sign, graded, other = (1, grades_a, grades_b) if human_b is None else (-1, grades_b, grades_a)
    check_number(max_shift, "max_shift", lowest=0.0)
    if max_shift > 1:
        raise DataError(f"max_shift must be at most 1; got {max_shift}")
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    units = np.arange(len(h)) if clusters is None else validated_codes(clusters, h.shape)
    is_labeled = np.asarray(~np.isnan(h))
    if len(np.unique(units[is_labeled])) < _FEWEST:
        raise NotEstimableError(f"labels of at least {_FEWEST} questions or clusters are required")
    counts = _counts(graded, other, h, units, label_weights(probabilities, is_labeled))
    share, other_share, sensitivity, specificity = _shares(_cells(counts, n_draws, check_rng(rng)))
    own = _right(share, sensitivity, specificity)
    others = np.array([_right(other_share, *rates) for rates in _shifted(sensitivity, specificity, max_shift)])
    differences = sign * (own - others)
    j = sensitivity + specificity - 1
    return OneSidedCorrection(
        equal=_posterior(differences[0]),
        outer=OuterPosterior(_posterior(differences.min(axis=0)), _posterior(differences.max(axis=0))),
        j=float(j.mean()),
        j_interval=(float(np.quantile(j, 0.025)), float(np.quantile(j, 0.975))),
    )


def _grades(values: ArrayLike, name: str) -> FloatArray:
    """Values of 0 and 1, shape (n_questions,)."""
    array = as_floats(values, name)
    if array.ndim != 1 or not np.isin(array, (0.0, 1.0)).all():
        raise DataError(f"{name} must have shape (n_questions,) and the values 0 and 1")
    return array


def _labels(values: ArrayLike, name: str) -> FloatArray:
    """Values in [0, 1], shape (n_questions,), with NaN for missing ones."""
    array = as_floats(values, name)
    if array.ndim != 1 or ((array < 0) | (array > 1)).any():
        raise DataError(f"{name} must have shape (n_questions,) and values in [0, 1], or NaN without a label")
    return array


def _counts(graded: FloatArray, other: FloatArray, h: FloatArray, units: IntArray, weights: FloatArray) -> FloatArray:
    """Numbers of questions of each unit by both grades, then by grade and label; shape (n_units, 8).

    `weights` are those of the questions with a label.
    """
    by_grades = (2 * graded + other).astype(int)
    labeled = np.flatnonzero(~np.isnan(h))
    wrong = (4 + 2 * graded[labeled]).astype(int)
    counts = np.zeros((units.max() + 1, 8))
    np.add.at(counts, (units, by_grades), 1.0)
    np.add.at(counts, (units[labeled], wrong), weights * (1 - h[labeled]))
    np.add.at(counts, (units[labeled], wrong + 1), weights * h[labeled])
    return counts


def _cells(counts: FloatArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draws of the weights of the eight cells; shape (n_draws, 8)."""
    rows, numbers = np.unique(counts, axis=0, return_counts=True)
    return record_draws(np.vstack([rows, np.eye(8)]), np.append(numbers, np.full(8, 0.5)), n_draws, rng)


def _shares(cells: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Shares of both systems that are graded as right, sensitivity and specificity; (n_draws,) each."""
    total = cells[:, :4].sum(axis=1)
    p_a, p_b = (cells[:, 2] + cells[:, 3]) / total, (cells[:, 1] + cells[:, 3]) / total
    sensitivity = cells[:, 7] / (cells[:, 5] + cells[:, 7])
    return p_a, p_b, sensitivity, cells[:, 4] / (cells[:, 4] + cells[:, 6])


def _shifted(sensitivity: FloatArray, specificity: FloatArray, max_shift: float) -> list[tuple[FloatArray, FloatArray]]:
    """Error rates on answers without labels: equal to those with labels first, then the extreme differences."""
    corners = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, -1), (-1, 1)]
    # a rate above 1 is kept, because a limit at 1 would move the mean of the draws away from the extreme
    return [(sensitivity + of_s * max_shift, specificity + of_c * max_shift) for of_s, of_c in corners]


def _right(share: FloatArray, sensitivity: FloatArray, specificity: FloatArray) -> FloatArray:
    """Rogan and Gladen's estimate of the share of right answers, within [0, 1]."""
    j = np.maximum(sensitivity + specificity - 1, 1e-9)
    return np.asarray(np.clip((share + specificity - 1) / j, 0, 1))


def _posterior(draws: FloatArray) -> CorrectedDifference:
    return CorrectedDifference.from_moments(float(draws.mean()), float(draws.var()), -1.0, 1.0)
