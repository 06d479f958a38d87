"""Logistic regression of scores on covariates of questions."""

import numpy as np
from scipy import special

from harness_uq.stats.common.validate_arrays import FloatArray

_STEPS = 12
_RIDGE = 1.0
_CONVERGED = 1e-7
_SMALL = 1e-9


def logistic(x: FloatArray, y: FloatArray, weights: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """Coefficients of a weighted logistic regression with unit normal priors of the slopes, by Newton's method.

    The first column of the covariates `x` (n, k) is constant, the scores `y` (n,) are in [0, 1], and the weights on any
    scale; the default `start` has slopes 0.
    """
    n, k = x.shape
    w, target = weights / weights.mean(), y + (0.5 - y) / n
    penalty = np.diag(np.append(0.0, np.full(k - 1, _RIDGE)))
    beta = np.append(special.logit(w @ target / w.sum()), np.zeros(k - 1)) if start is None else start
    for _ in range(_STEPS):
        rate = special.expit(x @ beta)
        slope = x.T @ (w * (target - rate)) - penalty @ beta
        curvature = (x * (w * rate * (1.0 - rate))[:, None]).T @ x + penalty
        curvature[0, 0] += _SMALL
        step = np.linalg.solve(curvature, slope)
        largest = float(np.abs(step).max())
        beta = beta + step / max(1.0, largest)
        if largest < _CONVERGED:  # the remaining error is about its square
            break
    return np.asarray(beta)
