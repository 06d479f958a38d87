"""Clusters in the posterior of a confusion matrix: prior cells of suitable size, and wider tails for few clusters.

The metric is that of the weighted cells sum_t w_t c_t, where c_t are the cells of cluster t and w are Dirichlet weights
with mass 1 per cluster. The prior adds one pseudo-cell per cell of the matrix. Its size is that cell's plausible share
of a mean cluster, so that the prior has no more questions of a rare class than a cluster has.
"""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from harness_uq.stats.classes.dirichlet import Part
from harness_uq.stats.common.posterior import DrawsPosterior, Posterior, WithLazyMoments
from harness_uq.stats.common.roots import invert_increasing
from harness_uq.stats.common.validate_arrays import FloatArray

_SMALLEST_CELL = 0.75  # questions of a pseudo-cell of large clusters
_PRIOR_CLUSTERS = 2.0  # weight of the expectations before the data, in clusters
_PRIOR_MASS = 4.0  # of large clusters: that of two classes, Dirichlet(1, 1, 1, 1)
_Z_NODES = np.linspace(-4.5, 4.5, 13)  # for moments
_END = 1e-15  # distance from the ends of the range, relative to its length


def pseudo_cell_parts(counts: FloatArray, prior: FloatArray, classes: NDArray[np.bool_]) -> list[Part]:
    """Clusters and pseudo-cells in the form of `draws_posterior`.

    Every cluster has mass 1. With clusters of one question this is the Dirichlet(prior + counts) posterior of
    independent questions. `counts` (n_clusters, K, L) are the questions of each cluster by target and prediction,
    L >= K, and no cluster is empty; `prior` (K, L) is the Dirichlet prior of independent questions, and `classes` (K,)
    are those whose precision or recall enters the metric. The three parts are clusters (equal ones merged),
    pseudo-cells and single pseudo-questions. If every cluster has one question, there are no single pseudo-questions.

    In a mean cluster, m questions in all, T_i have target i, P_i prediction i, and c_ij both target i and prediction j.
    Before the data, the pseudo-cell of a wrong prediction expects e_ij = min(T_i, b_j) / (2 (L - 1)) questions, where
    b_j is min(T_j, P_j) for `classes` and infinite for the others. With C_ij effective clusters that have questions in
    this cell, it expects c_ij + h (e_ij - c_ij) with h = 2 / (2 + min(C_ij, C_ii)), and the diagonal has the rest of
    T_i. Otherwise its errors would outnumber those of nearly perfect predictions.

    The masses are those of the prior, multiplied by a factor that raises their total from that of the prior at m = 1 to
    4 for large m. A share (1 - 1/m) 3 / (4 + 2 C_ij) of each mass belongs to single pseudo-questions, so that a cell
    without questions is as skewed as a cluster with all of its questions in this cell would make it. The size of a
    pseudo-cell is its expectation divided by the rest of the mass, but at most m. Pseudo-cells and single
    pseudo-questions have at least 3/4 + 1 / (4 m) questions.
    """
    rows, multiplicity = np.unique(counts.reshape(len(counts), -1), axis=0, return_counts=True)
    mean, spread = counts.mean(axis=0), _concentration(counts)
    n_classes, n_columns = mean.shape
    m, targets, predictions = float(mean.sum()), mean.sum(axis=1), mean.sum(axis=0)
    bound = np.full(n_columns, np.inf)
    bound[:n_classes][classes] = np.minimum(targets, predictions[:n_classes])[classes]
    before = np.minimum(targets[:, None], bound) / (2 * (n_columns - 1))
    evidence = np.minimum(spread, np.diag(spread)[:, None])
    expected = mean + (before - mean) * _PRIOR_CLUSTERS / (_PRIOR_CLUSTERS + evidence)
    np.fill_diagonal(expected, 0.0)
    np.fill_diagonal(expected, np.maximum(targets - expected.sum(axis=1), 0.0))
    masses = prior * (1.0 + (1.0 - 1.0 / m) * (_PRIOR_MASS / prior.sum() - 1.0))
    single = masses * (1.0 - 1.0 / m) * 0.75 * _PRIOR_CLUSTERS / (_PRIOR_CLUSTERS + spread)
    smallest = _SMALLEST_CELL + (1.0 - _SMALLEST_CELL) / m
    sizes = np.clip(expected / (masses - single), smallest, m)
    parts: list[Part] = [
        (multiplicity.astype(float), rows),
        ((masses - single).ravel(), np.diag(sizes.ravel())),
        (single.ravel(), smallest),
    ]
    return parts if m > 1 else parts[:2]


def _concentration(counts: FloatArray) -> FloatArray:
    """Effective number of clusters (sum c)^2 / sum c^2 with questions in each cell, 0 if there is no question."""
    squares = np.sum(counts**2, axis=0)
    return np.asarray(np.divide(counts.sum(axis=0) ** 2, squares, out=np.zeros_like(squares), where=squares > 0))


