"""Probability that a linear form in gamma variables is positive, by a contour integral.

It is one Bromwich integral of the moment generating function along a vertical line in the complex plane. The line is
placed through the saddle point, where the integrand has a single peak, so that neither random draws nor an expansion
is needed.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness_uq.stats.common.validate_arrays import FloatArray, IntArray

_SPACING = 0.1  # step of the trapezoidal rule
_NEGLIGIBLE = -40.0  # log modulus below which the integrand is ignored
_FINER = 0.4  # factor for the step on contours with a fast phase
_SLOW = -28.0  # log modulus below which a fast phase does not matter
_PROBES = np.array([1.0, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.5, 9.0, 14.0, 25.0, 60.0, 340.0])
_BENDS = (0.0, -0.7, 0.7, -1.5, 1.5)
_FINE_PROBES = np.concatenate([np.arange(0.25, 14.0, 0.25), _PROBES[_PROBES >= 14.0]])
_RISING = 3.0  # log modulus that a bent contour must not exceed, because its large terms would cancel
_MAX_CELLS = 2_000_000  # size of temporary arrays


def prob_linear_form_positive(coefficients: FloatArray, masses: FloatArray) -> FloatArray:
    """Probability that a linear form in independent gamma variables is positive, for each row of coefficients.

    P(Q > 0) = 1 / (2 pi i) int e^{K(s)} / s ds over Re s = s_0 > 0, with Q = sum_j g_j c_j, g_j ~ Gamma(m_j) and
    K(s) = -sum_j m_j log(1 - s c_j). `coefficients` (n_forms, J) are c, and the positive `masses`, (J,) or
    (n_forms, J), are m. The result is 1/2 for a row of zeros.

    >>> float(prob_linear_form_positive(np.array([[-1.0, 1.0]]), np.array([1.0, 1.0]))[0].round(12))
    0.5
    """
    m = np.broadcast_to(masses, coefficients.shape)
    n_blocks = -(-coefficients.size * _PROBES.size // _MAX_CELLS)
    if n_blocks > 1:
        blocks = zip(np.array_split(coefficients, n_blocks), np.array_split(m, n_blocks), strict=True)
        return np.concatenate([_prob_positive(*block) for block in blocks])
    return _prob_positive(coefficients, m)


def _prob_positive(coefficients: FloatArray, m: FloatArray) -> FloatArray:
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
    """P(sum g c > 0) for forms with non-positive mean and largest coefficient 1."""
    position = _saddle_point(c, m)
    complement, saddle = _one_minus_product(c, position), special.expit(position)
    shift = -saddle[:, None] * c
    with np.errstate(divide="ignore"):
        height = np.exp(-np.sum(m * np.where(np.abs(shift) < 0.5, np.log1p(shift), np.log(complement)), axis=1))
    path, reach, spacing = _choose_path(c / complement, m, saddle)
    integral = np.empty(len(c))
    for limit, step in np.unique(np.stack([reach, spacing]), axis=1).T:
        rows = np.flatnonzero((reach == limit) & (spacing == step))
        v = np.asarray(step * np.arange(int(np.ceil(limit / step)) + 1), float)
        for block in np.array_split(rows, -(-rows.size * c.shape[1] * v.size // _MAX_CELLS)):
            log_modulus, phase = path.take(block).integrand(v)
            integral[block] = step * np.sum(np.exp(log_modulus) * np.sin(phase), axis=1)
    return np.asarray(np.clip(height * integral / np.pi, 0.0, 1.0))


def _saddle_point(c: FloatArray, m: FloatArray) -> FloatArray:
    """Logit of the s that minimizes K(s) - log s on 0 < s < 1, by bisection."""
    low, high = np.full(len(c), -50.0), np.full(len(c), 50.0)
    for _ in range(26):
        middle = (low + high) / 2
        rises = special.expit(middle) * np.sum(m * c / _one_minus_product(c, middle), axis=1) > 1
        low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    return low


def _one_minus_product(c: FloatArray, position: FloatArray) -> FloatArray:
    """1 - s c for s = expit(position), without cancellation if both s and c are near 1."""
    s, rest = special.expit(position)[:, None], special.expit(-position)[:, None]
    return np.asarray(np.where((c > 0) & (s > 0.5), (1 - c) + c * rest, 1 - s * c))


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    """The contours s = s_0 + width (i sinh v + bend (cosh v - 1)), one per row."""

    w: FloatArray
    m: FloatArray
    saddle: FloatArray
    width: FloatArray
    bend: FloatArray

    def take(self, rows: IntArray) -> "_Path":
        return _Path(self.w[rows], self.m[rows], self.saddle[rows], self.width[rows], self.bend[rows])

    def integrand(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log modulus and phase of e^(K(s) - K(s_0)) / s ds/dv at positions `v` (one column each), halved at v = 0."""
        bend, width = self.bend[:, None], self.width[:, None]
        x, y = width * bend * (np.cosh(v) - 1), width * np.sinh(v)
        real, imaginary = x[:, :, None] * self.w[:, None, :], y[:, :, None] * self.w[:, None, :]
        log_modulus = -0.5 * np.einsum("ijk,ik->ij", np.log1p(real * (real - 2) + imaginary**2), self.m)
        phase = np.einsum("ijk,ik->ij", np.arctan2(imaginary, 1 - real), self.m)
        step = width * (bend * np.sinh(v) + 1j * np.cosh(v)) / (self.saddle[:, None] + x + 1j * y)
        halved = np.where(v == 0, np.log(0.5), 0.0)
        return log_modulus + np.log(np.abs(step)) + halved, phase + np.angle(step)

    def probe(self, spacing: float) -> tuple[FloatArray, FloatArray]:
        """Range of integration, and the largest log modulus where the phase turns by more than 1 within `spacing`."""
        log_modulus, phase = self.integrand(_PROBES)
        turn = np.abs(np.diff(phase)) / np.diff(_PROBES) * spacing
        loudest = np.where(turn > 1, log_modulus[:, :-1], -np.inf).max(axis=1)
        matters = log_modulus > _NEGLIGIBLE
        last = _PROBES.size - 1 - matters[:, ::-1].argmax(axis=1)
        return _PROBES[np.minimum(last + 1, _PROBES.size - 1)], loudest

    def rises(self) -> NDArray[np.bool_]:
        """Whether the modulus exceeds that at the saddle point, as on contours that are bent towards a branch point."""
        return np.asarray(self.integrand(_FINE_PROBES)[0].max(axis=1) > _RISING)


