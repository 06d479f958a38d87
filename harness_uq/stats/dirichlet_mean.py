"""Exact distribution of a weighted mean, or ratio of weighted sums, under Dirichlet weights.

With w ~ Dirichlet(m_1..m_J) the event sum(w a) / sum(w b) <= x says that sum_j g_j (a_j - x b_j) <= 0 for
independent g_j ~ Gamma(m_j): the sign of a linear form in gamma variables, whose distribution function is one
integral of its moment generating function along a vertical line of the complex plane (Bromwich). The line goes
through the saddle point, where the integrand is a single bump, so that no draw and no expansion is needed.

Paired cells, the Bayesian bootstrap and the Dirichlet process on differences, on cluster totals and on ratios
are all of this form.
"""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats._arrays import FloatArray, check_finite
from harness_uq.stats._roots import invert_increasing
from harness_uq.stats.posterior import DifferencePosterior

_SPACING = 0.1
_NEGLIGIBLE = -40.0
_REACH = np.array([2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 22.0, 35.0, 60.0, 110.0, 220.0, 450.0])
_CELLS_AT_ONCE = 2_000_000


class DirichletRatioPosterior(DifferencePosterior):
    """Distribution of sum(w a) / sum(w b) with w ~ Dirichlet(masses); a mean where b is 1.

    Parameters
    ----------
    numerators : array_like, shape (J,); a
    masses : array_like, shape (J,), > 0; Dirichlet parameters m
    denominators : array_like, shape (J,), > 0, or None for ones; b

    Raises
    ------
    DataError : if a mass or denominator is not positive, or all a/b are equal (then nothing is uncertain)

    Attributes
    ----------
    low, high : float; smallest and largest a/b, the support

    Cifarelli and Regazzini (1990), Annals of Statistics 18, 429-442, for means of a Dirichlet process; the
    contour integral is that of Lugannani and Rice (1980) before its expansion.

    The mean of a fair coin's Beta(1, 1) posterior, as a Dirichlet mean with atoms 0 and 1:

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
        self._is_mean = bool((b == b[0]).all())
        self._a, self._b, self._m = _merge_equal(a / b[0], b / b[0], m)
        ratios = self._a / self._b
        self.low, self.high = float(ratios.min()), float(ratios.max())
        if not self.high > self.low:
            raise DataError(f"all values equal {self.low}: add prior atoms at the ends of the scale")

    @property
    def mean(self) -> float:
        return self._centre if self._is_mean else self._moments[0]

    @property
    def sd(self) -> float:
        return self._spread if self._is_mean else self._moments[1]

    @cached_property
    def _centre(self) -> float:
        return float(self._m @ self._a / (self._m @ self._b))

    @cached_property
    def _spread(self) -> float:
        total = self._m.sum()
        residual = self._a - self._centre * self._b
        return float(np.sqrt(self._m @ residual**2 * total / (total + 1)) / (self._m @ self._b))

    @cached_property
    def _skewness(self) -> float:
        total = self._m.sum()
        residual = (self._a - self._centre * self._b) / (self._m @ self._b) * total
        return float(2 * (self._m @ residual**3) / (total * (total + 1) * (total + 2)) / self._spread**3)

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Mean and sd of a ratio with unequal denominators, from 1 / B^k = int_0^inf s^(k-1) e^(-s B) ds.

        Tilting by e^(-s B) turns g_j into Gamma(m_j) / (1 + s b_j). With e = a - c b for the ratio of means c,
        L = prod_j (1 + s b_j)^-m_j and E_k = sum_j m_j e_j^k / (1 + s b_j)^k, the first moment about c is
        int L E_1 ds and the second int s L (E_1^2 + E_2) ds: trapezoidal in log s.
        """
        b = self._b / (self._m @ self._b)
        e = self._a / (self._m @ self._b) - self._centre * b
        s = np.exp(np.arange(-45.0, 60.0, 0.2))[:, None]
        grown = 1 + s * b
        weight = 0.2 * s[:, 0] * np.exp(-np.log(grown) @ self._m)
        first, second = (1 / grown) @ (self._m * e), grown**-2 @ (self._m * e**2)
        shift = float(weight @ first)
        return self._centre + shift, float(np.sqrt((weight * s[:, 0]) @ (first**2 + second) - shift**2))

    def cdf(self, x: ArrayLike) -> FloatArray:
        values = np.asarray(x, float)
        inside = np.clip(values, self.low, self.high).ravel()
        forms = self._a - inside[:, None] * self._b
        below = 1.0 - prob_linear_form_positive(forms, self._m)
        below = np.where(values.ravel() >= self.high, 1.0, np.where(values.ravel() <= self.low, 0.0, below))
        return np.asarray(below.reshape(values.shape))

    def quantile(self, p: ArrayLike) -> FloatArray:
        wanted = np.asarray(p, float)
        guess = self._centre + self._spread * cornish_fisher(wanted, self._skewness)
        x = invert_increasing(self.cdf, wanted, low=self.low, high=self.high, guess=guess, scale=self._spread / 16)
        return np.asarray(np.where(wanted <= 0, self.low, np.where(wanted >= 1, self.high, x)))


def cornish_fisher(p: FloatArray, skewness: ArrayLike) -> FloatArray:
    """Standardised quantile to first order in the skewness; where a search for the exact one starts."""
    z = np.clip(special.ndtri(np.clip(p, 0.0, 1.0)), -9.0, 9.0)
    return np.asarray(z + np.asarray(skewness) * (z**2 - 1) / 6)


