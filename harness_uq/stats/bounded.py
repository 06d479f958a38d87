"""Mean of scores with known bounds: Dirichlet-process posteriors with prior atoms at both bounds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats._arrays import FloatArray, check_finite
from harness_uq.stats.cluster_robust import check_weights, cluster_codes
from harness_uq.stats.posterior import BetaPosterior

_BLOCK = 2**20
_RELATIVE_ROUNDING = 1e-12
_ATOM_MASS = 0.75


def bounded_posterior(
    scores: ArrayLike, low: float, high: float, *, weights: ArrayLike | None = None, atom_mass: float | None = None
) -> BetaPosterior:
    """Posterior of the mean of independent scores in [low, high].

    The scores' distribution has a Dirichlet-process posterior whose base measure is one unit of mass on each of the M
    scores and `atom_mass` m on each bound, so that the mean is sum_j g_j x_j / sum_j g_j over this augmented sample,
    g_j ~ Gamma(mass_j). With n = M + 2 m, its mean is the weighted mean mu of the augmented sample, its variance the
    weighted variance (divisor n) over n + 1; returned is the Beta on [low, high] with these moments. Question weights
    w_j multiply both sums, which makes the mean the ratio of `clustered_bounded_posterior` with sizes w_j.

    Parameters
    ----------
    scores : array_like (n_questions,), in [low, high]
    weights : array_like (n_questions,), > 0; their scale does not matter
    atom_mass : m > 0; None takes `default_atom_mass`: 1 where every score is at a bound, 3/4 otherwise

    Raises
    ------
    DataError : if a score is outside [low, high] or not finite, or a weight not positive
    NotEstimableError : if there are no scores

    Ferguson (1973), Annals of Statistics 1:209, and Rubin (1981) for the weights; Cifarelli & Regazzini (1990) for the
    distribution of the mean. On 0/1 scores it is exactly Beta(1 + S, 1 + F):

    >>> bounded_posterior([1, 1, 0, 1], 0, 1)
    BetaPosterior(a=4, b=2, low=0, high=1)
    """
    x = check_finite(scores, "scores", 1)
    w = check_weights(weights, len(x))
    return clustered_bounded_posterior(w * x, w, low, high, atom_mass=atom_mass)


def clustered_bounded_posterior(
    totals: ArrayLike, sizes: ArrayLike, low: float = 0.0, high: float = 1.0, *, atom_mass: float | None = None
) -> BetaPosterior:
    """Posterior of the mean score over questions that come in clusters, whatever relates size and score.

    Clusters (total T_c, size N_c) are drawn independently; their joint distribution has a Dirichlet-process posterior
    with unit mass on each and `atom_mass` m on two pseudo-clusters of the mean size N, all at `low` or all at `high`.
    The mean over questions is the ratio R = sum_c g_c T_c / sum_c g_c N_c, g_c ~ Gamma(mass_c). Its mean and variance
    are exact (see `_ratio_moments`), and returned is the Beta on [low, high] with these moments.

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
    t, n = _check_totals(totals, sizes, low, high)
    if t.ndim != 1:
        raise DataError(f"totals must have shape (n_clusters,); got {t.shape}")
    mass = default_atom_mass(t, n, low, high) if atom_mass is None else float(atom_mass)
    if not mass > 0:
        raise DataError(f"atom_mass must be positive, or the interval could have no width; got {atom_mass}")
    size = n.mean()
    masses = np.append(np.ones(len(t)), [mass, mass])
    mean, variance = _ratio_moments(np.append(t, [low * size, high * size]), np.append(n, [size, size]), masses)
    return BetaPosterior.from_moments(mean, variance, low, high)


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


@dataclass(frozen=True, slots=True, eq=False)
class SizeScoreRelation:
    """Test of no relation between cluster size and mean score.

    Attributes
    ----------
    statistic : ndarray; slope of a cluster's mean score on log size over its standard error, > 0 where larger clusters
        score higher
    df : ndarray; Satterthwaite degrees of freedom
    p_value : ndarray; two-sided, of t(df)

    All three are NaN where nothing can be tested: all sizes or all mean scores equal, fewer than three clusters, or a
    single cluster of a size that alone determines the slope.
    """

    statistic: FloatArray
    df: FloatArray
    p_value: FloatArray


