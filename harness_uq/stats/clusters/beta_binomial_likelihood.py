"""Beta-binomial log posterior of (theta, d) from sufficient statistics, without cancellation for any d or size."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, check_counts

DispersionPrior = Literal["icc", "gamma"]

_HEAD = 32  # rising factorials: 32 factors are summed directly, the others by Stirling's series (error < 2e-14)
_BLOCK = np.log(16.0)  # cluster sizes are summarized in blocks of this length on the log scale
_BATCH = 2**14  # array size that fits into the cache and still hides the overhead of a numpy call
_BLOCK_NODES = 24  # Chebyshev error in a block: 4.75**-24 = 6e-17


class BetaBinomialLogPosterior:
    """Unnormalized log posterior density of (logit theta, log d), from sufficient statistics.

    log L = sum_k n_k^S log(theta + k/d) + sum_k n_k^F log(1 - theta + k/d) - sum_k n_k^N log(1 + k/d),
    where n_k^S is the number of clusters with more than k successes, and likewise for failures F and sizes N. No
    digits are lost as d grows, and the cost depends neither on the number of clusters nor on their size.

    The arguments are those of `beta_binomial_grid`, and `n_clusters` counts clusters with at least one trial.
    """

    def __init__(self, successes: ArrayLike, sizes: ArrayLike, *, prior: DispersionPrior = "icc") -> None:
        if prior not in ("icc", "gamma"):
            raise DataError(f"prior must be 'gamma' or 'icc'; got {prior!r}")
        s, n = _check_clusters(successes, sizes)
        self.prior = prior
        self.n_clusters = len(n)
        self.n_successes, self.n_trials = float(s.sum()), float(n.sum())
        self._successes, self._failures, self._sizes = RisingSum(s), RisingSum(n - s), RisingSum(n)

    def __call__(self, logit_theta: FloatArray, log_dispersion: FloatArray) -> FloatArray:
        """Log density with respect to (logit theta, log d), up to a constant; the arguments broadcast together."""
        u, v = logit_theta, log_dispersion
        d, theta, complement = np.exp(v), special.expit(u), special.expit(-u)
        likelihood = self._successes(theta, d) + self._failures(complement, d) - self._sizes(np.ones_like(d), d)
        return np.asarray(likelihood + log_prior(u, v, self.prior))


def log_prior(u: FloatArray, v: FloatArray, prior: DispersionPrior) -> FloatArray:
    """Log prior density of u = logit theta and v = log d.

    theta is uniform. Under the prior ``icc`` 1 / (1 + d) is uniform too; under ``gamma`` d ~ Gamma(1, 1).
    """
    of_v = v - np.exp(v) if prior == "gamma" else special.log_expit(v) + special.log_expit(-v)
    return np.asarray(special.log_expit(u) + special.log_expit(-u) + of_v)


class RisingSum:
    """sum_t sum_{k < m_t} log(x + k/d) for counts m_t, as a function of x and d."""

    def __init__(self, counts: FloatArray) -> None:
        values, repeats = _distinct(counts)
        k = np.arange(min(_HEAD, max(1, int(values[-1]))), dtype=float)
        above = len(counts) - np.concatenate([[0.0], np.cumsum(repeats)])
        self._k = k
        self._n_above: FloatArray = above[np.searchsorted(values, k, side="right")]
        is_large = values > _HEAD
        self._large = _compress(values[is_large], repeats[is_large])

    def __call__(self, x: FloatArray, d: FloatArray) -> FloatArray:
        total = _weighted_sum(lambda k: np.log(x + k / d), self._k, self._n_above, d.ndim)
        return total + self._large_sum(x, d) if len(self._large[0]) else total

    def _large_sum(self, x: FloatArray, d: FloatArray) -> FloatArray:
        """Sum of the factors from k = 32 on, log Gamma(a + n) / (Gamma(a) d^n) with a = d x + 32, by Stirling."""
        a = d * x + _HEAD
        values, repeats = self._large
        rest = values - _HEAD
        total = _weighted_sum(
            lambda n: (a + n - 0.5) * np.log1p(n / a) - n + stirling_rest(a + n), rest, repeats, a.ndim
        )
        total += (repeats @ rest) * np.log(x + _HEAD / d) - repeats.sum() * stirling_rest(a)
        return total


def _weighted_sum(
    function: Callable[[FloatArray], FloatArray], values: FloatArray, weights: FloatArray, ndim: int
) -> FloatArray:
    """sum_i weights_i function(values_i) for a function of arrays with `ndim` axes, evaluated in batches."""
    total = np.asarray(weights[0] * function(values[:1].reshape((1,) * ndim)))
    batch = max(1, _BATCH // total.size)
    for i in range(1, len(values), batch):
        terms = function(values[i : i + batch].reshape((-1,) + (1,) * ndim))
        total += (weights[i : i + batch] @ terms.reshape(len(terms), -1)).reshape(total.shape)
    return total


def stirling_rest(z: FloatArray) -> FloatArray:
    """Remainder log Gamma(z) - ((z - 1/2) log z - z + log(2 pi) / 2) of Stirling's formula, for z >= 32."""
    r = 1 / (z * z)
    return np.asarray((1 / 12 - r * (1 / 360 - r / 1260)) / z)


def _check_clusters(successes: ArrayLike, sizes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    s, n = check_counts(successes, sizes, "sizes")
    s, n = np.atleast_1d(s), np.atleast_1d(n)
    if n.ndim != 1:
        raise DataError(f"successes and sizes must have shape (n_clusters,); got {n.shape}")
    fractional = np.flatnonzero((s != np.floor(s)) | (n != np.floor(n)))
    if len(fractional):
        t = fractional[0]
        raise DataError(f"counts must be whole numbers; cluster {t} has successes {s[t]} of {n[t]}")
    if not n.any():
        raise DataError(f"at least one cluster must have a trial; all {len(n)} sizes are 0")
    return s[n > 0], n[n > 0]


def _distinct(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distinct values in increasing order, and the frequency of each."""
    if counts.max() > 4 * len(counts) + 1000:
        values, repeats = np.unique(counts, return_counts=True)
        return values, repeats.astype(float)
    repeats = np.bincount(counts.astype(np.int64))
    values_present = np.flatnonzero(repeats)
    return values_present.astype(float), repeats[values_present].astype(float)


def _compress(values: FloatArray, repeats: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Replace values by at most 24 nodes per block, with weights that preserve sums of functions smooth in log value.

    Within a block the weights are those of Chebyshev interpolation, so they may be fractional or negative.
    """
    block = np.floor(np.log(values) / _BLOCK)
    parts = [_compress_block(values[block == b], repeats[block == b], b) for b in np.unique(block)]
    if not parts:
        return values, repeats
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _compress_block(values: FloatArray, repeats: FloatArray, block: float) -> tuple[FloatArray, FloatArray]:
    if len(values) <= _BLOCK_NODES:
        return values, repeats
    chebvander = np.polynomial.chebyshev.chebvander
    nodes = np.cos((np.arange(_BLOCK_NODES) + 0.5) * np.pi / _BLOCK_NODES)
    moments = repeats @ chebvander(2 * (np.log(values) / _BLOCK - block) - 1, _BLOCK_NODES - 1)
    moments[1:] *= 2
    return np.exp((block + (nodes + 1) / 2) * _BLOCK), chebvander(nodes, _BLOCK_NODES - 1) @ moments / _BLOCK_NODES
