"""Published methods that the package does not offer, implemented as published, for comparison.

Their known weaknesses are kept: intervals of zero width, no small-sample correction, no diagnostics.
"""

import numpy as np
from scipy import special

from benchmarks.reference.latent_normal import latent_normal_cells
from harness_uq.data.task_log import FloatArray

IMPORTANCE_DRAWS = 10_000
BOOTSTRAP_DRAWS = 2_000


def percentiles(draws: FloatArray, levels: tuple[float, ...]) -> tuple[tuple[float, float], ...]:
    """Equal-tailed intervals of draws at each level."""
    ends = np.quantile(draws, [[(1 - level) / 2, (1 + level) / 2] for level in levels])
    return tuple((float(low), float(high)) for low, high in ends)


def miller_clt(successes: FloatArray, sizes: FloatArray, level: float) -> tuple[float, float]:
    """Interval mean ± z SE with the clustered standard error, without a small-sample correction.

    Parameters
    ----------
    successes, sizes : ndarray, shape (n_clusters,)
        Right answers and questions of each cluster.
    level : float
        Nominal coverage.

    Returns
    -------
    low, high : float
        Interval limits.

    References
    ----------
    Miller (2024), eq. 4.

    Examples
    --------
    The standard error is sqrt(1 + 1) / 4:

    >>> low, high = miller_clt(np.array([2.0, 0.0]), np.array([2.0, 2.0]), 0.95)
    >>> round((high - low) / 2 / 1.959964, 5)
    0.35355
    """
    n = sizes.sum()
    mean = successes.sum() / n
    half = float(special.ndtri((1 + level) / 2) * np.sqrt(np.sum((successes - sizes * mean) ** 2)) / n)
    return float(mean) - half, float(mean) + half


def pooled_bootstrap(successes: FloatArray, sizes: FloatArray, level: float) -> tuple[float, float]:
    """Percentile bootstrap of all answers as if they were independent, in the limit of infinitely many resamples.

    A resampled mean is Bin(n, S / n) / n; the limits are its quantiles.
    """
    n = int(sizes.sum())
    return _table_interval(_binomial_table(n, float(successes.sum()) / n), n, level)


def stratified_bootstrap(successes: FloatArray, sizes: FloatArray, level: float) -> tuple[float, float]:
    """Percentile bootstrap of questions within each cluster, in the limit of infinitely many resamples.

    Clusters with equal scores are merged, so that the mean is a sum of few binomials.
    """
    share, group = np.unique(successes / sizes, return_inverse=True)
    table = np.ones(1)
    for p, n in zip(share, np.bincount(group, sizes), strict=True):
        table = np.convolve(table, _binomial_table(int(n), float(p)))
    return _table_interval(table, int(sizes.sum()), level)


def _binomial_table(n: int, p: float) -> FloatArray:
    k = np.arange(n + 1.0)
    log_p = special.xlogy(k, p) + special.xlog1py(n - k, -p)
    return np.asarray(np.exp(log_p + special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)))


def _table_interval(table: FloatArray, n: int, level: float) -> tuple[float, float]:
    upper = np.cumsum(table) / table.sum()
    ends = np.searchsorted(upper, [(1 - level) / 2 + 1e-12, (1 + level) / 2 - 1e-12])
    return float(ends[0]) / n, float(ends[1]) / n


def clustered_importance_draws(successes: FloatArray, sizes: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Resampled draws of theta from the prior, weighted by the likelihood: Bowyer et al. (2025), appendix E.1."""
    d, theta = rng.gamma(1.0, 1.0, IMPORTANCE_DRAWS), rng.random(IMPORTANCE_DRAWS)
    pairs, repeats = np.unique(np.stack([successes, sizes - successes]), axis=1, return_counts=True)
    a, b = d * theta, d * (1 - theta)
    log_weight = np.zeros(IMPORTANCE_DRAWS)
    for (s, f), repeat in zip(pairs.T, repeats, strict=True):
        log_weight += repeat * (special.betaln(a + s, b + f) - special.betaln(a, b))
    return _resample(theta, log_weight, rng)


def paired_importance_draws(table: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Resampled draws of theta_A - theta_B: Bowyer et al. (2025), appendix E.2.

    `table` has the numbers of questions that both, only A, only B and neither got right.
    """
    theta_a, theta_b = rng.random((2, IMPORTANCE_DRAWS))
    rho = 2 * rng.beta(4, 2, IMPORTANCE_DRAWS) - 1
    cells = np.maximum(latent_normal_cells(theta_a, theta_b, rho), 0.0)
    return _resample(theta_a - theta_b, special.xlogy(table, cells).sum(axis=-1), rng)


def _resample(values: FloatArray, log_weight: FloatArray, rng: np.random.Generator) -> FloatArray:
    usable = np.where(np.isfinite(log_weight), log_weight, -np.inf)
    weight = np.exp(usable - usable.max())
    return np.asarray(rng.choice(values, size=len(values), p=weight / weight.sum()))


def cluster_bootstrap_draws(successes: FloatArray, sizes: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Means of resampled clusters: Cameron, Gelbach and Miller (2008), section III.A."""
    counts = rng.multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), BOOTSTRAP_DRAWS)
    return np.asarray((counts @ successes) / (counts @ sizes))
