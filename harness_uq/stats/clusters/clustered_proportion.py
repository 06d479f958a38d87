"""Consistent posterior of the mean of binary scores in clusters, for any distribution of difficulty.

The posterior is centred on the mean score. A beta-binomial model supplies the correlation within clusters, and the
width passes from the model's variance to the observed variance between clusters as their number grows. The posterior
then allows for subpopulations of clusters that the sample lacks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.clusters.nested_trials_posterior import nested_correlations
from harness_uq.stats.clusters.quadrature import beta_binomial_grid
from harness_uq.stats.common.beta_mixture import BetaMixturePosterior
from harness_uq.stats.common.posterior import BetaPosterior, IntervalKind, Posterior
from harness_uq.stats.common.unseen_subpopulations import UnseenSubpopulations
from harness_uq.stats.common.validate_arrays import (
    FloatArray,
    IntArray,
    broadcast_floats,
    check_finite,
    validated_codes,
)
from harness_uq.stats.common.validate_outcomes import check_question_counts

PRIOR_CLUSTERS = 20.0  # weight of the model's variance, in clusters
FEW_EXCEPTIONS = 4  # clusters with several wrong answers, up to which limits are compared with neighbouring data
FEW_PRIOR, FEW_SPREAD = 2.5, 0.5  # with few clusters: additions to the prior answers and to the model's variance
_ROUNDING = 1e-12
FEW_FULL, FEW_NONE = 15.0, 30.0  # clusters up to which, and from which on not, intervals reach to the equal tails
MOST_ADDED = 0.1  # largest extension towards the equal tails, relative to the width


@dataclass(frozen=True, slots=True)
class _ClusterMoments:
    """Moments of the score p = sum_t w_t y_t with weight shares w (sum 1) and cluster means y.

    `squares` (3,) are sum_t w_t^2 y_t^k for k = 0, 1, 2, and `fitted` is the relative downward bias, in [0, 1], of a
    variance measured around the clusters' own mean.
    """

    score: float
    squares: FloatArray
    fitted: float

    @classmethod
    def of(cls, totals: FloatArray, weights: FloatArray) -> "_ClusterMoments":
        """Moments from each cluster's weight and its weight times its mean."""
        total_weight = weights.sum()
        products = np.array([weights @ weights, totals @ weights, totals @ totals])
        squares = products / total_weight**2
        fitted_share = 2.0 * float(np.sum((weights / total_weight) ** 3)) / squares[0] - squares[0]
        return cls(float(totals.sum() / total_weight), squares, float(fitted_share))

    @property
    def effective(self) -> float:
        """Effective number of clusters (sum w)^2 / sum w^2 (Kish)."""
        return float(1.0 / self.squares[0])

    def second_moment(self, centre: FloatArray) -> FloatArray:
        """sum_t w_t^2 (y_t - centre)^2."""
        none, one, two = self.squares
        return np.asarray(np.maximum(two - 2.0 * centre * one + centre**2 * none, 0.0))


@dataclass(frozen=True, eq=False)
class _Sample:
    """What the posterior of the score is computed from.

    `effective` and `masses` (K,) are the effective numbers of independent answers at the nodes of the correlations and
    the nodes' posterior masses, and `answers` is the effective number of answers at correlation 0. `icc` and
    `icc_questions` are those of `ClusteredScorePosterior`.
    """

    clusters: _ClusterMoments
    effective: FloatArray
    masses: FloatArray
    answers: float
    unseen: UnseenSubpopulations
    icc: float
    icc_questions: float | None

    @cached_property
    def posterior(self) -> Posterior:
        """Mixture over the correlations, which allows for unseen subpopulations."""
        mixture = BetaMixturePosterior(*_beta_parameters(self.clusters, self.effective, self.answers), self.masses)
        if self.unseen.lowest or self.unseen.highest:
            return self.unseen.widen(mixture.tabulate())
        return mixture

    @property
    def reach(self) -> float:
        """How far highest-density intervals are extended towards the equal-tailed ones, from 0 to 1.

        It depends on the sizes and weights of the clusters only, so that limits remain monotone in the right answers.
        """
        c = self.clusters.effective
        few = float(np.clip((FEW_NONE - c) / (FEW_NONE - FEW_FULL), 0.0, 1.0))
        return (1.0 - c / self.answers) * few

    def interval(self, level: float, kind: IntervalKind) -> tuple[float, float]:
        """Interval of the posterior; if there are few clusters, `hdi` is extended towards the equal tails."""
        low, high = self.posterior.interval(level, kind)
        if kind != "hdi" or self.reach <= _ROUNDING:
            return low, high
        tails = self.posterior.interval(level, "quantile")
        below, above = self.reach * max(low - tails[0], 0.0), self.reach * max(tails[1] - high, 0.0)
        share = min(1.0, MOST_ADDED * (high - low) / max(below + above, _ROUNDING))
        return low - share * below, high + share * above


