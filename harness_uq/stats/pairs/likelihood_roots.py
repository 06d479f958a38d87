"""How far differences are from a mean of 0 where rare large ones may not have been seen yet."""

import numpy as np

from harness_uq.stats.common.arrays import FloatArray

UNSEEN = 0.5  # units at either end; with a quarter, ten systems of which five fail rarely had .945 instead of .953
_ROUNDING = 1e-9
_CELLS_AT_ONCE = 2**17


def likelihood_roots(differences: FloatArray, widest: FloatArray) -> FloatArray:
    """Roots of twice the log of the empirical likelihood ratio of a mean of 0, with half a unit more at both ends.

    Parameters
    ----------
    differences : (n_pairs, n_units), each row of a positive sum
    widest : (n_pairs,), > 0; half a unit is put at `widest`, and half of one at `-widest`

    Returns
    -------
    ndarray, (n_pairs,), >= 0; inf for a pair of which every difference is 0 or as large as `widest`: those are
    symmetric about 0 where the mean is, so that nothing is unseen

    Owen (1990), Ann. Statist. 18, 90-120, in its dual form, max over t of 2 sum log(1 + t D); Chen, Variyath and
    Abraham (2008), J. Comput. Graph. Stat. 17, 426-443, for points that were not observed.

    One failure in 50 stays unseen in 200 with probability .02; the root of the sum of squares alone would be 14:

    >>> rare = likelihood_roots(np.array([[0.02] * 200, [1.0, 0.0] * 100]), np.ones(2))
    >>> round(float(rare[0]), 2), float(rare[1])
    (2.34, inf)
    """
    step = max(1, _CELLS_AT_ONCE // differences.shape[1])
    parts = [
        _roots(differences[at : at + step] / widest[at : at + step, None]) for at in range(0, len(differences), step)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _roots(x: FloatArray) -> FloatArray:
    """Of differences in units of the widest one, by Newton's method kept between bounds."""
    low, high = np.zeros(len(x)), np.minimum(1.0, 1 / np.maximum(-x.min(axis=1), _ROUNDING)) * (1 - 1e-12)
    t = high / 2
    for _ in range(60):
        terms = x / (1 + t[:, None] * x)
        slope = terms.sum(axis=1) - 2 * UNSEEN * t / (1 - t * t)
        curvature = np.einsum("pn,pn->p", terms, terms) + 2 * UNSEEN * (1 + t * t) / (1 - t * t) ** 2
        low, high = np.where(slope > 0, t, low), np.where(slope > 0, high, t)
        fresh = t + slope / curvature
        fresh = np.where((fresh > low) & (fresh < high), fresh, (low + high) / 2)
        done = np.abs(fresh - t).max() < 1e-7
        t = fresh
        if done:
            break
    ratio = np.log1p(t[:, None] * x).sum(axis=1) + UNSEEN * np.log1p(-t * t)
    size = np.abs(x)
    has_one_size = ((size < _ROUNDING) | (np.abs(size - 1) < _ROUNDING)).all(axis=1)
    return np.where(has_one_size, np.inf, np.sqrt(np.maximum(2 * ratio, 0.0)))
