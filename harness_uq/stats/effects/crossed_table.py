"""A crossed table of scores, and the contribution of each new factor to the variance of its mean."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.clusters.beta_binomial_posterior import clustered_posterior
from harness_uq.stats.clusters.quadrature import beta_binomial_grid
from harness_uq.stats.common.posterior import Posterior
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.effects.design import Design, Term
from harness_uq.stats.effects.factor_roles import Roles
from harness_uq.stats.effects.variance_mixture import (
    VarianceMixture,
    chi_squared,
    effect_variance,
    point_mass,
    proportion_posterior,
    real_posterior,
)
from harness_uq.stats.effects.variances import Strata, Variances, estimate_variances, level_share, strata, term_squares

_MODEL_WEIGHT = 20.0  # number of units at which the Beta model and the moments of unit means have equal weight
RESIDUAL = "residual"


@dataclass(frozen=True, eq=False)
class CrossedTable:
    """Scores z on the unit scale, their residuals r from the fixed levels, and the estimated variances."""

    z: FloatArray
    r: FloatArray
    design: Design
    roles: Roles
    strata: Strata
    variances: Variances
    family: str

    @property
    def n(self) -> int:
        return len(self.z)

    @property
    def scale(self) -> float:
        """Variance of one score, to which the priors are relative."""
        p = float(self.z.mean())
        return p * (1 - p) if self.family == "binary" else self.variances.total

    def inner(self, mean: float, variance: VarianceMixture) -> Posterior:
        """Posterior of the mean on the unit scale, from the distribution of the variance of its estimate."""
        if self.family == "real":
            return real_posterior(mean, variance)
        if self.scale == 0 and self.family == "binary":
            unit = self.roles.unit
            return clustered_posterior(unit.totals(self.z), unit.counts)
        spread = mean * (1 - mean)
        if self.family == "binary":
            return proportion_posterior(mean, variance.scaled(1 / spread), 1.0)
        size = np.maximum(spread / np.maximum(variance.values, 1e-300) - 1, 1e-3)
        return proportion_posterior(mean, VarianceMixture(1 / size, variance.weights), 0.0)

    def df(self, term: Term) -> float:
        """Number of levels minus those used by the fixed effects."""
        df = term.n_levels - (1 if self.roles.fixed is None else _n_connected(term, self.roles.fixed))
        if df < 1:
            raise NotEstimableError(
                f"the variance of {term.name} is not estimable, because each fixed level has a single {term.name}"
            )
        return float(df)

    def base(self, atoms: tuple[tuple[float, float], ...]) -> tuple[float, VarianceMixture]:
        """Centre, and the contribution of the unit and everything within it to the variance of the mean."""
        mean = float(self.z.mean())
        if self.family == "binary":
            return mean, self._binary_base()
        if not self.roles.unit_is_new:
            noise = self._within_unit() / self.n
            return mean, chi_squared(self._positive(noise), max(self.n - self.roles.unit.n_levels, 1))
        unit = self.roles.unit
        df, rows = self.df(unit), self.n / unit.n_levels
        mass = rows * sum(m for _, m in atoms)
        centre = (self.n * mean + rows * sum(m * x for x, m in atoms)) / (self.n + mass)
        squares = np.sum((unit.totals(self.r) - unit.counts * (centre - mean)) ** 2)
        squares += rows**2 * sum(m * (x - centre) ** 2 for x, m in atoms)
        variance = float(squares) / (self.n + mass) ** 2 * unit.n_levels / df
        return centre, chi_squared(self._positive(variance), df)

    def _positive(self, variance: float) -> float:
        if variance <= 0:
            raise NotEstimableError(
                "the scores do not vary, so that no variance is estimable. Give bounds of the score"
            )
        return variance

    def _binary_base(self) -> VarianceMixture:
        """Contribution theta (1 - theta) (share rho + (1 - rho) / n), shrunk towards the moments as units increase."""
        unit, share = self.roles.unit, level_share(self.roles.unit)
        if not self.scale:
            return point_mass(1 / self.n)
        if not self.roles.unit_is_new:
            few = min(self.z.sum(), self.n - self.z.sum())
            return point_mass(self.scale / self.n * _shrunk_ratio(self._within_unit() / self.scale, few))
        relative = self._correlated(unit, share)
        moments = float(np.sum(unit.totals(self.r) ** 2)) / self.n**2 * (unit.n_levels - 1) / self.df(unit)
        return relative.scaled(self.scale * _shrunk_ratio(moments / (self.scale * relative.mean), 1 / share))

    def _correlated(self, unit: Term, share: float) -> VarianceMixture:
        if unit.n_levels == self.n:
            return point_mass(1 / self.n)
        grid = beta_binomial_grid(unit.totals(self.z), unit.counts)
        return VarianceMixture(share * grid.icc + (1 - grid.icc) / self.n, grid.weights.sum(axis=0))

    def _within_unit(self) -> float:
        """Variance of one score at given levels of the unit and of the other new factors."""
        inside = [t.is_finer_than(self.roles.unit) and t is not self.roles.unit for t in self.design.terms]
        return float(self.variances.terms[inside].sum()) + self.variances.residual

    def further(self, term: Term) -> VarianceMixture:
        """Contribution of another new factor to the variance of the mean.

        It includes the factor's interactions, except those with the unit.
        """
        i, df = self.design.terms.index(term), self.df(term)
        unit = self.roles.unit
        inside = np.array([t.is_finer_than(unit) and t is not term for t in self.design.terms])
        gains = self.design.square_sizes[i] - np.array([level_share(t) for t in self.design.terms]) * self.n
        noise = self.variances.residual + float(gains[inside] @ self.variances.terms[inside]) / df
        square = term_squares(term, self.r) / df
        largest_variance = self.scale if self.family == "binary" else np.inf
        size = float(gains[i]) / df
        return effect_variance(square, df, noise, size, self.scale, largest_variance).scaled(level_share(term))

    def component(self, i: int) -> VarianceMixture:
        """Posterior of the variance of a term, given the estimates of the others."""
        df, sizes = self.strata.df[i], self.strata.sizes[i]
        if df <= 0 or sizes[i] <= 0:
            return point_mass(float(self.variances.terms[i]))
        others = np.append(self.variances.terms, self.variances.residual)
        others[i] = 0.0
        return effect_variance(self.strata.squares[i] / df, df, float(sizes @ others) / df, sizes[i] / df, self.scale)


def _shrunk_ratio(ratio: float, n_units: float) -> float:
    """Weighted mean of 1 (the model) and the ratio of moments to the model; the weights are equal at 20 units."""
    weight = _MODEL_WEIGHT / (_MODEL_WEIGHT + n_units)
    return weight + (1 - weight) * ratio


def _n_connected(one: Term, other: Term) -> int:
    """Number of connected components of the levels of two terms, which are linked by rows."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = one.n_levels + other.n_levels
    links = coo_array((np.ones(len(one.codes)), (one.codes, one.n_levels + other.codes)), shape=(size, size))
    return int(connected_components(links, directed=False)[0])


def uncertainty_of(roles: Roles, base: VarianceMixture, extras: Mapping[str, VarianceMixture]) -> dict[str, float]:
    """Expected share of each contribution in the variance of the mean; the shares sum to 1."""
    parts = {roles.unit.name if roles.unit_is_new else RESIDUAL: base, **extras}
    shares = {}
    for name, part in parts.items():
        rest = point_mass(0.0)
        for other in (spread for key, spread in parts.items() if key != name):
            rest = rest.plus(other)
        shares[name] = part.share_of(rest)
    return {name: share / sum(shares.values()) for name, share in shares.items()}


def build_crossed_table(z: FloatArray, design: Design, roles: Roles, family: str) -> CrossedTable:
    """Crossed table of scores z with estimated mean squares and variances."""
    centred = z - z.mean()
    squares = strata(design, centred)
    variances = estimate_variances(design, squares, centred)
    return CrossedTable(z, _residuals(z, roles.fixed), design, roles, squares, variances, family)


def _residuals(z: FloatArray, fixed: Term | None) -> FloatArray:
    if fixed is None:
        return np.asarray(z - z.mean())
    return np.asarray(z - (fixed.totals(z) / fixed.counts)[fixed.codes])
