"""Partially pooled scores of systems on tasks: each cell is shrunk towards its system and its task."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import (
    FloatArray,
    IntArray,
    as_array,
    check_finite,
    check_level,
    validated_codes,
)
from harness_uq.stats.common.validate_scalars import check_bounds

_RELATIVE_SDS = np.concatenate([[0.0], np.geomspace(0.03, 3.0, 11)])
_KNEE = 0.02
_NEGLIGIBLE = 1e-5  # nodes of the variances with smaller weight are omitted
_FLAT = 1e-12  # precision of the prior of the grand mean


@dataclass(frozen=True, eq=False)
class HierarchicalTable:
    """Partially pooled scores of every system on every task.

    Attributes
    ----------
    systems, tasks : ndarray, shape (n_systems,) and (n_tasks,)
        Distinct labels, sorted.
    n_questions : ndarray, shape (n_systems, n_tasks)
        Number of scores in each cell.
    raw : ndarray, shape (n_systems, n_tasks)
        Means of the cells; NaN if a cell has no score.
    mean, sd : ndarray, shape (n_systems, n_tasks)
        Partially pooled scores and their posterior standard deviations, also for cells without scores.
    pooling : ndarray, shape (n_systems, n_tasks)
        Degree of pooling, from 0 (the raw mean) to 1 (system and task effects only).
    bounds : tuple of float or None
        Bounds (low, high) of the scores.
    centre, spread : ndarray, shape (n_systems, n_tasks)
        Mean and standard deviation of the normal posterior, on the logit scale if there are bounds.
    """

    systems: IntArray
    tasks: IntArray
    n_questions: FloatArray
    raw: FloatArray
    mean: FloatArray
    sd: FloatArray
    pooling: FloatArray
    bounds: tuple[float, float] | None
    centre: FloatArray
    spread: FloatArray

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Equal-tailed credible intervals, normal on the logit scale if there are bounds.

        Parameters
        ----------
        level : float, optional
            Probability of the intervals (default 0.95).

        Returns
        -------
        low, high : ndarray, shape (n_systems, n_tasks)
            Interval limits.
        """
        half = -special.ndtri((1 - check_level(level)) / 2) * self.spread
        if self.bounds is None:
            return self.centre - half, self.centre + half
        low, width = self.bounds[0], self.bounds[1] - self.bounds[0]
        ends = special.expit(self.centre - half), special.expit(self.centre + half)
        return low + width * ends[0], low + width * ends[1]


def hierarchical_table(
    scores: ArrayLike,
    systems: ArrayLike,
    tasks: ArrayLike,
    questions: ArrayLike | None = None,
    *,
    bounds: tuple[float, float] | None = None,
) -> HierarchicalTable:
    """Partially pooled scores of all systems on all tasks, for new questions from these tasks.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Finite scores, one per answer.
    systems, tasks : array_like, shape (n,)
        Labels.
    questions : array_like, shape (n,), optional
        Labels of questions within tasks, if systems answered the same questions. The default is different questions.
    bounds : tuple of float, optional
        Bounds of the scores. The default is (0, 1) if all are 0 or 1, otherwise unbounded.

    Returns
    -------
    HierarchicalTable
        Pooled scores.

    Raises
    ------
    DataError
        If labels have another length or a score is out of bounds.
    NotEstimableError
        If there are fewer than two systems or two tasks, or scores do not vary.

    Notes
    -----
    The model is mean_st = mu + a_s + b_t + g_st + e_st with normal a, b and g. With bounds it applies to empirical
    logits, with half a score added at either end (Haldane 1956). The error variance is that within cells divided by the
    number of scores of the cell; for logits it is proportional to 1 / (p (1 - p)) at the pooled score p. The part of
    the error that systems share on common questions shifts the task as a whole. Given the three variances the posterior
    is linear (Henderson 1975). The variances are integrated over 12 values each, relative to the standard deviation of
    the raw means, with the weights of `crossed_posterior`. For binary scores the coverage of nominal 95 % intervals is
    0.94 to 0.97 with 100 questions per cell, and 0.90 to 0.94 with 30, for which logits are not yet normal.

    References
    ----------
    Haldane (1956), Ann. Hum. Genet. 20, 309-311; Henderson (1975), Biometrics 31, 423-447.

    Examples
    --------
    >>> right = [1, 1, 1, 0,  1, 0, 1, 0,  1, 1, 0, 0,  0, 1, 0, 0]
    >>> table = hierarchical_table(right, [0] * 8 + [1] * 8, ([0] * 4 + [1] * 4) * 2)
    >>> table.raw[0].tolist(), bool(table.mean[0, 0] < 0.75)
    ([0.75, 0.5], True)
    """
    if bounds is not None:
        check_bounds(bounds)
    y = check_finite(scores, "scores", 1)
    if bounds is not None and not ((y >= bounds[0]) & (y <= bounds[1])).all():
        raise DataError(f"scores must lie in [{bounds[0]:g}, {bounds[1]:g}]; got {y.min():g} to {y.max():g}")
    system, task = validated_codes(systems, y.shape, "systems"), validated_codes(tasks, y.shape, "tasks")
    system_names, task_names = _names(systems, system), _names(tasks, task)
    shape = len(system_names), len(task_names)
    if min(shape) < 2:
        raise NotEstimableError(f"pooling needs two systems and two tasks; got {shape[0]} and {shape[1]}")
    if bounds is None and np.isin(y, (0.0, 1.0)).all():
        bounds = 0.0, 1.0
    cell = system * shape[1] + task
    counts = np.bincount(cell, minlength=shape[0] * shape[1]).astype(float)
    raw = np.divide(np.bincount(cell, y, len(counts)), counts, out=np.full(len(counts), np.nan), where=counts > 0)
    shared = 0.0 if questions is None else _shared(y - raw[cell], task, questions, system)
    within = _within(y - raw[cell], cell, counts.reshape(shape)).ravel()
    level, slope = raw, np.ones(len(counts))
    if bounds is not None:
        level, slope = _on_logits((raw - bounds[0]) / (bounds[1] - bounds[0]), counts.reshape(shape))
        slope = slope / (bounds[1] - bounds[0])
    error = within * slope**2 / np.maximum(counts, 1)
    common = shared / np.mean(slope**-2.0) / np.maximum(counts.reshape(shape).max(axis=0), 1)
    cells = _Cells(shape, level, error, counts > 0, common)
    centre, spread, raw_weight = cells.pooled()
    if bounds is not None:  # repeat with errors at the pooled scores
        pooled_slope = _slope(centre, counts) / (bounds[1] - bounds[0])
        centre, spread, raw_weight = replace(cells, error=error * pooled_slope / slope).pooled()
    mean, sd = _on_scale_of_scores(centre, spread, bounds)
    n, raw_means, mean, sd, pooling, centre, spread = (
        array.reshape(shape) for array in (counts, raw, mean, sd, 1 - raw_weight, centre, spread)
    )
    return HierarchicalTable(system_names, task_names, n, raw_means, mean, sd, pooling, bounds, centre, spread)


