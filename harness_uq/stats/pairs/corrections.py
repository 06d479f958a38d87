"""Corrections of p-values for the number of tests."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray, numbers


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's adjusted p-values: reject where <= alpha, and the chance of any false rejection is at most alpha.

    Parameters
    ----------
    p_values : array_like, any shape, in [0, 1]; the whole array is one family

    Raises
    ------
    DataError : if a value is not a probability

    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

    >>> holm([0.01, 0.04, 0.03]).round(12).tolist()
    [0.03, 0.06, 0.06]
    """
    return _adjusted(p_values, lambda p: np.maximum.accumulate(p * np.arange(p.size, 0, -1)))


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Benjamini-Hochberg adjusted p-values: reject where <= q; the expected share of false rejections is at most q.

    Parameters
    ----------
    p_values : as in `holm`

    Raises
    ------
    DataError : if a value is not a probability

    The share in the data at hand may be larger. For independent or positively dependent tests; all pairs of systems are
    neither, and the rate is then only approximate. Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57, 289-300.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(12).tolist()
    [0.03, 0.04, 0.04]
    """
    return _adjusted(p_values, lambda p: np.minimum.accumulate((p * p.size / np.arange(1, p.size + 1))[::-1])[::-1])


def _adjusted(p_values: ArrayLike, steps: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """What `steps` makes of the sorted p-values, at most 1, in their place."""
    p = numbers(p_values, "p_values")
    if not ((p >= 0) & (p <= 1)).all():
        raise DataError(f"p_values must lie in [0, 1]; got {p[~((p >= 0) & (p <= 1))][0]}")
    order = np.argsort(p, axis=None)
    adjusted = np.empty(p.size)
    adjusted[order] = np.minimum(steps(p.ravel()[order]), 1.0)
    return adjusted.reshape(p.shape)