class ClusteredScorePosterior(Posterior):
    """Posterior of the score expected on new clusters: a mixture of Betas over the posterior of the correlations.

    `icc_mean` is the posterior mean of the correlation between two answers of one cluster, in (0, 1), and
    `icc_questions` that between trials of one question within its cluster (None without this level).
    `effective_clusters` is (sum w)^2 / sum w^2 with the clusters' weights w.
    """

    def __init__(
        self, sample: _Sample, all_right: Callable[[], _Sample], fewer_wrong: "_Neighbour", fewer_right: "_Neighbour"
    ) -> None:
        self._sample, self._compute_all_right = sample, all_right
        self._fewer_wrong, self._fewer_right = fewer_wrong, fewer_right
        self.icc_mean, self.icc_questions = sample.icc, sample.icc_questions
        self.effective_clusters = sample.clusters.effective

    @property
    def mean(self) -> float:
        return self._sample.posterior.mean

    @property
    def sd(self) -> float:
        return self._sample.posterior.sd

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self._sample.posterior.quantile(p)

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._sample.posterior.cdf(x)

    def interval(self, level: float = 0.95, kind: IntervalKind = "quantile") -> tuple[float, float]:
        """Credible interval, extended if there are few clusters, and so that a right answer more lowers no limit.

        With fewer than 30 effective clusters the highest-density interval excludes one tail too often. Each of its
        limits therefore moves towards that of the equal-tailed interval if the latter is farther out: by the share
        1 - c / N of the way for c effective clusters with the effective number N of answers at correlation 0, times
        min(1, (30 - c) / 15). The interval becomes at most 10 % wider.

        Clusters that agree, or one that differs from all others, are evidence of a high correlation. A single wrong
        answer elsewhere weakens it, and would raise the lower limit. If at most half of the weight is in clusters with
        several wrong answers, the lower limit is therefore at most that of the same clusters with only right answers.
        If these are at most four clusters, it is also at most the limit without the wrong answers of the others.
        Likewise for the upper limit. Arguments and errors are those of `Posterior.interval`.
        """
        low, high = self._sample.interval(level, kind)
        wrong, right = self._fewer_wrong, self._fewer_right
        if wrong.sample is not None:
            low = min(low, wrong.sample.interval(level, kind)[0])
        if right.sample is not None:
            high = max(high, right.sample.interval(level, kind)[1])
        bound = self._least_if_all_right(level)
        if (wrong.is_mostly_agreed and low > bound) or (right.is_mostly_agreed and 1.0 - high > bound):
            limit = self._if_all_right.interval(level, kind)[0]
            low = min(low, limit) if wrong.is_mostly_agreed else low
            high = max(high, 1.0 - limit) if right.is_mostly_agreed else high
        return low, high

    @cached_property
    def _if_all_right(self) -> _Sample:
        return self._compute_all_right()

    def _least_if_all_right(self, level: float) -> float:
        """Bound below the lower limit if all answers are right: every cluster consists of copies of one answer."""
        c = self.effective_clusters
        a, b = _beta_parameters(_ClusterMoments(1.0, np.full(3, 1.0 / c), 1.0), np.array([c]), self._sample.answers)
        tail = (1.0 - level) / 4.0
        return float(BetaPosterior(a[0], b[0]).quantile(tail) * tail ** (1.0 / self._sample.unseen.rate))


