"""Posterior of a difference that allows for subpopulations of questions that the sample lacks by chance."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.posterior import DensityPosterior, DifferencePosterior
from harness_uq.stats.common.unseen_subpopulations import UnseenSubpopulations
from harness_uq.stats.common.validate_arrays import FloatArray

_REACH, _NODES, _FINER = 8.5, 69, 6  # table: reach in standard deviations, number of exact values, refinement
_LEAST = 1e-13  # smallest tail probability that is used


class WidenedDifferencePosterior(DifferencePosterior):
    """Posterior of a difference of two scores that allows for unseen subpopulations.

    In such a subpopulation one system is right on all questions and the other one is wrong on all of them. The
    posterior is mapped from ±`width` to the range from 0 to 1 and is passed to `UnseenSubpopulations.widen`.

    Parameters
    ----------
    posterior : DifferencePosterior
        Posterior of the difference on ±`width`, with a smooth distribution function.
    unit_means : ndarray, shape (n_units,)
        Mean difference of each independent unit: a question with repeated trials, or a cluster.
    n_answers : float
        Number of answers of one system on all units.
    width : float
        Range of a score, positive.

    Examples
    --------
    Ten questions with eight trials, of which one system answers one more trial right:

    >>> from harness_uq.stats import paired_difference_posterior
    >>> means = np.array([0.125, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> narrow = paired_difference_posterior(means, 0, 1)
    >>> wide = WidenedDifferencePosterior(narrow, means, 80, 1)
    >>> (low, high), (narrow_low, narrow_high) = wide.interval(), narrow.interval()
    >>> low < narrow_low < narrow_high < high
    True
    """

    def __init__(self, posterior: DifferencePosterior, unit_means: FloatArray, n_answers: float, width: float) -> None:
        unseen = UnseenSubpopulations.of((unit_means / width + 1.0) / 2.0, n_answers)
        self._width = width
        self._share = unseen.widen(_tabulate(posterior, width))

    @property
    def mean(self) -> float:
        return self._width * (2.0 * self._share.mean - 1.0)

    @property
    def sd(self) -> float:
        return 2.0 * self._width * self._share.sd

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self._width * (2.0 * self._share.quantile(p) - 1.0)

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._share.cdf((np.asarray(x, float) / self._width + 1.0) / 2.0)


def _tabulate(posterior: DifferencePosterior, width: float) -> DensityPosterior:
    """Distribution of (difference / width + 1) / 2, on the logit scale.

    The normal quantile of the distribution function is interpolated, which is nearly linear. Quantiles are accurate to
    1e-4 of a standard deviation.
    """
    from scipy.interpolate import CubicSpline

    mean, sd = (posterior.mean / width + 1.0) / 2.0, posterior.sd / (2.0 * width)
    centre, scale = special.logit(mean), sd / (mean * (1.0 - mean))
    reach = np.linspace(-_REACH, _REACH, _NODES)
    exact = centre + scale * reach * (1 + np.abs(reach) / 10)
    cdf = posterior.cdf(width * (2.0 * special.expit(exact) - 1.0))
    is_inside = (cdf > _LEAST) & (cdf < 1.0 - _LEAST)
    score = CubicSpline(exact[is_inside], special.ndtri(cdf[is_inside]))
    nodes = np.linspace(exact[is_inside][0], exact[is_inside][-1], _FINER * _NODES)
    density = np.exp(-(score(nodes) ** 2) / 2) * np.maximum(score(nodes, 1), 0.0)
    return DensityPosterior(nodes, density, "logit", (mean, sd))
