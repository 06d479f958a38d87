"""How many answers people have to label, and which, so that a corrected score or difference has a given interval."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, as_floats, check_level, validated_codes
from harness_uq.stats.common.validate_scalars import check_number, check_range, check_rng
from harness_uq.stats.labels.judge import judge_corrected_difference, judge_corrected_posterior
from harness_uq.stats.labels.label_arrays import label_weights

_FEWEST_PILOT = 10
_N_BINS = 4
_N_IMPUTATIONS = 10
_N_DRAWS = 2000
_UNIFORM_SHARE = 0.25  # of the labels, so that no probability is small even if the pilot misjudges a stratum
_PRIOR_LABELS = 2.0  # weight of the average stratum in the variance of each stratum
_LABELS_OF_ANY_STRATUM = 0.3  # number of the pilot's labels of any stratum among those that replace missing labels


@dataclass(frozen=True, slots=True, eq=False)
class LabelDesign:
    """Numbers of labels by strata of the grades.

    `strata` (n_questions,) are the stratum of each question, and `grades` (n_strata, n_systems) the mean grades there.
    `n_questions`, `n_pilot` and `n_labels` (n_strata,) are the numbers of questions, of those with a label already, and
    of those to have a label in the end, with which `width` is expected. `n_uniform` labels of questions drawn uniformly
    would give the same width; None if not even labels of all questions would. `pilot_weights` (n_questions,) are the
    numbers of questions of its stratum for which each question of the pilot stands, 0 for other questions; None if the
    pilot was drawn with equal probabilities within each stratum.
    """

    strata: IntArray
    grades: FloatArray
    n_questions: IntArray
    n_pilot: IntArray
    n_labels: IntArray
    width: float
    n_uniform: int | None
    pilot_weights: FloatArray | None = None

    @property
    def probabilities(self) -> FloatArray:
        """Inverse weight of each question in the correction, shape (n_questions,).

        With equal probabilities of the pilot, it is the probability of a label in the end.
        """
        return _label_probabilities(self.strata, self.n_labels, self.pilot_weights)

    def draw(self, has_label: ArrayLike, rng: np.random.Generator | None = None) -> IntArray:
        """Questions to label, at random within each stratum, besides those that have a label.

        `has_label` (n_questions,) marks questions with a label. The indices are in increasing order.
        """
        order = _order(self.strata, np.asarray(has_label, bool), check_rng(rng))
        chosen = (order < self.n_labels[self.strata]) & ~np.asarray(has_label, bool)
        return np.flatnonzero(chosen)


def design_labels(
    judge: ArrayLike,
    human: ArrayLike,
    width: float,
    *,
    probabilities: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    low: float = 0.0,
    high: float = 1.0,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> LabelDesign:
    """Plan labels so that the interval of a corrected score, or difference of two scores, has this expected width.

    Questions are divided into strata by the grades of all systems: by their combination if grades are 0 or 1, otherwise
    by quartiles of the grade or of the difference of both grades. Labels are allocated by Neyman's rule, in proportion
    to the number of questions in a stratum and the standard deviation of what the grades do not explain.

    `judge` has the grades (n_questions,) of one system or (n_questions, 2) of two, and `human` the labels of a random
    pilot sample, NaN without one. A question with labels of one of two systems counts as unlabeled. `probabilities` in
    (0, 1] are those with which the questions of the pilot were drawn, up to a common factor (default: a simple random
    sample). The result is the smallest design with this width for labels in [low, high]. Raises DataError if shapes
    differ, a grade is missing, `width` is not positive, or a probability is not in (0, 1]; NotEstimableError if the
    pilot has fewer than ten labels, or labels of all questions do not give this width.

    The expected width is the mean over ten completed data sets, in which the pilot's labels of the same stratum replace
    the missing labels, of the width of `judge_corrected_posterior` or `judge_corrected_difference`. Within a stratum,
    pilot and further labels together are a random sample, whose probability is the share of questions with a label.

    If the pilot was drawn with unequal probabilities, its labels are weighted by their inverse in all of these steps.
    Within a stratum, the pilot then gives one estimate of the mean, and the further labels with the pilot as a part of
    the stratum that is known give another one. The correction uses the average of both, weighted so that it is the
    random sample above if the probabilities are equal, with the pilot's number of labels replaced by Kish's effective
    number. Sources: Neyman (1934), J. Royal Statistical Society 97, 558-625; Särndal, Swensson and Wretman (1992),
    "Model Assisted Survey Sampling", section 12.2, for the allocation by residuals; Hartley (1962), Proc. Social
    Statistics Section of the American Statistical Association, 203-206, for the average of two samples.

    >>> grades = [1] * 700 + [0] * 300
    >>> labels = [1] * 33 + [0] * 2 + [float("nan")] * 665 + [0] * 10 + [1] * 5 + [float("nan")] * 285
    >>> design = design_labels(grades, labels, 0.1)
    >>> design.n_pilot.tolist(), bool(design.n_labels.sum() < design.n_uniform)
    ([15, 35], True)
    """
    f, h = _two_dimensional(judge, "judge"), _two_dimensional(human, "human")
    if f.shape != h.shape or not np.isfinite(f).all():
        raise DataError(f"judge must have no missing grades and the shape of human, {h.shape}; got {f.shape}")
    check_number(width, "width", above=0)
    check_range(low, high)
    check_level(level)
    rng = check_rng(rng)
    codes = None if clusters is None else validated_codes(clusters, (len(f),))
    has_label = np.asarray(np.isfinite(h).all(axis=1))
    if has_label.sum() < _FEWEST_PILOT:
        raise NotEstimableError(f"a plan requires a pilot of at least {_FEWEST_PILOT} labels; got {has_label.sum()}")
    strata = _strata(f)
    weights = None if probabilities is None else _pilot_weights(probabilities, strata, has_label)
    planner = _Planner(f, h, strata, has_label, weights, codes, (low, high), level, rng)
    most = planner.expected_width(planner.sizes)
    if most > width:
        raise NotEstimableError(
            f"a width of {width:.3g} cannot be reached, because the interval would be about {most:.3g} wide with "
            f"labels of all {len(f)} questions. Request a wider interval, or grade more questions."
        )
    n_labels = planner.allocation(planner.smallest_total(width, uniform=False), uniform=False)
    n_uniform = planner.smallest_total(width, uniform=True)
    grades = np.column_stack([np.bincount(strata, column) / planner.sizes for column in f.T])
    expected = planner.expected_width(n_labels)
    return LabelDesign(strata, grades, planner.sizes, planner.n_pilot, n_labels, expected, n_uniform, weights)


class _Planner:
    """Completed data sets, and the expected width of an interval for given numbers of labels."""

    def __init__(
        self,
        f: FloatArray,
        h: FloatArray,
        strata: IntArray,
        has_label: NDArray[np.bool_],
        weights: FloatArray | None,
        clusters: IntArray | None,
        bounds: tuple[float, float],
        level: float,
        rng: np.random.Generator,
    ) -> None:
        self.f, self.strata, self.weights, self.clusters = f, strata, weights, clusters
        self.bounds, self.level = bounds, level
        self.sizes = np.bincount(strata)
        self.n_pilot = np.bincount(strata[has_label], minlength=len(self.sizes))
        self.shares = self.sizes * _spread(f, h, strata, has_label, weights)
        self.orders = [_order(strata, has_label, rng) for _ in range(_N_IMPUTATIONS)]
        self.completed = [_completed(h, strata, has_label, weights, rng) for _ in range(_N_IMPUTATIONS)]

    def allocation(self, total: int, *, uniform: bool) -> IntArray:
        """Numbers of labels of the strata: at least those of the pilot, and at least two if there are as many."""
        even = self.sizes / self.sizes.sum()
        target = even if uniform else _UNIFORM_SHARE * even + (1 - _UNIFORM_SHARE) * self.shares / self.shares.sum()
        fewest = np.maximum(self.n_pilot, np.minimum(2, self.sizes))
        # the scale at which the limited numbers add up to the total
        low, high = 0.0, total / max(float(target[target > 0].min()), 1e-12)
        for _ in range(60):
            scale = (low + high) / 2
            is_small = np.clip(scale * target, fewest, self.sizes).sum() < total
            low, high = (scale, high) if is_small else (low, scale)
        return np.asarray(np.rint(np.clip(high * target, fewest, self.sizes)), np.int64)

    def smallest_total(self, width: float, *, uniform: bool) -> int:
        """The smallest total number of labels with at most this expected width."""
        low, high = int(self.n_pilot.sum()), int(self.sizes.sum())
        while low < high:
            middle = (low + high) // 2
            if self.expected_width(self.allocation(middle, uniform=uniform)) <= width:
                high = middle
            else:
                low = middle + 1
        return int(self.allocation(high, uniform=uniform).sum())

    def expected_width(self, n_labels: IntArray) -> float:
        """Mean width over the completed data sets."""
        return float(np.mean([self._width(n_labels, i) for i in range(_N_IMPUTATIONS)]))

    def _width(self, n_labels: IntArray, i: int) -> float:
        is_labeled = self.orders[i] < n_labels[self.strata]
        h = np.where(is_labeled[:, None], self.completed[i], np.nan)
        correct = partial(
            judge_corrected_posterior if self.f.shape[1] == 1 else judge_corrected_difference,
            clusters=self.clusters,
            probabilities=_label_probabilities(self.strata, n_labels, self.weights),
            low=self.bounds[0],
            high=self.bounds[1],
            n_draws=_N_DRAWS,
        )
        low, high = correct(*self.f.T, *h.T).interval(self.level)
        return float(high - low)


def _two_dimensional(values: ArrayLike, name: str) -> FloatArray:
    array = as_floats(values, name)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] not in (1, 2) or not len(array):
        raise DataError(f"{name} must have shape (n_questions,) or (n_questions, 2); got {array.shape}")
    return array


def _strata(f: FloatArray) -> IntArray:
    """Combinations of grades of 0 and 1; otherwise quartiles of the grade, or of the difference of both."""
    if np.isin(f, (0.0, 1.0)).all():
        return np.unique(f, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
    grade = f[:, 0] if f.shape[1] == 1 else f[:, 0] - f[:, 1]
    ends = np.quantile(grade, np.arange(1, _N_BINS) / _N_BINS)
    return np.unique(np.searchsorted(ends, grade), return_inverse=True)[1].astype(np.int64)


def _pilot_weights(probabilities: ArrayLike, strata: IntArray, has_label: NDArray[np.bool_]) -> FloatArray | None:
    """Inverse probabilities of the pilot, 0 for other questions, with the number of questions as the sum of a stratum.

    None if the probabilities are equal within each stratum.

    >>> strata, has_label = np.array([0, 0, 0, 0, 1, 1]), np.array([True, True, False, False, False, True])
    >>> _pilot_weights([0.1, 0.3, 0, 0, 0, 0.2], strata, has_label).round(6).tolist()
    [3.0, 1.0, 0.0, 0.0, 0.0, 2.0]
    """
    weights = np.zeros(len(strata))
    weights[has_label] = label_weights(probabilities, has_label)
    sums, n = np.bincount(strata, weights), np.bincount(strata[has_label], minlength=strata.max() + 1)
    weights *= (np.bincount(strata) / np.where(sums > 0, sums, 1.0))[strata]
    equal = (np.bincount(strata) / np.maximum(n, 1))[strata]
    return None if np.allclose(weights[has_label], equal[has_label]) else weights


def _effective_pilot(strata: IntArray, weights: FloatArray) -> FloatArray:
    """Kish's effective number of labels of the pilot in each stratum."""
    squares = np.bincount(strata, weights**2)
    return np.divide(np.bincount(strata, weights) ** 2, squares, out=np.zeros_like(squares), where=squares > 0)


