"""Adjustment of p-values for multiple testing."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's adjusted p-values, which control the family-wise error rate.

    Rejecting the hypotheses with adjusted p-value <= alpha makes the probability of any false rejection at most alpha.

    Parameters
    ----------
    p_values : array_like
        p-values in [0, 1], of any shape; the whole array is one family.

    Returns
    -------
    ndarray
        Adjusted p-values, of the same shape.

    Raises
    ------
    DataError
        If a value is not a probability.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(12).tolist()
    [0.03, 0.06, 0.06]
    """
    return _adjusted(p_values, lambda p: np.maximum.accumulate(p * np.arange(p.size, 0, -1)))


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Benjamini-Hochberg adjusted p-values, which control the false discovery rate.

    Rejecting the hypotheses with adjusted p-value <= q makes the expected share of false rejections at most q for
    independent or positively dependent tests. Tests of all pairs of systems are neither, so the control is approximate.

    Parameters
    ----------
    p_values : array_like
        p-values in [0, 1], of any shape; the whole array is one family.

    Returns
    -------
    ndarray
        Adjusted p-values, of the same shape.

    Raises
    ------
    DataError
        If a value is not a probability.

    References
    ----------
    Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57, 289-300.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(12).tolist()
    [0.03, 0.04, 0.04]
    """
    return _adjusted(p_values, lambda p: np.minimum.accumulate((p * p.size / np.arange(1, p.size + 1))[::-1])[::-1])


def _adjusted(p_values: ArrayLike, steps: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Apply `steps` to the sorted p-values, limit the result to 1 and restore the order."""
    p = as_floats(p_values, "p_values")
    if not ((p >= 0) & (p <= 1)).all():
        raise DataError(f"p_values must lie in [0, 1]; got {p[~((p >= 0) & (p <= 1))][0]}")
    order = np.argsort(p, axis=None)
    adjusted = np.empty(p.size)
    adjusted[order] = np.minimum(steps(p.ravel()[order]), 1.0)
    return adjusted.reshape(p.shape)
