"""Difference and odds ratio of two systems on different questions, or with known totals only."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.posterior import DifferencePosterior, Posterior, WithMoments
from harness_uq.stats.common.roots import invert_increasing
from harness_uq.stats.common.validate_arrays import FloatArray

_NODES = 160
_TAIL = 1e-18
_PROBIT_NODES = 801


class IndependentPosterior(DifferencePosterior):
    """Difference theta_A - theta_B of two independent Beta variables.

    `a` and `b` are their parameters (alpha, beta), each at least 1; otherwise a DataError is raised.
    """

    def __init__(self, a: tuple[float, float], b: tuple[float, float]) -> None:
        self._a, self._b = (float(a[0]), float(a[1])), (float(b[0]), float(b[1]))
        if min(*self._a, *self._b) < 1:
            raise DataError(f"both Betas need parameters of at least 1; got {a} and {b}")
        self._by_difference = _BetaPair(self._a, self._b, _beta_sd)
        self._by_odds = _BetaPair(self._a, self._b, _logit_sd)

    @property
    def mean(self) -> float:
        return self._a[0] / sum(self._a) - self._b[0] / sum(self._b)

    @property
    def sd(self) -> float:
        return float(np.hypot(_beta_sd(self._a), _beta_sd(self._b)))

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._by_difference.cdf_of_difference(np.clip(np.asarray(x, float), -1.0, 1.0))

    def quantile(self, p: ArrayLike) -> FloatArray:
        probability = np.asarray(p, float)
        guess = self.mean + self.sd * np.clip(special.ndtri(np.clip(probability, 0, 1)), -9, 9)
        x = invert_increasing(self.cdf, probability, low=-1.0, high=1.0, guess=guess, scale=self.sd / 8)
        return np.asarray(np.where(probability <= 0, -1.0, np.where(probability >= 1, 1.0, x)))

    def odds_ratio_quantile(self, p: ArrayLike) -> FloatArray:
        """Quantiles of the odds ratio theta_A (1 - theta_B) / ((1 - theta_A) theta_B) for probabilities `p`."""
        probability = np.asarray(p, float)
        spread = float(np.hypot(_logit_sd(self._a), _logit_sd(self._b)))
        guess = (
            _logit_mean(self._a)
            - _logit_mean(self._b)
            + spread * np.clip(special.ndtri(np.clip(probability, 0, 1)), -9, 9)
        )
        x = invert_increasing(
            self._by_odds.cdf_of_log_odds_ratio, probability, low=-1e3, high=1e3, guess=guess, scale=spread / 8
        )
        return np.asarray(np.where(probability <= 0, 0.0, np.where(probability >= 1, np.inf, np.exp(x))))


class _BetaPair:
    """P(theta_A <= g(theta_B)) for increasing g, integrated over the narrower of the two distributions.

    If that is A, the same event is written as 1 - theta_B <= g'(1 - theta_A).
    """

    def __init__(
        self, a: tuple[float, float], b: tuple[float, float], spread: Callable[[tuple[float, float]], float]
    ) -> None:
        self._inner, self._outer = (a[::-1], b[::-1]) if spread(a) < spread(b) else (b, a)
        self._low, self._high = -_log_odds_end(self._inner[::-1]), _log_odds_end(self._inner)
        self._nodes, self._weights = special.roots_legendre(_NODES)
        u = self._low + (self._high - self._low) * (self._nodes + 1) / 2
        self._peak = float(self._log_density(u).max())
        mass = np.exp(self._log_density(u) - self._peak) @ self._weights * (self._high - self._low) / 2
        self._peak += float(np.log(mass))

    def _log_density(self, u: FloatArray) -> FloatArray:
        alpha, beta = self._inner
        return np.asarray(alpha * special.log_expit(u) + beta * special.log_expit(-u))

    def _expect(self, low: FloatArray, high: FloatArray, image: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """E[F_outer(image(u)); low < u < high] over the log-odds u of the inner variable."""
        start, stop = np.clip(low, self._low, self._high), np.clip(high, self._low, self._high)
        u = start[..., None] + (stop - start)[..., None] * (self._nodes + 1) / 2
        weight = np.exp(self._log_density(u) - self._peak) * self._weights
        below = special.betainc(*self._outer, image(u))
        return np.asarray(np.sum(weight * below, axis=-1) * (stop - start) / 2)

    def cdf_of_difference(self, x: FloatArray) -> FloatArray:
        """P(theta_A - theta_B <= x): the integrand is 0 below theta_B = -x and 1 above theta_B = 1 - x."""
        with np.errstate(divide="ignore"):
            start, stop = special.logit(np.maximum(-x, 0.0)), special.logit(np.minimum(1.0 - x, 1.0))
        inside = self._expect(start, stop, lambda u: np.clip(special.expit(u) + x[..., None], 0.0, 1.0))
        certain = special.betainc(*self._inner[::-1], np.clip(x, 0.0, 1.0))
        return np.asarray(np.clip(inside + certain, 0.0, 1.0))

    def cdf_of_log_odds_ratio(self, x: FloatArray) -> FloatArray:
        """P(logit theta_A - logit theta_B <= x)."""
        ends = np.full(x.shape, self._low), np.full(x.shape, self._high)
        return np.asarray(np.clip(self._expect(*ends, lambda u: special.expit(u + x[..., None])), 0.0, 1.0))


def _log_odds_end(beta: tuple[float, float]) -> float:
    """Log-odds above which the Beta has mass 1e-18."""
    scale = _logit_sd(beta)
    end = invert_increasing(
        lambda u: 1.0 - special.betainc(beta[1], beta[0], special.expit(-u)) / _TAIL,
        0.0,
        low=-1e3,
        high=1e3,
        guess=_logit_mean(beta) + 9 * scale,
        scale=scale,
        tolerance=1e-3,
    )
    return float(end)


def _beta_sd(beta: tuple[float, float]) -> float:
    n = beta[0] + beta[1]
    return float(np.sqrt((beta[0] / n) * (beta[1] / n) / (n + 1)))


def _logit_mean(beta: tuple[float, float]) -> float:
    return float(special.digamma(beta[0]) - special.digamma(beta[1]))


def _logit_sd(beta: tuple[float, float]) -> float:
    return float(np.sqrt(special.polygamma(1, beta[0]) + special.polygamma(1, beta[1])))


class ConvolvedPosterior(WithMoments, DifferencePosterior):
    """Difference A - B of two independent posteriors of any type; see `difference_posterior`."""

    def __init__(self, posterior_a: Posterior, posterior_b: Posterior) -> None:
        super().__init__(posterior_a.mean - posterior_b.mean, float(np.hypot(posterior_a.sd, posterior_b.sd)))
        if not 0 < self.sd < np.inf:
            raise NotEstimableError(f"the difference of the two posteriors has standard deviation {self.sd}")
        self._a_is_inner = posterior_a.sd < posterior_b.sd
        inner, self._outer = (posterior_a, posterior_b) if self._a_is_inner else (posterior_b, posterior_a)
        u = np.linspace(-8.5, 8.5, _PROBIT_NODES)
        self._nodes, self._weights = inner.quantile(special.ndtr(u)), np.exp(-(u**2) / 2)
        self._weights = self._weights / self._weights.sum()
        self._ends = self._outer.quantile([0.0, 1.0])

    def cdf(self, x: ArrayLike) -> FloatArray:
        values = np.asarray(x, float)[..., None]
        positions = self._nodes - values if self._a_is_inner else self._nodes + values
        inside = self._outer.cdf(np.clip(positions, *self._ends))
        below = np.where(positions < self._ends[0], 0.0, np.where(positions > self._ends[1], 1.0, inside))
        share = np.clip(below @ self._weights, 0.0, 1.0)
        return np.asarray(1.0 - share if self._a_is_inner else share)

    def quantile(self, p: ArrayLike) -> FloatArray:
        probability = np.asarray(p, float)
        ends = self._nodes[[0, -1]]
        low, high = (ends - self._ends[::-1]) if self._a_is_inner else (self._ends - ends[::-1])
        guess = self.mean + self.sd * np.clip(special.ndtri(np.clip(probability, 0, 1)), -9, 9)
        return invert_increasing(self.cdf, probability, low=low, high=high, guess=guess, scale=self.sd / 8)


def difference_posterior(posterior_a: Posterior, posterior_b: Posterior) -> DifferencePosterior:
    """Posterior of A - B for two independent posteriors, by one-dimensional quadrature.

    Use it for clustered scores on different questions, and for two scores in the benchmark scope, where only trial
    noise is random and the noise of the systems is independent.

    Parameters
    ----------
    posterior_a, posterior_b : Posterior
        Posteriors of A and B.

    Returns
    -------
    DifferencePosterior
        Its cdf(x) is the mean of the distribution function of A at b + x over 801 quantiles b of B that are equally
        spaced on the probit scale; A and B are exchanged if A is narrower. The error of a probability is below 1e-9 for
        smooth posteriors, and below 2e-5 if a density is truncated at the end of its range.

    Raises
    ------
    NotEstimableError
        If both posteriors have zero width, or one has no finite standard deviation.

    Examples
    --------
    >>> from harness_uq.stats.common.posterior import BetaPosterior
    >>> round(difference_posterior(BetaPosterior(3, 2), BetaPosterior(3, 2)).prob_positive, 9)
    0.5
    """
    return ConvolvedPosterior(posterior_a, posterior_b)
