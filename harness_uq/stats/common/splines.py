"""Interpolating splines. To import those of scipy takes longer than most estimates, and 30 MB."""

from collections.abc import Iterable

import numpy as np

from harness_uq.stats.common.validate_arrays import FloatArray

_DEGREE = 7  # of `refine`


class PiecewisePolynomial:
    """Function that is a polynomial between each two nodes; outside them, the first and the last polynomial.

    `nodes` increase, and `coefficients` has shape (degree + 1, n_nodes - 1) or (degree + 1, n_nodes - 1, n_functions),
    with the highest degree first, for powers of the distance from the node at the left.
    """

    def __init__(self, nodes: FloatArray, coefficients: FloatArray) -> None:
        self.nodes, self.coefficients = nodes, coefficients
        self._inner_nodes = nodes[1:-1]

    def __call__(self, x: FloatArray) -> FloatArray:
        piece = self._inner_nodes.searchsorted(x, side="right")
        distance = x - self.nodes[piece]
        if self.coefficients.ndim > 2:
            distance = distance[..., None]
        return _horner((row[piece] for row in self.coefficients), distance)

    def derivative(self) -> "PiecewisePolynomial":
        """The first derivative."""
        powers = self._over_pieces(np.arange(len(self.coefficients) - 1.0, 0.0, -1.0))
        return PiecewisePolynomial(self.nodes, self.coefficients[:-1] * powers)

    def antiderivative(self) -> "PiecewisePolynomial":
        """The integral from the first node."""
        powers = self._over_pieces(np.arange(float(len(self.coefficients)), 0.0, -1.0))
        raised = np.concatenate([self.coefficients / powers, np.zeros_like(self.coefficients[:1])])
        steps = np.diff(self.nodes).reshape(-1, *(1,) * (raised.ndim - 2))
        raised[-1, 1:] = np.cumsum(_horner(raised, steps), axis=0)[:-1]
        return PiecewisePolynomial(self.nodes, raised)

    @property
    def integral(self) -> FloatArray:
        """The integral from the first to the last node."""
        return np.asarray(self.antiderivative()(self.nodes[-1:])[0])

    def _over_pieces(self, powers: FloatArray) -> FloatArray:
        return powers.reshape(-1, *(1,) * (self.coefficients.ndim - 1))


def _horner(coefficients: Iterable[FloatArray], x: FloatArray) -> FloatArray:
    highest, *others = coefficients
    total = highest
    for coefficient in others:
        total = total * x + coefficient
    return total


def cubic_spline(nodes: FloatArray, values: FloatArray) -> PiecewisePolynomial:
    """Cubic spline through at least four points, whose first two pieces are one polynomial, as are the last two.

    `values` has shape (n_nodes,) or (n_nodes, n_functions). Source: de Boor (1978), A Practical Guide to Splines,
    chapter IV, for slopes and the not-a-knot condition.
    """
    steps = np.diff(nodes)
    h = steps.reshape(-1, *(1,) * (values.ndim - 1))
    secants = np.diff(values, axis=0) / h
    both = h[:-1] + h[1:]
    right = 3.0 * (h[1:] * secants[:-1] + h[:-1] * secants[1:])
    first = ((h[0] + 2.0 * both[0]) * h[1] * secants[0] + h[0] ** 2 * secants[1]) / both[0]
    last = ((h[-1] + 2.0 * both[-1]) * h[-2] * secants[-1] + h[-1] ** 2 * secants[-2]) / both[-1]
    # the equations of the outer slopes, subtracted from those beside them, leave as many equations as inner slopes
    right[0] -= first
    right[-1] -= last
    diagonal = 2.0 * (steps[:-1] + steps[1:])
    diagonal[[0, -1]] /= 2.0
    lower, upper = steps[1:].copy(), steps[:-1].copy()
    lower[0] = upper[-1] = 0.0
    inner = _solve_tridiagonal(lower, diagonal, upper, right)
    start, end = (first - both[0] * inner[0]) / h[1], (last - both[-1] * inner[-1]) / h[-2]
    slopes = np.concatenate([start[None], inner, end[None]])
    excess = (slopes[:-1] + slopes[1:] - 2.0 * secants) / h
    return PiecewisePolynomial(
        nodes, np.stack([excess / h, (secants - slopes[:-1]) / h - excess, slopes[:-1], values[:-1]])
    )