def clustered_score_posterior(
    successes: ArrayLike, sizes: ArrayLike, weights: ArrayLike | None = None
) -> ClusteredScorePosterior:
    """Posterior of the weighted mean score of new clusters, consistent for any distribution of difficulties and sizes.

    Parameters
    ----------
    successes, sizes : array_like, shape (n_clusters,)
        Right answers and all answers of each cluster, whole numbers with ``0 <= successes <= sizes``. Clusters of
        size 0 are ignored.
    weights : array_like, shape (n_clusters,), optional
        Positive weight of each cluster in the score. The default is its size, which gives the mean over answers. Use
        ones for repeated trials of questions that count equally.

    Returns
    -------
    ClusteredScorePosterior
        Posterior of the score.

    Raises
    ------
    DataError
        If counts are fractional, negative or inconsistent, no cluster has an answer, or a weight is not positive.

    Notes
    -----
    Let w be the weight shares with sum 1, y_t = successes_t / sizes_t, p = sum_t w_t y_t the mean score, and
    c = 1 / sum_t w_t^2 the effective number of clusters. The beta-binomial model (Bowyer et al. 2025, eq. 8, with
    uniform priors of theta and of the intraclass correlation r) gives the posterior of r. The steps for a given r are:

    1. The effective number of independent answers is n(r) = 1 / sum_t w_t^2 (r + (1 - r) / sizes_t) (Kish 1965). The
       share u = 1 - n(r) / n(0) of the variance lies between clusters, of which there are only c.
    2. The mean is m = (n p + f) / (n + 2 f), with f = 1 + 2.5 u / c prior successes and as many prior failures. The
       term 2.5 u / c reflects that a few clusters that agree are weaker evidence than n independent answers.
    3. The model's variance of the mean is m (1 - m) / (n + 3) times 1 + u / (2 c).
    4. The variance between clusters is that of a Dirichlet process (Ferguson 1973) over c clusters with prior atoms
       of mass c / n at 0 and at 1,

           (c^2 sum_t w_t^2 (y_t - m)^2 + (c / n) (m^2 + (1 - m)^2)) / (A (A + 1)),        A = c + 2 c / n,

       times 1 + u h. Here h = 2 sum w^3 / sum w^2 - sum w^2 corrects for the use of the clusters' own mean; it is
       1 / c if all weights are equal.
    5. The average of both variances, with weights 20 and c, and the mean m define a Beta distribution.

    These Betas are mixed over the posterior of r.

    6. If no cluster is all wrong, the score theta is replaced by (1 - e) theta, where e ~ Beta(1, 24 + 1.7 T) with
       probability 1 - T / N and e = 0 otherwise, for T clusters of N answers; likewise for 1 - theta if no cluster is
       all right. The probability decreases linearly to 0 if the lowest y_t is below 0.8. This accounts for clusters
       that are always wrong, or always right, which a small sample may lack (`UnseenSubpopulations`).

    As the number of clusters grows, the interval converges to that of the observed variance between clusters around the
    mean score. If every cluster has one answer, u is 0, both variances are those of Beta(1 + S, 1 + F), and step 6 does
    not apply.

    References
    ----------
    Kish (1965), Survey Sampling; Ferguson (1973), Annals of Statistics 1, 209-230; Bowyer et al. (2025).

    Examples
    --------
    Clusters of one answer give Beta(4, 2), with mean 2/3:

    >>> clusters_of_one = clustered_score_posterior([1, 1, 1, 0], [1, 1, 1, 1])
    >>> round(clusters_of_one.mean, 9)
    0.666666667
    """
    s, n = (np.atleast_1d(part) for part in broadcast_floats(successes=successes, sizes=sizes))
    w = n if weights is None else check_finite(weights, "weights", 1)
    if w.shape != n.shape:
        raise DataError(f"weights must have one number per cluster, shape {n.shape}; got {w.shape}")
    is_used = n != 0
    if is_used.any() and not is_used.all():  # `beta_binomial_grid` refuses data without any answer
        s, n, w = s[is_used], n[is_used], w[is_used]
    if weights is not None and not w.min() > 0:
        raise DataError(f"weights must be positive; the smallest is {w.min()}")
    compute = partial(_clustered_sample, n=n, w=w)
    fewer_wrong = _Neighbour.of(compute, s, n, w)
    return ClusteredScorePosterior(
        compute(s), partial(compute, n), fewer_wrong, _Neighbour.of(compute, n - s, n, w, mirrored=True)
    )


