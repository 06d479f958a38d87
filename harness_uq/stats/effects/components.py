"""Variance components of a crossed table, with their posteriors."""

from dataclasses import dataclass

import numpy as np

from harness_uq.stats.effects.crossed_table import RESIDUAL, CrossedTable
from harness_uq.stats.effects.variance_mixture import VarianceMixture, chi_squared, point_mass


@dataclass(frozen=True, eq=False)
class VarianceComponent:
    """Contribution of one source of variation to the variance of a single score.

    Attributes
    ----------
    name : str
        A factor, an interaction such as ``question × seed``, or ``residual``.
    n_levels : int
        Number of observed levels; number of rows for the residual.
    sd : float
        Standard deviation on the scale of the scores, by restricted maximum likelihood or moments (see
        `CrossedPosterior.variance_method`).
    share : float
        Share of the variance of one score, between 0 and 1.
    spread : VarianceMixture
        Posterior of the variance.
    rest : float
        Variance of one score that is due to the other components.
    """

    name: str
    n_levels: int
    sd: float
    share: float
    spread: VarianceMixture
    rest: float

    def sd_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Equal-tailed credible interval of the standard deviation."""
        low, high = np.sqrt(self.spread.quantile([(1 - level) / 2, (1 + level) / 2]))
        return float(low), float(high)

    def share_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Equal-tailed credible interval of the share, given the estimates of the other components."""
        limits = [limit**2 / (limit**2 + self.rest) if limit else 0.0 for limit in self.sd_interval(level)]
        return limits[0], limits[1]


def component_posteriors(table: CrossedTable, width: float) -> tuple[VarianceComponent, ...]:
    """Components of one score from coarse to fine, with the residual last; `width` is the range of the scores."""
    total, residual = table.variances.total, table.variances.residual
    df = max(float(table.strata.df[-1]), 1.0)
    residual_posterior = chi_squared(residual, df) if residual > 0 else point_mass(0.0)
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
        for name, n_levels, variance, spread in (*rows, (RESIDUAL, table.n, residual, residual_posterior))
    )
