"""Posterior of the difference of two systems on the same questions, for one pair or all pairs."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.posterior import DifferencePosterior
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats
from harness_uq.stats.pairs.paired_latent_normal import LatentNormalPosterior
from harness_uq.stats.units.contrasts import DirichletCellsPosterior, check_table

PairedModel = Literal["latent_normal", "dirichlet"]


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


def paired_tables(correct: ArrayLike) -> FloatArray:
    """2 x 2 tables of all pairs.

    `correct` (n_systems, n_questions) is 0, 1 or NaN (not answered). The tables (n_systems, n_systems, 4) have the
    numbers of questions that [both, only the first, only the second, neither] got right.
    """
    y = as_floats(correct, "correct")
    if y.ndim != 2 or not y.size:
        raise DataError(f"correct must have shape (n_systems, n_questions); got {y.shape}")
    right, wrong = (y == 1).astype(float), (y == 0).astype(float)
    if not (right + wrong + np.isnan(y)).all():
        raise DataError(f"correct must be 0, 1 or NaN; got {y[(right + wrong + np.isnan(y)) == 0][0]}")
    return np.stack([right @ right.T, right @ wrong.T, wrong @ right.T, wrong @ wrong.T], axis=-1)
