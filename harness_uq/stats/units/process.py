"""Posterior of a ratio of sums under Dirichlet weights of units, for one ratio or for many at once.

Each unit j (a question or a cluster) has a total a_j, a size b_j and a mass m_j, and so have prior atoms. If
w ~ Dirichlet(m), the event sum(w a) / sum(w b) <= x is the event sum_j g_j (a_j - x b_j) <= 0 with independent
g_j ~ Gamma(m_j), whose probability is a contour integral (see `contour`). Posteriors of paired tables, the Bayesian
bootstrap, and the Dirichlet process on scores, differences, totals of clusters and ratios are all of this form.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.posterior import BetaPosterior, DifferencePosterior, IntervalKind, WithLazyMoments
from harness_uq.stats.common.roots import invert_rows
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, check_finite, check_level
from harness_uq.stats.units.gamma_contour_integral import prob_linear_form_positive

_MAX_CELLS = 2**20  # size of temporary arrays
_SMALLEST_LOG = -745.0  # exp(-745) is the smallest positive double
_SIMILAR = 1.5  # ratio of numbers of atoms up to which posteriors are computed together


@dataclass(frozen=True, slots=True, eq=False)
class UnitProcess:
    """Ratio R = sum_j g_j T_j / sum_j g_j N_j with independent g_j ~ Gamma(m_j), for units and prior atoms.

    Totals T, positive sizes N (1 for a mean) and positive masses m are (J,).
    """

    totals: FloatArray
    sizes: FloatArray
    masses: FloatArray

    @property
    def centre(self) -> float:
        """Ratio of the expected sums, which is the mean if all sizes are equal."""
        return float(self.masses @ self.totals / (self.masses @ self.sizes))

    def moments(self) -> tuple[float, float]:
        """Mean and variance of R; see `ratio_moments`."""
        mean, variance = ratio_moments(self.totals[None], self.sizes, self.masses)
        return float(mean[0]), float(variance[0])

    def matched_beta(self, low: float, high: float) -> BetaPosterior:
        """Beta distribution on [low, high] with the moments of R."""
        return BetaPosterior.from_moments(*self.moments(), low, high)

    def exact(self) -> "DirichletRatioPosterior":
        """Exact distribution of R."""
        return DirichletRatioPosterior(self.totals, self.masses, self.sizes)


def ratio_moments(totals: FloatArray, sizes: FloatArray, masses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and variances of ratios R = sum_j g_j T_j / sum_j g_j N_j that have the same sizes and masses.

    They follow from 1 / B^k = int_0^inf s^(k-1) exp(-s B) ds / (k-1)!. Tilting by exp(-s B) turns g_j into
    Gamma(m_j) / (1 + s N_j). With e_j = T_j - r0 N_j, r0 = sum m T / sum m N, L(s) = prod_j (1 + s N_j)^-m_j and
    B_k(s) = sum_j m_j e_j^k / (1 + s N_j)^k,

        E[R - r0] = int L B_1 ds,        E[(R - r0)^2] = int s L (B_1^2 + B_2) ds.

    For equal sizes these are the moments of the Dirichlet distribution, E R = r0 and
    Var R = sum m_j (e_j / N)^2 / (M (M + 1)) with M = sum m_j.

    `totals` are (n_ratios, J), and the positive `sizes` and `masses` (J,).

    >>> ratio_moments(np.array([[0.0, 1.0], [0.0, 3.0]]), np.ones(2), np.ones(2))
    (array([0.5, 1.5]), array([0.08333333, 0.75      ]))
    """
    total_mass = float(masses.sum())
    size = float(masses @ sizes) / total_mass
    centre = totals @ masses / (total_mass * size)
    e = (totals - centre[:, None] * sizes) / size
    if np.ptp(sizes) == 0:
        return centre, e**2 @ masses / (total_mass * (total_mass + 1.0))
    # units of equal size have equal terms
    v, code = np.unique(sizes / size, return_inverse=True)
    is_of_size = (code[:, None] == np.arange(len(v))).astype(float)
    a, ae, ae2 = (is_of_size.T @ (masses[:, None] * e.T**k) for k in (0, 1, 2))
    s, ds = _half_line(total_mass)
    log_l, b1, b2 = np.full_like(s, -np.inf), np.zeros((len(s), len(e))), np.zeros((len(s), len(e)))
    step = max(1, _MAX_CELLS // len(v))
    for start in range(0, len(s), step):
        block = slice(start, start + step)
        grown = 1.0 + s[block, None] * v
        log_l[block], b1[block], b2[block] = -np.log(grown) @ a[:, 0], (1.0 / grown) @ ae, grown**-2 @ ae2
        if log_l[start] < _SMALLEST_LOG:
            break
    weight = ds * np.exp(log_l)
    shift = weight @ b1
    return centre + shift, (weight * s) @ (b1**2 + b2) - shift**2


def _half_line(total_mass: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on (0, inf) for integrands that start like exp(-total_mass s) and may decay as a power of s.

    Double-exponential rule s = exp(x - exp(-x)) / total_mass; halving the step changes the moments by 1e-15.
    """
    x = np.arange(-4.0, 45.0, 0.125)
    s = np.exp(x - np.exp(-x)) / total_mass
    return s, 0.125 * s * (1.0 + np.exp(-x))


class DirichletRatioPosterior(WithLazyMoments, DifferencePosterior):
    """Distribution of sum(w a) / sum(w b) with w ~ Dirichlet(m); a weighted mean if b is 1.

    The values a (`numerators`) and b (`denominators`, positive, by default 1) of the atoms and the Dirichlet parameters
    m (`masses`, positive) are (J,). `low` and `high` are the smallest and largest a / b, the ends of the support, and
    `process` has the distinct atoms. Raises DataError if a mass or denominator is not positive, or if all a / b are
    equal, so that nothing is uncertain. Source: Cifarelli and Regazzini (1990), Annals of Statistics 18, 429-442, on
    means of a Dirichlet process. Lugannani and Rice (1980) derive their expansion from the same contour integral.

    The posterior Beta(1, 1) of a proportion is the Dirichlet mean of atoms at 0 and 1 with mass 1 each:

    >>> posterior = DirichletRatioPosterior([0, 1], [1, 1])
    >>> round(float(posterior.cdf(0.3)), 12)
    0.3
    """

    def __init__(self, numerators: ArrayLike, masses: ArrayLike, denominators: ArrayLike | None = None) -> None:
        a = check_finite(numerators, "numerators", 1)
        m = check_finite(masses, "masses", 1)
        b = np.ones_like(a) if denominators is None else check_finite(denominators, "denominators", 1)
        if not (a.shape == m.shape == b.shape and a.size):
            raise DataError(f"numerators, masses and denominators differ in length: {a.size}, {m.size}, {b.size}")
        if not ((m > 0).all() and (b > 0).all()):
            raise DataError(f"masses and denominators must be positive; smallest are {m.min()} and {b.min()}")
        self.process = _distinct(a / b[0], b / b[0], m)
        ratios = self.process.totals / self.process.sizes
        self.low, self.high = float(ratios.min()), float(ratios.max())
        if not self.high > self.low:
            raise DataError(f"all values equal {self.low}: add prior atoms at the ends of the scale")
        self._batch: Batch | None = None
        self._place = 0

    @cached_property
    def _moments(self) -> tuple[float, float]:
        mean, variance = self.process.moments()
        return mean, float(np.sqrt(variance))

    @property
    def prob_positive(self) -> float:
        return float((self._batch or Batch([self])).prob_positive[self._place])

    def cdf(self, x: ArrayLike) -> FloatArray:
        values = np.asarray(x, float)
        return cdfs([self], values.reshape(1, -1)).reshape(values.shape)

    def quantile(self, p: ArrayLike) -> FloatArray:
        probability = np.asarray(p, float)
        return quantiles([self], probability.ravel()).reshape(probability.shape)

    def interval(self, level: float = 0.95, kind: IntervalKind = "quantile") -> tuple[float, float]:
        if kind != "quantile":
            return super().interval(level, kind)
        low, high = (self._batch or Batch([self])).limits(check_level(level))[self._place]
        return float(low), float(high)

    def guess(self, p: FloatArray) -> tuple[FloatArray, float]:
        """Approximate quantiles, and a standard deviation that is exact for a weighted mean."""
        units, total = self.process, float(self.process.masses.sum())
        residual = (units.totals - units.centre * units.sizes) / (units.masses @ units.sizes) * total
        spread = float(np.sqrt(units.masses @ residual**2 / (total * (total + 1.0))))
        return units.centre + spread * standardised_quantile(p, residual, units.masses), spread


class Batch:
    """Posteriors whose limits are computed together as soon as those of one of them are needed.

    Each member refers to the batch that it joined last.
    """

    def __init__(self, posteriors: Sequence[DirichletRatioPosterior]) -> None:
        self._posteriors = tuple(posteriors)
        self._limits: dict[float, FloatArray] = {}
        for place, posterior in enumerate(self._posteriors):
            posterior._batch, posterior._place = self, place

    def limits(self, level: float) -> FloatArray:
        """Limits of the equal-tailed intervals, shape (n_posteriors, 2)."""
        if level not in self._limits:
            self._limits[level] = quantiles(self._posteriors, [(1 - level) / 2, (1 + level) / 2])
        return self._limits[level]

    @cached_property
    def prob_positive(self) -> FloatArray:
        """Probabilities of a positive parameter, shape (n_posteriors,)."""
        return prob_positive(self._posteriors)


def quantiles(posteriors: Sequence[DirichletRatioPosterior], p: ArrayLike) -> FloatArray:
    """Quantiles of many posteriors, in one vectorized root search; those with equal atoms are solved once.

    `p` (n_probabilities,) are the same for each posterior; quantiles are (n_posteriors, n_probabilities).

    >>> quantiles([DirichletRatioPosterior([0, 1], [1, 1]), DirichletRatioPosterior([0, 2], [1, 1])], [0.5]).round(9)
    array([[0.5],
           [1. ]])
    """
    probability = np.asarray(p, float)
    result = np.empty((len(posteriors), probability.size))
    for members, stack in _stacks(posteriors):
        guesses, scales = zip(*(one.guess(probability) for one in stack.posteriors), strict=True)
        result[members] = stack.quantiles(probability, np.stack(guesses), np.array(scales))[stack.row_of]
    return result


def prob_positive(posteriors: Sequence[DirichletRatioPosterior]) -> FloatArray:
    """Probabilities of many posteriors that the parameter is positive; an atom at 0 counts one half."""
    return np.asarray(1.0 - cdfs(posteriors, np.zeros((len(posteriors), 1)))[:, 0])


def cdfs(posteriors: Sequence[DirichletRatioPosterior], x: FloatArray) -> FloatArray:
    """Distribution functions of many posteriors.

    The points `x` and the probabilities are (n_posteriors, n_points).
    """
    result = np.empty(x.shape)
    for members, stack in _stacks(posteriors):
        points = x[members]
        result[members] = stack.cdf(points.ravel(), np.repeat(stack.row_of, x.shape[1])).reshape(points.shape)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class _Stack:
    """Distinct posteriors with similar numbers of atoms, filled up with atoms of size 0, which contribute nothing.

    `row_of` is the row of each member of the batch; `totals`, `sizes` and `masses` are (n_rows, n_atoms), and the ends
    `low` and `high` of the supports (n_rows,).
    """

    posteriors: Sequence[DirichletRatioPosterior]
    row_of: IntArray
    totals: FloatArray
    sizes: FloatArray
    masses: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, posteriors: Sequence[DirichletRatioPosterior], row_of: IntArray) -> "_Stack":
        atoms = np.zeros((3, len(posteriors), max(len(one.process.totals) for one in posteriors)))
        atoms[2] = 1.0
        for row, posterior in enumerate(posteriors):
            units = posterior.process
            atoms[:, row, : len(units.totals)] = units.totals, units.sizes, units.masses
        ends = np.array([(one.low, one.high) for one in posteriors])
        return cls(posteriors, row_of, *atoms, *ends.T)

    def cdf(self, x: FloatArray, rows: IntArray) -> FloatArray:
        """Distribution functions of these rows at x, both of shape (n,)."""
        low, high = self.low[rows], self.high[rows]
        forms = self.totals[rows] - np.clip(x, low, high)[:, None] * self.sizes[rows]
        below = 1.0 - prob_linear_form_positive(forms, self.masses[rows])
        return np.where(x >= high, 1.0, np.where(x <= low, 0.0, below))

    def quantiles(self, p: FloatArray, guesses: FloatArray, scales: FloatArray) -> FloatArray:
        """Quantiles of all rows, shape (n_rows, n_probabilities), with starting values and standard deviations."""
        rows = np.repeat(np.arange(len(self.low)), p.size)
        low, high = self.low[rows], self.high[rows]
        goal = np.tile(p, len(self.low))
        x = invert_rows(
            lambda x, k: self.cdf(x, rows[k]), goal, low=low, high=high, guess=guesses.ravel(), scale=scales[rows] / 64
        )
        return np.where(goal <= 0, low, np.where(goal >= 1, high, x)).reshape(len(self.low), p.size)


def _stacks(posteriors: Sequence[DirichletRatioPosterior]) -> Iterator[tuple[IntArray, _Stack]]:
    """Members of the batch with similar numbers of atoms, as indices and as a stack."""
    sizes = np.array([len(one.process.totals) for one in posteriors])
    order = np.argsort(sizes, kind="stable")
    while order.size:
        n = int(np.searchsorted(sizes[order], _SIMILAR * sizes[order[0]], side="right"))
        members, order = order[:n], order[n:]
        row_by_atoms: dict[bytes, int] = {}
        distinct: list[DirichletRatioPosterior] = []
        row_of = np.empty(n, np.int64)
        for k, member in enumerate(members.tolist()):
            units = posteriors[member].process
            atoms = b"".join(part.tobytes() for part in (units.totals, units.sizes, units.masses))
            if atoms not in row_by_atoms:
                row_by_atoms[atoms] = len(distinct)
                distinct.append(posteriors[member])
            row_of[k] = row_by_atoms[atoms]
        yield members, _Stack.of(distinct, row_of)


def standardised_quantile(p: FloatArray, residuals: FloatArray, masses: FloatArray) -> FloatArray:
    """Cornish-Fisher quantiles of a Dirichlet mean in units of its standard deviation, as starting values.

    With x of mean 0 and total mass A, the second to fourth central moments are sum m x^2 / (A)_2, 2 sum m x^3 / (A)_3
    and (6 sum m x^4 + 3 (sum m x^2)^2) / (A)_4, with rising factorials (A)_k. `residuals` and `masses` (..., J) are the
    atoms minus their mean, and their masses.
    """
    total = masses.sum(axis=-1)
    second, third, fourth = (np.sum(masses * residuals**k, axis=-1) for k in (2, 3, 4))
    variance = second / (total * (total + 1))
    skewness = 2 * third / (total * (total + 1) * (total + 2)) / variance**1.5
    excess = (6 * fourth + 3 * second**2) / (total * (total + 1) * (total + 2) * (total + 3)) / variance**2 - 3
    z = np.clip(special.ndtri(np.clip(p, 0.0, 1.0)), -9.0, 9.0)
    step = skewness * (z**2 - 1) / 6 + excess * (z**3 - 3 * z) / 24 - skewness**2 * (2 * z**3 - 5 * z) / 36
    return np.asarray(z + np.clip(step, -np.abs(z) - 1, np.abs(z) + 1))


def _distinct(totals: FloatArray, sizes: FloatArray, masses: FloatArray) -> UnitProcess:
    """Merge atoms with equal total and size into one atom with the sum of their masses."""
    pairs, index = np.unique(np.column_stack([totals, sizes]), axis=0, return_inverse=True)
    return UnitProcess(pairs[:, 0], pairs[:, 1], np.asarray(np.bincount(index.ravel(), weights=masses), float))
