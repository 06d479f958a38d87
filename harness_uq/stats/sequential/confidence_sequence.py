"""Confidence sequences (anytime-valid intervals) for a mean score, and for a difference on the same questions."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, check_finite, check_level, validated_codes
from harness_uq.stats.common.validate_scalars import check_bounds
from harness_uq.stats.sequential.wealth import Units, dispersion, log_wealth

Bounds: TypeAlias = tuple[float, float]
SequentialScope: TypeAlias = Literal["population", "full"]

_FINE: Final = 20
_MEANS: Final = np.sin(np.linspace(0, np.pi / 2, 25 * _FINE + 1)) ** 2
_UNPLANNED: Final = 250
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceSequence:
    """Means and anytime-valid intervals after each unit, which is a question or a whole cluster.

    Attributes
    ----------
    n_questions : ndarray of int, shape (n_units,)
        Number of scored questions.
    n_clusters : ndarray of int, shape (n_units,)
        Number of complete units.
    mean : ndarray, shape (n_units,)
        Mean over the questions of complete units.
    low, high : ndarray, shape (n_units,)
        Interval limits; with probability `level` all intervals contain the mean.
    level : float
        Nominal coverage of the whole sequence.
    scope : {"population", "full"}
        ``full`` refers to the mean over all planned questions.
    """

    n_questions: IntArray
    n_clusters: IntArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    scope: SequentialScope

    @property
    def width(self) -> FloatArray:
        """Interval width after each unit."""
        return self.high - self.low

    def first_without(self, value: float) -> int | None:
        """Number of questions after which `value` is first outside the interval; None if it never is."""
        outside = np.flatnonzero((self.low > value) | (value > self.high))
        return int(self.n_questions[outside[0]]) if len(outside) else None


def confidence_sequence(
    scores: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    planned: int | None = None,
    scope: SequentialScope = "population",
) -> ConfidenceSequence:
    """Anytime-valid interval for the mean score after every question.

    The coverage holds at any stopping time, for any reason for stopping.

    Parameters
    ----------
    scores : array_like, shape (n_questions,)
        Scores within `bounds`, in an order that does not depend on them. For a random draw of questions use the order
        of the draw, not the order in which questions were completed.
    clusters : array_like, shape (n_questions,) or (planned,), optional
        Cluster labels, which may include the planned questions. A cluster counts when all its questions are scored.
    level : float, optional
        Probability that all intervals contain the mean (default 0.95).
    bounds : tuple of float, optional
        Smallest and largest possible score (default (0, 1)).
    planned : int, optional
        Number of questions planned at the beginning of the run, at which the intervals are narrowest. Do not pass the
        number at which the run happened to stop.
    scope : {"population", "full"}, optional
        ``population`` (default) is the mean over questions of the population; with clusters sampled at random, expected
        total over expected size. ``full`` is the mean over the `planned` questions, drawn without replacement; at the
        end the interval is the score itself.

    Returns
    -------
    ConfidenceSequence
        Means and intervals.

    Raises
    ------
    DataError
        If a score is out of bounds, lengths differ, or no unit is complete.

    Notes
    -----
    The interval contains the means m at which neither log_wealth(m) nor that of the mirrored scores reaches
    2 / (1 - level). It is computed on 501 means with interpolation.

    References
    ----------
    Waudby-Smith and Ramdas (2024), J. R. Stat. Soc. B 86, 1-27, section 4.4 (hedged capital, here mixed over bet
    sizes).

    Examples
    --------
    Ten right answers of 20 planned questions:

    >>> sequence = confidence_sequence([1] * 10, planned=20)
    >>> float(sequence.low[-1].round(2)), float(sequence.high[-1])
    (0.66, 1.0)
    """
    check_bounds(bounds)
    level = check_level(level)
    scaled = _scaled(scores, bounds)
    sampled = _complete_units(scaled, clusters, planned)
    if scope == "full" and planned is None:
        raise DataError("scope 'full' requires planned, the number of questions of the benchmark")
    limits = _limits(sampled.units(scope), (1 - level) / 2)
    means = np.cumsum(sampled.totals) / np.cumsum(sampled.sizes)
    mean, low, high = bounds[0] + (bounds[1] - bounds[0]) * np.vstack([means, limits])
    n_units = np.arange(1, len(means) + 1)
    return ConfidenceSequence(sampled.n_questions, n_units, mean, low, high, level, scope)


def paired_confidence_sequence(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    planned: int | None = None,
    scope: SequentialScope = "population",
) -> ConfidenceSequence:
    """Anytime-valid interval for the mean difference A - B of two systems on the same questions, after every question.

    Parameters
    ----------
    scores_a, scores_b : array_like, shape (n_questions,)
        Scores of the same questions, within `bounds`.
    clusters, level, bounds, planned, scope
        As in `confidence_sequence`.

    Returns
    -------
    ConfidenceSequence
        Sequence for the difference. If A and B are equal, 0 is ever outside with probability at most 1 - level.

    Raises
    ------
    DataError
        As in `confidence_sequence`, or if the numbers of scores differ.

    Notes
    -----
    This is the sequence of the scores (1 + (A - B) / R) / 2 with R the length of `bounds`.

    References
    ----------
    Waudby-Smith and Ramdas (2024), J. R. Stat. Soc. B 86, 1-27.

    Examples
    --------
    >>> sequence = paired_confidence_sequence([1] * 12, [0] * 12, planned=40)
    >>> sequence.first_without(0)
    8
    """
    check_bounds(bounds)
    a, b = _scaled(scores_a, bounds, "scores_a"), _scaled(scores_b, bounds, "scores_b")
    if len(a) != len(b):
        raise DataError(f"scores_a and scores_b need the same questions; got {len(a)} and {len(b)}")
    size = bounds[1] - bounds[0]
    return confidence_sequence(
        size * (a - b), clusters=clusters, level=level, bounds=(-size, size), planned=planned, scope=scope
    )


@dataclass(frozen=True, slots=True)
class _CompleteUnits:
    """Complete units in the order of completion."""

    totals: FloatArray
    sizes: FloatArray
    n_questions: IntArray
    all_sizes: FloatArray
    is_planned: bool

    def units(self, scope: SequentialScope) -> Units:
        """Units for the bets in a scope."""
        whole = float(self.all_sizes.sum()) if scope == "full" else np.inf
        typical, largest = float(self.all_sizes.mean()), float(self.all_sizes.max())
        return Units(self.totals, self.sizes, typical, largest, whole, self._horizon())

    def _horizon(self) -> FloatArray:
        i = np.arange(1.0, len(self.sizes) + 1)
        return np.asarray(np.maximum(i, len(self.all_sizes) if self.is_planned else _UNPLANNED))


def _scaled(scores: ArrayLike, bounds: Bounds, name: str = "scores") -> FloatArray:
    low, high = bounds
    if not low < high:
        raise DataError(f"bounds must be (smallest, largest possible score); got {bounds}")
    y = check_finite(scores, name, 1)
    if len(y) == 0:
        raise DataError(f"a confidence sequence needs at least one score; {name} is empty")
    x = (y - low) / (high - low)
    if x.min() < -_ROUNDING or x.max() > 1 + _ROUNDING:
        raise DataError(f"{name} must lie in [{low:g}, {high:g}]; got {y.min()} to {y.max()}")
    return np.asarray(np.clip(x, 0.0, 1.0))


def _complete_units(x: FloatArray, clusters: ArrayLike | None, planned: int | None) -> _CompleteUnits:
    n = len(x) if planned is None else planned
    codes = np.arange(n) if clusters is None else validated_codes(clusters, (n,))
    if len(x) > n:
        raise DataError(f"{len(x)} scores are more than the {n} questions planned")
    sizes = np.bincount(codes).astype(float)
    last = np.zeros(len(sizes), np.int64)
    np.maximum.at(last, codes, np.arange(n))
    order = np.argsort(last)
    complete = order[last[order] < len(x)]
    if len(complete) == 0:
        raise DataError(f"no cluster is complete after {len(x)} of {n} questions; only complete clusters count")
    totals = np.bincount(codes[: len(x)], x, minlength=len(sizes)).astype(float)
    return _CompleteUnits(totals[complete], sizes[complete], last[complete] + 1, sizes, planned is not None)


def _limits(units: Units, error: float) -> FloatArray:
    """Both limits after each unit, shape (2, n_units)."""
    low, high = _lower_limit(units, error), 1 - _lower_limit(units.mirrored(), error)
    if np.isinf(units.whole):
        return np.stack([low, high])
    total, left = np.cumsum(units.totals), units.whole - np.cumsum(units.sizes)
    return np.stack([np.maximum(low, total / units.whole), np.minimum(high, (total + left) / units.whole)])


def _lower_limit(units: Units, error: float) -> FloatArray:
    """Smallest mean that bets on a higher mean do not reject, after each unit."""
    n = units.totals.shape[-1]
    limit = np.zeros(n)
    coarse, times = _MEANS[::_FINE], np.arange(n)
    cell = _first_below(_log_wealths(units, error, coarse, times), error)
    for k in np.unique(cell[cell > 0]).tolist():
        inside, means = times[cell == k], _MEANS[(k - 1) * _FINE : k * _FINE + 1]
        limit[inside] = _crossing(_log_wealths(units, error, means, inside), error, means)
    return limit


def _log_wealths(units: Units, error: float, means: FloatArray, times: IntArray) -> FloatArray:
    """Log wealth for each mean at each time, shape (n_means, n_times)."""
    until = units.first(int(times[-1]) + 1)
    spread = dispersion(until)
    return np.array([log_wealth(until, spread, mean, error)[times] for mean in means.tolist()])


def _first_below(log_wealths: FloatArray, error: float) -> IntArray:
    """Index of the first mean that is not rejected, at each time."""
    return np.asarray((log_wealths < np.log(1 / error)).argmax(axis=0), np.int64)


def _crossing(log_wealths: FloatArray, error: float, means: FloatArray) -> FloatArray:
    """Mean with wealth 1 / error, by interpolation between the first mean that is not rejected and its predecessor."""
    k, time = _first_below(log_wealths, error), np.arange(log_wealths.shape[1])
    before, after = log_wealths[k - 1, time], log_wealths[k, time]
    with np.errstate(invalid="ignore"):
        share = np.where(np.isinf(before), 0.0, (before - np.log(1 / error)) / (before - after))
    return np.asarray(means[k - 1] + share * (means[k] - means[k - 1]))
