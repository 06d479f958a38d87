"""Intervals that hold at every moment at once: for one score, and for the difference of two on the same questions."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray, IntArray, check_finite, check_level, label_codes
from harness_uq.stats.common.scalars import check_bounds
from harness_uq.stats.looks.capital import Units, dispersion, log_capital

Bounds: TypeAlias = tuple[float, float]
Scope: TypeAlias = Literal["population", "full"]

_FINE: Final = 20
_MEANS: Final = np.sin(np.linspace(0, np.pi / 2, 25 * _FINE + 1)) ** 2
_UNPLANNED: Final = 250
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceSequence:
    """The mean and its interval after each unit: a question, or a whole cluster of them.

    Attributes
    ----------
    n_questions : (n_units,) int; questions scored by then
    n_clusters : (n_units,) int; units complete by then
    mean : (n_units,); over the questions of complete units
    low, high : (n_units,); all of them hold together with probability `level`
    level : coverage
    scope : `population`, or `full`: the mean over all questions planned
    """

    n_questions: IntArray
    n_clusters: IntArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    scope: Scope

    @property
    def width(self) -> FloatArray:
        """Width after each unit."""
        return self.high - self.low

    def first_without(self, value: float) -> int | None:
        """Number of questions after which `value` is first outside the interval; None where it never is."""
        outside = np.flatnonzero((self.low > value) | (value > self.high))
        return int(self.n_questions[outside[0]]) if len(outside) else None


def confidence_sequence(
    scores: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    planned: int | None = None,
    scope: Scope = "population",
) -> ConfidenceSequence:
    """Interval for the mean score after every question, valid whenever one looks and whatever makes one stop.

    Parameters
    ----------
    scores : (n_questions,) within `bounds`, in an order that does not depend on them: of a random draw of questions, as
        they were put in line, not as they were finished
    clusters : labels of the questions, those planned included: (n_questions,), or (planned,). A cluster counts once all
        its questions are scored
    level : probability in (0, 1) that every interval of the sequence holds the mean
    bounds : smallest and largest possible score
    planned : questions in all, when the run was begun; makes the intervals narrowest there. Never the number at which
        one happened to stop
    scope : `population`, the mean over questions of the kind (of clusters sampled at random: expected total over
        expected size); or `full`, the mean over the `planned` questions, drawn from without replacement: at the end
        the interval is the score itself

    Returns
    -------
    ConfidenceSequence

    Raises
    ------
    DataError : if a score leaves the bounds, lengths do not agree, or no unit is complete

    The means m at which neither log_capital(m) nor that of the mirrored scores reaches 2 / (1 - level) (Waudby-Smith
    and Ramdas 2024, J. R. Stat. Soc. B 86, 1-27, section 4.4: the hedged capital, here mixed over sizes of bets), on
    501 means and interpolated between them.

    Ten right answers leave no more than this open:

    >>> sequence = confidence_sequence([1] * 10, planned=20)
    >>> float(sequence.low[-1].round(2)), float(sequence.high[-1])
    (0.66, 1.0)
    """
    check_bounds(bounds)
    level = check_level(level)
    scaled = _scaled(scores, bounds)
    sampled = _sampled(scaled, clusters, planned)
    if scope == "full" and planned is None:
        raise DataError("the score of the whole benchmark needs planned, its number of questions")
    limits = _limits(sampled.units(scope), (1 - level) / 2)
    means = np.cumsum(sampled.totals) / np.cumsum(sampled.sizes)
    mean, low, high = bounds[0] + (bounds[1] - bounds[0]) * np.vstack([means, limits])
    n_units = np.arange(1, len(means) + 1)
    return ConfidenceSequence(sampled.n_questions, n_units, mean, low, high, level, scope)


def paired_sequence(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    planned: int | None = None,
    scope: Scope = "population",
) -> ConfidenceSequence:
    """Interval for the mean difference of two systems on the same questions, A minus B, after every question.

    Parameters
    ----------
    scores_a, scores_b : (n_questions,) within `bounds`, question by question
    clusters, level, bounds, planned, scope : as in `confidence_sequence`

    Returns
    -------
    ConfidenceSequence of the difference; 0 ever outside errs with probability at most 1 - level where A and B are equal

    Raises
    ------
    DataError : as `confidence_sequence`, and if the numbers of scores differ

    The sequence of the scores (1 + (A - B) / R) / 2, R the length of `bounds`: Waudby-Smith and Ramdas (2024).

    >>> sequence = paired_sequence([1] * 12, [0] * 12, planned=40)
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
class _Sampled:
    """Complete units in the order in which they were completed."""

    totals: FloatArray
    sizes: FloatArray
    n_questions: IntArray
    all_sizes: FloatArray
    is_planned: bool

    def units(self, scope: Scope) -> Units:
        """What is bet on."""
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
    given = check_finite(scores, name, 1)
    if len(given) == 0:
        raise DataError(f"a confidence sequence needs at least one score; {name} is empty")
    x = (given - low) / (high - low)
    if x.min() < -_ROUNDING or x.max() > 1 + _ROUNDING:
        raise DataError(f"{name} must lie within {low:g} and {high:g}; they reach from {given.min()} to {given.max()}")
    return np.asarray(np.clip(x, 0.0, 1.0))


