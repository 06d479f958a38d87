"""Mean of scores with known bounds: Dirichlet-process posteriors with prior atoms at both bounds."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.clusters.cluster_robust import check_weights, cluster_codes
from harness_uq.stats.common.arrays import FloatArray, check_finite, fitted
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.common.scalars import check_number, check_range, check_whole

_BLOCK = 2**20
_RELATIVE_ROUNDING = 1e-12
_ATOM_MASS = 0.75
_COPIES, _COPIES_A_SCORE = 10.0, 0.25
_TIGHT = 0.2  # spread, in distances from the mean to the farther bound, at which the copies have fallen to 1/e
_SPREAD_TAIL = 0.02
_INTERIOR = 0.02
_LEAST_SIZE = 1.2  # 1 + a + b of a Beta so wide that nearly all of it is at the bounds


def bounded_posterior(
    scores: ArrayLike, low: float, high: float, *, weights: ArrayLike | None = None, atom_mass: float | None = None
) -> BetaPosterior:
    """Posterior of the mean of independent scores in [low, high].

    The scores' distribution has a Dirichlet-process posterior whose base measure is one unit of mass on each of the M
    scores and `atom_mass` m on each bound, so that the mean is sum_j g_j x_j / sum_j g_j over this augmented sample,
    g_j ~ Gamma(mass_j). With n = M + 2 m, its mean is the weighted mean mu of the augmented sample, its variance the
    weighted variance (divisor n) over n + 1; returned is the Beta on [low, high] with these moments. Question weights
    w_j multiply both sums, which makes the mean the ratio of `clustered_bounded_posterior` with sizes w_j.

    Tight scores away from the bounds say that most of what was not seen is like what was: `tight_copies` K more scores,
    distributed as those seen, leave the shares of (low, scores, high) Dirichlet(1, M + K, 1) in place of
    Dirichlet(1, M, 1), and the mean over the scores' share what M scores make it.

    Parameters
    ----------
    scores : array_like (n_questions,), in [low, high]
    weights : array_like (n_questions,), > 0; their scale does not matter
    atom_mass : m > 0, without copies; None takes 1, with `tight_copies`

    Raises
    ------
    DataError : if a score is outside [low, high] or not finite, or a weight not positive
    NotEstimableError : if there are no scores

    Ferguson (1973), Annals of Statistics 1:209, and Rubin (1981) for the weights; Cifarelli & Regazzini (1990) for the
    distribution of the mean. On 0/1 scores it is exactly Beta(1 + S, 1 + F):

    >>> bounded_posterior([1, 1, 0, 1], 0, 1)
    BetaPosterior(a=4, b=2, low=0, high=1)
    """
    check_range(low, high)
    if atom_mass is not None:
        check_number(atom_mass, "atom_mass", above=0)
    x = check_finite(scores, "scores", 1)
    w = check_weights(weights, len(x))
    if atom_mass is not None:
        return clustered_bounded_posterior(w * x, w, low, high, atom_mass=atom_mass)
    totals, sizes = _check_totals(w * x, w, low, high)
    return _matched_beta(totals, sizes, low, high, 1.0, tight_copies(x, low, high))


def tight_copies(scores: ArrayLike, low: float, high: float) -> float:
    """How many scores like those seen the prior of `bounded_posterior` holds besides its atoms at the bounds.

    K = (10 + M / 4) k exp(-(r / 0.2)^2): r is the largest spread that the scores allow (the upper end of the one-sided
    98 % interval of a normal standard deviation) in units of the distance from their mean to the farther bound;
    k = min(1, u / .02), u the mean of (x - low)(high - x) / (high - low)^2, which is 0 where all scores are at a bound.
    docs/decisions/003 has the simulations behind the constants.

    Parameters
    ----------
    scores : array_like (n_questions,), in [low, high]

    >>> round(tight_copies([0.79, 0.81] * 50, 0, 1), 1), tight_copies([0, 1, 1], 0, 1)
    (34.8, 0.0)
    """
    return (_COPIES + _COPIES_A_SCORE * len(check_finite(scores, "scores", 1))) * tightness(scores, low, high)


def tightness(scores: ArrayLike, low: float, high: float) -> float:
    """How tight scores are away from the bounds, in [0, 1]: k exp(-(r / 0.2)^2) of `tight_copies`.

    Parameters
    ----------
    scores : array_like (n_questions,), in [low, high]

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
    """Posterior of the mean score over questions that come in clusters, whatever relates size and score.

    Clusters (total T_c, size N_c) are drawn independently; their joint distribution has a Dirichlet-process posterior
    with unit mass on each and `atom_mass` m on two pseudo-clusters, all at `low` or all at `high`, of size N =
    sum n^2 / sum n, that of the cluster a question lies in on average: prior and data have weights 2 m and
    c = (sum n)^2 / sum n^2, the effective number of clusters. The mean over questions is the ratio
    R = sum_c g_c T_c / sum_c g_c N_c, g_c ~ Gamma(mass_c). Its mean and variance are exact (see `_ratio_moments`), and
    returned is the Beta on [low, high] with these moments.

    Parameters
    ----------
    totals : array_like (n_clusters,); sum of a cluster's scores, within [low, high] times its size
    sizes : array_like (n_clusters,), > 0; questions of each cluster, or the sum of their weights
    atom_mass : m > 0; None takes `default_atom_mass`

    Raises
    ------
    DataError : if shapes differ, a size is not positive or a total is out of range
    NotEstimableError : if there are no clusters

    Clusters of size one give `bounded_posterior`. Two clusters of two questions, all right and all wrong: each is one
    observation at a bound.

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
    """The Beta on [low, high] with the ratio's moments under atoms of `mass` and so many `copies` of what was seen.

    A cluster at the plain score, of mass `copies`, dilutes the atoms; residuals are stretched such that the mean over
    the clusters keeps the variance that C clusters give it.
    """
    size, n_clusters = float(sizes @ sizes / sizes.sum()), len(totals)
    masses = np.append(np.ones(n_clusters), [mass, mass])
    t, n = np.append(totals, [low * size, high * size]), np.append(sizes, [size, size])
    if copies > 0:
        centre, all_ = float(totals.sum() / sizes.sum()), n_clusters + copies
        stretch = np.sqrt(all_ * (all_ + 1.0) / (n_clusters * (n_clusters + 1.0)))
        t[:n_clusters] = centre * sizes + stretch * (totals - centre * sizes)
        t, n, masses = np.append(t, centre * size), np.append(n, size), np.append(masses, copies)
    return BetaPosterior.from_moments(*_ratio_moments(t, n, masses), low, high)


def rest_posterior(
    scores: ArrayLike, n_rest: int, low: float, high: float, *, clusters: ArrayLike | None = None
) -> BetaPosterior:
    """Posterior of the mean of further questions of a benchmark, drawn as those at hand were.

    Under the posterior of `bounded_posterior`, or of `clustered_bounded_posterior`, the distribution P of scores has a
    mean of variance V and an expected variance W = W_1 - V, W_1 the variance of one further score. The mean of R
    further scores has variance V + W / R. Clusters: with residuals of cluster totals in units of the mean size, R in
    clusters of that size. Returned is the Beta on [low, high] with these moments.

    Parameters
    ----------
    scores : array_like (n_questions,), in [low, high]; means over a question's trials where it was tried several times
    n_rest : number of further questions, > 0
    clusters : array_like (n_questions,) of labels, or None; the further questions are taken to be in others

    Raises
    ------
    DataError : if a score is outside [low, high] or not finite, or n_rest below 1
    NotEstimableError : if there are no scores

    Ghosh & Meeden (1997), Bayesian Methods for Finite Population Sampling, chapter 2 (Polya posterior: no atoms).
    On 0/1 scores these are the moments of K / R, K ~ Beta-binomial(R, 1 + S, 1 + F):

    >>> posterior = rest_posterior([1, 1, 0, 1], 6, 0, 1)
    >>> round(posterior.mean, 9), round(36 * posterior.sd**2, 9) == round(6 * 8 / 36 * 12 / 7, 9)
    (0.666666667, True)
    """
    check_range(low, high)
    check_whole(n_rest, "n_rest", 0)
    x = check_finite(scores, "scores", 1)
    if n_rest < 1:
        raise DataError(f"n_rest must be at least 1, or the score of the whole is known; got {n_rest}")
    if clusters is None:
        totals, sizes = _check_totals(x, np.ones(len(x)), low, high)
        mass, copies = 1.0, tight_copies(x, low, high)
    else:
        totals, sizes = _check_totals(*cluster_totals(x, clusters), low, high)
        mass, copies = default_atom_mass(totals, sizes, low, high), 0.0
    now = _matched_beta(totals, sizes, low, high, mass, copies)
    size, seen = float(sizes.mean()), len(totals) + copies
    spread = float(np.mean((totals - now.mean * sizes) ** 2)) / size**2
    ends = (low - now.mean) ** 2 + (high - now.mean) ** 2
    one = (seen * spread + mass * ends) / (seen + 2.0 * mass)
    variance = now.sd**2 + max(one - now.sd**2, 0.0) * size / n_rest
    most = (now.mean - low) * (high - now.mean) / _LEAST_SIZE
    return BetaPosterior.from_moments(now.mean, min(variance, most), low, high)


def default_atom_mass(totals: ArrayLike, sizes: ArrayLike, low: float, high: float) -> float:
    """Prior mass at each bound: 1 where every cluster's (or question's) mean is at a bound, 3/4 otherwise.

    1 makes 0/1 scores Beta(1 + S, 1 + F). Between the bounds 3/4 is the least that covers .90 everywhere in
    docs/calibration.md; 1/4 covered .80 at five scores.

    >>> default_atom_mass([1, 0, 1], [1, 1, 1], 0, 1), default_atom_mass([1, 0.5], [1, 1], 0, 1)
    (1.0, 0.75)
    """
    t, n = np.asarray(totals, float), np.asarray(sizes, float)
    distance = np.minimum(t - n * low, n * high - t)
    return 1.0 if bool((distance <= _RELATIVE_ROUNDING * n * (high - low)).all()) else _ATOM_MASS


def cluster_totals(
    scores: ArrayLike, clusters: ArrayLike, *, weights: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """Total score and size of each cluster, in the order of their labels; both weighted where weights are given.

    >>> cluster_totals([1.0, 0.5, 1.0], ["b", "a", "b"])
    (array([0.5, 2. ]), array([1., 2.]))
    """
    x = check_finite(scores, "scores", 1)
    w, codes = check_weights(weights, len(x)), cluster_codes(clusters, len(x))
    return np.asarray(np.bincount(codes, w * x), float), np.asarray(np.bincount(codes, w), float)


def _check_totals(totals: ArrayLike, sizes: ArrayLike, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    check_range(low, high)
    t, n = fitted(totals=totals, sizes=sizes)
    if t.ndim == 0 or t.shape[-1] == 0:
        raise NotEstimableError("no clusters: a mean needs at least one score")
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


def _ratio_moments(totals: FloatArray, sizes: FloatArray, masses: FloatArray) -> tuple[float, float]:
    """Mean and variance of R = sum_j g_j T_j / sum_j g_j N_j, g_j ~ Gamma(a_j) independent.

    From 1 / B^k = int_0^inf s^(k-1) exp(-s B) ds / (k-1)!, with e_j = T_j - r0 N_j, r0 = sum a T / sum a N,
    L(s) = prod_j (1 + s N_j)^-a_j and B_k(s) = sum_j a_j e_j^k / (1 + s N_j)^k,

        E[R - r0] = int L B_1 ds,        E[(R - r0)^2] = int s L (B_1^2 + B_2) ds,

    since tilting by exp(-s B) turns g_j into Gamma(a_j) / (1 + s N_j). Equal sizes give the Dirichlet's
    E R = r0 and Var R = sum a_j (e_j / N)^2 / (A (A + 1)), A = sum a_j.
    """
    total_mass = float(masses.sum())
    size = float(masses @ sizes) / total_mass
    centre = float(masses @ totals) / (total_mass * size)
    e = (totals - centre * sizes) / size
    if np.ptp(sizes) == 0:
        return centre, float(masses @ e**2) / (total_mass * (total_mass + 1.0))
    # clusters of one size share their terms
    v, code = np.unique(sizes / size, return_inverse=True)
    a, ae, ae2 = (np.bincount(code, masses * e**k) for k in (0, 1, 2))
    s, ds = _half_line(total_mass)
    log_l, b1, b2 = np.full_like(s, -np.inf), np.zeros_like(s), np.zeros_like(s)
    step = max(1, _BLOCK // len(v))
    for start in range(0, len(s), step):
        part = slice(start, start + step)
        grown = 1.0 + s[part, None] * v
        log_l[part], b1[part], b2[part] = -np.log(grown) @ a, (1.0 / grown) @ ae, grown**-2 @ ae2
        if log_l[start] < -745.0:  # exp(-745) is the last double above 0
            break
    weight = ds * np.exp(log_l)
    shift = float(weight @ b1)
    return centre + shift, float((weight * s) @ (b1**2 + b2)) - shift**2


def _half_line(total_mass: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on (0, inf) for integrands that start like exp(-total_mass s) and may end as a power of s.

    Double-exponential rule s = exp(x - exp(-x)) / total_mass; halving the step moves the moments by 1e-15.
    """
    x = np.arange(-4.0, 45.0, 0.125)
    s = np.exp(x - np.exp(-x)) / total_mass
    return s, 0.125 * s * (1.0 + np.exp(-x))
