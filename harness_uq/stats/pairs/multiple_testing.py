"""Adjustment of p-values for multiple testing."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats

Correction: TypeAlias = Literal["holm", "bh", "bonferroni"]


def adjust_p_values(p_values: ArrayLike, correction: Correction = "holm") -> FloatArray:
    """Adjusted p-values of a family of tests.

    Rejecting the hypotheses with adjusted p-value <= alpha makes the probability of any false rejection at most alpha
    (Holm, Bonferroni), or the expected share of false rejections at most alpha for independent or positively dependent
    tests (Benjamini-Hochberg). Tests of all pairs of systems are neither, so the control is then approximate.

    Parameters
    ----------
    p_values : array_like
        p-values in [0, 1], of any shape; the whole array is one family.
    correction : {"holm", "bh", "bonferroni"}, optional
        Method of Holm (default), of Benjamini and Hochberg, or of Bonferroni.

    Returns
    -------
    ndarray
        Adjusted p-values, of the same shape.

    Raises
    ------
    DataError
        If a value is not a probability, or the correction is unknown.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65-70; Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57,
    289-300.

    Examples
    --------
    >>> adjust_p_values([0.01, 0.04, 0.03]).round(12).tolist()
    [0.03, 0.06, 0.06]
    >>> adjust_p_values([0.01, 0.04, 0.03], "bh").round(12).tolist()
    [0.03, 0.04, 0.04]
    """
    p = as_floats(p_values, "p_values")
    if not ((p >= 0) & (p <= 1)).all():
        raise DataError(f"p_values must lie in [0, 1]; got {p[~((p >= 0) & (p <= 1))][0]}")
    order, n = np.argsort(p, axis=None), p.size
    ordered = p.ravel()[order]
    if correction == "holm":
        ordered = np.maximum.accumulate(ordered * np.arange(n, 0, -1))
    elif correction == "bh":
        ordered = np.minimum.accumulate((ordered * n / np.arange(1, n + 1))[::-1])[::-1]
    elif correction == "bonferroni":
        ordered = ordered * n
    else:
        raise DataError(f"correction must be 'bh', 'bonferroni' or 'holm'; got {correction!r}")
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(ordered, 1.0)
    return adjusted.reshape(p.shape)