def _choose_path(w: FloatArray, m: FloatArray, saddle: FloatArray) -> tuple[_Path, FloatArray, FloatArray]:
    """Choose a contour along which the phase turns slowly wherever the integrand is not negligible.

    Large masses with small coefficients, such as a million ties, turn the phase on a vertical line faster than small
    masses let the integrand decay. On a line bent away from their branch point the integrand decays first. The range
    of integration and the step are returned too.
    """
    width = 1 / np.sqrt(np.sum(m * w**2, axis=1) + saddle**-2)
    path = _Path(w, m, saddle, width, np.zeros(len(w)))
    reach, loudest = path.probe(_SPACING)
    hard = np.flatnonzero(loudest > _SLOW)
    spacing, bend = np.full(len(w), _SPACING), path.bend.copy()
    spacing[hard] = _SPACING * _FINER
    loudest[hard] = np.inf
    for trial in _BENDS:
        hard = hard[loudest[hard] > _SLOW]
        if not hard.size:
            break
        bent = replace(path.take(hard), bend=np.full(hard.size, trial))
        new_reach, new_loudest = bent.probe(spacing[hard[0]])
        better = np.flatnonzero(new_loudest < loudest[hard])
        if trial:  # on a vertical line, the modulus is largest at the saddle point
            better = better[~bent.take(better).rises()]
        chosen = hard[better]
        bend[chosen], reach[chosen], loudest[chosen] = trial, new_reach[better], new_loudest[better]
    spacing[loudest > _SLOW] *= _FINER
    return _Path(w, m, saddle, width, bend), reach, spacing
