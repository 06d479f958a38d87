"""Expectations of piecewise linear functions on (0, 1) under many Beta distributions at once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from harness_uq.stats.common.validate_arrays import FloatArray

MAX_NODES = 2048  # reached by clusters of 10^5 trials
_GAUSS = 5  # Gauss points per cell; the relative error is 4e-10 if a cell is one standard deviation wide
_SMOOTH = 1.0  # largest squared width of a cell, in variances of the Beta, for Gauss-Legendre integration
_OUTSIDE = -45.0  # log density of the logit below which the distribution function equals 0 or 1 in double precision


@dataclass(frozen=True, eq=False)
class HatNodes:
    """Nodes from 0 to 1 (inclusive) that are evenly spaced relative to the width of a likelihood.

    `logit` (K,) are the logits of the nodes, from -inf to inf.
    """

    logit: FloatArray

    @classmethod
    def spaced(cls, largest: float, fineness: float) -> "HatNodes":
        """Nodes `fineness` standard deviations apart under a likelihood with the information of `largest` trials.

        On the logit scale that likelihood has the precision largest x (1 - x). A constant 1/4 is added, so that nodes
        in the tails are at most 2 `fineness` apart.
        """
        reach = 7.0 + np.log(largest)
        u = np.linspace(-reach, reach, 4001)
        x = special.expit(u)
        position = np.cumsum(np.sqrt(largest * x * (1 - x) + 1 / 4)) * (u[1] - u[0])
        n_nodes = int(np.clip((position[-1] - position[0]) / fineness, 32, MAX_NODES))
        inner = np.interp(np.linspace(position[0], position[-1], n_nodes), position, u)
        return cls(np.concatenate([[-np.inf], (inner - inner[::-1]) / 2, [np.inf]]))

    @cached_property
    def x(self) -> FloatArray:
        return np.asarray(special.expit(self.logit))

    @cached_property
    def complement(self) -> FloatArray:
        """1 - x, without cancellation."""
        return np.asarray(special.expit(-self.logit))

    def weights(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Integrals of the nodes' hat functions under Beta(a, b), shape (P, K) for a and b of shape (P,).

        For f piecewise linear between nodes, E[f] = weights @ f(x) for a Beta of any width. If the Beta is wider than
        the cells between nodes, each cell is integrated by Gauss-Legendre quadrature, otherwise by incomplete Beta
        functions.
        """
        inner = self.logit[1:-1]
        widest = float((np.diff(inner) ** 2 * (self.x * self.complement)[2:-1]).max())
        is_smooth = (a + b) * widest < _SMOOTH
        weights = np.empty((len(a), len(self.x)))
        weights[is_smooth] = self._by_points(a[is_smooth], b[is_smooth])
        weights[~is_smooth] = self._by_differences(a[~is_smooth], b[~is_smooth])
        return weights

    def _by_points(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Gauss-Legendre quadrature in the logit, with density x^a (1 - x)^b / B(a, b); end cells as in `_first`."""
        weights = np.zeros((len(a), len(self.x)))
        weights[:, :2] += _first(a, b, self.x[1], self.complement[1])
        weights[:, :-3:-1] += _first(b, a, self.complement[-2], self.x[-2])
        parameters = np.stack([a, b, -special.betaln(a, b)], axis=1)
        for logs, left, right in self._points:
            density = np.exp(parameters @ logs)
            weights[:, 1:-2] += density * left
            weights[:, 2:-1] += density * right
        return weights

    @cached_property
    def _points(self) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """For the k-th point of each inner cell: (log x, log(1 - x), 1), and its weights in both adjacent hats."""
        low, high = self.logit[1:-2], self.logit[2:-1]
        width = high - low
        points = []
        for place, share in zip(*np.polynomial.legendre.leggauss(_GAUSS), strict=True):
            u = low + width * (place + 1) / 2
            # (x - low) / (high - low) for x, low and high on the probability scale
            right_hat = np.sinh((u - low) / 2) * np.cosh(high / 2) / (np.sinh(width / 2) * np.cosh(u / 2))
            logs = np.stack([special.log_expit(u), special.log_expit(-u), np.ones(len(u))])
            points.append((logs, width * share / 2 * (1 - right_hat), width * share / 2 * right_hat))
        return points

    def _by_differences(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Differences of the distribution function, where it is neither 0 nor 1, and of the first moment."""
        log_density = np.full((len(a), len(self.x)), -np.inf)
        logs = np.stack([special.log_expit(self.logit), special.log_expit(-self.logit), np.ones(len(self.x))])
        log_density[:, 1:-1] = np.stack([a, b, -special.betaln(a, b)], axis=1) @ logs[:, 1:-1]
        below = (self.x > (a / (a + b))[:, None]).astype(float)
        row, column = np.nonzero(log_density > _OUTSIDE)
        below[row, column] = special.betainc(a[row], b[row], self.x[column])
        mass = np.diff(below, axis=1)
        moment = np.diff(_moment_below(a[:, None], b[:, None], below, log_density), axis=1)
        right = (moment - self.x[:-1] * mass) / np.diff(self.x)
        weights = np.zeros(below.shape)
        weights[:, :-1] = mass - right
        weights[:, 1:] += right
        return np.maximum(weights, 0.0)


def _first(a: FloatArray, b: FloatArray, x: float, complement: float) -> FloatArray:
    """Weights (P, 2) of the nodes 0 and x in the cell between them."""
    below: FloatArray = np.asarray(special.betainc(a, b, x), np.float64)
    log_density = a * np.log(x) + b * np.log(complement) - special.betaln(a, b)
    right = _moment_below(a, b, below, log_density) / x
    return np.maximum(np.stack([below - right, right], axis=1), 0.0)


def _moment_below(a: FloatArray, b: FloatArray, below: FloatArray, log_density: FloatArray) -> FloatArray:
    """First moment below x, by I_x(a + 1, b) = I_x(a, b) - x^a (1 - x)^b / (a B(a, b))."""
    return np.asarray((below - np.exp(log_density) / a) * (a / (a + b)))
