"""Variance components of a crossed table, with what the data say of each."""

from dataclasses import dataclass

import numpy as np

from harness_uq.stats.effects.spread import Spread, chi_squared, known
from harness_uq.stats.effects.table import RESIDUAL, Table


@dataclass(frozen=True, eq=False)
class VarianceComponent:
    """What one source of variation contributes to a single score.

    Attributes
    ----------
    name : a factor, an interaction such as `question × seed`, or `residual`
    n_levels : levels seen; rows for the residual
    sd : float >= 0, on the scale of the scores; restricted maximum likelihood where `variance_method` says so
    share : of the variance of one score, in [0, 1]
    spread : posterior of the variance
    rest : variance of one score that comes from elsewhere
    """

    name: str
    n_levels: int
    sd: float
    share: float
    spread: Spread
    rest: float

    def sd_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Credible interval of the sd, equal tails."""
        low, high = np.sqrt(self.spread.quantile([(1 - level) / 2, (1 + level) / 2]))
        return float(low), float(high)

    def share_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Credible interval of the share, the other components at their estimates."""
        ends = [end**2 / (end**2 + self.rest) if end else 0.0 for end in self.sd_interval(level)]
        return ends[0], ends[1]


def components_of(table: Table, width: float) -> tuple[VarianceComponent, ...]:
    """Components of one score, coarse to fine and the residual last; `width` is that of the range of the scores."""
    total, residual = table.variances.total, table.variances.residual
    df = max(float(table.strata.df[-1]), 1.0)
    left = chi_squared(residual, df) if residual > 0 else known(0.0)
    rows = [
        (t.name, t.n_levels, float(table.variances.terms[i]), table.component(i))
        for i, t in enumerate(table.design.terms)
    ]
    return tuple(
        VarianceComponent(
            name,
            n_levels,
            width * float(np.sqrt(variance)),
            variance / total if total > 0 else 0.0,
            spread.scaled(width**2),
            width**2 * (total - variance),
        )
        for name, n_levels, variance, spread in (*rows, (RESIDUAL, table.n, residual, left))
    )
