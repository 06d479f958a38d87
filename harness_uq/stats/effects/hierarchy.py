"""Scores of systems on tasks, partially pooled: each cell leans on its system, its task and the whole table."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.common.arrays import FloatArray, IntArray, as_array, check_finite, check_level, label_codes
from harness_uq.stats.common.scalars import check_bounds

_RELATIVE_SDS = np.concatenate([[0.0], np.geomspace(0.03, 3.0, 11)])
_KNEE = 0.02
_LIGHT = 1e-5  # weight under which a node of the variances is left out
_FLAT = 1e-12  # precision of the prior of the grand mean


@dataclass(frozen=True, eq=False)
class HierarchicalTable:
    """Scores of every system on every task.

    Attributes
    ----------
    systems, tasks : (S,), (T,) distinct labels, sorted
    n_questions : (S, T) scores in each cell
    raw : (S, T) plain means; NaN where there is no score
    mean, sd : (S, T) partially pooled score and its posterior sd, also where there is no score
    pooling : (S, T) in [0, 1]; how far the raw score is set aside: 0 keeps it, 1 goes by system and task alone
    bounds : (low, high) of the scores, or None
    centre, spread : (S, T) normal posterior that `mean` and `sd` are of, on the logit scale where there are bounds
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
        """Credible intervals (S, T), (S, T), equal tails: normal on the logit scale within bounds, else as they are."""
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
    """Partially pooled scores of all systems on all tasks, for new questions of these tasks.

    Parameters
    ----------
    scores : (n,) finite; one row per answer
    systems, tasks : (n,) labels
    questions : (n,) labels within tasks, where systems answered the same ones; None where each had its own
    bounds : range of the scores; (0, 1) where all are 0 or 1, None for unbounded ones

    Returns
    -------
    HierarchicalTable

    Raises
    ------
    DataError : labels of another length
    NotEstimableError : fewer than two systems or two tasks, or scores that do not vary

    Notes
    -----
    Raw mean_st = mu + a_s + b_t + g_st + e_st with normal a, b, g. Within bounds this holds for their logits, with
    half a score added at either end (Haldane 1956, Ann. Hum. Genet. 20:309). The error's variance is that within
    cells over the cell's scores, for logits in proportion to 1 / (p (1 - p)) at the pooled score p; the part of it
    that systems on the same questions share moves the task as a whole. Given the three variances all is linear
    (Henderson 1975, Biometrics 31:423); they are integrated over 12 values each of sd / sd of the raw means, weighted
    as in `crossed_posterior`. Right and wrong answers with 100 questions a cell: .94 to .97 of nominal 95 % intervals
    hold the score; with 30, where logits are not normal yet, .90 to .94.

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
    system, task = label_codes(systems, y.shape, "systems"), label_codes(tasks, y.shape, "tasks")
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
    centre, spread, kept = cells.pooled()
    if bounds is not None:  # once more, with errors at pooled scores instead of smoothed ones
        anew = _slope(centre, counts) / (bounds[1] - bounds[0])
        centre, spread, kept = replace(cells, error=error * anew / slope).pooled()
    mean, sd = _on_scale_of_scores(centre, spread, bounds)
    n, plain, mean, sd, aside, centre, spread = (
        part.reshape(shape) for part in (counts, raw, mean, sd, 1 - kept, centre, spread)
    )
    return HierarchicalTable(system_names, task_names, n, plain, mean, sd, aside, bounds, centre, spread)


def _names(labels: ArrayLike, codes: IntArray) -> IntArray:
    """The label of each code."""
    given: NDArray[Any] = as_array(labels)
    return given[np.unique(codes, return_index=True)[1]]


def _margins(values: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Means by system, by task and of all, (S, 1), (T,), of what is known of the cells."""
    known = np.where(counts > 0, counts * np.nan_to_num(values), 0.0)
    by_system = known.sum(axis=1) / np.maximum(counts.sum(axis=1), 1)
    return by_system[:, None], known.sum(axis=0) / np.maximum(counts.sum(axis=0), 1), float(known.sum() / counts.sum())


