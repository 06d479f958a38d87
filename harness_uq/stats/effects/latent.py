"""Sds on the scale of a link that give right-or-wrong scores their mean and covariances: moments, no fit."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from scipy import special

from harness_uq.stats.common.arrays import FloatArray, IntArray

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
_CHANCES = _WEIGHTS / _WEIGHTS.sum()
_ROUNDS, _HALVINGS = 30, 40
_LARGEST = 100.0  # variance on the scale of the link

Link = Literal["logit", "probit"]
_Inverse = Callable[[FloatArray], FloatArray]
INVERSE_LINKS: dict[Link, _Inverse] = {"logit": special.expit, "probit": special.ndtr}


def latent_sds(mean: float, variances: FloatArray, coarser: Sequence[IntArray], link: Link) -> FloatArray:
    """Sds of normal effects on the scale of a link with these variances on the probability scale.

    Parameters
    ----------
    mean : float in (0, 1)
    variances : (k,) of the terms of a design, coarse to fine; what two scores that share a term have in common is its
        variance with those of the terms that it refines
    coarser : for each term the indices of the terms that it refines, itself included
    link : of the probability with the sum of the effects

    Returns
    -------
    (k,) >= 0 ; 0 where the variance is 0

    Notes
    -----
    E y = E p and Cov(y, y') = Var E(p | what the two share), p = link^-1(mu + sum of effects), solved by quadrature:
    given the total variance, mu by the mean and each shared variance by its covariance; the total follows, repeatedly.

    >>> sds = latent_sds(0.5, np.array([0.0, 0.04]), [np.array([0]), np.array([1])], "logit")
    >>> float(sds[0]), 0.8 < float(sds[1]) < 1.0  # by the slope at 1/2: sqrt(0.04) * 4
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
    """Variances of the shared part of the linked mean that give the covariances, where that of all of it is `total`."""
    low, high = np.zeros(len(covariances)), np.full(len(covariances), _LARGEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        whole = np.maximum(total, middle)
        p = _given_shared(_centre(mean, whole, inverse), middle, whole - middle, inverse)
        above = p**2 @ _CHANCES - mean**2 > covariances
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(covariances > 0, (low + high) / 2, 0.0)


def _given_shared(centre: FloatArray, shared: FloatArray, rest: FloatArray, inverse: _Inverse) -> FloatArray:
    """E(p | shared part) at the nodes of that part, (k, nodes)."""
    inner = centre[:, None] + np.sqrt(shared)[:, None] * _NODES
    return np.asarray(inverse(inner[:, :, None] + np.sqrt(rest)[:, None, None] * _NODES) @ _CHANCES)


def _centre(mean: float, total: FloatArray, inverse: _Inverse) -> FloatArray:
    low, high = np.full(len(total), -60.0), np.full(len(total), 60.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = inverse(middle[:, None] + np.sqrt(total)[:, None] * _NODES) @ _CHANCES > mean
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray((low + high) / 2)