def nested_score_posterior(successes: ArrayLike, trials: ArrayLike, clusters: ArrayLike) -> ClusteredScorePosterior:
    """Posterior of the mean over questions of new clusters, with repeated trials of each question.

    Parameters
    ----------
    successes, trials : array_like, shape (n_questions,)
        Right trials and all trials of each question, whole numbers that broadcast together. Questions without a trial
        are ignored.
    clusters : array_like, shape (n_questions,)
        Cluster labels.

    Returns
    -------
    ClusteredScorePosterior
        Posterior of the score.

    Raises
    ------
    DataError, UnreliableError
        As in `nested_integral`.

    Notes
    -----
    The method is that of `clustered_score_posterior` with the model of `nested_integral`. Cluster t is weighted by
    its number of questions N_t, and given the correlations r of clusters and s of questions within them

        1 / n(r, s) = sum_t w_t^2 (r + (1 - r) (s / N_t + (1 - s) sum_q (1 / n_tq) / N_t^2)).

    With one question per cluster this is `clustered_score_posterior` of the trials with weight 1 per question.

    Examples
    --------
    >>> posterior = nested_score_posterior([4, 3, 4, 0, 1, 0], 4, [0, 0, 0, 1, 1, 1])
    >>> low, high = posterior.interval(0.95)
    >>> low < posterior.mean < high, round(posterior.effective_clusters, 9)
    (True, 2.0)
    """
    s, n = check_question_counts(successes, trials)
    codes = validated_codes(clusters, n.shape)
    s, n, codes = s[n > 0], n[n > 0], codes[n > 0]
    codes = np.unique(codes, return_inverse=True)[1]
    compute = partial(_nested_sample, n=n, codes=codes)
    w = np.ones(len(n))
    fewer_wrong = _Neighbour.of(compute, s, n, w, codes)
    return ClusteredScorePosterior(
        compute(s), partial(compute, n), fewer_wrong, _Neighbour.of(compute, n - s, n, w, codes, mirrored=True)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Neighbour:
    """The same clusters, where clusters with a single wrong answer have none.

    `sample` is None if the data are the given ones, or if no or many clusters have several wrong answers;
    `is_mostly_agreed` says whether clusters with at most one wrong answer have at least half of the weight.
    """

    sample: _Sample | None
    is_mostly_agreed: bool

    @classmethod
    def of(
        cls,
        compute: Callable[[FloatArray], _Sample],
        s: FloatArray,
        n: FloatArray,
        w: FloatArray,
        codes: IntArray | None = None,
        *,
        mirrored: bool = False,
    ) -> "_Neighbour":
        """Neighbour of successes `s` in `n` answers of weight `w`, in clusters `codes`; mirrored, `s` are failures."""
        wrong, answers, weights = n - s, n, w
        if codes is not None:
            wrong, answers, weights = (np.asarray(np.bincount(codes, each), float) for each in (wrong, n, w))
        is_several = (wrong > 1.0) | ((wrong == 1.0) & (answers == 1.0))
        is_mostly_agreed = bool(weights @ is_several <= weights.sum() / 2.0)
        if not is_mostly_agreed or not 0 < np.count_nonzero(is_several) <= FEW_EXCEPTIONS:
            return cls(None, is_mostly_agreed)
        is_single = (wrong == 1.0) & ~is_several
        if not is_single.any():
            return cls(None, is_mostly_agreed)
        changed = np.where(is_single if codes is None else is_single[codes], n, s)
        return cls(compute(n - changed if mirrored else changed), is_mostly_agreed)


def _clustered_sample(s: FloatArray, n: FloatArray, w: FloatArray) -> _Sample:
    grid = beta_binomial_grid(s, n)
    means = s / n
    clusters = _ClusterMoments.of(w * means, w)
    independent = float(np.sum(w**2 / n) / w.sum() ** 2)
    effective = 1.0 / (grid.icc / clusters.effective + (1.0 - grid.icc) * independent)
    unseen = UnseenSubpopulations.of(means, float(n.sum()))
    return _Sample(clusters, effective, grid.weights.sum(axis=0), 1.0 / independent, unseen, grid.icc_mean, None)


def _nested_sample(s: FloatArray, n: FloatArray, codes: IntArray) -> _Sample:
    correlations = nested_correlations(s, n, codes)
    if correlations is None:
        return _clustered_sample(s, n, np.ones(len(n)))
    totals, n_questions = (np.asarray(np.bincount(codes, each), float) for each in (s / n, np.ones(len(n))))
    clusters = _ClusterMoments.of(totals, n_questions)
    independent = float(np.sum(1.0 / n)) / len(n) ** 2
    within = correlations.questions / len(n) + (1.0 - correlations.questions) * independent
    effective = 1.0 / (correlations.clusters / clusters.effective + (1.0 - correlations.clusters) * within)
    unseen = UnseenSubpopulations.of(totals / n_questions, float(n.sum()))
    return _Sample(
        clusters,
        effective,
        correlations.masses,
        1.0 / independent,
        unseen,
        correlations.icc_clusters,
        correlations.icc_questions,
    )


def _beta_parameters(clusters: _ClusterMoments, effective: FloatArray, answers: float) -> tuple[FloatArray, FloatArray]:
    """Parameters a, b of the Beta for each effective number of answers; `answers` is that number at correlation 0."""
    p, c = clusters.score, clusters.effective
    between = 1.0 - effective / answers
    prior = 1.0 + FEW_PRIOR * between / c
    mean = (effective * p + prior) / (effective + 2.0 * prior)
    atoms = c / effective
    total = c + 2.0 * atoms
    observed = c**2 * clusters.second_moment(mean) + atoms * (mean**2 + (1.0 - mean) ** 2)
    cluster_variance = observed / (total * (total + 1.0)) * (1.0 + between * clusters.fitted)
    model_variance = mean * (1.0 - mean) / (effective + 3.0) * (1.0 + FEW_SPREAD * between / c)
    model_weight = PRIOR_CLUSTERS / (PRIOR_CLUSTERS + c)
    size = mean * (1.0 - mean) / (model_weight * model_variance + (1.0 - model_weight) * cluster_variance) - 1.0
    return mean * size, (1.0 - mean) * size
