"""Mean of scores with known bounds: Dirichlet-process posteriors with prior atoms at both bounds."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.common.validate_arrays import FloatArray, broadcast_floats, check_finite, validated_codes
from harness_uq.stats.common.validate_scalars import check_number, check_range, check_whole
from harness_uq.stats.units.priors import PRIORS
from harness_uq.stats.units.process import UnitProcess

_RELATIVE_ROUNDING = 1e-12
_COPIES, _COPIES_PER_SCORE = 10.0, 0.25
_TIGHT = 0.2  # standard deviation, relative to the distance to the farther bound, that reduces the copies to 1/e
_SPREAD_TAIL = 0.02
_INTERIOR = 0.02
_MIN_SIZE = 1.2  # 1 + a + b of a Beta with nearly all of its mass at the bounds


def bounded_posterior(scores: ArrayLike, low: float, high: float, *, atom_mass: float | None = None) -> BetaPosterior:
    """Posterior of the mean of independent scores in [low, high].

    The distribution of scores has a Dirichlet-process posterior with base mass 1 at each of the M scores and mass m =
    `atom_mass` at each bound. The mean is sum_j g_j x_j / sum_j g_j over this augmented sample, with independent g_j ~
    Gamma(mass_j). With n = M + 2 m, its mean is the weighted mean of the augmented sample, and its variance is the
    weighted variance (divisor n) over n + 1. The result is the Beta on [low, high] with these moments.

    By default the prior also contains K = `prior_copies` further scores with the distribution of the observed ones. K
    is positive only if the scores are concentrated away from the bounds, which suggests that unobserved scores are too.
    The shares of (low, scores, high) are then Dirichlet(1, M + K, 1) instead of Dirichlet(1, M, 1); the mean over the
    share of the scores keeps the variance that M scores give it.

    Parameters
    ----------
    scores : array_like, shape (n_questions,)
        Scores in [low, high].
    low, high : float
        Bounds of the score.
    atom_mass : float, optional
        Positive prior mass m at each bound, without copies. The default is 1, with `prior_copies`.

    Returns
    -------
    BetaPosterior
        Posterior of the mean on [low, high].

    Raises
    ------
    DataError
        If a score is outside [low, high] or not finite.
    NotEstimableError
        If there are no scores.

    References
    ----------
    Ferguson (1973), Annals of Statistics 1, 209-230, and Rubin (1981) on the weights; Cifarelli and Regazzini (1990) on
    the distribution of the mean.

    Examples
    --------
    For binary scores the result is exactly Beta(1 + S, 1 + F):

    >>> bounded_posterior([1, 1, 0, 1], 0, 1)
    BetaPosterior(a=4, b=2, low=0, high=1)
    """
    check_range(low, high)
    if atom_mass is not None:
        check_number(atom_mass, "atom_mass", above=0)
    x = check_finite(scores, "scores", 1)
    if atom_mass is not None:
        return clustered_bounded_posterior(x, np.ones(len(x)), low, high, atom_mass=atom_mass)
    totals, sizes = _check_totals(x, np.ones(len(x)), low, high)
    return _matched_beta(totals, sizes, low, high, PRIORS["mean"].graded, prior_copies(x, low, high))


def prior_copies(scores: ArrayLike, low: float, high: float) -> float:
    """Number of prior scores, distributed as the observed ones, in `bounded_posterior`.

    K = (10 + M / 4) t with M scores and their `tightness` t. The simulations behind the constants are in
    docs/decisions/040.

    >>> round(prior_copies([0.79, 0.81] * 50, 0, 1), 1), prior_copies([0, 1, 1], 0, 1)
    (34.8, 0.0)
    """
    return (_COPIES + _COPIES_PER_SCORE * len(check_finite(scores, "scores", 1))) * tightness(scores, low, high)


def tightness(scores: ArrayLike, low: float, high: float) -> float:
    """Concentration of scores away from the bounds, between 0 and 1.

    It is k exp(-(r / 0.2)^2). Here r is the largest plausible standard deviation (the upper limit of the one-sided 98 %
    interval for normal scores) over the distance from the mean to the farther bound, and k = min(1, u / 0.02) with u
    the mean of (x - low)(high - x) / (high - low)^2, which is 0 if all scores are at a bound.

    `scores` are in [low, high]; the result is 0 for fewer than two.

    >>> round(tightness([0.79, 0.81] * 50, 0, 1), 2), tightness([0, 1, 1], 0, 1)
    (0.99, 0.0)
    """
    check_range(low, high)
    x = (check_finite(scores, "scores", 1) - low) / (high - low)
    n = len(x)
    if n < 2:
        return 0.0
    mean = float(x.mean())
    interior = min(1.0, float(np.mean(x * (1.0 - x))) / _INTERIOR)
    largest = float(np.sum((x - mean) ** 2)) / float(special.chdtri(n - 1, 1.0 - _SPREAD_TAIL))
    ratio = largest / (_TIGHT * max(mean, 1.0 - mean)) ** 2
    return max(interior, 0.0) * float(np.exp(-ratio))


def clustered_bounded_posterior(
    totals: ArrayLike, sizes: ArrayLike, low: float = 0.0, high: float = 1.0, *, atom_mass: float | None = None
) -> BetaPosterior:
    """Posterior of the mean score over questions in clusters, for any relation between cluster size and score.

    Clusters (total T_c, size N_c) are independent draws. Their joint distribution has a Dirichlet-process posterior
    with mass 1 at each observed cluster and mass m = `atom_mass` at each of two pseudo-clusters, with all scores at
    `low` or at `high`. The pseudo-clusters have the size N = sum n^2 / sum n, the mean size of a question's own
    cluster, so that prior and data have weights 2 m and c = (sum n)^2 / sum n^2, the effective number of clusters. The
    mean over questions is R = sum_c g_c T_c / sum_c g_c N_c with independent g_c ~ Gamma(mass_c). Its mean and variance
    are exact (see `ratio_moments`), and the result is the Beta on [low, high] with these moments.

    Parameters
    ----------
    totals : array_like, shape (n_clusters,)
        Sum of the scores of each cluster, between `low` and `high` times its size.
    sizes : array_like, shape (n_clusters,)
        Number of questions of each cluster, or the sum of their weights; positive.
    low, high : float, optional
        Bounds of the score (default 0 and 1).
    atom_mass : float, optional
        Positive prior mass m (default: `default_atom_mass`).

    Returns
    -------
    BetaPosterior
        Posterior of the mean on [low, high].

    Raises
    ------
    DataError
        If shapes differ, a size is not positive or a total is out of range.
    NotEstimableError
        If there are no clusters.

    References
    ----------
    As in `bounded_posterior`, which is the case of clusters of size 1.

    Examples
    --------
    Two clusters of two questions, all right and all wrong, count as one observation at each bound:

    >>> clustered_bounded_posterior([2, 0], [2, 2])
    BetaPosterior(a=2, b=2, low=0, high=1)
    """
    check_range(low, high)
    if atom_mass is not None:
        check_number(atom_mass, "atom_mass", above=0)
    t, n = _check_totals(totals, sizes, low, high)
    if t.ndim != 1:
        raise DataError(f"totals must have shape (n_clusters,); got {t.shape}")
    mass = default_atom_mass(t, n, low, high) if atom_mass is None else float(atom_mass)
    return _matched_beta(t, n, low, high, mass)


def _matched_beta(
    totals: FloatArray, sizes: FloatArray, low: float, high: float, mass: float, copies: float = 0.0
) -> BetaPosterior:
    """Beta on [low, high] with the moments of the ratio, given prior atoms of `mass` and a number of `copies`.

    A pseudo-cluster at the mean score with mass `copies` dilutes the atoms. Residuals are scaled up so that the mean
    over clusters keeps the variance that C clusters give it.
    """
    size, n_clusters = float(sizes @ sizes / sizes.sum()), len(totals)
    masses = np.append(np.ones(n_clusters), [mass, mass])
    t, n = np.append(totals, [low * size, high * size]), np.append(sizes, [size, size])
    if copies > 0:
        centre, total_mass = float(totals.sum() / sizes.sum()), n_clusters + copies
        stretch = np.sqrt(total_mass * (total_mass + 1.0) / (n_clusters * (n_clusters + 1.0)))
        t[:n_clusters] = centre * sizes + stretch * (totals - centre * sizes)
        t, n, masses = np.append(t, centre * size), np.append(n, size), np.append(masses, copies)
    return UnitProcess(t, n, masses).matched_beta(low, high)


def remaining_mean_posterior(
    scores: ArrayLike, n_rest: int, low: float, high: float, *, clusters: ArrayLike | None = None
) -> BetaPosterior:
    """Posterior of the mean of further questions of a benchmark, drawn like the observed ones.

    Under `bounded_posterior` (or `clustered_bounded_posterior`) the distribution of scores has a mean with variance V
    and an expected variance W = W_1 - V, where W_1 is the variance of one further score. The mean of R further scores
    has variance V + W / R. With clusters, the residuals are those of cluster totals over the mean size, and the R
    further questions are in clusters of that size. The result is the Beta on [low, high] with these moments.

    Parameters
    ----------
    scores : array_like, shape (n_questions,)
        Scores in [low, high]; means over trials if questions were tried several times.
    n_rest : int
        Number of further questions, at least 1.
    low, high : float
        Bounds of the score.
    clusters : array_like, shape (n_questions,), optional
        Cluster labels; the further questions are assumed to be in other clusters.

    Returns
    -------
    BetaPosterior
        Posterior of the mean of the further questions.

    Raises
    ------
    DataError
        If a score is outside [low, high] or not finite, or `n_rest` is less than 1.
    NotEstimableError
        If there are no scores.

    References
    ----------
    Ghosh and Meeden (1997), Bayesian Methods for Finite Population Sampling, chapter 2 (Polya posterior, without
    atoms).

    Examples
    --------
    For binary scores these are the moments of K / R with K ~ BetaBinomial(R, 1 + S, 1 + F):

    >>> posterior = remaining_mean_posterior([1, 1, 0, 1], 6, 0, 1)
    >>> round(posterior.mean, 9), round(36 * posterior.sd**2, 9) == round(6 * 8 / 36 * 12 / 7, 9)
    (0.666666667, True)
    """
    check_range(low, high)
    check_whole(n_rest, "n_rest", 0)
    x = check_finite(scores, "scores", 1)
    if n_rest < 1:
        raise DataError(f"n_rest must be at least 1; got {n_rest}")
    if clusters is None:
        totals, sizes = _check_totals(x, np.ones(len(x)), low, high)
        mass, copies = PRIORS["mean"].graded, prior_copies(x, low, high)
    else:
        totals, sizes = _check_totals(*cluster_totals(x, clusters), low, high)
        mass, copies = default_atom_mass(totals, sizes, low, high), 0.0
    posterior = _matched_beta(totals, sizes, low, high, mass, copies)
    size, total_mass = float(sizes.mean()), len(totals) + copies
    observed_variance = float(np.mean((totals - posterior.mean * sizes) ** 2)) / size**2
    ends = (low - posterior.mean) ** 2 + (high - posterior.mean) ** 2
    score_variance = (total_mass * observed_variance + mass * ends) / (total_mass + 2.0 * mass)
    variance = posterior.sd**2 + max(score_variance - posterior.sd**2, 0.0) * size / n_rest
    largest_variance = (posterior.mean - low) * (high - posterior.mean) / _MIN_SIZE
    return BetaPosterior.from_moments(posterior.mean, min(variance, largest_variance), low, high)


def default_atom_mass(totals: ArrayLike, sizes: ArrayLike, low: float, high: float) -> float:
    """Default prior mass at each bound: 1 if every cluster's (or question's) mean is at a bound, 3/4 otherwise.

    With mass 1 binary scores have the posterior Beta(1 + S, 1 + F). For other scores 3/4 is the smallest value with
    coverage of at least 0.90 in all cells of docs/calibration.md; 1/4 covered 0.80 with five scores.

    >>> default_atom_mass([1, 0, 1], [1, 1, 1], 0, 1), default_atom_mass([1, 0.5], [1, 1], 0, 1)
    (1.0, 0.75)
    """
    t, n = np.asarray(totals, float), np.asarray(sizes, float)
    distance = np.minimum(t - n * low, n * high - t)
    is_extreme = bool((distance <= _RELATIVE_ROUNDING * n * (high - low)).all())
    return PRIORS["mean, clustered"].mass(is_extreme)


def cluster_totals(scores: ArrayLike, clusters: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Total score and size of each cluster, in the order of the labels.

    Parameters
    ----------
    scores : array_like, shape (n_questions,)
        Scores.
    clusters : array_like, shape (n_questions,)
        Cluster labels.

    Returns
    -------
    totals, sizes : ndarray, shape (n_clusters,)
        Sum of scores and number of questions of each cluster.

    Examples
    --------
    >>> cluster_totals([1.0, 0.5, 1.0], ["b", "a", "b"])
    (array([0.5, 2. ]), array([1., 2.]))
    """
    x = check_finite(scores, "scores", 1)
    codes = validated_codes(clusters, (len(x),))
    return np.asarray(np.bincount(codes, x), float), np.bincount(codes).astype(float)


def _check_totals(totals: ArrayLike, sizes: ArrayLike, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    check_range(low, high)
    t, n = broadcast_floats(totals=totals, sizes=sizes)
    if t.ndim == 0 or t.shape[-1] == 0:
        raise NotEstimableError("there are no scores; a mean needs at least one")
    if not (np.isfinite(t) & np.isfinite(n)).all():
        bad = np.flatnonzero(~(np.isfinite(t) & np.isfinite(n)))[0]
        raise DataError(f"totals and sizes must be finite; entry {bad} totals {t.flat[bad]} over size {n.flat[bad]}")
    slack = _RELATIVE_ROUNDING * n * max(abs(low), abs(high))
    good = (n > 0) & (t >= n * low - slack) & (t <= n * high + slack)
    if not good.all():
        bad = np.flatnonzero(~good)[0]
        raise DataError(
            f"scores (totals over sizes) must lie in [{low:g}, {high:g}] and sizes be positive; "
            f"entry {bad} totals {t.flat[bad]:g} over size {n.flat[bad]:g}"
        )
    return t, n
