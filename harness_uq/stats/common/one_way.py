"""One-way analysis of variance of groups of different sizes."""

from dataclasses import dataclass

import numpy as np

from harness_uq.stats.common.validate_arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class MeanSquares:
    """Mean squares of a one-way layout.

    `between` and `within` are NaN without degrees of freedom: one group, or groups of one value. `typical_size` is the
    n_0 of the expected mean square between groups, within + n_0 times the variance between groups.
    """

    between: float
    within: float
    typical_size: float

    @property
    def variance_between(self) -> float:
        """Estimate of the variance between groups, at least 0."""
        return max(0.0, (self.between - self.within) / self.typical_size)


def mean_squares(values: FloatArray, codes: IntArray) -> MeanSquares:
    """Mean squares of a one-way layout.

    `values` are (n,), or (n, k) for averages of the mean squares over k columns; `codes` are the groups, from 0.
    Source: Searle, Casella and McCulloch (1992), Variance Components, section 3.6.

    >>> mean_squares(np.array([1.0, 3.0, 5.0, 5.0]), np.array([0, 0, 1, 1]))
    MeanSquares(between=9.0, within=1.0, typical_size=2.0)
    """
    columns, sizes = values.reshape(len(values), -1), np.bincount(codes).astype(float)
    n, n_groups = len(values), len(sizes)
    means = np.column_stack([np.bincount(codes, column) for column in columns.T]) / sizes[:, None]
    among = float((sizes @ (means - columns.mean(axis=0)) ** 2).mean())
    inside = float(((columns - means[codes]) ** 2).sum(axis=0).mean())
    return MeanSquares(
        between=among / (n_groups - 1) if n_groups > 1 else np.nan,
        within=inside / (n - n_groups) if n > n_groups else np.nan,
        typical_size=(n - float(sizes @ sizes) / n) / (n_groups - 1) if n_groups > 1 else np.nan,
    )
