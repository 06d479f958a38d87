"""Posterior of a mean score that allows for a subpopulation of units that the sample lacks by chance.

Some questions (or clusters of questions) are always answered wrong, others always right. A sample of few units may
contain none of them. The units that were observed then say nothing about the share of such units, and an interval
that rests on their spread alone is too narrow.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.posterior import DensityPosterior
from harness_uq.stats.common.validate_arrays import FloatArray

PRIOR_UNITS, UNIT_FACTOR = 24.0, 1.7  # their share has the distribution Beta(1, 24 + 1.7 T)
ABSENT_FROM = 0.8  # units with at least this mean score are not evidence of units that are always wrong

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
_TAIL = 32.0  # the table omits tail probability of about exp(-32) = 1e-14
_TINY = 1e-300
_GROWTH = 1.025  # ratio of successive steps where the table is extended


@dataclass(frozen=True, slots=True)
class UnseenSubpopulations:
    """Prior of the subpopulations that a sample of units lacks.

    As in Laplace's rule of succession and the rule of three, the share of a kind of units that does not occur among T
    is of the order 1 / T. The constants of the prior were chosen by simulation, such that intervals cover
    subpopulations of 1 to 10 % and become at most 12 % wider if there are none
    (docs/decisions/043-unseen-subpopulations.md).

    `n_units` is the number T of independent units: questions with repeated trials, or clusters. `lowest` and `highest`
    are the prior probabilities of a share e > 0 of further units that all have the lowest score, and of such units with
    the highest.
    """

    n_units: int
    lowest: float
    highest: float

    @classmethod
    def of(cls, means: FloatArray, n_answers: float) -> "UnseenSubpopulations":
        """Prior for a sample of units with these mean scores.

        `means` (n_units,) are in [0, 1], and `n_answers` is the number of answers of all units. With one answer per
        unit the probabilities are 0: the sample then lacks wrong (or right) answers altogether, which other priors
        account for.
        """
        lowest, highest = _probabilities(means.min(), means.max(), len(means), n_answers)
        return cls(len(means), float(lowest), float(highest))

    @property
    def rate(self) -> float:
        """Second parameter of the Beta distribution of the share e."""
        return PRIOR_UNITS + UNIT_FACTOR * self.n_units

    def widen(self, posterior: DensityPosterior) -> DensityPosterior:
        """Posterior of the score including the unseen subpopulations.

        The `posterior` of a score theta in [0, 1] is tabulated on the logit scale. The result is the mixture of the
        distributions of theta, of (1 - e) theta and of 1 - (1 - e) (1 - theta), where e ~ Beta(1, 24 + 1.7 T). If both
        subpopulations are possible, at most one of them exists: their probabilities are q (1 - r / 2) and r (1 - q / 2)
        for q = `lowest` and r = `highest`.

        -log(1 - e) has an exponential distribution of rate b = 24 + 1.7 T. The density of x = (1 - e) theta is
        therefore b H(x) / x with H(x) = int_x^1 (x / t)^b f(t) dt for the density f of theta. From one node of the
        table to the next lower one, H is multiplied by the ratio of both to the power b, and the integral between them
        is added. The latter uses Gauss-Legendre quadrature in (x / t)^b, which is accurate for any b.
        """
        if not (self.lowest or self.highest):
            return posterior
        _, lowest, highest = self.weights
        nodes, rate = posterior.nodes, self.rate
        if lowest:
            nodes = _extend_below(nodes, rate)
        if highest:
            nodes = -_extend_below(-nodes[::-1], rate)[::-1]
        density = (1.0 - lowest - highest) * posterior.density(nodes)
        if lowest:
            density += lowest * _scaled_density(posterior.density, nodes, rate)
        if highest:
            density += highest * _scaled_density(lambda u: posterior.density(-u), -nodes[::-1], rate)[::-1]
        return DensityPosterior(nodes, density, "logit", self.moments(posterior.mean, posterior.sd))

    @property
    def weights(self) -> tuple[float, float, float]:
        """Probabilities that there is no unseen subpopulation, one of the lowest, and one of the highest scores."""
        lowest, highest = map(float, _exclusive(self.lowest, self.highest))
        return 1.0 - lowest - highest, lowest, highest

    def moments(self, mean: float, sd: float) -> tuple[float, float]:
        """Mean and standard deviation of the mixture, from those of theta."""
        moments = _mixture_moments(mean, sd, self.rate, *self.weights[1:])
        return float(moments[0]), float(moments[1])


def widened_moments(
    mean: ArrayLike, sd: ArrayLike, least: ArrayLike, greatest: ArrayLike, *, n_units: int, n_answers: float
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of scores between 0 and 1 that allow for unseen subpopulations.

    `mean` and `sd` are those without them, `least` and `greatest` the smallest and largest mean score of a unit, and
    `n_units` and `n_answers` as for `UnseenSubpopulations.of`. The results are those of `UnseenSubpopulations.widen`.
    """
    shares = _exclusive(*_probabilities(least, greatest, n_units, n_answers))
    return _mixture_moments(mean, sd, PRIOR_UNITS + UNIT_FACTOR * n_units, *shares)


