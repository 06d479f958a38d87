"""Posterior of the difference of two systems on the same questions, for one pair or all pairs."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.common.posterior import DifferencePosterior
from harness_uq.stats.common.roots import invert_increasing
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats, check_level
from harness_uq.stats.pairs.paired_latent_normal import LatentNormalPosterior, latent_normal_summaries
from harness_uq.stats.units.contour import prob_linear_form_positive
from harness_uq.stats.units.contrasts import DirichletCellsPosterior, check_table
from harness_uq.stats.units.process import standardised_quantile

PairedModel = Literal["latent_normal", "dirichlet"]

_SIGNS = np.array([-1.0, 0.0, 1.0])
_RELATIVE_ROUNDING = 1e-12


def paired_posterior(table: ArrayLike, model: PairedModel = "latent_normal") -> DifferencePosterior:
    """Posterior of theta_A - theta_B from the 2 x 2 table of two systems on the same questions.

    The prior of either model is uniform on theta_A and on theta_B.

    Parameters
    ----------
    table : array_like, shape (4,)
        Numbers of questions that [both, only A, only B, neither] got right.
    model : {"latent_normal", "dirichlet"}, optional
        The latent bivariate normal model of Bowyer et al. (default), or the conjugate and exact Dirichlet model, a
        Bayesian McNemar test (see `DirichletCellsPosterior`).

    Returns
    -------
    LatentNormalPosterior or DirichletCellsPosterior
        Posterior on [-1, 1].

    Raises
    ------
    DataError
        If the table is not four counts with at least one question, or the model is unknown.

    References
    ----------
    Bowyer et al. (2025), section 3.4 and appendix E.2, for the latent normal model.

    Examples
    --------
    Only discordant questions are informative about which system is better:

    >>> round(paired_posterior([17, 2, 0, 1], "dirichlet").prob_positive, 4)
    0.9244
    """
    counts = check_table(table)
    if model == "latent_normal":
        return LatentNormalPosterior(counts)
    if model == "dirichlet":
        return DirichletCellsPosterior(counts)
    raise DataError(f"model must be 'dirichlet' or 'latent_normal'; got {model!r}")


def _cell_masses(tables: FloatArray) -> FloatArray:
    both, only_a, only_b, neither = np.moveaxis(tables, -1, 0)
    return np.stack([only_b + 0.5, both + neither + 1.0, only_a + 0.5], axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class PairwiseDifferences:
    """Differences between all pairs of systems; entry [i, j] refers to theta_i - theta_j.

    The difference of a system to itself is 0: mean, sd, low and high are 0 and prob_positive is 1/2. Entries of a pair
    without common questions are NaN.

    Attributes
    ----------
    mean, sd : ndarray, shape (n_systems, n_systems)
        Posterior mean and standard deviation.
    prob_positive : ndarray, shape (n_systems, n_systems)
        P(theta_i > theta_j).
    low, high : ndarray, shape (n_systems, n_systems)
        Limits of the equal-tailed interval of probability `level`.
    n_matched : ndarray, shape (n_systems, n_systems)
        Number of questions that both systems answered.
    level : float
        Probability of the intervals.
    model : str
        ``latent_normal`` or ``dirichlet``.
    """

    mean: FloatArray
    sd: FloatArray
    prob_positive: FloatArray
    low: FloatArray
    high: FloatArray
    n_matched: FloatArray
    level: float
    model: PairedModel


def paired_posteriors(
    correct: ArrayLike, model: PairedModel = "latent_normal", *, level: float = 0.95
) -> PairwiseDifferences:
    """Posterior differences of all pairs of systems on the same binary questions.

    Pairs with equal tables share one posterior. Dirichlet intervals agree with `paired_posterior` to 1e-6. The latent
    normal model uses a coarser grid, adapted to each pair, and agrees to 1e-3.

    Parameters
    ----------
    correct : array_like, shape (n_systems, n_questions)
        0, 1 or NaN (not answered).
    model : {"latent_normal", "dirichlet"}, optional
        As in `paired_posterior`.
    level : float, optional
        Probability of the intervals (default 0.95).

    Returns
    -------
    PairwiseDifferences
        Posterior summaries of all pairs.

    Raises
    ------
    DataError
        If `correct` has another shape or other values.

    Examples
    --------
    >>> pairs = paired_posteriors([[1, 1, 1, 0], [0, 1, 0, 0]], "dirichlet")
    >>> float(pairs.mean[0, 1]), float(pairs.mean[1, 0])
    (0.3333333333333333, -0.3333333333333333)
    """
    check_level(level)
    if model not in ("latent_normal", "dirichlet"):
        raise DataError(f"model must be 'dirichlet' or 'latent_normal'; got {model!r}")
    tables = paired_tables(correct)
    matched = tables.sum(axis=-1)
    i, j = np.triu_indices(len(tables), 1)
    i, j = i[matched[i, j] > 0], j[matched[i, j] > 0]
    unique, index = np.unique(tables[i, j], axis=0, return_inverse=True)
    summarise = latent_normal_summaries if model == "latent_normal" else _dirichlet_summaries
    mean, sd, prob, low, high = summarise(unique, level)[:, index.ravel()] if i.size else np.empty((5, 0))

    def square(upper: FloatArray, lower: FloatArray, diagonal: float) -> FloatArray:
        matrix = np.full(matched.shape, np.nan)
        matrix[i, j], matrix[j, i] = upper, lower
        np.fill_diagonal(matrix, diagonal)
        return matrix

    return PairwiseDifferences(
        mean=square(mean, -mean, 0.0),
        sd=square(sd, sd, 0.0),
        prob_positive=square(prob, 1 - prob, 0.5),
        low=square(low, -high, 0.0),
        high=square(high, -low, 0.0),
        n_matched=matched,
        level=level,
        model=model,
    )


def paired_tables(correct: ArrayLike) -> FloatArray:
    """2 x 2 tables of all pairs.

    Parameters
    ----------
    correct : array_like, shape (n_systems, n_questions)
        0, 1 or NaN (not answered).

    Returns
    -------
    ndarray, shape (n_systems, n_systems, 4)
        Numbers of questions that [both, only the first, only the second, neither] got right.
    """
    y = as_floats(correct, "correct")
    if y.ndim != 2 or not y.size:
        raise DataError(f"correct must have shape (n_systems, n_questions); got {y.shape}")
    right, wrong = (y == 1).astype(float), (y == 0).astype(float)
    if not (right + wrong + np.isnan(y)).all():
        raise DataError(f"correct must be 0, 1 or NaN; got {y[(right + wrong + np.isnan(y)) == 0][0]}")
    return np.stack([right @ right.T, right @ wrong.T, wrong @ right.T, wrong @ wrong.T], axis=-1)


def _dirichlet_summaries(tables: FloatArray, level: float) -> FloatArray:
    """Rows mean, sd, P(A > B), low, high of the Dirichlet model, with one column per table."""
    masses = _cell_masses(tables)
    total = masses.sum(axis=1)
    mean = masses @ _SIGNS / total
    residual = _SIGNS - mean[:, None]
    sd = np.sqrt(np.sum(masses * residual**2, axis=1) / total / (total + 1))
    p = np.array([[(1 - level) / 2], [(1 + level) / 2]])
    guess = (mean + sd * standardised_quantile(p, residual, masses)).ravel()
    both_masses = np.tile(masses, (2, 1))
    ends = invert_increasing(
        lambda x: 1.0 - prob_linear_form_positive(_SIGNS - x[:, None], both_masses),
        np.repeat(p, len(tables)),
        low=-1.0,
        high=1.0,
        guess=guess,
        scale=np.tile(sd, 2) / 64,
        tolerance=1e-3,
    )
    prob = special.betainc(masses[:, 0], masses[:, 2], 0.5)
    return np.vstack([mean, sd, prob, ends.reshape(2, -1)])


def paired_differences(scores_a: ArrayLike, scores_b: ArrayLike) -> FloatArray:
    """Per-question differences of mean scores over trials, without questions that either system did not answer.

    Parameters
    ----------
    scores_a, scores_b : array_like, shape (n_questions,) or (n_questions, n_trials)
        Scores with NaN for missing trials. The numbers of trials may differ.

    Returns
    -------
    ndarray
        Score of A minus score of B for each question that both systems answered.

    Raises
    ------
    DataError
        If the numbers of questions differ.

    Examples
    --------
    >>> paired_differences([[1, 0], [1, 1], [0, float("nan")]], [[0], [float("nan")], [0]]).tolist()
    [0.5, 0.0]
    """
    a, b = _question_means(scores_a, "scores_a"), _question_means(scores_b, "scores_b")
    if a.shape != b.shape:
        raise DataError(f"scores_a and scores_b need the same questions; got {a.size} and {b.size}")
    difference = a - b
    return np.asarray(difference[~np.isnan(difference)])


def _question_means(scores: ArrayLike, name: str) -> FloatArray:
    values = as_floats(scores, name)
    if values.ndim not in (1, 2):
        raise DataError(f"{name} must have shape (n_questions,) or (n_questions, n_trials); got {values.shape}")
    if np.isinf(values).any():
        raise DataError(f"{name} must be finite, or NaN where missing; got {values[np.isinf(values)][0]}")
    trials = values.reshape(len(values), -1 if values.size else 0)
    present = ~np.isnan(trials)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(present, trials, 0.0).sum(axis=1) / present.sum(axis=1))
