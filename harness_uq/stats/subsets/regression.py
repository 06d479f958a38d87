"""Scores regressed on what earlier systems' say of each question."""

import numpy as np
from scipy import special

from harness_uq.stats.common.arrays import FloatArray

_STEPS = 12
_RIDGE = 1.0


def logistic(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Coefficients of a weighted logistic regression, slopes with a unit normal prior, by Newton's steps.

    Parameters
    ----------
    x : (n, k); a column of ones comes first
    y : (n,), in [0, 1]
    weights : (n,), positive; their mean does not matter
    """
    n, k = x.shape
    w, target = weights / weights.mean(), y + (0.5 - y) / n
    penalty = np.append(0.0, np.full(k - 1, _RIDGE))
    beta = np.append(special.logit(w @ target / w.sum()), np.zeros(k - 1))
    for _ in range(_STEPS):
        rate = special.expit(x @ beta)
        slope = x.T @ (w * (target - rate)) - penalty * beta
        curvature = (x * (w * rate * (1.0 - rate))[:, None]).T @ x + np.diag(penalty) + 1e-9 * np.eye(k)
        step = np.linalg.solve(curvature, slope)
        beta = beta + step / max(1.0, float(np.abs(step).max()))
    return np.asarray(beta)
