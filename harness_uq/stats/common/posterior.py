"""Posterior distributions of one real parameter: moments, quantiles, distribution functions and intervals.

The base classes here serve every estimator: a Beta distribution in closed form, a density tabulated on a grid, and
weighted draws. All have the same methods, so callers do not depend on the representation.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Literal, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.beta_quantile import beta_quantile
from harness_uq.stats.common.splines import PiecewisePolynomial, cubic_spline
from harness_uq.stats.common.validate_arrays import FloatArray, check_level

IntervalKind = Literal["quantile", "hdi"]
Scale = Literal["identity", "logit", "log"]

_ROUNDING = 1e-11  # relative to the width
_NORMAL_SCORES = np.linspace(-8.0, 8.0, 2001)


class PosteriorLike(Protocol):
    """What functions need that take a posterior of any class, such as that of a plugin."""

    @property
    def mean(self) -> float: ...

    @property
    def sd(self) -> float: ...

    def quantile(self, p: ArrayLike) -> FloatArray: ...

    def cdf(self, x: ArrayLike) -> FloatArray: ...

    def interval(self, level: float = 0.95, kind: IntervalKind = "quantile") -> tuple[float, float]: ...


class Posterior(ABC):
    """Posterior distribution of one real parameter.

    Attributes
    ----------
    mean, sd : float
        Posterior mean and standard deviation.
    """

    @property
    @abstractmethod
    def mean(self) -> float:
        """Posterior mean."""

    @property
    @abstractmethod
    def sd(self) -> float:
        """Posterior standard deviation."""

    @abstractmethod
    def quantile(self, p: ArrayLike) -> FloatArray:
        """Quantiles for probabilities `p` in [0, 1], an array of any shape."""

    @abstractmethod
    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability that the parameter is at most `x`, an array of any shape."""

    def interval(self, level: float = 0.95, kind: IntervalKind = "quantile") -> tuple[float, float]:
        """Credible interval.

        Parameters
        ----------
        level : float, optional
            Probability of the interval, strictly between 0 and 1 (default 0.95).
        kind : {"quantile", "hdi"}, optional
            Equal-tailed interval (default) or the narrowest interval, which for a unimodal density is the
            highest-density interval.

        Returns
        -------
        low, high : float
            Interval limits.

        Raises
        ------
        DataError
            If `level` or `kind` is invalid.
        """
        check_level(level)
        if kind == "hdi":
            return narrowest_interval(self.quantile, level)
        if kind != "quantile":
            raise DataError(f"interval kind must be 'hdi' or 'quantile'; got {kind!r}")
        low, high = self.quantile([(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


class WithMoments(Posterior):
    """Posterior whose mean and standard deviation are known at construction."""

    def __init__(self, mean: float, sd: float) -> None:
        self._mean, self._sd = mean, sd

    @property
    def mean(self) -> float:
        return self._mean

    @property
    def sd(self) -> float:
        return self._sd


class WithLazyMoments(Posterior):
    """Posterior whose mean and standard deviation are computed when they are first needed."""

    @cached_property
    @abstractmethod
    def _moments(self) -> tuple[float, float]:
        """Mean and standard deviation."""

    @property
    def mean(self) -> float:
        return self._moments[0]

    @property
    def sd(self) -> float:
        return self._moments[1]


class QuantilePosterior(WithMoments):
    """Posterior with a continuous quantile function, which determines the moments and the distribution function.

    Subclasses define `quantile` and call the constructor, which tabulates it, last.
    """

    def __init__(self) -> None:
        masses = np.exp(-(_NORMAL_SCORES**2) / 2)
        masses /= masses.sum()
        self._table = self.quantile(special.ndtr(_NORMAL_SCORES))
        mean = float(masses @ self._table)
        super().__init__(mean, float(np.sqrt(masses @ (self._table - mean) ** 2)))

    def cdf(self, x: ArrayLike) -> FloatArray:
        scores = np.interp(np.asarray(x, float), self._table, _NORMAL_SCORES, left=-np.inf, right=np.inf)
        return np.asarray(special.ndtr(scores))


class DifferencePosterior(Posterior):
    """Posterior of a difference A - B."""

    @property
    def prob_positive(self) -> float:
        """Posterior probability that A > B; ties (an atom at 0) count one half."""
        return 1.0 - float(self.cdf(0.0))


def narrowest_interval(quantile: Callable[[FloatArray], FloatArray], level: float) -> tuple[float, float]:
    """Narrowest interval of probability `level`; for a unimodal density, the highest-density interval.

    The search is over the lower tail probability. Each round makes the grid eight times finer. Because the width is
    flat at its minimum, 9 rounds leave the limits accurate to about 1e-7 of the width; the search stops earlier if
    widths differ only by rounding.
    """
    low, high = 0.0, 1.0 - level
    for _ in range(9):
        tails = np.linspace(low, high, 17)
        ends = quantile(np.stack([tails, np.minimum(tails + level, 1.0)]))
        widths = ends[1] - ends[0]
        best = int(np.argmin(widths))
        low, high = tails[max(best - 1, 0)], tails[min(best + 1, 16)]
        if np.ptp(widths) <= _ROUNDING * widths[best]:
            break
    ends = quantile(np.array([tails[best], min(tails[best] + level, 1.0)]))
    return float(ends[0]), float(ends[1])


class ScaledPosterior(Posterior):
    """Posterior of offset + factor times a parameter, for a positive factor."""

    def __init__(self, inner: PosteriorLike, factor: float, offset: float = 0.0) -> None:
        self._inner, self._factor, self._offset = inner, factor, offset

    @property
    def mean(self) -> float:
        return self._offset + self._factor * self._inner.mean

    @property
    def sd(self) -> float:
        return self._factor * self._inner.sd

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self._offset + self._factor * self._inner.quantile(p)

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._inner.cdf((np.asarray(x, float) - self._offset) / self._factor)


class BetaPosterior(Posterior):
    """Beta(a, b) distribution on the range [low, high].

    Parameters
    ----------
    a, b : float
        Parameters, positive. A uniform prior with s successes in n trials gives 1 + s and 1 + n - s.
    low, high : float, optional
        Ends of the range, ``low < high`` (default 0 and 1).

    Raises
    ------
    DataError
        If a parameter is not positive or the range is empty.

    Examples
    --------
    >>> BetaPosterior(1, 1, 0, 100).interval(0.5)
    (25.0, 75.0)
    """

    def __init__(self, a: float, b: float, low: float = 0.0, high: float = 1.0) -> None:
        if not (a > 0 and b > 0 and high > low):
            raise DataError(f"a Beta posterior needs a, b > 0 and low < high; got {a}, {b} on [{low}, {high}]")
        self.a, self.b, self.low, self.high = float(a), float(b), float(low), float(high)

    @classmethod
    def from_moments(cls, mean: float, variance: float, low: float = 0.0, high: float = 1.0) -> Self:
        """Beta distribution on [low, high] with the given mean and variance.

        Raises
        ------
        DataError
            If no Beta distribution on the range has these moments.
        """
        width = high - low
        m, v = (mean - low) / width, variance / width**2
        size = m * (1 - m) / v - 1 if v > 0 else 0.0
        if not (0 < m < 1 and size > 0):
            raise DataError(f"no Beta on [{low}, {high}] has mean {mean} and variance {variance}")
        return cls(m * size, (1 - m) * size, low, high)

    @property
    def mean(self) -> float:
        return self.low + (self.high - self.low) * self.a / (self.a + self.b)

    @property
    def sd(self) -> float:
        n = self.a + self.b
        return (self.high - self.low) * float(np.sqrt((self.a / n) * (self.b / n) / (n + 1)))

    def quantile(self, p: ArrayLike) -> FloatArray:
        return np.asarray(self.low + (self.high - self.low) * beta_quantile(self.a, self.b, p))

    def cdf(self, x: ArrayLike) -> FloatArray:
        unit = (np.asarray(x, float) - self.low) / (self.high - self.low)
        return np.asarray(special.betainc(self.a, self.b, np.clip(unit, 0.0, 1.0)))

    def __repr__(self) -> str:
        return f"BetaPosterior(a={self.a:g}, b={self.b:g}, low={self.low:g}, high={self.high:g})"


class DensityPosterior(WithMoments):
    """Distribution with a smooth density tabulated on a grid.

    A cubic spline through the density is integrated exactly. With spacing h in units of the posterior's standard
    deviation, the error of the distribution function is of order h^4 / 400.

    Parameters
    ----------
    nodes : ndarray, shape (n,)
        Increasing grid on the working scale u.
    density : ndarray, shape (n,)
        Non-negative density with respect to u, up to a constant factor.
    scale : {"identity", "logit", "log"}, optional
        The parameter is u, expit(u) or exp(u), respectively.
    moments : tuple of float, optional
        Mean and standard deviation of the parameter, if known; they are integrated otherwise.

    Raises
    ------
    DataError
        If the density is negative or not finite somewhere, or zero everywhere.
    """

    def __init__(
        self,
        nodes: FloatArray,
        density: FloatArray,
        scale: Scale = "identity",
        moments: tuple[float, float] | None = None,
    ) -> None:
        if not (density >= 0).all() or not density.sum() > 0 or not np.isfinite(density).all():
            raise DataError("a tabulated density must be finite, non-negative and positive at some node")
        self.nodes, self.scale = nodes, scale
        self._to_x, self._to_u = _SCALES[scale]
        relative = cubic_spline(nodes, density / density.max())
        self._density = PiecewisePolynomial(nodes, relative.coefficients / float(relative.integral))
        self._cdf = self._density.antiderivative()
        self._cdf_nodes: FloatArray = np.clip(np.maximum.accumulate(self._cdf(nodes)), 0.0, 1.0)
        self._cdf_nodes[0], self._cdf_nodes[-1] = 0.0, 1.0
        super().__init__(*(self._moments(self._to_x(nodes)) if moments is None else moments))

    def density(self, u: ArrayLike) -> FloatArray:
        """Density with respect to u on the working scale; 0 outside the grid."""
        points = np.asarray(u, float)
        inside = (points >= self.nodes[0]) & (points <= self.nodes[-1])
        return np.where(inside, np.maximum(self._density(points), 0.0), 0.0)

    def _moments(self, x: FloatArray) -> tuple[float, float]:
        """Mean and standard deviation of the parameter, whose values at the nodes are `x`."""
        mass = self._density(self.nodes)
        centre = float(x @ mass / mass.sum())
        products = np.stack([x - centre, (x - centre) ** 2], axis=1) * mass[:, None]
        first, second = cubic_spline(self.nodes, products).integral
        return centre + float(first), float(np.sqrt(max(float(second - first**2), 0.0)))

    def cdf(self, x: ArrayLike) -> FloatArray:
        values = np.clip(np.asarray(x, float), *_ENDS[self.scale])
        with np.errstate(divide="ignore"):
            u = self._to_u(values)
        inside = np.clip(u, self.nodes[0], self.nodes[-1])
        return np.asarray(np.clip(self._cdf(inside), 0.0, 1.0))

    def quantile(self, p: ArrayLike) -> FloatArray:
        probability = np.asarray(p, float)
        index = np.clip(np.searchsorted(self._cdf_nodes, probability, side="left"), 1, len(self.nodes) - 1)
        low, high = self.nodes[index - 1], self.nodes[index]
        below, above = self._cdf_nodes[index - 1], self._cdf_nodes[index]
        share = np.divide(probability - below, above - below, out=np.zeros_like(probability), where=above > below)
        u = low + (high - low) * np.clip(share, 0.0, 1.0)
        for _ in range(40):
            error = self._cdf(u) - probability
            low, high = np.where(error < 0, u, low), np.where(error < 0, high, u)
            slope = self._density(u)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = u - error / slope
            proposal = np.where((slope > 0) & (step > low) & (step < high), step, (low + high) / 2)
            # in the tails, rounding errors of the distribution function keep moving u by more than the tolerance
            is_exact = np.abs(error) <= 4 * np.finfo(float).eps
            done = is_exact | (np.abs(proposal - u) <= 1e-13 * (1 + np.abs(u)))
            u = np.where(is_exact, u, proposal)
            if done.all():
                break
        low_end, high_end = _ENDS[self.scale]
        ends = np.where(probability <= 0, low_end, high_end)
        at_an_end = ((probability <= 0) & np.isfinite(low_end)) | ((probability >= 1) & np.isfinite(high_end))
        return np.where(at_an_end, ends, self._to_x(u))


def _identity(x: FloatArray) -> FloatArray:
    return x


_ENDS = {"identity": (-np.inf, np.inf), "logit": (0.0, 1.0), "log": (0.0, np.inf)}
_SCALES: dict[str, tuple[Callable[[FloatArray], FloatArray], Callable[[FloatArray], FloatArray]]] = {
    "identity": (_identity, _identity),
    "logit": (special.expit, special.logit),
    "log": (np.exp, np.log),
}


class DrawsPosterior(Posterior):
    """Distribution represented by weighted draws, used only if neither an exact form nor a grid is available.

    Parameters
    ----------
    draws : ndarray, shape (n,)
        Draws of the parameter.
    weights : ndarray, shape (n,), optional
        Non-negative weights (default: equal).

    Raises
    ------
    DataError
        If no draw has positive weight.
    """

    def __init__(self, draws: FloatArray, weights: FloatArray | None = None) -> None:
        order = np.argsort(draws)
        w = np.full(len(draws), 1.0) if weights is None else np.asarray(weights, float)[order]
        if not len(draws) or not w.sum() > 0:
            raise DataError("a posterior by draws needs at least one draw of positive weight")
        self.draws: FloatArray = np.asarray(draws, float)[order]
        self.weights: FloatArray = w / w.sum()
        self._upper = np.cumsum(self.weights)
        self._middle = self._upper - self.weights / 2

    @property
    def mean(self) -> float:
        return float(self.weights @ self.draws)

    @property
    def sd(self) -> float:
        return float(np.sqrt(self.weights @ (self.draws - self.mean) ** 2))

    @property
    def importance_ess(self) -> float:
        """Effective sample size (sum w)^2 / sum w^2 of the draws (Kish)."""
        return float(1.0 / np.sum(self.weights**2))

    @property
    def mc_error(self) -> float:
        """Monte Carlo standard error of the posterior mean, sqrt(sum w^2 (x - mean)^2)."""
        return float(np.sqrt(self.weights**2 @ (self.draws - self.mean) ** 2))

    def quantile(self, p: ArrayLike) -> FloatArray:
        return np.asarray(np.interp(np.asarray(p, float), self._middle, self.draws))

    def cdf(self, x: ArrayLike) -> FloatArray:
        values = np.asarray(x, float)
        below = np.concatenate([[0.0], self._upper])
        left = below[np.searchsorted(self.draws, values, side="left")]
        right = below[np.searchsorted(self.draws, values, side="right")]
        return np.asarray((left + right) / 2)
