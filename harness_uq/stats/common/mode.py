"""Mode and curvature of a smooth log density, by Newton steps with finite differences on the density's own scale."""

from collections.abc import Callable

import numpy as np

from harness_uq.stats.common.validate_arrays import FloatArray


def find_mode(log_density: Callable[[FloatArray], FloatArray], start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Maximum of a smooth log density, and the matrix of its second derivatives there.

    `log_density` maps points (n, dim) to (n,). Coordinates are unbounded and of natural scale at most 1, such as
    logits, logarithms and Fisher's z. The mode is accurate to a few hundredths of the density's scale, and the second
    derivatives are finite differences over that scale.
    """
    x, scale = np.array(start, float), np.ones(len(start))
    for _ in range(100):
        gradient, hessian = _differences(log_density, x, scale)
        values, vectors = np.linalg.eigh(hessian)
        step = vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), 1e-3))
        length = float(np.abs(step).max())
        step *= min(1.0, 4.0 / max(length, 4.0))
        candidates = x + np.array([[1.0], [0.25], [0.05], [0.0]]) * step * scale
        best = int(np.argmax(log_density(candidates)))
        x, used = candidates[best], scale
        if length > 4 and best < 3:  # far from the mode a finer scale would only slow convergence
            continue
        scale = np.minimum(used * np.clip(1 / np.sqrt(np.maximum(-np.diag(hessian), 1e-2)), 0.1, 4.0), 1.0)
        if length < 0.05 and np.abs(np.log(scale / used)).max() < 0.2:
            break
    return x, hessian / np.outer(used, used)


def _differences(
    log_density: Callable[[FloatArray], FloatArray], x: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradient and Hessian in units of `scale`, by central differences of half a unit."""
    dim, h = len(x), 0.5
    unit = np.eye(dim) * h
    i, j = np.triu_indices(dim, 1)
    pairs = np.concatenate([unit[i] + unit[j], -unit[i] - unit[j], unit[i] - unit[j], unit[j] - unit[i]])
    f = log_density(x + np.concatenate([np.zeros((1, dim)), unit, -unit, pairs]) * scale)
    up, down, cross = f[1 : dim + 1], f[dim + 1 : 2 * dim + 1], f[2 * dim + 1 :].reshape(4, -1)
    hessian = np.diag((up - 2 * f[0] + down) / h**2)
    hessian[i, j] = hessian[j, i] = (cross[0] + cross[1] - cross[2] - cross[3]) / (4 * h**2)
    return (up - down) / (2 * h), hessian