def _label_probabilities(strata: IntArray, n_labels: IntArray, weights: FloatArray | None) -> FloatArray:
    """Inverse weight in the correction of each question, if it is in the pilot or among the further labels.

    The pilot's share of the estimate is 1 without further labels, and 0 if all questions of the stratum have labels.

    >>> strata, weights = np.zeros(10, int), np.array([7.5, 2.5] + [0] * 8)
    >>> p = _label_probabilities(strata, np.array([5]), weights)  # two labels of the pilot and three others
    >>> round(float((1 / p[:5]).sum()), 6)
    10.0
    """
    sizes = np.bincount(strata)
    if weights is None:
        return np.asarray((n_labels / sizes)[strata])
    rest = sizes - np.bincount(strata[weights > 0], minlength=len(sizes))
    new = np.maximum(n_labels - (sizes - rest), 0)
    effective = _effective_pilot(strata, weights)
    share = effective * (rest - new) / np.maximum(rest * (effective + new), 1e-12)
    of_others = np.where(new > 0, (1 - share) * rest / np.maximum(new, 1), sizes / n_labels)
    inverse = np.where(weights > 0, share[strata] * weights + (1 - share)[strata], of_others[strata])
    return np.minimum(1.0 / inverse, 1.0)


def _spread(
    f: FloatArray, h: FloatArray, strata: IntArray, has_label: NDArray[np.bool_], weights: FloatArray | None
) -> FloatArray:
    """Standard deviation in each stratum of what the grades leave unexplained, shrunk towards that of all strata."""
    sign = np.array([1.0] if f.shape[1] == 1 else [1.0, -1.0])
    x, y, groups = (f @ sign)[has_label], (h @ sign)[has_label], strata[has_label]
    n, sizes = np.bincount(groups, minlength=strata.max() + 1), np.bincount(strata)
    w = (sizes / np.maximum(n, 1))[groups] if weights is None else weights[has_label]
    effective = n if weights is None else _effective_pilot(strata, weights)
    x_mean, y_mean = np.average(x, weights=w), np.average(y, weights=w)
    variance = float(w @ (x - x_mean) ** 2)
    slope = float(w @ ((x - x_mean) * (y - y_mean))) / variance if variance > 0 else 0.0
    squares = (y - y_mean - slope * (x - x_mean)) ** 2
    overall = max(float(np.average(squares, weights=w)), 1e-12)
    sums = effective * np.bincount(groups, w * squares, minlength=len(sizes)) / sizes
    return np.sqrt((sums + _PRIOR_LABELS * overall) / (effective + _PRIOR_LABELS))