def _sampled(x: FloatArray, clusters: ArrayLike | None, planned: int | None) -> _Sampled:
    n = len(x) if planned is None else planned
    codes = np.arange(n) if clusters is None else label_codes(clusters, (n,))
    if len(x) > n:
        raise DataError(f"{len(x)} scores are more than the {n} questions planned")
    sizes = np.bincount(codes).astype(float)
    last = np.zeros(len(sizes), np.int64)
    np.maximum.at(last, codes, np.arange(n))
    order = np.argsort(last)
    complete = order[last[order] < len(x)]
    if len(complete) == 0:
        raise DataError(f"no cluster is complete after {len(x)} of {n} questions; a cluster counts as a whole")
    totals = np.bincount(codes[: len(x)], x, minlength=len(sizes)).astype(float)
    return _Sampled(totals[complete], sizes[complete], last[complete] + 1, sizes, planned is not None)


def _limits(units: Units, error: float) -> FloatArray:
    """Both ends after each unit, (2, n_units)."""
    low, high = _lower_limit(units, error), 1 - _lower_limit(units.mirrored(), error)
    if np.isinf(units.whole):
        return np.stack([low, high])
    total, left = np.cumsum(units.totals), units.whole - np.cumsum(units.sizes)
    return np.stack([np.maximum(low, total / units.whole), np.minimum(high, (total + left) / units.whole)])


def _lower_limit(units: Units, error: float) -> FloatArray:
    """Smallest mean that bets on a higher one do not rule out, after each unit."""
    n = units.totals.shape[-1]
    limit = np.zeros(n)
    coarse, looks = _MEANS[::_FINE], np.arange(n)
    cell = _first_below(_capital(units, error, coarse, looks), error)
    for k in np.unique(cell[cell > 0]).tolist():
        inside, means = looks[cell == k], _MEANS[(k - 1) * _FINE : k * _FINE + 1]
        limit[inside] = _crossing(_capital(units, error, means, inside), error, means)
    return limit


def _capital(units: Units, error: float, means: FloatArray, looks: IntArray) -> FloatArray:
    """Log capital at each of the means and looks."""
    until = units.first(int(looks[-1]) + 1)
    spread = dispersion(until)
    return np.array([log_capital(until, spread, mean, error)[looks] for mean in means.tolist()])


def _first_below(capital: FloatArray, error: float) -> IntArray:
    """Index of the first mean that is not ruled out, at each look."""
    return np.asarray((capital < np.log(1 / error)).argmax(axis=0), np.int64)


def _crossing(capital: FloatArray, error: float, means: FloatArray) -> FloatArray:
    """Mean at which the capital falls to 1 / error, between the first that is not ruled out and the one before it."""
    k, look = _first_below(capital, error), np.arange(capital.shape[1])
    before, after = capital[k - 1, look], capital[k, look]
    with np.errstate(invalid="ignore"):
        share = np.where(np.isinf(before), 0.0, (before - np.log(1 / error)) / (before - after))
    return np.asarray(means[k - 1] + share * (means[k] - means[k - 1]))
