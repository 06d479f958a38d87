"""Discrete distribution of a variance: sums, quantiles, and the posterior of a mean with that variance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.posterior import DensityPosterior
from harness_uq.stats.common.validate_arrays import FloatArray

_BINS = 96
NULL_PROBABILITY = 0.4  # prior probability of no effect; sds up to that of one score have probability 0.6
_KNEE = 0.25
_FAR = 10.0
_MIN_NOISE = 1e-8  # relative to the variance of a score; runs that are copies have no noise, and no effect
_NODES = 801
_SHARES = np.concatenate([[0.0], np.geomspace(1e-3, 1e2, 120)])  # sds relative to that of one score
_GAUSS, _GAUSS_WEIGHTS = (np.asarray(part, np.float64) for part in np.polynomial.legendre.leggauss(15))


@dataclass(frozen=True, eq=False)
class VarianceMixture:
    """Discrete distribution of a variance.

    `values` (K,) are the variances and `weights` (K,) their probabilities.
    """

    values: FloatArray
    weights: FloatArray

    @property
    def mean(self) -> float:
        """Expected variance."""
        return float(self.weights @ self.values)

    def scaled(self, factor: float) -> "VarianceMixture":
        """Distribution of the variance times a factor."""
        return VarianceMixture(self.values * factor, self.weights)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Quantiles of the variance for probabilities `p`, interpolated between nodes."""
        order = np.argsort(self.values)
        weights = self.weights[order]
        return np.asarray(np.interp(np.asarray(p, float), np.cumsum(weights) - weights / 2, self.values[order]))

    def plus(self, other: "VarianceMixture") -> "VarianceMixture":
        """Distribution of the sum of two independent variances, in 96 bins of equal ratio."""
        values = np.add.outer(self.values, other.values).ravel()
        weights = np.multiply.outer(self.weights, other.weights).ravel()
        return VarianceMixture(values, weights).binned()

    def binned(self) -> "VarianceMixture":
        """The same distribution with at most 96 nodes."""
        used = self.weights > 1e-14
        values, weights = np.maximum(self.values[used], 1e-300), self.weights[used]
        logs = np.log(values)
        bin_index = ((logs - logs.min()) / max(float(np.ptp(logs)), 1e-12) * (_BINS - 1e-6)).astype(int)
        mass = np.bincount(bin_index, weights, _BINS)
        is_filled = mass > 0
        centre = np.exp(np.bincount(bin_index, weights * logs, _BINS)[is_filled] / mass[is_filled])
        return VarianceMixture(centre, mass[is_filled] / mass.sum())

    def share_of(self, rest: "VarianceMixture") -> float:
        """Expected share of this variance in its sum with `rest`."""
        total = np.add.outer(self.values, rest.values)
        share = np.divide(self.values[:, None], total, out=np.zeros_like(total), where=total > 0)
        return float(self.weights @ share @ rest.weights)


def point_mass(variance: float) -> VarianceMixture:
    """Point mass at a known variance."""
    return VarianceMixture(np.array([variance]), np.ones(1))


def chi_squared(estimate: float, df: float) -> VarianceMixture:
    """Posterior of a variance under the prior 1 / variance, given an estimate ~ variance × chi2(df) / df."""
    p = (_GAUSS + 1) / 2
    weights = np.asarray(_GAUSS_WEIGHTS / 2, np.float64)
    return VarianceMixture(np.asarray(estimate * df / (2 * special.gammaincinv(df / 2, p)), np.float64), weights)


def effect_prior(x: FloatArray) -> FloatArray:
    """Prior density of x = sd of an effect / sd of one score for x > 0; P(x = 0) is `NULL_PROBABILITY`.

    The density is proportional to 1 / (x + 1/4), with mass 0.6 in (0, 1]. Beyond 1 it decays as 1 / x, beyond 10 as
    1 / x^3.
    """
    return np.asarray((1 - NULL_PROBABILITY) / np.log1p(1 / _KNEE) / (x + _KNEE) / (1 + (x / _FAR) ** 2))


def effect_variance(
    square: float, df: float, noise: float, size: float, scale: float, largest: float = np.inf
) -> VarianceMixture:
    """Posterior of the variance of an effect from the mean square of its levels.

    `square` is distributed as (noise + size × variance) × chi2(df) / df; `scale` is the variance of one score, to which
    `effect_prior` is relative, and `largest` bounds the variance.
    """
    if scale == 0:
        return point_mass(0.0)
    x = _SHARES[_SHARES**2 * scale <= largest * (1 + 1e-9)]
    expected = max(noise, _MIN_NOISE * scale) + size * x**2 * scale
    log_mass = -df / 2 * (np.log(expected) + square / expected)
    prior = np.where(x > 0, np.gradient(x) * effect_prior(x), NULL_PROBABILITY)
    mass = prior * np.exp(log_mass - log_mass.max())
    return VarianceMixture(x**2 * scale, mass / mass.sum())


def proportion_posterior(mean: float, variance: VarianceMixture, prior: float) -> DensityPosterior:
    """Mixture of Beta(prior + n mean, prior + n (1 - mean)) with n = 1 / variance.

    `variance` is that of the estimate `mean` relative to mean (1 - mean), and `prior` the pseudo-count on either side.
    """
    n = 1 / np.maximum(variance.values, 1e-300)
    a, b = prior + n * mean, prior + n * (1 - mean)
    largest = float(n.max())
    centre = (prior + largest * mean) / (2 * prior + largest)
    narrow = 1 / np.sqrt(largest * centre * (1 - centre) + 1)
    u = special.logit(centre) + narrow * np.sinh(np.linspace(-1, 1, _NODES) * np.arcsinh(60 / narrow))
    log_density = np.multiply.outer(special.log_expit(u), a) + np.multiply.outer(special.log_expit(-u), b)
    log_density -= special.betaln(a, b)
    return DensityPosterior(u, np.exp(log_density) @ variance.weights, scale="logit")


def real_posterior(mean: float, variance: VarianceMixture) -> DensityPosterior:
    """Mixture of normal distributions around the mean with these variances."""
    sd = np.sqrt(variance.values)
    narrow = float(sd.min())
    reach = np.arcsinh(10 * float(sd.max()) / narrow)
    offset = narrow * np.sinh(np.linspace(-1, 1, _NODES) * reach)
    density = np.exp(-((offset[:, None] / sd) ** 2) / 2) / sd
    return DensityPosterior(mean + offset, density @ variance.weights)
