"""Posterior of the plain score of 0/1 answers in clusters, whatever the distribution of the clusters' difficulties.

A model of the clusters says how strongly the answers of one agree; the centre is the plain score, and the width passes
from the model's to what the clusters show as they grow in number.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError
from harness_uq.stats.clusters.nested import nested_correlations
from harness_uq.stats.clusters.quadrature import beta_binomial_grid
from harness_uq.stats.common.arrays import FloatArray, check_finite, fitted, label_codes
from harness_uq.stats.common.beta_mixture import BetaMixturePosterior
from harness_uq.stats.common.outcomes import check_question_counts

PRIOR_CLUSTERS = 20.0  # clusters' worth of trust in the model's variance
FEW_PRIOR, FEW_SPREAD = 2.5, 0.5  # what few clusters add to the prior answers and to the model's variance


@dataclass(frozen=True, slots=True)
class _Spread:
    """How the score p = sum_t w_t y_t is made up of clusters of shares w, of sum 1, and means y.

    Attributes
    ----------
    score : float; p
    squares : (3,) sum_t w_t^2 y_t^k for k = 0, 1, 2
    fitted : float in [0, 1]; share of the clusters' variance that measuring it around their own mean takes away
    """

    score: float
    squares: FloatArray
    fitted: float

    @classmethod
    def of(cls, totals: FloatArray, weights: FloatArray) -> "_Spread":
        """From a cluster's weight and its weight times its mean."""
        whole = weights.sum()
        products = np.array([weights @ weights, totals @ weights, totals @ totals])
        squares = products / whole**2
        fitted_share = 2.0 * float(np.sum((weights / whole) ** 3)) / squares[0] - squares[0]
        return cls(float(totals.sum() / whole), squares, float(fitted_share))

    @property
    def effective(self) -> float:
        """Clusters of equal weight that would be as precise: (sum w)^2 / sum w^2."""
        return float(1.0 / self.squares[0])

    def about(self, centre: FloatArray) -> FloatArray:
        """sum_t w_t^2 (y_t - centre)^2."""
        none, one, two = self.squares
        return np.asarray(np.maximum(two - 2.0 * centre * one + centre**2 * none, 0.0))


class ClusteredScorePosterior(BetaMixturePosterior):
    """Posterior of the score expected on new clusters, a mixture of Betas over what is known of the correlations.

    Attributes
    ----------
    mean, sd : float
    icc_mean : float in (0, 1); posterior mean, in the model, of the correlation of two answers of one cluster
    icc_questions : float or None; the same between trials of one question within its cluster, where there are both
    effective_clusters : float in [1, T]; (sum w)^2 / sum w^2 of the clusters' weights
    """

    def __init__(
        self,
        clusters: _Spread,
        effective: FloatArray,
        answers: float,
        masses: FloatArray,
        icc: float,
        icc_questions: float | None,
    ) -> None:
        super().__init__(*_parts(clusters, effective, answers), masses)
        self.icc_mean, self.icc_questions = icc, icc_questions
        self.effective_clusters = clusters.effective


def clustered_score_posterior(
    successes: ArrayLike, sizes: ArrayLike, weights: ArrayLike | None = None
) -> ClusteredScorePosterior:
    """Posterior of the weighted mean score of new clusters: consistent whatever their difficulties and sizes.

    Parameters
    ----------
    successes, sizes : (T,) whole numbers, 0 <= successes <= sizes; right answers and all answers of each cluster.
        Clusters of size 0 are left out
    weights : (T,) floats > 0; of each cluster in the score. None takes the sizes, for a mean over answers; ones are
        for questions that were tried several times and count alike

    Returns
    -------
    ClusteredScorePosterior

    Raises
    ------
    DataError : counts that are not whole, negative or inconsistent, no cluster with an answer, or weights not positive

    Notes
    -----
    With shares w of sum 1, the plain score p = sum_t w_t y_t, y_t = successes_t / sizes_t, and c = 1 / sum_t w_t^2
    effective clusters. The beta-binomial model (Bowyer et al. 2025, eq. 8, uniform in theta and in the intraclass
    correlation r) gives the posterior of r. Given r the score is worth n(r) = 1 / sum_t w_t^2 (r + (1 - r) / sizes_t)
    independent answers (Kish 1965), between all of them and c. The part u = 1 - n(r) / n(0), which lies between
    clusters, is known from c of them only. f = 1 + 2.5 u / c prior answers right and as many wrong make the mean
    m = (n p + f) / (n + 2 f): a few clusters that agree say less of others than n answers would. Two variances of that
    mean are at hand: the model's, m (1 - m) / (n + 3) times 1 + u / (2 c), and what the clusters show, that of a
    Dirichlet process (Ferguson 1973) of c clusters and prior atoms of c / n clusters at 0 and at 1,

        (c^2 sum_t w_t^2 (y_t - m)^2 + (c / n) (m^2 + (1 - m)^2)) / (A (A + 1)),        A = c + 2 c / n,

    times 1 + u h, where h = 2 sum w^3 / sum w^2 - sum w^2 is the share that clusters lose as they are measured around
    their own mean, 1 / c where all weigh the same. The variances' average with weights 20 and c is that of a Beta of
    mean m; the Betas are mixed over r. As clusters grow in number the interval is that of the clusters' own spread
    around the plain score. Where every cluster is one answer, u is 0 and both variances are those of
    Beta(1 + S, 1 + F).

    Examples
    --------
    >>> clusters_of_one = clustered_score_posterior([1, 1, 1, 0], [1, 1, 1, 1])
    >>> round(clusters_of_one.mean, 9)  # Beta(4, 2)
    0.666666667
    """
    grid = beta_binomial_grid(successes, sizes)
    clusters, alone = _weighted(successes, sizes, weights)
    effective = 1.0 / (grid.icc / clusters.effective + (1.0 - grid.icc) * alone)
    return ClusteredScorePosterior(clusters, effective, 1.0 / alone, grid.weights.sum(axis=0), grid.icc_mean, None)


