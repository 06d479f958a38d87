"""Exact distribution of a weighted mean, or ratio of weighted sums, under Dirichlet weights.

With w ~ Dirichlet(m_1..m_J) the event sum(w a) / sum(w b) <= x says that sum_j g_j (a_j - x b_j) <= 0 for
independent g_j ~ Gamma(m_j): the sign of a linear form in gamma variables, whose distribution function is one
integral of its moment generating function along a vertical line of the complex plane (Bromwich). The line goes
through the saddle point, where the integrand is a single bump, so that no draw and no expansion is needed.

Paired cells, the Bayesian bootstrap and the Dirichlet process on differences, on cluster totals and on ratios
are all of this form.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray, IntArray, check_finite
from harness_uq.stats.common.posterior import DifferencePosterior
from harness_uq.stats.common.roots import invert_increasing

_SPACING = 0.1
_NEGLIGIBLE = -40.0
_FINER = 0.4
_QUIET = -28.0
_PROBES = np.array([1.0, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.5, 9.0, 14.0, 25.0, 60.0, 340.0])
_BENDS = (0.0, -0.7, 0.7, -1.5, 1.5)
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
        residual = (self._a - self._centre * self._b) / (self._m @ self._b) * self._m.sum()
        guess = self._centre + self._spread * standardised_quantile(wanted, residual, self._m)
        x = invert_increasing(self.cdf, wanted, low=self.low, high=self.high, guess=guess, scale=self._spread / 64)
        return np.asarray(np.where(wanted <= 0, self.low, np.where(wanted >= 1, self.high, x)))


def standardised_quantile(p: FloatArray, residuals: FloatArray, masses: FloatArray) -> FloatArray:
    """Cornish-Fisher quantile of a Dirichlet mean in units of its sd: where a search for the exact one starts.

    `residuals` are the atoms less the mean; atoms along the last axis. With x of mean 0 and total mass A, the second
    to fourth moments are sum m x^2 / (A)_2, 2 sum m x^3 / (A)_3 and (6 sum m x^4 + 3 (sum m x^2)^2) / (A)_4.
    """
    total = masses.sum(axis=-1)
    second, third, fourth = (np.sum(masses * residuals**k, axis=-1) for k in (2, 3, 4))
    variance = second / (total * (total + 1))
    skewness = 2 * third / (total * (total + 1) * (total + 2)) / variance**1.5
    excess = (6 * fourth + 3 * second**2) / (total * (total + 1) * (total + 2) * (total + 3)) / variance**2 - 3
    z = np.clip(special.ndtri(np.clip(p, 0.0, 1.0)), -9.0, 9.0)
    step = skewness * (z**2 - 1) / 6 + excess * (z**3 - 3 * z) / 24 - skewness**2 * (2 * z**3 - 5 * z) / 36
    return np.asarray(z + np.clip(step, -np.abs(z) - 1, np.abs(z) + 1))


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
    shift = -saddle[:, None] * c
    with np.errstate(divide="ignore"):
        height = np.exp(-np.sum(m * np.where(np.abs(shift) < 0.5, np.log1p(shift), np.log(room)), axis=1))
    path, reach, spacing = _choose_path(c / room, m, saddle)
    integral = np.empty(len(c))
    for limit, step in np.unique(np.stack([reach, spacing]), axis=1).T:
        rows = np.flatnonzero((reach == limit) & (spacing == step))
        v = np.asarray(step * np.arange(int(np.ceil(limit / step)) + 1), float)
        for part in np.array_split(rows, -(-rows.size * c.shape[1] * v.size // _CELLS_AT_ONCE)):
            log_modulus, phase = path.take(part).integrand(v)
            integral[part] = step * np.sum(np.exp(log_modulus) * np.sin(phase), axis=1)
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


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    """The contour s = s_0 + width (i sinh v + bend (cosh v - 1)), one row a form."""

    w: FloatArray
    m: FloatArray
    saddle: FloatArray
    width: FloatArray
    bend: FloatArray

    def take(self, rows: IntArray) -> "_Path":
        return _Path(self.w[rows], self.m[rows], self.saddle[rows], self.width[rows], self.bend[rows])

    def integrand(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log modulus and phase of e^(K(s) - K(s_0)) / s ds/dv at the positions `v`, one column each; halved at 0."""
        bend, width = self.bend[:, None], self.width[:, None]
        x, y = width * bend * (np.cosh(v) - 1), width * np.sinh(v)
        real, imaginary = x[:, :, None] * self.w[:, None, :], y[:, :, None] * self.w[:, None, :]
        log_modulus = -0.5 * np.einsum("ijk,ik->ij", np.log1p(real * (real - 2) + imaginary**2), self.m)
        phase = np.einsum("ijk,ik->ij", np.arctan2(imaginary, 1 - real), self.m)
        step = width * (bend * np.sinh(v) + 1j * np.cosh(v)) / (self.saddle[:, None] + x + 1j * y)
        halved = np.where(v == 0, np.log(0.5), 0.0)
        return log_modulus + np.log(np.abs(step)) + halved, phase + np.angle(step)

    def probe(self, spacing: float) -> tuple[FloatArray, FloatArray]:
        """How far the integrand matters, and its largest log modulus where the phase turns by 1 within `spacing`."""
        log_modulus, phase = self.integrand(_PROBES)
        turn = np.abs(np.diff(phase)) / np.diff(_PROBES) * spacing
        loudest = np.where(turn > 1, log_modulus[:, :-1], -np.inf).max(axis=1)
        matters = log_modulus > _NEGLIGIBLE
        last = _PROBES.size - 1 - matters[:, ::-1].argmax(axis=1)
        return _PROBES[np.minimum(last + 1, _PROBES.size - 1)], loudest


def _choose_path(w: FloatArray, m: FloatArray, saddle: FloatArray) -> tuple[_Path, FloatArray, FloatArray]:
    """The vertical line, or the bend away from it on which the phase stays slow while the integrand matters.

    Large masses with small coefficients, such as a million ties, turn the phase on a vertical line faster than small
    masses let the integrand decay; on a line bent away from their branch point it decays before it turns. Also
    returned are how far to integrate and the spacing.
    """
    width = 1 / np.sqrt(np.sum(m * w**2, axis=1) + saddle**-2)
    path = _Path(w, m, saddle, width, np.zeros(len(w)))
    reach, loudest = path.probe(_SPACING)
    hard = np.flatnonzero(loudest > _QUIET)
    spacing, bend = np.full(len(w), _SPACING), path.bend.copy()
    spacing[hard] = _SPACING * _FINER
    loudest[hard] = np.inf
    for trial in _BENDS if hard.size else ():
        bent = path.take(hard)
        new_reach, new_loudest = _Path(bent.w, bent.m, bent.saddle, bent.width, bent.bend + trial).probe(
            spacing[hard[0]]
        )
        better = new_loudest < loudest[hard]
        chosen = hard[better]
        bend[chosen], reach[chosen], loudest[chosen] = trial, new_reach[better], new_loudest[better]
    return _Path(w, m, saddle, width, bend), reach, spacing