def _on_logits(share: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Empirical logit of each cell (Haldane 1956), and its slope at a score smoothed over system and task.

    At the cell's own score the slope would follow its luck: cells that did well would weigh less.
    """
    n = counts.ravel()
    own = np.where(n > 0, (np.nan_to_num(share) * n + 0.5) / (n + 1), np.nan)
    system, task, whole = _margins(share.reshape(counts.shape), counts)
    least = 0.5 / (counts.max() + 1)
    smooth = np.clip(system + task - whole, least, 1 - least).ravel()
    return special.logit(own), 1 / (smooth * (1 - smooth))


def _slope(logit: FloatArray, counts: FloatArray) -> FloatArray:
    """Slope of the logit at these logits; no steeper than at half an answer of the largest cell."""
    share = special.expit(logit)
    return np.asarray(np.minimum(1 / (share * (1 - share)), 2 * counts.max()))


def _on_scale_of_scores(
    centre: FloatArray, spread: FloatArray, bounds: tuple[float, float] | None
) -> tuple[FloatArray, FloatArray]:
    if bounds is None:
        return centre, spread
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    chances = weights / weights.sum()
    values = special.expit(centre[:, None] + spread[:, None] * nodes)
    mean = values @ chances
    sd = np.sqrt(np.maximum(values**2 @ chances - mean**2, 0.0))
    width = bounds[1] - bounds[0]
    return np.asarray(bounds[0] + width * mean), np.asarray(width * sd)


def _within(residual: FloatArray, cell: IntArray, counts: FloatArray) -> FloatArray:
    """Variance within each cell, (S, T), as the product of what its system and its task have."""
    squares = np.bincount(cell, residual**2, counts.size).reshape(counts.shape)
    df = np.maximum(counts - 1, 0.0)
    if not squares.sum() > 0:
        raise NotEstimableError("no cell has scores that differ: the error of its mean cannot be seen")
    whole = squares.sum() / df.sum()
    system, task = ((squares.sum(axis=axis) + whole) / (df.sum(axis=axis) + 1) for axis in (1, 0))
    return np.asarray(system[:, None] * task / whole)


def _shared(residual: FloatArray, task: IntArray, questions: ArrayLike, system: IntArray) -> float:
    """Variance of one score that systems on the same question share: the mean product of their residuals."""
    codes = label_codes(questions, residual.shape, "questions")
    _, item = np.unique(task * np.int64(codes.max() + 1) + codes, return_inverse=True)
    _, own = np.unique(item * np.int64(system.max() + 1) + system, return_inverse=True)
    products = np.sum(np.bincount(item, residual) ** 2) - np.sum(np.bincount(own, residual) ** 2)
    pairs = np.sum(np.bincount(item) ** 2.0) - np.sum(np.bincount(own) ** 2.0)
    return max(float(products / pairs), 0.0) if pairs else 0.0


@dataclass(frozen=True, eq=False)
class _Cells:
    """Raw means of the cells, flat, with error variances; `common` is the part of them that a task shares, (T,)."""

    shape: tuple[int, int]
    raw: FloatArray
    error: FloatArray
    seen: NDArray[np.bool_]
    common: FloatArray

    def pooled(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean, sd and weight of the raw score, over the posterior of the three variances."""
        scale = float(np.nanstd(self.raw)) or float(np.sqrt(self.error.max()))
        nodes = list(product(_RELATIVE_SDS * scale, repeat=3))
        prior = np.gradient(_RELATIVE_SDS) / (_RELATIVE_SDS + _KNEE)
        log_mass = np.array([self._fit(*node)[0] for node in nodes])
        mass = np.exp(log_mass - log_mass.max()) * [a * b * c for a, b, c in product(prior, repeat=3)]
        mass /= mass.sum()
        used = np.flatnonzero(mass > _LIGHT)
        answers = np.array([self._answer(*nodes[i]) for i in used])
        weights = (mass[used] / mass[used].sum())[:, None]
        mean = (weights * answers[:, 0]).sum(axis=0)
        variance = (weights * (answers[:, 1] + (answers[:, 0] - mean) ** 2)).sum(axis=0)
        return mean, np.sqrt(variance), (weights * answers[:, 2]).sum(axis=0)

    def _design(self) -> FloatArray:
        n_systems, n_tasks = self.shape
        system, task = np.divmod(np.arange(n_systems * n_tasks), n_tasks)
        return np.column_stack([np.ones(len(task)), np.eye(n_systems)[system], np.eye(n_tasks)[task]])

    def _own(self) -> FloatArray:
        """Error variance of each cell less what its task shares."""
        shared = np.tile(self.common, self.shape[0])
        return np.maximum(self.error - shared, 0.1 * self.error)

    def _fit(self, sd_a: float, sd_b: float, sd_g: float) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Log likelihood, (mu, a, b + shared error) and their covariance, and the cells' precision."""
        seen = self.seen
        precision = np.where(seen, 1 / (sd_g**2 + self._own()), 0.0)
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
        """Design' values: over all cells, by system, by task."""
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

    def _answer(self, sd_a: float, sd_b: float, sd_g: float) -> FloatArray:
        """Mean, variance and weight of the raw score of each cell, (3, cells)."""
        _, effects, covariance, precision = self._fit(sd_a, sd_b, sd_g)
        kept = sd_g**2 * precision
        true_task = sd_b**2 / (sd_b**2 + self.common + 1e-14)
        rows = self._design() * (1 - kept)[:, None]
        rows[:, 1 + self.shape[0] :] -= self._design()[:, 1 + self.shape[0] :] * (1 - true_task)
        mean = rows @ effects + kept * np.where(self.seen, self.raw, 0.0)
        left = np.where(self.seen, kept * self._own(), sd_g**2) + np.tile(true_task * self.common, self.shape[0])
        return np.array([mean, np.einsum("ij,jk,ik->i", rows, covariance, rows) + left, kept])