def nested_score_posterior(successes: ArrayLike, trials: ArrayLike, clusters: ArrayLike) -> ClusteredScorePosterior:
    """Posterior of the mean over questions of new clusters, each question tried several times.

    Parameters
    ----------
    successes, trials : (Q,) whole numbers, broadcast together; right trials and all trials of each question.
        Questions without a trial are left out
    clusters : (Q,) labels; questions with equal labels were sampled together

    Returns
    -------
    ClusteredScorePosterior

    Raises
    ------
    DataError, UnreliableError : as `nested_posterior`

    Notes
    -----
    As `clustered_score_posterior` with the model of `nested_posterior`: cluster t has weight N_t, its number of
    questions, and given the correlations r of clusters and s of questions within them

        1 / n(r, s) = sum_t w_t^2 (r + (1 - r) (s / N_t + (1 - s) sum_q (1 / n_tq) / N_t^2)).

    With one question a cluster this is `clustered_score_posterior` of the trials, each question of weight 1.

    Examples
    --------
    >>> posterior = nested_score_posterior([4, 3, 4, 0, 1, 0], 4, [0, 0, 0, 1, 1, 1])
    >>> low, high = posterior.interval(0.95)
    >>> low < posterior.mean < high, round(posterior.effective_clusters, 9)
    (True, 2.0)
    """
    s, n = check_question_counts(successes, trials)
    of = nested_correlations(s, n, clusters)
    codes = np.unique(label_codes(clusters, n.shape)[n > 0], return_inverse=True)[1]
    s, n = s[n > 0], n[n > 0]
    if of is None:
        return clustered_score_posterior(s, n, np.ones(len(n)))
    totals, held = (np.asarray(np.bincount(codes, each), float) for each in (s / n, np.ones(len(n))))
    units = _Spread.of(totals, held)
    n_questions = len(n)
    alone = float(np.sum(1.0 / n)) / n_questions**2
    within = of.questions / n_questions + (1.0 - of.questions) * alone
    effective = 1.0 / (of.clusters / units.effective + (1.0 - of.clusters) * within)
    return ClusteredScorePosterior(units, effective, 1.0 / alone, of.masses, of.icc_clusters, of.icc_questions)


def _parts(clusters: _Spread, effective: FloatArray, answers: float) -> tuple[FloatArray, FloatArray]:
    """Both parameters of the Beta at each number of effective answers; `answers` is that without correlation."""
    p, c = clusters.score, clusters.effective
    between = 1.0 - effective / answers
    prior = 1.0 + FEW_PRIOR * between / c
    mean = (effective * p + prior) / (effective + 2.0 * prior)
    atoms = c / effective
    total = c + 2.0 * atoms
    of_clusters = (c**2 * clusters.about(mean) + atoms * (mean**2 + (1.0 - mean) ** 2)) / (total * (total + 1.0))
    of_clusters = of_clusters * (1.0 + between * clusters.fitted)
    of_model = mean * (1.0 - mean) / (effective + 3.0) * (1.0 + FEW_SPREAD * between / c)
    trust = PRIOR_CLUSTERS / (PRIOR_CLUSTERS + c)
    size = mean * (1.0 - mean) / (trust * of_model + (1.0 - trust) * of_clusters) - 1.0
    return mean * size, (1.0 - mean) * size


def _weighted(successes: ArrayLike, sizes: ArrayLike, weights: ArrayLike | None) -> tuple[_Spread, float]:
    """How the score is made up, and its variance, in units of p (1 - p), were all answers independent.

    The counts were checked where the grid was made.
    """
    s, n = (np.atleast_1d(part) for part in fitted(successes=successes, sizes=sizes))
    if weights is None:
        return _Spread.of(s, n), float(1.0 / n.sum())
    w = check_finite(weights, "weights", 1)
    if w.shape != n.shape:
        raise DataError(f"weights must hold one number a cluster, shape {n.shape}; got {w.shape}")
    s, n, w = s[n > 0], n[n > 0], w[n > 0]
    if not w.min() > 0:
        raise DataError(f"weights must be positive; the smallest is {w.min()}")
    return _Spread.of(w * s / n, w), float(np.sum(w**2 / n) / w.sum() ** 2)