def effective_clusters(counts: FloatArray, classes: NDArray[np.bool_]) -> tuple[float, float]:
    """Effective number and size of clusters, as far as their questions concern the given classes.

    A question concerns a class if the class is its target or its prediction. With s such questions in a cluster, the
    effective number of clusters is (sum s)^2 / sum s^2, and their effective size sum s^2 / sum s. The results are
    harmonic means over `classes` with weights 1 / sum s, because rare classes have the largest variance. Both are 1 if
    no question concerns any of the classes. Arguments are those of `pseudo_cell_parts`.
    """
    n_classes = counts.shape[1]
    right = np.einsum("tkk->tk", counts[:, :, :n_classes])
    concerned = (counts.sum(axis=2) + counts.sum(axis=1)[:, :n_classes] - right)[:, classes]
    concerned = concerned[:, concerned.any(axis=0)]
    if not concerned.size:
        return 1.0, 1.0
    total, squares = concerned.sum(axis=0), np.sum(concerned**2, axis=0)
    weights = 1.0 / total / np.sum(1.0 / total)
    return float(1.0 / (weights @ (squares / total**2))), float(1.0 / (weights @ (total / squares)))


class WidenedPosterior(WithLazyMoments):
    """Distribution widened around its median, on the logit scale, as Student's t does for few clusters.

    `base` is continuous on [low, 1] with `low` 0 or -1, and `number` and `size` are the effective number C and size m
    of the clusters, at least 1, see `effective_clusters`.

    On the scale L(x) = logit((x - low) / (1 - low)), the quantile at p moves to median + (L - median) r^(1 - 1/m) with
    r = t(p) / z(p) sqrt((C + 3) / (C + 1)) and quantiles t of Student's t with C + 1 degrees of freedom and z of the
    normal distribution. The square root corrects the variance under Dirichlet weights of few clusters, and t accounts
    for its estimation. The power leaves the posterior unchanged if no cluster has two questions of the same class.

    The median remains:

    >>> from harness_uq.stats.common.posterior import BetaPosterior
    >>> base = BetaPosterior(8, 4)
    >>> wide = WidenedPosterior(base, 10, 50)
    >>> bool(np.isclose(wide.quantile(0.5), base.quantile(0.5)))
    True
    >>> "[{:.3f}, {:.3f}] within [{:.3f}, {:.3f}]".format(*base.interval(), *wide.interval())
    '[0.390, 0.891] within [0.331, 0.916]'
    """

    def __init__(self, base: Posterior, number: float, size: float, low: float = 0.0) -> None:
        self._base, self._number, self._size, self._low = base, number, size, low
        self._median = float(base.quantile(0.5))

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Mean and standard deviation, by the trapezoidal rule over normal quantiles."""
        weights = np.exp(-(_Z_NODES**2) / 2)
        weights /= weights.sum()
        x = self.quantile(special.ndtr(_Z_NODES))
        mean = float(weights @ x)
        return mean, float(np.sqrt(weights @ (x - mean) ** 2))

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self._widen(self._base.quantile(p), np.asarray(p, float))

    def cdf(self, x: ArrayLike) -> FloatArray:
        values = np.clip(np.asarray(x, float), self._low, 1.0)
        unwidened = invert_increasing(
            lambda base_x: self._widen(base_x, self._base.cdf(base_x)),
            values,
            low=self._low,
            high=1.0,
            guess=values,
            scale=self._base.sd,
        )
        return self._base.cdf(unwidened)

    def _widen(self, x: FloatArray, p: FloatArray) -> FloatArray:
        return _widen(x, p, self._median, self._number, self._size, self._low)


def widen_for_few_clusters(posterior: Posterior, number: float, size: float, low: float = 0.0) -> Posterior:
    """`WidenedPosterior` of a posterior, or the draws widened in the same way if it has equally weighted draws."""
    if not isinstance(posterior, DrawsPosterior):
        return WidenedPosterior(posterior, number, size, low)
    p = (np.arange(len(posterior.draws)) + 0.5) / len(posterior.draws)
    return DrawsPosterior(_widen(posterior.draws, p, float(posterior.quantile(0.5)), number, size, low))


def _widen(x: FloatArray, p: FloatArray, median: float, number: float, size: float, low: float) -> FloatArray:
    """Quantiles `x` of probability `p`, moved as in `WidenedPosterior`."""
    df, below = number + 1.0, np.clip(np.minimum(p, 1.0 - p), _END, 0.499)
    ratio = special.stdtrit(df, below) / special.ndtri(below) * np.sqrt((df + 2.0) / df)
    centre, logits = (special.logit(np.clip((v - low) / (1.0 - low), _END, 1.0 - _END)) for v in (median, x))
    moved = special.expit(centre + (logits - centre) * ratio ** (1.0 - 1.0 / size))
    return np.asarray(np.where((x <= low) | (x >= 1.0), x, low + (1.0 - low) * moved))
