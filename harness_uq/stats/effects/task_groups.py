"""Score of a group of tasks: the weighted mean of the tasks' scores, with separate or common items."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.clusters.quadrature import BetaBinomialGrid, beta_binomial_grid
from harness_uq.stats.common.posterior import BetaPosterior, IntervalKind, QuantilePosterior
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, check_counts, check_finite, validated_codes
from harness_uq.stats.common.validate_scalars import check_range

_Z_NODES = np.linspace(0.0, 8.0, 801)[1:]  # normal quantiles
PRIOR_FAILURES = 5.0  # weight of the binomial model, in failures (or successes)


class GroupPosterior(QuantilePosterior):
    """Average of the quantiles of a hierarchy of the tasks and of separate Wilson limits of each task.

    `hierarchy` is the posterior from the hierarchy alone, and `hierarchy_weight` its weight, 1 if all tasks contribute
    equally to the variance. `icc` is the posterior mean of 1 / (1 + d), the share of the variance between tasks.
    """

    def __init__(
        self,
        hierarchy: BetaPosterior,
        hierarchy_weight: float,
        *,
        scores: FloatArray,
        trials: FloatArray,
        weights: FloatArray,
        icc: float,
    ) -> None:
        self.hierarchy, self.hierarchy_weight, self.icc = hierarchy, hierarchy_weight, icc
        low, high = _wilson_limits(_Z_NODES, scores, trials, weights)
        self._separate = np.concatenate([low[::-1], [scores @ weights], high])
        super().__init__()

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self._averaged(self.hierarchy.quantile(p), np.asarray(p, float))

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self.hierarchy.cdf(x) if self.hierarchy_weight == 1 else super().cdf(x)

    def interval(self, level: float = 0.95, kind: IntervalKind = "quantile") -> tuple[float, float]:
        """Average of both intervals; with ``hdi`` the narrowest one of the hierarchy.

        Arguments and errors are those of `Posterior.interval`.
        """
        ends = np.array(self.hierarchy.interval(level, kind))
        low, high = self._averaged(ends, np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0]))
        return float(low), float(high)

    def _averaged(self, of_hierarchy: FloatArray, p: FloatArray) -> FloatArray:
        share = self.hierarchy_weight
        if share == 1:
            return of_hierarchy
        separate = np.interp(special.ndtri(p), np.concatenate([-_Z_NODES[::-1], [0.0], _Z_NODES]), self._separate)
        return np.asarray(share * of_hierarchy + (1.0 - share) * separate)


def group_posterior(successes: ArrayLike, trials: ArrayLike, weights: ArrayLike | None = None) -> GroupPosterior:
    """Posterior of the weighted mean of the scores of these tasks, each with its own questions.

    Parameters
    ----------
    successes, trials : array_like, shape (n_tasks,)
        Right questions and all questions of each task, with ``0 <= successes <= trials`` and ``trials > 0``; not
        necessarily whole.
    weights : array_like, shape (n_tasks,), optional
        Non-negative weights, not all 0 (default: equal). `trials` gives the mean over questions.

    Returns
    -------
    GroupPosterior
        Consistent distribution of the score, for any distribution of task scores and sizes.

    Raises
    ------
    DataError
        If counts or weights are negative or inconsistent, or a task has no question.

    Notes
    -----
    The tasks are fixed. The score p = sum_k w_k p_k with p_k = s_k / n_k has the variance V = sum_k w_k^2 theta_k (1 -
    theta_k) / n_k.

    *Hierarchy.* The expectation of V is that of theta_k ~ Beta(d theta, d (1 - theta)) with uniform theta and 1 / (1 +
    d), which allows for tasks with few questions, all of them right. Given (theta, d), theta_k ~ Beta(a, b) with a = d
    theta + s_k and b = d (1 - theta) + n_k - s_k, so that E[theta_k (1 - theta_k)] = a b / ((a + b) (a + b + 1)). With
    few failures or successes the variance between tasks is hardly identified, and E[V] depends on the prior. It is
    therefore averaged, with weights n min(p, 1 - p) and 5, with that of one binomial, q (1 - q) / n, where q = (n p +
    1) / (n + 2) and n = 1 / sum_k (w_k^2 / n_k). The latter is an upper bound for equal n_k and w_k. With the average
    V, p has the information of N = q (1 - q) / V questions, and the posterior is Beta(1 + N p, 1 + N (1 - p)).

    *Separate tasks.* In the hierarchy a small task with another score borrows the variance of the large tasks. Its own
    Wilson limits p_k - c_k -+ h_k at the normal quantile z do not depend on them. The tasks are independent, so that
    variances and third cumulants add: the limits are p - c -+ h with c = sum_k w_k^3 h_k^2 c_k / sum_k w_k^2 h_k^2 and
    h^2 = sum_k w_k^2 (r_k h_k^2 + (1 - r_k) z^2 q_k (1 - q_k) / n_k). Here r_k = w_k h_k / sqrt(sum_j w_j^2 h_j^2), and
    q_k = (s_k + 1) / (n_k + 2): Wilson's half-width is only enough together with the full shift c_k. MOVER (Zou and
    Donner 2008) adds the squared distances of the limits from p_k instead, so that the interval of many tasks is as
    skewed as that of a single task.

    The quantiles of both are averaged. The weight of the hierarchy is ((K' - 1) / (K - 1))^2 for K tasks with positive
    weight, where K' = (sum_k a_k)^2 / sum_k a_k^2 with a_k = w_k^2 / n_k is the effective number of tasks that
    contribute to V. It is 1 for tasks of equal size and weight, which are exchangeable.

    The hierarchical mean itself, which shrinks tasks towards each other, is inconsistent if small tasks have other
    scores than large ones. A sum of independent Beta(1, 1) posteriors shrinks every task towards 1/2. Fractional counts
    enter the likelihood of (theta, d) rounded such that their running totals are preserved. For tasks as a sample of
    tasks use ``clustered_score_posterior(successes, trials, weights)``.

    References
    ----------
    Zou and Donner (2008), Statistics in Medicine 27, 1693-1702; Wilson (1927).

    Examples
    --------
    >>> posterior = group_posterior([90, 45, 70], [100, 50, 100])
    >>> abs(posterior.mean - (0.90 + 0.90 + 0.70) / 3) < 0.003
    True
    """
    s, n = check_counts(successes, trials)
    if n.ndim != 1 or not (n.size and n.min() > 0):
        raise DataError(f"trials must be positive and have shape (n_tasks,); got {n.tolist()}")
    w = _check_weights(weights, len(n))
    score, binomial = float(w @ (s / n)), float(1 / np.sum(w**2 / n))
    whole_s, whole_f = _round_running_totals(s, n - s)
    grid = beta_binomial_grid(whole_s, whole_s + whole_f)
    smoothed = (binomial * score + 1) / (binomial + 2)
    rarer = binomial * min(score, 1 - score)
    hierarchy_weight = rarer / (rarer + PRIOR_FAILURES)
    variance = (
        hierarchy_weight * _sampling_variance(s, n, w, grid)
        + (1 - hierarchy_weight) * smoothed * (1 - smoothed) / binomial
    )
    effective_questions = smoothed * (1 - smoothed) / variance
    hierarchy = BetaPosterior(1 + effective_questions * score, 1 + effective_questions * (1 - score))
    contributions, n_weighted = w**2 / n, np.count_nonzero(w)
    contributing = float(np.sum(contributions) ** 2 / np.sum(contributions**2))
    hierarchy_share = 1.0 if n_weighted == 1 else min((contributing - 1.0) / (n_weighted - 1.0), 1.0) ** 2
    return GroupPosterior(
        hierarchy,
        hierarchy_share if hierarchy_share < 1 - 1e-9 else 1.0,
        scores=s / n,
        trials=n,
        weights=w,
        icc=grid.icc_mean,
    )


def _wilson_limits(
    z: FloatArray, scores: FloatArray, trials: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Limits of sum_k w_k theta_k at increasing normal quantiles z > 0, from Wilson's limits of each task.

    The shift grows faster than the half-width if a task has very few questions. Limits of lower levels then remain.
    """
    squares = z[:, None] ** 2 / trials
    shifts = (scores - 0.5) * squares / (1 + squares)
    wilson = squares * (scores * (1 - scores) + squares / 4) / (1 + squares) ** 2  # squared half-widths
    total = wilson @ weights**2
    shift = (wilson * shifts) @ weights**3 / total
    shares = weights * np.sqrt(wilson / total[:, None])
    smoothed = (scores * trials + 1) / (trials + 2)
    half = np.sqrt((shares * wilson + (1 - shares) * squares * smoothed * (1 - smoothed)) @ weights**2)
    score = scores @ weights
    low = np.clip(score - np.maximum.accumulate(half + shift), 0.0, 1.0)
    return low, np.clip(score + np.maximum.accumulate(half - shift), 0.0, 1.0)


def _sampling_variance(successes: FloatArray, trials: FloatArray, weights: FloatArray, grid: BetaBinomialGrid) -> float:
    """Posterior mean of sum_k w_k^2 theta_k (1 - theta_k) / n_k, mixed over `grid`.

    a b is expanded into terms that depend on (theta, d) and on the number of questions only.
    """
    n, index = np.unique(trials, return_inverse=True)
    s, f, q = successes, trials - successes, weights**2 / trials
    d, total = grid.dispersion, grid.dispersion + n[:, None]
    theta, complement = grid.theta[:, None], special.expit(-grid.logit_theta)[:, None]
    scale = 1 / (total * (total + 1))

    def summed(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(index, values, len(n)) @ scale)

    products = theta * complement * d**2 * summed(q) + summed(q * s * f)
    products += theta * d * summed(q * f) + complement * d * summed(q * s)
    return float(np.sum(grid.weights * products))


class SharedItemsPosterior(BetaPosterior):
    """Beta posterior of a group's score, with the effective number of items.

    `effective_units` is Kish's number of equally influential items; it is small if a small task has a large weight.
    """

    def __init__(self, a: float, b: float, low: float, high: float, *, effective_units: float) -> None:
        super().__init__(a, b, low, high)
        self.effective_units = effective_units


def shared_items_posterior(
    scores: ArrayLike,
    tasks: ArrayLike,
    items: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    low: float = 0.0,
    high: float = 1.0,
) -> SharedItemsPosterior:
    """Posterior of the weighted mean of task scores if items recur across tasks, such as translations.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Scores in [low, high], one per question of a task.
    tasks : array_like, shape (n,)
        Task of each row.
    items : array_like, shape (n,)
        Labels; rows with equal labels are versions of one item (or passage) in any task.
    weights : array_like, optional
        Non-negative weights, one per distinct task in sorted order and not all 0 (default: equal).
    low, high : float, optional
        Range of the scores (default 0 and 1).

    Returns
    -------
    SharedItemsPosterior
        Posterior on [low, high].

    Raises
    ------
    DataError
        If a score is out of range, or labels or weights have another length.

    Notes
    -----
    Items are the clusters of a Dirichlet process with weights g ~ Dirichlet(1, ..., 1, m, m). The last two belong to
    prior items with the mean number of rows of every task, all at `low` and all at `high`. The score sum_k w_k (sum_i
    g_i y_ik) / (sum_i g_i n_ik) is linearized in g, as in the cluster-robust variance (Miller 2024, eq. 4), and a Beta
    is matched. The prior items keep the variance positive if all scores are equal.

    Each task is centred at its own score. Squared influences are therefore multiplied by C (I - 1) / (I (C - 1)) for a
    task with C of the I items, which is 1 for a single task and for items that all tasks share. A task with one item is
    centred at the group's score, so that its variance is inferred from the differences between tasks. m = 3/4, or m = 1
    if all scores are `low` or `high` and no item recurs, so that a single task gives Beta(1 + S, 1 + F).

    Examples
    --------
    For two tasks with the same two items, the items and not the four rows are the independent observations:

    >>> shared = shared_items_posterior([1, 0, 1, 0], ["de", "de", "en", "en"], [1, 2, 1, 2])
    >>> separate = shared_items_posterior([1, 0, 1, 0], ["de", "de", "en", "en"], [1, 2, 3, 4])
    >>> round(shared.mean, 9), shared.sd > separate.sd
    (0.5, True)
    """
    check_range(low, high)
    y = check_finite(scores, "scores", 1)
    if not (y.size and y.min() >= low and y.max() <= high and low < high):
        raise DataError(f"there must be scores, all in [{low:g}, {high:g}]; got {len(y)} rows")
    task, item = validated_codes(tasks, y.shape, "tasks"), validated_codes(items, y.shape, "items")
    rows, n_items = np.bincount(task).astype(float), int(item.max()) + 1
    w = _check_weights(weights, len(rows))
    m = 1.0 if n_items == len(y) and np.isin(y, (low, high)).all() else 0.75
    mean_rows = rows / n_items
    total = rows + 2 * m * mean_rows
    score = (np.bincount(task, y) + m * mean_rows * (low + high)) / total
    mean, mass = float(w @ score), n_items + 2 * m
    task_influence = w * mass / total
    items_of = _items_of_tasks(task, item)
    centre = np.where(items_of > 1, score, mean)
    reference = (n_items - 1) / n_items or 1.0
    df_factor = np.sqrt(reference / np.where(items_of > 1, (items_of - 1) / items_of, reference))
    influence = np.bincount(item, (task_influence * df_factor)[task] * (y - centre[task]))
    prior = np.array([task_influence @ (mean_rows * (low - score)), task_influence @ (mean_rows * (high - score))])
    variance = float(influence @ influence + m * prior @ prior) / (mass * (mass + 1))
    largest_variance = (mean - low) * (high - mean) / 3  # variance of a Beta with a + b = 2
    posterior = BetaPosterior.from_moments(mean, min(variance, largest_variance), low, high)
    shares = np.bincount(item, (w / rows)[task]) ** 2
    effective = float(shares.sum() ** 2 / (shares @ shares))
    return SharedItemsPosterior(posterior.a, posterior.b, low, high, effective_units=effective)


def _items_of_tasks(task: IntArray, item: IntArray) -> FloatArray:
    """Number of distinct items of each task, shape (n_tasks,)."""
    pairs = np.unique(np.stack([task, item]), axis=1)
    return np.bincount(pairs[0]).astype(float)


def _check_weights(weights: ArrayLike | None, n_tasks: int) -> FloatArray:
    if weights is None:
        return np.full(n_tasks, 1 / n_tasks)
    w = check_finite(weights, "weights", 1)
    if len(w) != n_tasks or w.min() < 0 or w.sum() == 0:
        raise DataError(f"weights must be {n_tasks} numbers >= 0, one per task, not all 0; got {w.tolist()}")
    return np.asarray(w / w.sum())


def _round_running_totals(successes: FloatArray, failures: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Whole numbers with running totals within 1/2 of those of the counts, with tasks in order of size.

    Whole counts do not change, and the order of the tasks has no effect.
    """
    order = np.lexsort((successes, successes + failures))
    totals = np.cumsum([successes[order], failures[order]], axis=1)
    rounded = np.empty_like(totals)
    rounded[:, order] = np.diff(np.round(totals), prepend=0.0)
    return rounded[0], rounded[1]
