"""Finite mixtures of Beta distributions, such as posteriors with one parameter integrated on a grid of nodes."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.posterior import BetaPosterior, DensityPosterior, Posterior, WithMoments
from harness_uq.stats.common.validate_arrays import FloatArray

_SPACING = 0.025  # node spacing near the centre, in standard deviations of the narrowest component
_TAIL = 32.0  # the grid omits tail probability of about exp(-32) = 1e-14
_NEGLIGIBLE = 1e-12


class BetaMixturePosterior(WithMoments):
    """Mixture of Beta distributions, sum_k w_k Beta(a_k, b_k).

    The mean and standard deviation are exact. Quantiles are accurate to 1e-5 of the interval width; with a single
    component they are exact.

    Parameters
    ----------
    a, b : array_like, shape (K,)
        Parameters of the components, positive.
    weights : array_like, shape (K,)
        Mixture weights, non-negative and not all 0. They are normalized to sum to 1.

    Raises
    ------
    DataError
        If a parameter is not positive, a weight is negative, or all weights are 0.

    Examples
    --------
    >>> mixture = BetaMixturePosterior([1, 2], [1, 1], [1, 1])  # distribution function (x + x^2) / 2
    >>> mixture.mean == (1 / 2 + 2 / 3) / 2, round(float(mixture.cdf(0.5)), 6)
    (True, 0.375)
    """

    def __init__(self, a: ArrayLike, b: ArrayLike, weights: ArrayLike) -> None:
        shape_a, shape_b, w = np.atleast_1d(*np.broadcast_arrays(*(np.asarray(x, float) for x in (a, b, weights))))
        if not ((shape_a > 0).all() and (shape_b > 0).all() and (w >= 0).all() and 0 < w.sum() < np.inf):
            raise DataError(
                f"a mixture needs a, b > 0 and weights >= 0, not all 0; smallest are "
                f"{shape_a.min()}, {shape_b.min()} and {w.min()}"
            )
        is_used = w > _NEGLIGIBLE * w.sum()
        self.a, self.b, self.weights = shape_a[is_used], shape_b[is_used], w[is_used] / w[is_used].sum()
        super().__init__(*_moments(self.a, self.b, self.weights))
        is_single = len(self.a) == 1
        self._distribution: Posterior = BetaPosterior(self.a[0], self.b[0]) if is_single else self.tabulate()

    def tabulate(self) -> DensityPosterior:
        """Tabulate the same distribution on the logit scale, on nodes that are densest at the narrowest component."""
        u = _nodes(self.a, self.b)
        log_densities = np.outer(self.a, special.log_expit(u)) + np.outer(self.b, special.log_expit(-u))
        densities = np.exp(log_densities - special.betaln(self.a, self.b)[:, None])
        return DensityPosterior(u, np.asarray(self.weights @ densities, float), "logit", (self.mean, self.sd))

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self._distribution.quantile(p)

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._distribution.cdf(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mean={self.mean:.4g}, sd={self.sd:.3g}, n_components={len(self.a)})"


def _moments(a: FloatArray, b: FloatArray, weights: FloatArray) -> tuple[float, float]:
    size = a + b
    means = a / size
    mean = float(weights @ means)
    return mean, float(np.sqrt(weights @ (means * (b / size) / (size + 1) + (means - mean) ** 2)))


def _nodes(a: FloatArray, b: FloatArray) -> FloatArray:
    """Nodes centre + scale sinh(t) with t equally spaced.

    The range follows from the tails of each component, where Beta(a, b) has probability x^a / (a B(a, b)) below x.
    """
    narrowest = int(np.argmax(a + b))
    centre = float(np.log(a[narrowest] / b[narrowest]))
    scale = float(np.sqrt(1 / a[narrowest] + 1 / b[narrowest]))
    log_beta = special.betaln(a, b)
    low = float(np.min((np.log(a) + log_beta - _TAIL) / a))
    high = float(np.max((_TAIL - np.log(b) - log_beta) / b))
    first, last = np.arcsinh((min(low, centre) - centre) / scale), np.arcsinh((max(high, centre) - centre) / scale)
    n_nodes = max(int(np.ceil((last - first) / _SPACING)) + 1, 33)
    return np.asarray(centre + scale * np.sinh(np.linspace(first, last, n_nodes)))
