"""Posterior of a mean score over new questions, new seeds, new prompts: crossed and nested effects, no sampling."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.clusters.clustered import clustered_posterior
from harness_uq.stats.clusters.quadrature import beta_binomial_grid
from harness_uq.stats.common.arrays import FloatArray, IntArray, check_finite
from harness_uq.stats.common.posterior import Posterior
from harness_uq.stats.effects.design import Design, Term, joined, read_design
from harness_uq.stats.effects.latent import logit_sds
from harness_uq.stats.effects.spread import (
    Spread,
    chi_squared,
    effect_variance,
    known,
    proportion_posterior,
    real_posterior,
)
from harness_uq.stats.effects.variances import (
    Strata,
    VarianceMethod,
    Variances,
    estimate_variances,
    level_share,
    strata,
    term_squares,
)

Family = Literal["auto", "binary", "bounded", "real"]

_TRUST = 20.0  # units at which the Beta model and the moments of the unit means weigh alike
RESIDUAL = "residual"


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


class CrossedPosterior(Posterior):
    """Posterior of the mean score over new levels.

    Attributes
    ----------
    mean, sd : float
    components : VarianceComponent of each factor and interaction that the design can tell, coarse to fine, and of the
        residual
    untold : names of interactions that the design cannot tell from the residual
    new : names of the factors whose levels are a sample of those to come
    uncertainty : name of a new factor to its expected share of the variance of the mean; `residual` where the scores
        of given levels vary and no new factor takes that in
    variances : of one score, by component, in the order of `components`
    variance_method : `reml` or `moments`, how `components` were estimated
    family : `binary`, `bounded` or `real`
    """

    def __init__(
        self,
        inner: Posterior,
        score_range: tuple[float, float],
        *,
        components: tuple[VarianceComponent, ...],
        untold: tuple[str, ...],
        new: tuple[str, ...],
        uncertainty: Mapping[str, float],
        variance_method: VarianceMethod,
        family: str,
        plain: float,
        coarser: Sequence[IntArray],
    ) -> None:
        self._plain, self._coarser = plain, coarser
        self._inner, self._low, self._width = inner, score_range[0], score_range[1] - score_range[0]
        self.components, self.untold, self.new = components, untold, new
        self.uncertainty, self.variance_method, self.family = dict(uncertainty), variance_method, family

    @property
    def mean(self) -> float:
        return self._low + self._width * self._inner.mean

    @property
    def sd(self) -> float:
        return self._width * self._inner.sd

    def quantile(self, p: ArrayLike) -> FloatArray:
        return np.asarray(self._low + self._width * self._inner.quantile(p))

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._inner.cdf((np.asarray(x, float) - self._low) / self._width)

    def logit_sds(self) -> dict[str, float]:
        """Sd of each component but the residual on the logit scale, by moments; `binary` scores only.

        Raises
        ------
        NotEstimableError : for other families, and where all scores are equal
        """
        if self.family != "binary" or not any(component.sd for component in self.components):
            raise NotEstimableError(
                f"effects on the logit scale need right and wrong answers; scores are {self.family}"
            )
        variances = np.array([component.sd**2 for component in self.components[:-1]])
        sds = logit_sds(self._plain, variances, self._coarser)
        return {c.name: float(sd) for c, sd in zip(self.components, sds, strict=False)}

    @property
    def prob_positive(self) -> float:
        """P(mean > 0 | data), for a difference."""
        return 1.0 - float(self.cdf(0.0))


def crossed_posterior(
    scores: ArrayLike,
    factors: Mapping[str, ArrayLike],
    *,
    new: Iterable[str] = ("question",),
    family: Family = "auto",
    bounds: tuple[float, float] | None = None,
) -> CrossedPosterior:
    """Posterior of the mean score expected on new levels of some factors, at these levels of the others.

    Parameters
    ----------
    scores : (n,) finite; one row per score
    factors : name to (n,) labels; crossed or nested as the labels say, unbalanced and incomplete tables allowed. At
        most five. Factors in whose levels others lie (passages of questions) are recognised
    new : factors whose levels are a sample of those to come. What is nested in them is new too
    family : `binary` scores are 0 or 1; `bounded` ones lie in `bounds`; `real` ones anywhere; `auto` is `binary` where
        all are 0 or 1, else `bounded` where bounds are given, else `real`
    bounds : (low, high) of bounded scores

    Returns
    -------
    CrossedPosterior ; its mean is about the levels of the other factors in the proportions of the rows

    Raises
    ------
    DataError : labels of another length, an unknown factor in `new`, scores outside the family or bounds
    NotEstimableError : a factor in `new` with a single level, or real scores that do not vary

    Notes
    -----
    The centre is the plain mean, whatever the difficulties' distribution. Its variance is that of the unit (the new
    factor with most below it, mostly the question) with all that lies within it, and that of every further new factor:
    sum_F share_F sigma_F^2, share_F = sum over levels of (rows / all rows)^2. For right and wrong the unit's part is
    theta (1 - theta) (share rho + (1 - rho) / n) with the intraclass correlation rho of `clustered_posterior`, drawn
    towards the variance of unit totals (Liang & Zeger 1986, Biometrika 73:13) as units number more than 20; else it is
    that variance with chi-squared error, with atoms at the bounds as in `bounded_posterior`. sigma_F^2 has the
    posterior of its mean square under a prior that is nearly flat in log sigma: with two levels the data hardly tell
    it, and all that they allow is integrated over. Given the variance the mean is Beta (normal for real scores) with
    that variance; the mixture is tabulated.

    Examples
    --------
    Four questions under two seeds, of which the second does worse:

    >>> right = [1, 0, 1, 0, 1, 1, 0, 0]
    >>> factors = {"question": [1, 1, 2, 2, 3, 3, 4, 4], "seed": [1, 2, 1, 2, 1, 2, 1, 2]}
    >>> both = crossed_posterior(right, factors, new=("question", "seed"))
    >>> questions = crossed_posterior(right, factors)
    >>> round(both.mean, 6), both.sd > questions.sd
    (0.5, True)
    """
    y = check_finite(scores, "scores", 1)
    design = read_design(factors, len(y))
    roles = _roles(design, tuple(new))
    chosen = _family(y, family, bounds)
    low, high = bounds or (0.0, 1.0)
    atoms = ((0.0, 0.25), (1.0, 0.25)) if chosen == "bounded" else ()
    return _posterior((y - low) / (high - low), design, roles, chosen, (low, high), atoms)


def crossed_difference_posterior(
    a: ArrayLike,
    b: ArrayLike,
    factors: Mapping[str, ArrayLike],
    *,
    new: Iterable[str] = ("question",),
    bounds: tuple[float, float] | None = None,
) -> CrossedPosterior:
    """Posterior of the difference in mean score of two systems that share levels: same questions, same seeds.

    Parameters
    ----------
    a, b : (n,) scores of the two systems; row by row of the same question, seed, and so on
    factors, new : as in `crossed_posterior`; the levels of each row
    bounds : (low, high) of the scores; taken as (0, 1) where all are 0 or 1, as unbounded otherwise

    Returns
    -------
    CrossedPosterior of mean A - mean B, with `prob_positive`; its components are those of the differences

    Raises
    ------
    DataError, NotEstimableError : as in `crossed_posterior`

    Notes
    -----
    Differences of bounded scores get atoms of mass 1/8, 1/4 and 1/8 at -(high - low), 0 and high - low, as paired
    scores do, so that two systems that never differ are not taken for equal.

    >>> a, b = [1, 1, 1, 1, 1, 0, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]
    >>> factors = {"question": [1, 1, 2, 2, 3, 3, 4, 4], "seed": [1, 2, 1, 2, 1, 2, 1, 2]}
    >>> crossed_difference_posterior(a, b, factors, new=("question", "seed")).prob_positive > 0.5
    True
    """
    first, second = check_finite(a, "a", 1), check_finite(b, "b", 1)
    if first.shape != second.shape:
        raise DataError(f"a and b must hold one score per row; got {first.shape} and {second.shape}")
    design = read_design(factors, len(first))
    roles = _roles(design, tuple(new))
    both = np.concatenate([first, second])
    if bounds is None and np.isin(both, (0.0, 1.0)).all():
        bounds = 0.0, 1.0
    _family(both, "real" if bounds is None else "bounded", bounds)
    if bounds is None:
        return _posterior(first - second, design, roles, "real", (0.0, 1.0), ())
    width = bounds[1] - bounds[0]
    atoms = ((0.0, 0.125), (0.5, 0.25), (1.0, 0.125))
    return _posterior((first - second + width) / (2 * width), design, roles, "bounded", (-width, width), atoms)


_Atoms = tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class _Roles:
    """Which factor does what.

    Attributes
    ----------
    names : as asked for
    unit : the top factor that has most below it
    unit_is_new : whether its levels are a sample
    others : further new factors that lie within no other new one
    fixed : combination of the levels that stay; None where none does
    """

    names: tuple[str, ...]
    unit: Term
    unit_is_new: bool
    others: tuple[Term, ...]
    fixed: Term | None


def _roles(design: Design, new: tuple[str, ...]) -> _Roles:
    names = [term.name for term in design.factors]
    unknown = sorted(set(new) - set(names))
    if unknown or not new:
        raise DataError(f"new must name one or more of the factors {', '.join(names)}; got {unknown or 'none'}")
    sampled = [term for term in design.factors if term.name in new]
    for term in sampled:
        if term.n_levels == 1:
            raise NotEstimableError(
                f"{term.name} has one level: how much the score varies between levels of {term.name} cannot be seen "
                f"in one; two are the least, or leave {term.name} out of the new ones"
            )
    tops = [term for term in sampled if not any(design.is_nested(term, other) for other in sampled)]
    stay = [t for t in design.factors if t not in sampled and not any(design.is_nested(t, top) for top in tops)]

    def below(term: Term) -> int:
        return max(other.n_levels for other in design.factors if other is term or design.is_nested(other, term))

    unit = max((*tops, *(t for t in stay if not any(design.is_nested(top, t) for top in tops))), key=below)
    fixed = None
    for term in stay:
        fixed = term if fixed is None else joined(fixed, term)
    others = tuple(term for term in tops if term is not unit)
    return _Roles(new, unit, any(unit is top for top in tops), others, fixed)


def _family(y: FloatArray, family: Family, bounds: tuple[float, float] | None) -> str:
    if not len(y):
        raise DataError("there are no scores")
    is_binary = bool(np.isin(y, (0.0, 1.0)).all())
    if family == "auto":
        family = "binary" if is_binary and bounds in (None, (0, 1)) else "bounded" if bounds else "real"
    if family not in ("binary", "bounded", "real"):
        raise DataError(f"family must be 'auto', 'binary', 'bounded' or 'real'; got {family!r}")
    if family == "binary" and not is_binary:
        raise DataError("binary scores must be 0 or 1; other scores in a known range are `bounded`")
    if family == "bounded" and (not bounds or not bounds[0] <= y.min() <= y.max() <= bounds[1]):
        raise DataError(f"bounded scores need bounds that hold them; got {bounds}, scores {y.min():g} to {y.max():g}")
    return family


def _posterior(
    z: FloatArray, design: Design, roles: _Roles, family: str, score_range: tuple[float, float], atoms: _Atoms
) -> CrossedPosterior:
    centred = z - z.mean()
    squares = strata(design, centred)
    variances = estimate_variances(design, squares, centred)
    table = _Table(z, _residuals(z, roles.fixed), design, roles, squares, variances, family)
    mean, base = table.base(atoms)
    extras = {term.name: table.further(term) for term in roles.others}
    total = base
    for extra in extras.values():
        total = total.plus(extra)
    width = score_range[1] - score_range[0]
    return CrossedPosterior(
        table.inner(mean, total.gathered()),
        score_range,
        components=_components(table, width),
        untold=design.untold,
        new=roles.names,
        uncertainty=_uncertainty(roles, base, extras),
        variance_method=variances.method,
        family=family,
        plain=float(z.mean()),
        coarser=[np.flatnonzero(row) for row in design.finer],
    )


def _residuals(z: FloatArray, fixed: Term | None) -> FloatArray:
    if fixed is None:
        return np.asarray(z - z.mean())
    return np.asarray(z - (fixed.totals(z) / fixed.counts)[fixed.codes])


def _uncertainty(roles: _Roles, base: Spread, extras: Mapping[str, Spread]) -> dict[str, float]:
    parts = {roles.unit.name if roles.unit_is_new else RESIDUAL: base, **extras}
    shares = {}
    for name, part in parts.items():
        rest = known(0.0)
        for other in (spread for key, spread in parts.items() if key != name):
            rest = rest.plus(other)
        shares[name] = part.share_of(rest)
    return {name: share / sum(shares.values()) for name, share in shares.items()}


@dataclass(frozen=True, eq=False)
class _Table:
    """Scores z on the unit scale, r their residuals from the fixed levels, and what is known of them."""

    z: FloatArray
    r: FloatArray
    design: Design
    roles: _Roles
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

    def base(self, atoms: _Atoms) -> tuple[float, Spread]:
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


def _components(table: _Table, width: float) -> tuple[VarianceComponent, ...]:
    total, residual = table.variances.total, table.variances.residual
    df = max(float(table.strata.df[-1]), 1.0)
    left = chi_squared(residual, df) if residual > 0 else known(0.0)
    rows = [(t.name, t.n_levels, float(table.variances.terms[i]), table.component(i)) for i, t in _terms(table)]
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


def _terms(table: _Table) -> Iterable[tuple[int, Term]]:
    return enumerate(table.design.terms)
