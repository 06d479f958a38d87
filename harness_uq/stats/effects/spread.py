"""Distribution of a variance as weighted nodes: sums, quantiles, and the posterior of a mean that has that variance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.common.posterior import DensityPosterior

_BINS = 96
NIL = 0.4  # prior chance that an effect is nil, against .6 for sds of up to that of one score
_KNEE = 0.25
_FAR = 10.0
_LEAST = 1e-8  # noise over the variance of a score: where runs are copies there is none, and their effect is nil
_NODES = 801
_SHARES = np.concatenate([[0.0], np.geomspace(1e-3, 1e2, 120)])  # of the sd of one score
_GAUSS, _GAUSS_WEIGHTS = (np.asarray(part, np.float64) for part in np.polynomial.legendre.leggauss(15))


@dataclass(frozen=True, eq=False)
class Spread:
    """A variance that is not known exactly.

    Attributes
    ----------
    values : (K,) variances >= 0
    weights : (K,) their probabilities, which sum to 1
    """

    values: FloatArray
    weights: FloatArray

    @property
    def mean(self) -> float:
        """Expected variance."""
        return float(self.weights @ self.values)

    def scaled(self, factor: float) -> "Spread":
        """The variance times a factor."""
        return Spread(self.values * factor, self.weights)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Variance below which it lies with probability p, between nodes by interpolation."""
        order = np.argsort(self.values)
        weights = self.weights[order]
        return np.asarray(np.interp(np.asarray(p, float), np.cumsum(weights) - weights / 2, self.values[order]))

    def plus(self, other: "Spread") -> "Spread":
        """Sum of two that are independent, its nodes gathered in 96 bins of equal ratio."""
        values = np.add.outer(self.values, other.values).ravel()
        weights = np.multiply.outer(self.weights, other.weights).ravel()
        return Spread(values, weights).gathered()

    def gathered(self) -> "Spread":
        """The same in at most 96 nodes."""
        kept = self.weights > 1e-14
        values, weights = np.maximum(self.values[kept], 1e-300), self.weights[kept]
        logs = np.log(values)
        place = ((logs - logs.min()) / max(float(np.ptp(logs)), 1e-12) * (_BINS - 1e-6)).astype(int)
        mass = np.bincount(place, weights, _BINS)
        held = mass > 0
        centre = np.exp(np.bincount(place, weights * logs, _BINS)[held] / mass[held])
        return Spread(centre, mass[held] / mass.sum())

    def share_of(self, rest: "Spread") -> float:
        """Expected share of this variance in its sum with `rest`."""
        whole = np.add.outer(self.values, rest.values)
        share = np.divide(self.values[:, None], whole, out=np.zeros_like(whole), where=whole > 0)
        return float(self.weights @ share @ rest.weights)


def known(variance: float) -> Spread:
    """A variance that is known."""
    return Spread(np.array([variance]), np.ones(1))


def chi_squared(estimate: float, df: float) -> Spread:
    """Of a variance with an estimate that is distributed as variance × chi2(df) / df, prior 1 / variance."""
    chance = (_GAUSS + 1) / 2
    chances = np.asarray(_GAUSS_WEIGHTS / 2, np.float64)
    return Spread(np.asarray(estimate * df / (2 * special.gammaincinv(df / 2, chance)), np.float64), chances)


def effect_prior(x: FloatArray) -> FloatArray:
    """Density of x = sd of an effect / sd of one score, x > 0; the chance that the effect is nil is `NIL`.

    1 / (x + 1/4), of mass .6 in (0, 1] against the .4 of no effect; beyond 1 it goes on as 1 / x, from 10 as 1 / x^3.
    """
    return np.asarray((1 - NIL) / np.log1p(1 / _KNEE) / (x + _KNEE) / (1 + (x / _FAR) ** 2))


def effect_variance(square: float, df: float, noise: float, size: float, scale: float, most: float = np.inf) -> Spread:
    """Posterior of the variance of an effect from the mean square of its levels.

    Parameters
    ----------
    square, df : mean square between levels, distributed as (noise + size × variance) × chi2(df) / df
    noise : its expectation were the effect nil
    size : what it gains for a unit variance of the effect
    scale : variance of one score, whose sd the prior is relative to; see `effect_prior`
    most : the largest variance possible
    """
    if scale == 0:
        return known(0.0)
    x = _SHARES[_SHARES**2 * scale <= most * (1 + 1e-9)]
    expected = max(noise, _LEAST * scale) + size * x**2 * scale
    log_mass = -df / 2 * (np.log(expected) + square / expected)
    prior = np.where(x > 0, np.gradient(x) * effect_prior(x), NIL)
    mass = prior * np.exp(log_mass - log_mass.max())
    return Spread(x**2 * scale, mass / mass.sum())


def proportion_posterior(mean: float, variance: Spread, prior: float) -> DensityPosterior:
    """Mixture of Beta(prior + n mean, prior + n (1 - mean)) with n = 1 / variance.

    Parameters
    ----------
    mean : float in [0, 1]
    variance : of the estimate of the mean, relative to mean (1 - mean)
    prior : pseudo-count on either side
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


def real_posterior(mean: float, variance: Spread) -> DensityPosterior:
    """Mixture of normal distributions around the mean with these variances."""
    sd = np.sqrt(variance.values)
    narrow = float(sd.min())
    reach = np.arcsinh(10 * float(sd.max()) / narrow)
    offset = narrow * np.sinh(np.linspace(-1, 1, _NODES) * reach)
    density = np.exp(-((offset[:, None] / sd) ** 2) / 2) / sd
    return DensityPosterior(mean + offset, density @ variance.weights)
