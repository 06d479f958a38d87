"""A crossed table of scores, and the variance of its mean that each new factor brings."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from harness_uq.errors import NotEstimableError
from harness_uq.stats.clusters.clustered import clustered_posterior
from harness_uq.stats.clusters.quadrature import beta_binomial_grid
from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.common.posterior import Posterior
from harness_uq.stats.effects.design import Design, Term
from harness_uq.stats.effects.roles import Roles
from harness_uq.stats.effects.spread import (
    Spread,
    chi_squared,
    effect_variance,
    known,
    proportion_posterior,
    real_posterior,
)
from harness_uq.stats.effects.variances import Strata, Variances, estimate_variances, level_share, strata, term_squares

_TRUST = 20.0  # units at which the Beta model and the moments of the unit means weigh alike
RESIDUAL = "residual"


@dataclass(frozen=True, eq=False)
class Table:
    """Scores z on the unit scale, r their residuals from the fixed levels, and what is known of them."""

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
        """Variance of one score, that the priors are relative to."""
        p = float(self.z.mean())
        return p * (1 - p) if self.family == "binary" else self.variances.total

    def inner(self, mean: float, variance: Spread) -> Posterior:
        """Posterior of the mean on the unit scale from the variance of its estimate."""
        if self.family == "real":
            return real_posterior(mean, variance)
        if self.scale == 0 and self.family == "binary":
            unit = self.roles.unit
            return clustered_posterior(unit.totals(self.z), unit.counts)
        spread = mean * (1 - mean)
        if self.family == "binary":
            return proportion_posterior(mean, variance.scaled(1 / spread), 1.0)
        size = np.maximum(spread / np.maximum(variance.values, 1e-300) - 1, 1e-3)
        return proportion_posterior(mean, Spread(1 / size, variance.weights), 0.0)

    def df(self, term: Term) -> float:
        """Levels less those that the fixed effects take up."""
        df = term.n_levels - (1 if self.roles.fixed is None else _n_connected(term, self.roles.fixed))
        if df < 1:
            raise NotEstimableError(
                f"each level of what stays holds one {term.name}: nothing shows how they vary within it"
            )
        return float(df)

    def base(self, atoms: tuple[tuple[float, float], ...]) -> tuple[float, Spread]:
        """Centre, and variance of the mean that the unit and all within it bring."""
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
            raise NotEstimableError("the scores do not vary: their spread says nothing; bounds of the score would help")
        return variance

    def _binary_base(self) -> Spread:
        """Theta (1 - theta) (share rho + (1 - rho) / n), drawn towards the moments as there are more of them."""
        unit, share = self.roles.unit, level_share(self.roles.unit)
        if not self.scale:
            return known(1 / self.n)
        if not self.roles.unit_is_new:
            few = min(self.z.sum(), self.n - self.z.sum())
            return known(self.scale / self.n * _drawn(self._within_unit() / self.scale, few))
        relative = self._correlated(unit, share)
        moments = float(np.sum(unit.totals(self.r) ** 2)) / self.n**2 * (unit.n_levels - 1) / self.df(unit)
        return relative.scaled(self.scale * _drawn(moments / (self.scale * relative.mean), 1 / share))

    def _correlated(self, unit: Term, share: float) -> Spread:
        if unit.n_levels == self.n:
            return known(1 / self.n)
        grid = beta_binomial_grid(unit.totals(self.z), unit.counts)
        return Spread(share * grid.icc + (1 - grid.icc) / self.n, grid.weights.sum(axis=0))

    def _within_unit(self) -> float:
        """Variance of one score at given levels of the unit and of the further new factors."""
        inside = [t.is_finer_than(self.roles.unit) and t is not self.roles.unit for t in self.design.terms]
        return float(self.variances.terms[inside].sum()) + self.variances.residual

    def further(self, term: Term) -> Spread:
        """Variance of the mean that a further new factor brings, its interactions with all but the unit included."""
        i, df = self.design.terms.index(term), self.df(term)
        unit = self.roles.unit
        inside = np.array([t.is_finer_than(unit) and t is not term for t in self.design.terms])
        gains = self.design.square_sizes[i] - np.array([level_share(t) for t in self.design.terms]) * self.n
        noise = self.variances.residual + float(gains[inside] @ self.variances.terms[inside]) / df
        square = term_squares(term, self.r) / df
        most = self.scale if self.family == "binary" else np.inf
        size = float(gains[i]) / df
        return effect_variance(square, df, noise, size, self.scale, most).scaled(level_share(term))

    def component(self, i: int) -> Spread:
        """Posterior of the variance of a term, the others at their estimates."""
        df, sizes = self.strata.df[i], self.strata.sizes[i]
        if df <= 0 or sizes[i] <= 0:
            return known(float(self.variances.terms[i]))
        others = np.append(self.variances.terms, self.variances.residual)
        others[i] = 0.0
        return effect_variance(self.strata.squares[i] / df, df, float(sizes @ others) / df, sizes[i] / df, self.scale)


def _drawn(ratio: float, n_units: float) -> float:
    """Between 1, the model, and the ratio of moments to the model: half way at 20 units."""
    trust = _TRUST / (_TRUST + n_units)
    return trust + (1 - trust) * ratio


def _n_connected(one: Term, other: Term) -> int:
    """Groups of levels that no row connects."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = one.n_levels + other.n_levels
    links = coo_array((np.ones(len(one.codes)), (one.codes, one.n_levels + other.codes)), shape=(size, size))
    return int(connected_components(links, directed=False)[0])


def uncertainty_of(roles: Roles, base: Spread, extras: Mapping[str, Spread]) -> dict[str, float]:
    """Expected share of each part in the variance of the mean; they sum to 1."""
    parts = {roles.unit.name if roles.unit_is_new else RESIDUAL: base, **extras}
    shares = {}
    for name, part in parts.items():
        rest = known(0.0)
        for other in (spread for key, spread in parts.items() if key != name):
            rest = rest.plus(other)
        shares[name] = part.share_of(rest)
    return {name: share / sum(shares.values()) for name, share in shares.items()}


def table_of(z: FloatArray, design: Design, roles: Roles, family: str) -> Table:
    """The table of scores z, its mean squares and variances estimated."""
    centred = z - z.mean()
    squares = strata(design, centred)
    variances = estimate_variances(design, squares, centred)
    return Table(z, _residuals(z, roles.fixed), design, roles, squares, variances, family)


def _residuals(z: FloatArray, fixed: Term | None) -> FloatArray:
    if fixed is None:
        return np.asarray(z - z.mean())
    return np.asarray(z - (fixed.totals(z) / fixed.counts)[fixed.codes])
