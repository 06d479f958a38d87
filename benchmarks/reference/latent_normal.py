"""Cells of the latent bivariate normal model, from which data sets of pairs are simulated."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.pairs.bivariate_normal import quadrant_probabilities


def latent_normal_cells(theta_a: ArrayLike, theta_b: ArrayLike, rho: ArrayLike) -> FloatArray:
    """Cell probabilities of the latent bivariate normal model for paired binary scores.

    System A is right if a standard normal is at most ``probit(theta_a)``, and system B if another standard normal,
    with correlation `rho` to the first, is at most ``probit(theta_b)``.

    Parameters
    ----------
    theta_a, theta_b : array_like
        Accuracies, between 0 and 1; all parameters broadcast together.
    rho : array_like
        Correlation, from -1 to 1; values within 1e-12 of the ends are moved to that distance.

    Returns
    -------
    ndarray, shape (..., 4)
        Probabilities that both, only A, only B and neither are right.

    References
    ----------
    Bowyer et al. (2025), appendix C.

    Examples
    --------
    >>> latent_normal_cells(0.5, 0.5, 0.5).round(6).tolist()
    [0.333333, 0.166667, 0.166667, 0.333333]
    """
    a, b = special.ndtri(np.asarray(theta_a, float)), special.ndtri(np.asarray(theta_b, float))
    z = np.arctanh(np.clip(rho, -1 + 1e-12, 1 - 1e-12))
    return np.stack(np.broadcast_arrays(*quadrant_probabilities(a, b, z)), axis=-1)
