"""A mixture of Beta distributions: a posterior where one parameter, such as a correlation, was integrated on nodes."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.common.posterior import BetaPosterior, DensityPosterior, Posterior, WithMoments

_SPACING = 0.025  # of nodes, in standard deviations of the narrowest part near its centre
_TAIL = 32.0  # log of the mass left out: exp(-32) = 1e-14
_NEGLIGIBLE = 1e-12


class BetaMixturePosterior(WithMoments):
    """sum_k w_k Beta(a_k, b_k); mean and sd are exact, quantiles good to 1e-5 of the width, of one part exact.

    Parameters
    ----------
    a, b : array_like (K,), > 0
    weights : array_like (K,), >= 0, not all 0; their scale does not matter

    Raises
    ------
    DataError : if a parameter or the weights are not as stated

    >>> mixture = BetaMixturePosterior([1, 2], [1, 1], [1, 1])  # (x + x^2) / 2
    >>> mixture.mean == (1 / 2 + 2 / 3) / 2, round(float(mixture.cdf(0.5)), 6)
    (True, 0.375)
    """

    def __init__(self, a: ArrayLike, b: ArrayLike, weights: ArrayLike) -> None:
        parts_a, parts_b, w = np.atleast_1d(*np.broadcast_arrays(*(np.asarray(x, float) for x in (a, b, weights))))
        if not ((parts_a > 0).all() and (parts_b > 0).all() and (w >= 0).all() and 0 < w.sum() < np.inf):
            raise DataError(
                f"a mixture needs a, b > 0 and weights >= 0, not all 0; smallest are "
                f"{parts_a.min()}, {parts_b.min()} and {w.min()}"
            )
        kept = w > _NEGLIGIBLE * w.sum()
        self.a, self.b, self.weights = parts_a[kept], parts_b[kept], w[kept] / w[kept].sum()
        moments = _moments(self.a, self.b, self.weights)
        super().__init__(*moments)
        is_single = len(self.a) == 1
        self._whole: Posterior = (
            BetaPosterior(self.a[0], self.b[0]) if is_single else _tabulate(self.a, self.b, self.weights, moments)
        )

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self._whole.quantile(p)

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._whole.cdf(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mean={self.mean:.4g}, sd={self.sd:.3g}, {len(self.a)} parts)"


def _moments(a: FloatArray, b: FloatArray, weights: FloatArray) -> tuple[float, float]:
    size = a + b
    means = a / size
    mean = float(weights @ means)
    return mean, float(np.sqrt(weights @ (means * (b / size) / (size + 1) + (means - mean) ** 2)))


def _tabulate(a: FloatArray, b: FloatArray, weights: FloatArray, moments: tuple[float, float]) -> DensityPosterior:
    """Density of the logit on nodes that are closest where the narrowest part lies."""
    u = _nodes(a, b)
    log_parts = np.outer(a, special.log_expit(u)) + np.outer(b, special.log_expit(-u)) - special.betaln(a, b)[:, None]
    return DensityPosterior(u, np.asarray(weights @ np.exp(log_parts), float), "logit", moments)


def _nodes(a: FloatArray, b: FloatArray) -> FloatArray:
    """Nodes centre + scale sinh(t), t uniform; a part's tails fall as x^a / (a B(a, b)) and its mirror image."""
    narrowest = int(np.argmax(a + b))
    centre = float(np.log(a[narrowest] / b[narrowest]))
    scale = float(np.sqrt(1 / a[narrowest] + 1 / b[narrowest]))
    log_beta = special.betaln(a, b)
    low = float(np.min((np.log(a) + log_beta - _TAIL) / a))
    high = float(np.max((_TAIL - np.log(b) - log_beta) / b))
    first, last = np.arcsinh((min(low, centre) - centre) / scale), np.arcsinh((max(high, centre) - centre) / scale)
    n_nodes = max(int(np.ceil((last - first) / _SPACING)) + 1, 33)
    return np.asarray(centre + scale * np.sinh(np.linspace(first, last, n_nodes)))