def _order(strata: IntArray, has_label: NDArray[np.bool_], rng: np.random.Generator) -> IntArray:
    """Rank of each question in its stratum: those with a label first, the others at random."""
    key = np.where(has_label, -1.0, rng.random(len(strata)))
    by_stratum = np.lexsort((key, strata))
    starts = np.concatenate([[0], np.cumsum(np.bincount(strata))])
    ranks = np.empty(len(strata), np.int64)
    ranks[by_stratum] = np.arange(len(strata)) - starts[strata[by_stratum]]
    return ranks


def _completed(
    h: FloatArray, strata: IntArray, has_label: NDArray[np.bool_], weights: FloatArray | None, rng: np.random.Generator
) -> FloatArray:
    """Labels of all questions: missing ones are drawn from the pilot, mostly from the same stratum.

    A question of the pilot with the weight w stands for w - 1 questions without a label.
    """
    complete = h.copy()
    pilot = np.flatnonzero(has_label)

    def choose(questions: IntArray, n: int) -> IntArray:
        if weights is None:
            return rng.choice(questions, n)
        others = np.maximum(weights[questions] - 1, 1e-9)
        return rng.choice(questions, n, p=others / others.sum())

    for stratum in range(strata.max() + 1):
        own = pilot[strata[pilot] == stratum]
        missing = np.flatnonzero((strata == stratum) & ~has_label)
        from_any = rng.random(len(missing)) < _LABELS_OF_ANY_STRATUM / (len(own) + _LABELS_OF_ANY_STRATUM)
        source = choose(own if len(own) else pilot, len(missing))
        complete[missing] = h[np.where(from_any, choose(pilot, len(missing)), source)]
    return complete