def _merge_equal(a: FloatArray, b: FloatArray, m: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Atoms with the same (a, b) are one atom with the sum of their masses."""
    pairs, index = np.unique(np.column_stack([a, b]), axis=0, return_inverse=True)
    masses = np.asarray(np.bincount(index.ravel(), weights=m), float)
    return pairs[:, 0], pairs[:, 1], masses


def prob_linear_form_positive(coefficients: FloatArray, masses: FloatArray) -> FloatArray:
    """P(sum_j g_j c_j > 0) for independent g_j ~ Gamma(m_j), row by row; 1/2 where all c are 0.

    Parameters
    ----------
    coefficients : shape (n_forms, J)
    masses : shape (J,) or (n_forms, J), > 0

    Returns
    -------
    ndarray, shape (n_forms,), in [0, 1]

    P(Q > 0) = 1/(2 pi i) int e^{K(s)} / s ds over Re s = s_0 > 0, with K(s) = -sum_j m_j log(1 - s c_j).

    >>> float(prob_linear_form_positive(np.array([[-1.0, 1.0]]), np.array([1.0, 1.0]))[0].round(12))
    0.5
    """
    m = np.broadcast_to(masses, coefficients.shape)
    drift = np.einsum("ij,ij->i", m, coefficients)
    largest, smallest = coefficients.max(axis=1), coefficients.min(axis=1)
    result = np.where(largest <= 0, 0.0, 1.0)
    result[(largest <= 0) & (smallest >= 0)] = 0.5
    upper = drift <= 0
    undecided = np.flatnonzero((largest > 0) & (smallest < 0))
    c = np.where(upper[:, None], coefficients, -coefficients)[undecided]
    tail = _upper_tail(c / c.max(axis=1, keepdims=True, initial=0.0), m[undecided])
    result[undecided] = np.where(upper[undecided], tail, 1.0 - tail)
    return np.asarray(result)


def _upper_tail(c: FloatArray, m: FloatArray) -> FloatArray:
    """P(sum g c > 0) where the mean is not positive and the largest c is 1."""
    position = _saddle_point(c, m)
    room, saddle = _room(c, position), special.expit(position)
    w = c / room
    width = 1 / np.sqrt(np.sum(m * w**2, axis=1) + saddle**-2)
    shift = -saddle[:, None] * c
    with np.errstate(divide="ignore"):
        height = np.exp(-np.sum(m * np.where(np.abs(shift) < 0.5, np.log1p(shift), np.log(room)), axis=1))
    reach = _reach(w, m, saddle, width)
    integral = np.empty(len(c))
    for limit in np.unique(reach):
        rows = np.flatnonzero(reach == limit)
        steps = int(np.ceil(limit / _SPACING))
        for part in np.array_split(rows, -(-rows.size * c.shape[1] * steps // _CELLS_AT_ONCE)):
            integral[part] = _contour(w[part], m[part], saddle[part], width[part], steps)
    return np.asarray(np.clip(height * integral / np.pi, 0.0, 1.0))


def _saddle_point(c: FloatArray, m: FloatArray) -> FloatArray:
    """The logit of s at the minimum of K(s) - log s on 0 < s < 1, by bisection."""
    low, high = np.full(len(c), -50.0), np.full(len(c), 50.0)
    for _ in range(26):
        middle = (low + high) / 2
        rises = special.expit(middle) * np.sum(m * c / _room(c, middle), axis=1) > 1
        low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    return low


def _room(c: FloatArray, position: FloatArray) -> FloatArray:
    """1 - s c for s = expit(position), without cancellation where s and c are both near 1."""
    s, rest = special.expit(position)[:, None], special.expit(-position)[:, None]
    return np.asarray(np.where((c > 0) & (s > 0.5), (1 - c) + c * rest, 1 - s * c))


def _log_modulus(v: FloatArray, w: FloatArray, m: FloatArray, saddle: FloatArray, width: FloatArray) -> FloatArray:
    y = width * np.sinh(v)
    return np.asarray(
        -0.5 * np.sum(m * np.log1p((y[:, None] * w) ** 2), axis=1) - np.log1p(y / saddle) + np.log(np.cosh(v))
    )


def _reach(w: FloatArray, m: FloatArray, saddle: FloatArray, width: FloatArray) -> FloatArray:
    """First of the listed v = arcsinh(y / width) beyond which the integrand is negligible."""
    reach = np.full(len(w), _REACH[-1])
    for limit in _REACH[-2::-1]:
        reach[_log_modulus(np.full(len(w), limit), w, m, saddle, width) < _NEGLIGIBLE] = limit
    return reach


def _contour(w: FloatArray, m: FloatArray, saddle: FloatArray, width: FloatArray, steps: int) -> FloatArray:
    """int_0^inf Re[exp(K(s) - K(s_0)) / s] dy with s = s_0 + i y, y = width sinh v, trapezoidal in v."""
    v = _SPACING * np.arange(steps + 1)
    y = width[:, None] * np.sinh(v)
    angle = y[:, :, None] * w[:, None, :]
    phase = np.einsum("ijk,ik->ij", np.arctan(angle), m)
    modulus = np.exp(-0.5 * np.einsum("ijk,ik->ij", np.log1p(angle**2), m))
    s = saddle[:, None]
    real = modulus * (s * np.cos(phase) + y * np.sin(phase)) / (s**2 + y**2)
    slope = _SPACING * width[:, None] * np.cosh(v)
    slope[:, 0] /= 2
    return np.asarray(np.sum(real * slope, axis=1))
