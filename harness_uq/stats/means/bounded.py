"""Mean of scores with known bounds: Dirichlet-process posteriors with a prior atom on either side of the scores."""

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.common.validate_arrays import FloatArray, broadcast_floats, check_finite, validated_codes
from harness_uq.stats.common.validate_scalars import check_number, check_range, check_whole
from harness_uq.stats.units.contrasts import cluster_mass
from harness_uq.stats.units.priors import PRIORS, UnitScores
from harness_uq.stats.units.process import UnitProcess
from harness_uq.stats.units.rare_losses import RareLoss, rare_loss

_RELATIVE_ROUNDING = 1e-12
_FEW, _ENOUGH = 8, 20  # numbers of units between which the protection of a long tail fades
_NO_TAIL, _TAIL = 0.75, 1.25  # skewness towards the farther bound
_MIDDLE = 0.1  # distance from the middle of the range up to which neither bound is the farther one
_MIN_SIZE = 1.2  # 1 + a + b of a Beta with nearly all of its mass at the bounds


def bounded_posterior(scores: ArrayLike, low: float, high: float, *, atom_mass: float | None = None) -> BetaPosterior:
    """Posterior of the mean of independent scores in [low, high].

    The distribution of scores has a Dirichlet-process posterior with mass 1 at each of the n scores and at each of two
    prior atoms. The mean is sum_j g_j x_j / sum_j g_j over this augmented sample, with independent g_j ~ Gamma(mass_j).
    With N = n + 2, its mean is the mean of the augmented sample, and its variance is the variance of the sample
    (divisor N) over N + 1. The result is the Beta on [low, high] with these moments.

    For right-or-wrong scores, the atoms are at the bounds. For other scores they move to the scores, until the interval
    is at most about a fifth wider than Student's t (see `UnitPrior.positions`). With fewer than 20 scores that have a
    long tail, they stay near the bounds, because a sample of this size may not contain the tail.

    Parameters
    ----------
    scores : array_like, shape (n_questions,)
        Scores in [low, high].
    low, high : float
        Bounds of the score.
    atom_mass : float, optional
        Positive mass of prior atoms that stay at the bounds. By default they have mass 1 and move.

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
    return clustered_bounded_posterior(x, np.ones(len(x)), low, high, atom_mass=atom_mass)


def clustered_bounded_posterior(
    totals: ArrayLike, sizes: ArrayLike, low: float = 0.0, high: float = 1.0, *, atom_mass: float | None = None
) -> BetaPosterior:
    """Posterior of the mean score over questions in clusters, for any relation between cluster size and score.

    Clusters (total T_c, size N_c) are independent draws. Their joint distribution has a Dirichlet-process posterior
    with mass 1 at each observed cluster and at each of two pseudo-clusters, whose scores are those of the atoms of
    `bounded_posterior`. The pseudo-clusters have the size N = sum n^2 / sum n, the mean size of a question's own
    cluster, so that prior and data have weights 2 and c = (sum n)^2 / sum n^2, the effective number of clusters. The
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
        Positive mass of pseudo-clusters that stay at the bounds, such as `default_atom_mass`. By default they have
        mass 1 and move.

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
    return _process(t, n, low, high, atom_mass).matched_beta(low, high)


def _process(totals: FloatArray, sizes: FloatArray, low: float, high: float, mass: float | None = None) -> UnitProcess:
    """Clusters and two prior atoms: of this mass at the bounds, or of mass 1 where the scores suggest them."""
    prior, size = PRIORS["mean"], float(sizes @ sizes / sizes.sum())
    units = UnitScores.of((totals - low * sizes) / (high - low), sizes, cluster_mass(sizes) + 1.0)
    points = _positions(units) if mass is None else np.array(prior.points)
    return UnitProcess(
        np.append(totals, size * (low + (high - low) * points)),
        np.append(sizes, np.full(len(points), size)),
        np.append(np.ones(len(totals)), prior.masses if mass is None else np.full(len(points), mass)),
    )


def _positions(units: UnitScores) -> FloatArray:
    """Points of the atoms on [0, 1], for scores on [0, 1]."""
    return PRIORS["mean"].positions(units, _tail_beyond_sample(units))


def _tail_beyond_sample(units: UnitScores) -> float:
    """Share by which the atoms stay at the bounds because a sample of this size may lack a tail; between 0 and 1.

    It is positive for fewer than 20 units whose skewness points away from the nearer bound. It vanishes continuously
    as the mean approaches the middle of the range.
    """
    variance = float(np.mean(units.residuals**2))
    if variance == 0.0:
        return 0.0
    skewness = float(np.mean(units.residuals**3)) / variance**1.5
    outward = skewness * float(np.clip((0.5 - units.centre) / _MIDDLE, -1.0, 1.0))
    is_few = np.clip((_ENOUGH - units.mass) / (_ENOUGH - _FEW), 0.0, 1.0)
    return float(is_few * np.clip((outward - _NO_TAIL) / (_TAIL - _NO_TAIL), 0.0, 1.0))


def rare_loss_of_scores(totals: ArrayLike, sizes: ArrayLike, low: float, high: float) -> RareLoss | None:
    """Rare scores at an end of the range that this sample would probably not contain; None if it suggests them.

    Arguments are those of `clustered_bounded_posterior`. The numbers of the result are on the scale of the scores.

    >>> found = rare_loss_of_scores([78, 80, 82], [1, 1, 1], 0, 100)
    >>> found.end, round(found.shift, 1)
    (0.0, 16.5)
    """
    t, n = _check_totals(totals, sizes, low, high)
    width = high - low
    units = UnitScores.of((t - low * n) / width, n, cluster_mass(n) + 1.0)
    found = rare_loss(units, _positions(units), low=0.0, high=1.0)
    return None if found is None else found.scaled(width, low)


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
    groups = (x, np.ones(len(x))) if clusters is None else cluster_totals(x, clusters)
    totals, sizes = _check_totals(*groups, low, high)
    process, size = _process(totals, sizes, low, high), float(sizes.mean())
    posterior = process.matched_beta(low, high)
    residuals = process.totals - posterior.mean * process.sizes
    # a pseudo-cluster is larger than the mean cluster, and its scores count as those of one of mean size
    residuals[len(totals) :] *= size / process.sizes[len(totals) :]
    score_variance = float(process.masses @ residuals**2 / process.masses.sum()) / size**2
    variance = posterior.sd**2 + max(score_variance - posterior.sd**2, 0.0) * size / n_rest
    largest_variance = (posterior.mean - low) * (high - posterior.mean) / _MIN_SIZE
    return BetaPosterior.from_moments(posterior.mean, min(variance, largest_variance), low, high)


def default_atom_mass(totals: ArrayLike, sizes: ArrayLike, low: float, high: float) -> float:
    """Mass of atoms that stay at the bounds: 1 if every cluster's (or question's) mean is at a bound, 3/4 otherwise.

    With mass 1 binary scores have the posterior Beta(1 + S, 1 + F). For other scores 3/4 is the smallest value with
    coverage of at least 0.90 in the cells of docs/calibration.md; 1/4 covered 0.80 with five scores.

    >>> default_atom_mass([1, 0, 1], [1, 1, 1], 0, 1), default_atom_mass([1, 0.5], [1, 1], 0, 1)
    (1.0, 0.75)
    """
    t, n = np.asarray(totals, float), np.asarray(sizes, float)
    distance = np.minimum(t - n * low, n * high - t)
    is_extreme = bool((distance <= _RELATIVE_ROUNDING * n * (high - low)).all())
    return 1.0 if is_extreme else PRIORS["mean"].graded


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