def _names(labels: ArrayLike, codes: IntArray) -> IntArray:
    """Label of each code."""
    given: NDArray[Any] = as_array(labels)
    return given[np.unique(codes, return_index=True)[1]]


def _margins(values: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Means of observed cells by system, shape (S, 1), by task, shape (T,), and overall."""
    sums = np.where(counts > 0, counts * np.nan_to_num(values), 0.0)
    by_system = sums.sum(axis=1) / np.maximum(counts.sum(axis=1), 1)
    return by_system[:, None], sums.sum(axis=0) / np.maximum(counts.sum(axis=0), 1), float(sums.sum() / counts.sum())


def _on_logits(share: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Empirical logit of each cell (Haldane 1956), and its slope at a score smoothed over system and task.

    The slope at the cell's own score would depend on its random error: cells with high scores would have less weight.
    """
    n = counts.ravel()
    cell_score = np.where(n > 0, (np.nan_to_num(share) * n + 0.5) / (n + 1), np.nan)
    system, task, overall = _margins(share.reshape(counts.shape), counts)
    smallest = 0.5 / (counts.max() + 1)
    smooth = np.clip(system + task - overall, smallest, 1 - smallest).ravel()
    return special.logit(cell_score), 1 / (smooth * (1 - smooth))


def _slope(logit: FloatArray, counts: FloatArray) -> FloatArray:
    """Slope of the logit function at these logits, limited to its value at half an answer of the largest cell."""
    share = special.expit(logit)
    return np.asarray(np.minimum(1 / (share * (1 - share)), 2 * counts.max()))


def _on_scale_of_scores(
    centre: FloatArray, spread: FloatArray, bounds: tuple[float, float] | None
) -> tuple[FloatArray, FloatArray]:
    if bounds is None:
        return centre, spread
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    probabilities = weights / weights.sum()
    values = special.expit(centre[:, None] + spread[:, None] * nodes)
    mean = values @ probabilities
    sd = np.sqrt(np.maximum(values**2 @ probabilities - mean**2, 0.0))
    width = bounds[1] - bounds[0]
    return np.asarray(bounds[0] + width * mean), np.asarray(width * sd)


def _within(residual: FloatArray, cell: IntArray, counts: FloatArray) -> FloatArray:
    """Variance within each cell, shape (S, T), as a product of a system factor and a task factor."""
    squares = np.bincount(cell, residual**2, counts.size).reshape(counts.shape)
    df = np.maximum(counts - 1, 0.0)
    if not squares.sum() > 0:
        raise NotEstimableError("no cell has scores that differ, so that the error of its mean is not estimable")
    overall = squares.sum() / df.sum()
    system, task = ((squares.sum(axis=axis) + overall) / (df.sum(axis=axis) + 1) for axis in (1, 0))
    return np.asarray(system[:, None] * task / overall)


def _shared(residual: FloatArray, task: IntArray, questions: ArrayLike, system: IntArray) -> float:
    """Variance of one score that systems share on the same question: the mean product of their residuals."""
    codes = validated_codes(questions, residual.shape, "questions")
    _, item = np.unique(task * np.int64(codes.max() + 1) + codes, return_inverse=True)
    _, question_and_system = np.unique(item * np.int64(system.max() + 1) + system, return_inverse=True)
    products = np.sum(np.bincount(item, residual) ** 2) - np.sum(np.bincount(question_and_system, residual) ** 2)
    pairs = np.sum(np.bincount(item) ** 2.0) - np.sum(np.bincount(question_and_system) ** 2.0)
    return max(float(products / pairs), 0.0) if pairs else 0.0


@dataclass(frozen=True, eq=False)
class _Cells:
    """Means of the cells (flat) and error variances; `common`, shape (T,), is the part of them common to a task."""

    shape: tuple[int, int]
    raw: FloatArray
    error: FloatArray
    seen: NDArray[np.bool_]
    common: FloatArray

    def pooled(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean, sd and weight of the raw score, averaged over the posterior of the three variances."""
        scale = float(np.nanstd(self.raw)) or float(np.sqrt(self.error.max()))
        nodes = list(product(_RELATIVE_SDS * scale, repeat=3))
        prior = np.gradient(_RELATIVE_SDS) / (_RELATIVE_SDS + _KNEE)
        log_mass = np.array([self._fit(*node)[0] for node in nodes])
        mass = np.exp(log_mass - log_mass.max()) * [a * b * c for a, b, c in product(prior, repeat=3)]
        mass /= mass.sum()
        used = np.flatnonzero(mass > _NEGLIGIBLE)
        moments = np.array([self._conditional_moments(*nodes[i]) for i in used])
        weights = (mass[used] / mass[used].sum())[:, None]
        mean = (weights * moments[:, 0]).sum(axis=0)
        variance = (weights * (moments[:, 1] + (moments[:, 0] - mean) ** 2)).sum(axis=0)
        return mean, np.sqrt(variance), (weights * moments[:, 2]).sum(axis=0)

    def _design(self) -> FloatArray:
        n_systems, n_tasks = self.shape
        system, task = np.divmod(np.arange(n_systems * n_tasks), n_tasks)
        return np.column_stack([np.ones(len(task)), np.eye(n_systems)[system], np.eye(n_tasks)[task]])

    def _unshared_error(self) -> FloatArray:
        """Error variance of each cell minus the part that its task shares."""
        shared = np.tile(self.common, self.shape[0])
        return np.maximum(self.error - shared, 0.1 * self.error)

    def _fit(self, sd_a: float, sd_b: float, sd_g: float) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Log likelihood, (mu, a, b + shared error) with their covariance, and the precision of the cells."""
        seen = self.seen
        precision = np.where(seen, 1 / (sd_g**2 + self._unshared_error()), 0.0)
        spread = np.concatenate([[1 / _FLAT], np.full(self.shape[0], sd_a**2 + 1e-14), sd_b**2 + self.common + 1e-14])
        y = np.where(seen, self.raw, 0.0)
        right = self._sums(precision * y)
        information = self._information(precision) + np.diag(1 / spread)
        covariance = np.asarray(np.linalg.inv(information), np.float64)
        effects = covariance @ right
        rest = float(precision @ y**2 - right @ effects)
        log_det = float(np.linalg.slogdet(information)[1]) + np.log(spread).sum() - np.log(precision[seen]).sum()
        return -0.5 * (log_det + rest), effects, covariance, precision

    def _sums(self, values: FloatArray) -> FloatArray:
        """Design' values: sums over all cells, by system and by task."""
        table = values.reshape(self.shape)
        return np.concatenate([[table.sum()], table.sum(axis=1), table.sum(axis=0)])

    def _information(self, precision: FloatArray) -> FloatArray:
        """Design' diag(precision) design."""
        table, sums = precision.reshape(self.shape), self._sums(precision)
        information = np.diag(sums)
        information[0], information[:, 0] = sums, sums
        by_system, by_task = slice(1, 1 + self.shape[0]), slice(1 + self.shape[0], None)
        information[by_system, by_task], information[by_task, by_system] = table, table.T
        return information

    def _conditional_moments(self, sd_a: float, sd_b: float, sd_g: float) -> FloatArray:
        """Mean, variance and weight of the raw score of each cell given the variances, shape (3, n_cells)."""
        _, effects, covariance, precision = self._fit(sd_a, sd_b, sd_g)
        raw_weight = sd_g**2 * precision
        true_task = sd_b**2 / (sd_b**2 + self.common + 1e-14)
        rows = self._design() * (1 - raw_weight)[:, None]
        rows[:, 1 + self.shape[0] :] -= self._design()[:, 1 + self.shape[0] :] * (1 - true_task)
        mean = rows @ effects + raw_weight * np.where(self.seen, self.raw, 0.0)
        own_variance = np.where(self.seen, raw_weight * self._unshared_error(), sd_g**2)
        variance = own_variance + np.tile(true_task * self.common, self.shape[0])
        return np.array([mean, np.einsum("ij,jk,ik->i", rows, covariance, rows) + variance, raw_weight])
