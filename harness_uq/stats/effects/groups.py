"""Score of a group of tasks: the weighted mean of the tasks' scores, with items of their own or shared."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.clusters.quadrature import BetaBinomialGrid, beta_binomial_grid
from harness_uq.stats.common.arrays import FloatArray, IntArray, check_counts, check_finite, fitted, label_codes
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.common.scalars import check_range

PRIOR_FAILURES = 5.0  # failures' (or successes') worth of trust in one binomial


class GroupPosterior(BetaPosterior):
    """Beta posterior of a group's score.

    Attributes
    ----------
    icc : float; posterior mean of 1 / (1 + d), the share of variance between tasks
    """

    def __init__(self, a: float, b: float, *, icc: float) -> None:
        super().__init__(a, b)
        self.icc = icc


def group_posterior(successes: ArrayLike, trials: ArrayLike, weights: ArrayLike | None = None) -> GroupPosterior:
    """Posterior of the weighted mean of the scores of these tasks, each with questions of its own.

    Parameters
    ----------
    successes, trials : (K,) floats, broadcast together, 0 <= successes <= trials, trials > 0; right questions and
        all questions of each task. For a task that is clustered, repeated or graded: `effective_counts`
    weights : (K,) floats >= 0, not all 0, or None for equal weights; `trials` gives the mean over questions

    Returns
    -------
    GroupPosterior ; it closes on the plain score, whatever the distribution of the tasks' scores and sizes

    Raises
    ------
    DataError : counts or weights that are negative or inconsistent; a task without questions

    Notes
    -----
    The tasks are fixed and the plain score p = sum_k w_k s_k / n_k has the variance V = sum_k w_k^2 theta_k
    (1 - theta_k) / n_k. Its expectation comes from a hierarchy, theta_k ~ Beta(d theta, d (1 - theta)) with theta and
    1 / (1 + d) uniform, which knows what a task of few questions, all of them right, is worth: given (theta, d),
    theta_k ~ Beta(a, b), a = d theta + s_k, b = d (1 - theta) + n_k - s_k, has E[theta_k (1 - theta_k)] =
    a b / ((a + b) (a + b + 1)). Where failures or successes are few the spread of tasks is hardly seen and E[V] rests
    on the prior: one binomial of n = 1 / sum_k (w_k^2 / n_k) questions, whose variance q (1 - q) / n is an upper bound
    for tasks of equal n_k and w_k, weighs 5 against n min(p, 1 - p). With q = (n p + 1) / (n + 2) and V the average,
    p is worth N = q (1 - q) / V questions, and the posterior is Beta(1 + N p, 1 + N (1 - p)).

    The hierarchical mean itself, which shrinks tasks towards each other, is off where small tasks score otherwise than
    large ones; independent Beta(1, 1) posteriors added up pull every task to 1/2, K times over. Fractional counts enter
    the likelihood of (theta, d) rounded such that their running totals are kept. For tasks as a sample from more of
    their kind, tasks are clusters: `clustered_score_posterior(successes, trials, weights)`.

    Examples
    --------
    >>> posterior = group_posterior([90, 45, 70], [100, 50, 100])
    >>> abs(posterior.mean - (0.90 + 0.90 + 0.70) / 3) < 0.003
    True
    """
    s, n = check_counts(successes, trials)
    if n.ndim != 1 or not (n.size and n.min() > 0):
        raise DataError(f"every task must have questions, in arrays of shape (n_tasks,); got trials {n.tolist()}")
    w = _check_weights(weights, len(n))
    score, binomial = float(w @ (s / n)), float(1 / np.sum(w**2 / n))
    whole_s, whole_f = _round_running_totals(s, n - s)
    grid = beta_binomial_grid(whole_s, whole_s + whole_f)
    safe = (binomial * score + 1) / (binomial + 2)
    rarer = binomial * min(score, 1 - score)
    seen = rarer / (rarer + PRIOR_FAILURES)
    variance = seen * _sampling_variance(s, n, w, grid) + (1 - seen) * safe * (1 - safe) / binomial
    worth = safe * (1 - safe) / variance
    return GroupPosterior(1 + worth * score, 1 + worth * (1 - score), icc=grid.icc_mean)


def _sampling_variance(successes: FloatArray, trials: FloatArray, weights: FloatArray, grid: BetaBinomialGrid) -> float:
    """Posterior mean of sum_k w_k^2 theta_k (1 - theta_k) / n_k, mixed over `grid`.

    a b is expanded into terms that depend on (theta, d) and on the number of questions alone.
    """
    n, which = np.unique(trials, return_inverse=True)
    s, f, q = successes, trials - successes, weights**2 / trials
    d, total = grid.dispersion, grid.dispersion + n[:, None]
    theta, complement = grid.theta[:, None], special.expit(-grid.logit_theta)[:, None]
    scale = 1 / (total * (total + 1))

    def summed(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(which, values, len(n)) @ scale)

    products = theta * complement * d**2 * summed(q) + summed(q * s * f)
    products += theta * d * summed(q * f) + complement * d * summed(q * s)
    return float(np.sum(grid.weights * products))


class SharedItemsPosterior(BetaPosterior):
    """Beta posterior of a group's score that knows on how many units it rests.

    Attributes
    ----------
    effective_units : items of equal influence that would be as precise (Kish): few where a small task weighs much
    """

    def __init__(self, a: float, b: float, low: float, high: float, *, effective_units: float) -> None:
        super().__init__(a, b, low, high)
        self.effective_units = effective_units


def effective_counts(
    means: ArrayLike, sds: ArrayLike, *, low: float = 0.0, high: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Successes and trials whose Beta(1, 1) posterior has these means and standard deviations.

    Parameters
    ----------
    means, sds : (K,) posterior mean and standard deviation of each task, on the scale low..high
    low, high : floats; the range of the scores

    Returns
    -------
    successes, trials : (K,) floats on the scale 0..1, at least 0; what `group_posterior` takes

    Raises
    ------
    DataError : a mean outside the range or a standard deviation that no Beta on the range has

    >>> successes, trials = effective_counts([0.75], [np.sqrt(0.75 * 0.25 / 9)])  # Beta(6, 2)
    >>> successes.round(9).tolist(), trials.round(9).tolist()
    ([5.0], [6.0])
    """
    check_range(low, high)
    given, spreads = fitted(means=check_finite(means, "means", 1), sds=check_finite(sds, "sds", 1))
    m, v = (given - low) / (high - low), (spreads / (high - low)) ** 2
    impossible = ~((m > 0) & (m < 1) & (v > 0) & (v < m * (1 - m)))
    if impossible.any():
        k = int(np.flatnonzero(impossible)[0])
        value, spread = given[k], spreads[k]
        raise DataError(
            f"no Beta distribution on [{low:g}, {high:g}] has the moments of task {k}: mean {value:g}, sd {spread:g}"
        )
    size = m * (1 - m) / v - 1
    successes, failures = np.maximum(m * size - 1, 0.0), np.maximum((1 - m) * size - 1, 0.0)
    return successes, successes + failures


