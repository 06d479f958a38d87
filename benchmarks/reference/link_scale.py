"""Standard deviations of effects on a link scale from the mean and covariances of binary scores, by moments."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray
from harness_uq.stats.effects.crossed import CrossedPosterior
from harness_uq.stats.effects.design import read_design

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
_CHANCES = _WEIGHTS / _WEIGHTS.sum()
_ROUNDS, _HALVINGS = 30, 40
_LARGEST = 100.0  # largest variance on the link scale

Link = Literal["logit", "probit"]
_Inverse = Callable[[FloatArray], FloatArray]
INVERSE_LINKS: dict[Link, _Inverse] = {"logit": special.expit, "probit": special.ndtr}


def crossed_latent_sds(
    scores: ArrayLike, factors: Mapping[str, ArrayLike], posterior: CrossedPosterior, link: Link = "logit"
) -> dict[str, float]:
    """Standard deviations of the components of `crossed_posterior`, without the residual, on the scale of the link.

    Raises
    ------
    NotEstimableError
        If scores are not binary, or all are equal.
    """
    if posterior.family != "binary" or not any(component.sd for component in posterior.components):
        raise NotEstimableError(
            f"effects on the {link} scale require both right and wrong answers; scores are {posterior.family}"
        )
    y = np.asarray(scores, float)
    coarser = [np.flatnonzero(row) for row in read_design(factors, len(y)).finer]
    variances = np.array([component.sd**2 for component in posterior.components[:-1]])
    sds = latent_sds(float(y.mean()), variances, coarser, link)
    return {c.name: float(sd) for c, sd in zip(posterior.components, sds, strict=False)}


def latent_sds(mean: float, variances: FloatArray, coarser: Sequence[IntArray], link: Link) -> FloatArray:
    """Standard deviations of normal effects on a link scale that imply given variances on the probability scale.

    Parameters
    ----------
    mean : float
        Mean score, between 0 and 1.
    variances : ndarray, shape (k,)
        Variances of the terms of a design, from coarse to fine. The covariance of two scores that share a term is its
        variance plus those of the terms that it refines.
    coarser : sequence of ndarray of int
        For each term the indices of the terms that it refines, including itself.
    link : {"logit", "probit"}
        Link between the probability and the sum of the effects.

    Returns
    -------
    ndarray, shape (k,)
        Standard deviations; 0 if the variance is 0.

    Notes
    -----
    The equations are E y = E p and Cov(y, y') = Var E(p | shared effects) with p = link^-1(mu + sum of effects). They
    are solved by quadrature: given the total variance, mu follows from the mean and each shared variance from its
    covariance. The total is updated until convergence.

    Examples
    --------
    The slope at 1/2 would give sqrt(0.04) * 4 = 0.8:

    >>> sds = latent_sds(0.5, np.array([0.0, 0.04]), [np.array([0]), np.array([1])], "logit")
    >>> float(sds[0]), 0.8 < float(sds[1]) < 1.0
    (0.0, True)
    """
    inverse = INVERSE_LINKS[link]
    shared = np.array([variances[index].sum() for index in coarser])
    own = np.zeros(len(variances))
    for _ in range(_ROUNDS):
        before, total = own.copy(), float(own.sum())
        common = _shared_variance(mean, total + 1e-12, shared, inverse)
        for k, index in enumerate(coarser):
            own[k] = max(common[k] - own[index].sum() + own[k], 0.0) if variances[k] > 0 else 0.0
        if np.abs(own - before).max() < 1e-9:
            break
    return np.sqrt(own)


def _shared_variance(mean: float, total: float, covariances: FloatArray, inverse: _Inverse) -> FloatArray:
    """Variances of the shared part of the linear predictor that imply the covariances, given its total variance."""
    low, high = np.zeros(len(covariances)), np.full(len(covariances), _LARGEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        total_variance = np.maximum(total, middle)
        p = _given_shared(_centre(mean, total_variance, inverse), middle, total_variance - middle, inverse)
        above = p**2 @ _CHANCES - mean**2 > covariances
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(covariances > 0, (low + high) / 2, 0.0)


def _given_shared(centre: FloatArray, shared: FloatArray, rest: FloatArray, inverse: _Inverse) -> FloatArray:
    """E(p | shared part) at the nodes of that part, shape (k, n_nodes)."""
    inner = centre[:, None] + np.sqrt(shared)[:, None] * _NODES
    return np.asarray(inverse(inner[:, :, None] + np.sqrt(rest)[:, None, None] * _NODES) @ _CHANCES)


def _centre(mean: float, total: FloatArray, inverse: _Inverse) -> FloatArray:
    low, high = np.full(len(total), -60.0), np.full(len(total), 60.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = inverse(middle[:, None] + np.sqrt(total)[:, None] * _NODES) @ _CHANCES > mean
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray((low + high) / 2)