def _solve_tridiagonal(lower: FloatArray, diagonal: FloatArray, upper: FloatArray, right: FloatArray) -> FloatArray:
    """Solution by cyclic reduction, which eliminates every second unknown; stable for a dominant diagonal.

    `lower[0]` and `upper[-1]` are 0.
    """
    n = len(diagonal)
    shape = (-1, *(1,) * (right.ndim - 1))
    if n == 1:
        return np.asarray(right / diagonal.reshape(shape))
    odd, before = slice(1, None, 2), slice(0, n - 1, 2)
    n_after = (n - 1) // 2  # odd rows with a row after them
    left = lower[odd] / diagonal[before]
    after = np.zeros_like(left)
    after[:n_after] = upper[odd][:n_after] / diagonal[2::2]
    kept = diagonal[odd] - left * upper[before]
    kept[:n_after] -= after[:n_after] * lower[2::2]
    new_upper = np.zeros_like(kept)
    new_upper[:n_after] = -after[:n_after] * upper[2::2]
    new_right = right[odd] - left.reshape(shape) * right[before]
    new_right[:n_after] -= after[:n_after].reshape(shape) * right[2::2]
    solution = np.empty_like(right)
    solution[odd] = _solve_tridiagonal(-left * lower[before], kept, new_upper, new_right)
    even = right[0::2].copy()
    even[: n // 2] -= upper[before].reshape(shape)[: n // 2] * solution[odd]
    even[1:] -= lower[2::2].reshape(shape) * solution[odd][:n_after]
    solution[0::2] = even / diagonal[0::2].reshape(shape)
    return solution


def refine(values: FloatArray, factor: int) -> tuple[FloatArray, FloatArray]:
    """Values and slopes on a grid `factor` times finer, of a spline of degree 7 through `values` on a regular grid.

    The slopes are for one step of the given grid. `values` has shape (n,) or (n, n_functions), with n at least 8. The
    knots are the points of the grid except the first four and the last four.
    """
    index = np.arange(len(values), dtype=float)
    fine = np.linspace(0.0, index[-1], factor * (len(index) - 1) + 1)
    inner, ends = index[(_DEGREE + 1) // 2 : -(_DEGREE + 1) // 2], np.repeat(index[[0, -1]], _DEGREE + 1)
    knots = np.concatenate([ends[: _DEGREE + 1], inner, ends[_DEGREE + 1 :]])
    coefficients = np.linalg.solve(_basis(knots, _DEGREE, index), values)
    widths = (knots[_DEGREE + 1 : -1] - knots[1 : -_DEGREE - 1]).reshape(-1, *(1,) * (values.ndim - 1))
    slopes = _DEGREE * np.diff(coefficients, axis=0) / widths
    return _basis(knots, _DEGREE, fine) @ coefficients, _basis(knots[1:-1], _DEGREE - 1, fine) @ slopes


def _basis(knots: FloatArray, degree: int, x: FloatArray) -> FloatArray:
    """All B-splines at the points `x`, one row for each point (de Boor 1978, chapter X)."""
    n = len(knots) - degree - 1
    piece = np.clip(np.searchsorted(knots, x, side="right") - 1, degree, n - 1)
    values = [np.ones_like(x)]
    for order in range(1, degree + 1):
        raised, carried = [], np.zeros_like(x)
        for k, value in enumerate(values):
            above, below = knots[piece + k + 1], knots[piece + k + 1 - order]
            share = value / (above - below)
            raised.append(carried + (above - x) * share)
            carried = (x - below) * share
        values = [*raised, carried]
    rows = np.zeros((len(x), n))
    np.put_along_axis(rows, piece[:, None] + np.arange(-degree, 1), np.stack(values, axis=1), axis=1)
    return rows