def shared_items_posterior(
    scores: ArrayLike,
    tasks: ArrayLike,
    items: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    low: float = 0.0,
    high: float = 1.0,
) -> SharedItemsPosterior:
    """Posterior of the weighted mean of task scores where items recur across tasks, such as translations.

    Parameters
    ----------
    scores : (R,) floats in [low, high]; one row per question of a task
    tasks : (R,) labels; the task of each row
    items : (R,) labels; rows of equal label are forms of one item, or of one passage, in whatever task they stand
    weights : floats >= 0, one per distinct task in sorted order, not all 0; None for equal weights
    low, high : floats; the range of the scores

    Returns
    -------
    SharedItemsPosterior on [low, high]

    Raises
    ------
    DataError : scores out of range, labels or weights of another length

    Notes
    -----
    Items are the clusters of a Dirichlet process: they get weights g ~ Dirichlet(1, ..., 1, m, m), the last
    two for prior items that hold the mean number of rows of every task, all at `low` and all at `high`. The score
    sum_k w_k (sum_i g_i y_ik) / (sum_i g_i n_ik) is linearised in g, which is what the cluster-robust variance does
    (Miller 2024, eq. 4; with the prior items it stays above 0 where all scores agree), and a Beta is matched.
    Each task is centred at its own score, so squared influences are multiplied by C (I - 1) / (I (C - 1)) for a task
    that has C of the I items: 1 for one task and for items that all tasks share. A task of one item is centred at the
    group's score: how far such items lie from their task's mean is judged by how far the tasks lie apart.
    m = 3/4; m = 1 where all scores are `low` or `high` and no item recurs, so that one task gives Beta(1 + S, 1 + F).

    Examples
    --------
    Two tasks with the same two items: the items, not the four rows, are the independent observations.

    >>> shared = shared_items_posterior([1, 0, 1, 0], ["de", "de", "en", "en"], [1, 2, 1, 2])
    >>> apart = shared_items_posterior([1, 0, 1, 0], ["de", "de", "en", "en"], [1, 2, 3, 4])
    >>> round(shared.mean, 9), shared.sd > apart.sd
    (0.5, True)
    """
    check_range(low, high)
    y = check_finite(scores, "scores", 1)
    if not (y.size and y.min() >= low and y.max() <= high and low < high):
        raise DataError(f"scores must lie in [{low:g}, {high:g}], and there must be some; got {len(y)} rows")
    task, item = label_codes(tasks, y.shape, "tasks"), label_codes(items, y.shape, "items")
    rows, n_items = np.bincount(task).astype(float), int(item.max()) + 1
    w = _check_weights(weights, len(rows))
    m = 1.0 if n_items == len(y) and np.isin(y, (low, high)).all() else 0.75
    mean_rows = rows / n_items
    total = rows + 2 * m * mean_rows
    score = (np.bincount(task, y) + m * mean_rows * (low + high)) / total
    mean, mass = float(w @ score), n_items + 2 * m
    pull = w * mass / total
    items_of = _items_of_tasks(task, item)
    centre = np.where(items_of > 1, score, mean)
    together = (n_items - 1) / n_items or 1.0
    lost = np.sqrt(together / np.where(items_of > 1, (items_of - 1) / items_of, together))
    influence = np.bincount(item, (pull * lost)[task] * (y - centre[task]))
    prior = np.array([pull @ (mean_rows * (low - score)), pull @ (mean_rows * (high - score))])
    variance = float(influence @ influence + m * prior @ prior) / (mass * (mass + 1))
    most = (mean - low) * (high - mean) / 3  # that of a Beta with a + b = 2
    matched = BetaPosterior.from_moments(mean, min(variance, most), low, high)
    shares = np.bincount(item, (w / rows)[task]) ** 2
    effective = float(shares.sum() ** 2 / (shares @ shares))
    return SharedItemsPosterior(matched.a, matched.b, low, high, effective_units=effective)


def _items_of_tasks(task: IntArray, item: IntArray) -> FloatArray:
    """Distinct items of each task; float (n_tasks,)."""
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
    """Whole numbers whose running totals are within 1/2 of those of the counts, tasks taken from the smallest up.

    Whole counts stay as they are; the order in which tasks are given does not matter.
    """
    order = np.lexsort((successes, successes + failures))
    back = np.argsort(order)
    return _round_running_total(successes[order])[back], _round_running_total(failures[order])[back]


def _round_running_total(counts: FloatArray) -> FloatArray:
    return np.asarray(np.diff(np.round(np.cumsum(counts)), prepend=0.0))