def _probabilities(
    least: ArrayLike, greatest: ArrayLike, n_units: int, n_answers: float
) -> tuple[FloatArray, FloatArray]:
    """Prior probabilities of both kinds of unseen units, from the extreme mean scores of the units; any shape."""
    repeated = 1.0 - n_units / n_answers
    nearest = np.asarray(least, float), 1.0 - np.asarray(greatest, float)
    lowest, highest = (repeated * np.minimum(one / ABSENT_FROM, 1.0) for one in nearest)
    return lowest, highest


def _exclusive(lowest: ArrayLike, highest: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Probabilities of the two subpopulations, of which at most one exists."""
    q, r = np.asarray(lowest, float), np.asarray(highest, float)
    return q * (1.0 - r / 2.0), r * (1.0 - q / 2.0)


def _mixture_moments(
    mean: ArrayLike, sd: ArrayLike, rate: float, lowest: ArrayLike, highest: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the mixture, from those of theta and E(1 - e)^k = rate / (rate + k)."""
    first, second = rate / (rate + 1.0), rate / (rate + 2.0)
    m, variance, q, r = (np.asarray(x, float) for x in (mean, np.square(sd), lowest, highest))
    means = np.stack([m, first * m, 1.0 - first * (1.0 - m)])
    lost = second - first**2
    spreads = np.stack([variance, second * variance + lost * m**2, second * variance + lost * (1.0 - m) ** 2])
    weights = np.stack([1.0 - q - r, q, r])
    centre = (weights * means).sum(axis=0)
    return centre, np.sqrt((weights * (spreads + (means - centre) ** 2)).sum(axis=0))


def _scaled_density(density: Callable[[FloatArray], FloatArray], nodes: FloatArray, rate: float) -> FloatArray:
    """Density of the logit of (1 - e) theta at the nodes, with e ~ Beta(1, rate), from that of the logit of theta."""
    log_x = special.log_expit(nodes)
    drop = -np.expm1(-rate * np.diff(log_x))
    log_shares = np.log1p(-drop[:, None] * _NODES)
    log_t = np.minimum(log_x[:-1, None] - log_shares / rate, log_x[1:, None])
    complement = np.maximum(-np.expm1(log_t), _TINY)
    u = np.clip(log_t - np.log(complement), nodes[:-1, None], nodes[1:, None])
    steps = drop * ((density(u) / complement) @ _WEIGHTS)
    integral = np.zeros(len(nodes))
    for i in range(len(steps) - 1, -1, -1):
        integral[i] = (1.0 - drop[i]) * integral[i + 1] + steps[i]
    return np.asarray(integral * special.expit(-nodes))


def _extend_below(logits: FloatArray, rate: float) -> FloatArray:
    """Nodes that also contain the lower tail of (1 - e) theta."""
    log_x = float(special.log_expit(logits[0])) - _TAIL / rate
    lowest = log_x - np.log(-np.expm1(log_x))
    step = logits[1] - logits[0]
    n_more = int(np.ceil(np.log1p((logits[0] - lowest) * (_GROWTH - 1) / (step * _GROWTH)) / np.log(_GROWTH)))
    below = logits[0] - step * np.cumsum(_GROWTH ** np.arange(1, n_more + 1))
    return np.concatenate([below[::-1], logits])