def size_score_relation(totals: ArrayLike, sizes: ArrayLike) -> SizeScoreRelation:
    """Test whether cluster size and mean score are related.

    Weighted regression of T_c / N_c on log N_c with working weights N_c / (1 + (N_c - 1) icc), the moment estimate of
    icc, standard error HC2 (unbiased under the working weights, consistent without them) and Satterthwaite degrees of
    freedom. Where p < .05, or theta is not about the plain score, the clustered posteriors use
    `clustered_bounded_posterior`; docs/decisions/003 holds the simulations behind that rule.

    Parameters
    ----------
    totals : array_like (..., n_clusters); cluster totals of scores in [0, 1]
    sizes : array_like (..., n_clusters), >= 1; broadcast with totals

    Returns
    -------
    SizeScoreRelation with arrays of the leading shape

    Raises
    ------
    DataError : if a size is not positive or a total not in [0, size]
    NotEstimableError : if there are no clusters

    Bell & McCaffrey (2002), Survey Methodology 28:169 (HC2 and its degrees of freedom); Benhin, Rao & Scott (2005) on
    informative cluster sizes.

    >>> relation = size_score_relation([18, 19, 17, 18, 1, 0, 2, 1, 1, 1], [20] * 4 + [3] * 6)
    >>> bool(relation.statistic > 0), bool(relation.p_value < 0.05)
    (True, True)
    """
    t, n = _check_totals(totals, sizes, 0.0, 1.0)
    mean = t / n
    weight = n / (1.0 + (n - 1.0) * _working_icc(t, n))
    with np.errstate(divide="ignore", invalid="ignore"):
        return _slope_test(np.log(n), mean, weight)


def _check_totals(totals: ArrayLike, sizes: ArrayLike, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    if not (np.isfinite([low, high]).all() and low < high):
        raise DataError(f"bounds must be finite with low < high; got {low} and {high}")
    t, n = np.broadcast_arrays(np.asarray(totals, float), np.asarray(sizes, float))
    if t.ndim == 0 or t.shape[-1] == 0:
        raise NotEstimableError("no clusters: a mean needs at least one score")
    slack = _RELATIVE_ROUNDING * n * max(abs(low), abs(high))
    good = (n > 0) & (t >= n * low - slack) & (t <= n * high + slack) & np.isfinite(n)
    if not good.all():
        bad = np.flatnonzero(~good)[0]
        raise DataError(
            f"scores must lie in [{low:g}, {high:g}] and sizes be positive; "
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


def _working_icc(totals: FloatArray, sizes: FloatArray) -> FloatArray:
    """Moment estimate from E[(T - p N)^2] = p (1 - p) N (1 + (N - 1) icc), within [0, 1]."""
    p = totals.sum(-1, keepdims=True) / sizes.sum(-1, keepdims=True)
    binomial = p * (1.0 - p)
    excess = ((totals - p * sizes) ** 2 - binomial * sizes).sum(-1, keepdims=True)
    pairs = binomial * (sizes * (sizes - 1.0)).sum(-1, keepdims=True)
    return np.asarray(np.clip(np.divide(excess, pairs, out=np.zeros_like(pairs), where=pairs > 0), 0.0, 1.0))


def _slope_test(x: FloatArray, y: FloatArray, weight: FloatArray) -> SizeScoreRelation:
    """Test by t of the slope of y on x by weighted least squares, HC2, over the last axis.

    In units of the root weights the design has orthonormal columns u and z, leverages h = u^2 + z^2, and the slope's
    variance is estimated by sum_c k_c r_c^2, r the residuals, k = z^2 / (S (1 - h)). Under the working weights that
    sum has 2 E^2 / Var = (sum k (1 - h))^2 / sum_cd k_c k_d (I - H)_cd^2 degrees of freedom.
    """
    total = weight.sum(-1, keepdims=True)
    u = np.sqrt(weight / total)
    x_centred, y_centred = (q - (weight * q).sum(-1, keepdims=True) / total for q in (x, y))
    spread = (weight * x_centred**2).sum(-1, keepdims=True)
    z = np.sqrt(weight / spread) * x_centred
    slope = (weight * x_centred * y_centred).sum(-1, keepdims=True) / spread
    residual = np.sqrt(weight) * (y_centred - slope * x_centred)
    free = 1.0 - u**2 - z**2
    k = z**2 / (spread * free)
    variance = (k * residual**2).sum(-1)
    # sum_cd k_c k_d H_cd^2 with H = u u' + z z'
    shared = (k * u**2).sum(-1) ** 2 + 2.0 * (k * u * z).sum(-1) ** 2 + (k * z**2).sum(-1) ** 2
    df = (k * free).sum(-1) ** 2 / ((k**2 * (2.0 * free - 1.0)).sum(-1) + shared)
    varied = (spread > 1e-12 * total) & ((weight * y_centred**2).sum(-1, keepdims=True) > 1e-24 * total)
    testable = (free > 1e-9).all(-1) & varied[..., 0] & (x.shape[-1] > 2)
    t = np.where(testable, slope[..., 0] / np.sqrt(variance), np.nan)
    df = np.where(np.isnan(t), np.nan, df)
    return SizeScoreRelation(t, df, np.asarray(2.0 * special.stdtr(df, -np.abs(t))))
