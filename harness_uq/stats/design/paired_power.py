"""Power of the default comparison of two systems, its minimum detectable effect, and the questions that it needs."""

import math
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, check_level
from harness_uq.stats.common.validate_scalars import check_number
from harness_uq.stats.design.budget_allocation import fewest
from harness_uq.stats.design.power import detection_power, minimum_detectable_effect, required_questions
from harness_uq.stats.units.contrasts import PairedDifferences, contrast_posteriors

MAX_QUESTIONS = 10**7
_FEWEST_UNITS = 2
_UNITS = (2, 3, 4, 5, 6, 8, 10, 14, 20, 30, 50, 100, 200, 400)  # of the width ratio
_TAIL = 6.5  # standard deviations of the number of discordant questions that are summed
_LARGEST_TABLE = 2**14  # numbers of discordant questions whose fewest wins are kept
_PRECISION = 1e-6  # relative, of the minimum detectable effect


@dataclass(frozen=True, slots=True)
class WidthRatio:
    """Half-width of the default interval for a difference, divided by that of Student's t interval.

    `units` are increasing numbers of independent units, and `ratios` the ratios at these numbers. Between them the
    ratio is interpolated in the logarithm of the number, and beyond them it is constant.
    """

    units: tuple[float, ...] = (1.0,)
    ratios: tuple[float, ...] = (1.0,)

    def at(self, units: float) -> float:
        """The ratio for a number of units."""
        return float(np.interp(math.log(units), np.log(self.units), self.ratios))


@dataclass(frozen=True, slots=True)
class PairedDesign:
    """What determines the power of a comparison, other than the number of questions and the difference.

    The mean difference of U units divided by its standard error has a noncentral t distribution with U - 1 degrees of
    freedom, whose noncentrality is the true difference divided by its standard error. The interval excludes 0 if the
    absolute value of this statistic exceeds the quantile of Student's t, multiplied by the width ratio. Single answers
    that are right or wrong are enumerated instead, see `discordant_power`.

    Attributes
    ----------
    variance : variance of one question's difference of mean scores, multiplied by the design effect; see
        `paired_variance`
    cluster_size : questions per independent unit, the mean size of a cluster or 1; None if the standard error is known,
        so that the normal distribution replaces the t distribution
    discordant : share of questions that exactly one of the systems answers correctly; None unless questions are
        independent and each has one answer of each system, which is right or wrong
    width_ratio : of the interval that is used, to that of Student's t
    """

    variance: float
    cluster_size: float | None = 1.0
    discordant: float | None = None
    width_ratio: WidthRatio = WidthRatio()

    def power(self, effect: float, n_questions: int, *, level: float = 0.95) -> float:
        """Probability that the interval for the difference excludes 0; 0 with one unit.

        >>> round(PairedDesign(0.25, discordant=0.25).power(0.2, 60), 3)
        0.94
        """
        if self.discordant is not None:
            return discordant_power(effect, n_questions, max(self.discordant, abs(effect)), level=level)
        if self.cluster_size is None:
            return float(detection_power(effect, n_questions, self.variance, level=level))
        if (units := n_questions / self.cluster_size) < _FEWEST_UNITS:
            return 0.0
        df, t = self._test(units, level)
        shift = abs(effect) / math.sqrt(self.variance / n_questions)
        lower, upper = np.nan_to_num(special.nctdtr(df, shift, np.array([-t, t])))  # NaN for some that underflow
        return float(1 - upper + lower)

    def detectable(self, n_questions: int, *, level: float = 0.95, power: float = 0.8) -> float | None:
        """Smallest difference that is detected with probability `power`; None if there are too few questions."""
        if self.discordant is not None:
            return _detectable_share(self.discordant, n_questions, level, power)
        if self.cluster_size is None:
            return float(minimum_detectable_effect(n_questions, self.variance, level=level, power=power))
        if (units := n_questions / self.cluster_size) < _FEWEST_UNITS:
            return None
        df, t = self._test(units, level)
        return float(special.nctdtrinc(df, 1 - power, t) * math.sqrt(self.variance / n_questions))

    def required(self, effect: float, *, level: float = 0.95, power: float = 0.8) -> int | None:
        """Number of questions with which `effect` is detected with probability `power`; None if above 10^7.

        >>> PairedDesign(0.3, discordant=0.3).required(0.1)
        228
        """
        if self.discordant is not None and abs(effect) > 1:
            return None
        if self.cluster_size is None and self.discordant is None:
            n = int(required_questions(effect, self.variance, level=level, power=power))
            return n if n <= MAX_QUESTIONS else None

        def is_enough(n: int) -> bool:
            return self.power(effect, n, level=level) >= power

        variance = self.variance if self.discordant is None else max(self.discordant, abs(effect)) - effect**2
        start = max(int(required_questions(effect, variance, level=level, power=power)) // 2, 1)
        return fewest(is_enough, start if start <= MAX_QUESTIONS and not is_enough(start) else 1, MAX_QUESTIONS)

    def _test(self, units: float, level: float) -> tuple[float, float]:
        """Degrees of freedom, at most 10^6 (with which the t distribution is normal), and the critical value."""
        df = min(units - 1, 1e6)
        return df, float(special.stdtrit(df, (1 + check_level(level)) / 2)) * self.width_ratio.at(units)


@cache
def default_width_ratio(sd: float, cluster_size: int, n_repeated: int | None) -> WidthRatio:
    """Width ratio of the default method, from units whose mean differences are the quantiles of a normal distribution.

    Parameters
    ----------
    sd : float
        Standard deviation of a unit's mean difference, in units of the range of the scores.
    cluster_size : int
        Questions per unit.
    n_repeated : int or None
        Trials per question of answers that are right or wrong, if a unit has several answers; otherwise None.

    Returns
    -------
    WidthRatio
        For 2 to 400 units. The observed difference is that which Student's t test detects with 80 % power, and the
        ratio is that of the limit nearer to 0.

    Examples
    --------
    >>> round(default_width_ratio(0.05, 1, None).at(50), 2)
    1.03
    """
    data, pairs = [], []
    for n in _UNITS:
        df = n - 1
        t = special.stdtrit(df, 0.975)
        normal = special.ndtri((np.arange(n) + 0.5) / n)
        shift = special.nctdtrinc(df, 0.2, t) / math.sqrt(n)
        values = np.clip(sd * (normal / normal.std(ddof=1) + shift), -1.0, 1.0)
        n_answers = None if n_repeated is None else n * cluster_size * n_repeated
        labels = None if cluster_size == 1 else np.repeat(np.arange(n), cluster_size)
        data.append((values.mean(), t * values.std(ddof=1) / math.sqrt(n)))
        pairs.append(PairedDifferences(np.repeat(values, cluster_size), 0.0, 1.0, labels, n_answers=n_answers))
    lower = [posterior.interval(0.95)[0] for posterior in contrast_posteriors(pairs)]
    ratios = [max((mean - low) / half, 1.0) if half > 0 else 1.0 for low, (mean, half) in zip(lower, data, strict=True)]
    return WidthRatio(tuple(map(float, _UNITS)), tuple(map(float, ratios)))


def discordant_power(effect: float, n_questions: int, discordant: float, *, level: float = 0.95) -> float:
    """Power of the comparison of answers that are right or wrong, one for each question and system.

    The number of discordant questions is M ~ Bin(n, s), of which the better system wins Bin(M, (1 + effect / s) / 2).
    The interval for the difference excludes 0 if the posterior Beta(w + 1/2, M - w + 1/2) of its share of the w wins
    has more than (1 + level) / 2 of its probability on one side of 1/2. The power is the sum over M.

    Parameters
    ----------
    effect : float
        True difference of the shares of correct answers, at most `discordant`.
    n_questions : int
        Number n of questions, at least 1.
    discordant : float
        Share s of questions that exactly one of the systems answers correctly, in [0, 1].
    level : float, optional
        Nominal coverage of the interval (default 0.95).

    Returns
    -------
    float
        Probability in [0, 1].

    Raises
    ------
    DataError
        If an argument is out of range.

    Examples
    --------
    If the better system wins all discordant questions, four of them are enough, P(r > 1/2) = 0.985:

    >>> round(discordant_power(0.1, 40, 0.1), 6) == round(float(special.bdtrc(3, 40, 0.1)), 6)
    True
    """
    check_number(n_questions, "n_questions", above=0)
    if not 0 <= abs(effect) <= discordant <= 1:
        raise DataError(f"discordant must lie in [|effect|, 1]; got {discordant} and an effect of {effect}")
    if discordant == 0:
        return 0.0
    m, probability, wins = _discordant(n_questions, discordant, check_level(level))
    share = (1 + abs(effect) / discordant) / 2
    detected = _at_least(wins, m, share) + _at_least(wins, m, 1 - share)
    return min(float(probability @ detected), 1.0)


@lru_cache(maxsize=16)
def _discordant(n_questions: int, discordant: float, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Numbers of discordant questions, their probabilities, and the fewest wins with which the interval excludes 0."""
    reach = _TAIL * math.sqrt(n_questions * discordant * (1 - discordant)) + _TAIL
    first, last = max(0, math.floor(n_questions * discordant - reach)), math.ceil(n_questions * discordant + reach)
    m = np.arange(first, min(last, n_questions) + 1, dtype=np.float64)
    probability = np.exp(
        special.gammaln(n_questions + 1)
        - special.gammaln(m + 1)
        - special.gammaln(n_questions - m + 1)
        + special.xlogy(m, discordant)
        + special.xlog1py(n_questions - m, -discordant)
    )
    size = 2 ** math.ceil(math.log2(m[-1] + 1))
    wins = _tabulated_wins(size, level)[first : first + len(m)] if size <= _LARGEST_TABLE else _fewest_wins(m, level)
    return m, probability, wins


@lru_cache(maxsize=1024)  # the tasks of a benchmark often have equal shares and numbers of questions
def _detectable_share(discordant: float, n_questions: int, level: float, power: float) -> float | None:
    def is_enough(effect: float) -> bool:
        return discordant_power(effect, n_questions, max(discordant, effect), level=level) >= power

    low, high = 0.0, min(4 / math.sqrt(n_questions), 1.0)
    if not is_enough(high):
        low, high = high, 1.0
        if not is_enough(high):
            return None
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


@lru_cache(maxsize=32)
def _tabulated_wins(size: int, level: float) -> FloatArray:
    return _fewest_wins(np.arange(float(size)), level)


def _fewest_wins(m: FloatArray, level: float) -> FloatArray:
    """Smallest w with P(r > 1/2) > (1 + level) / 2 for r ~ Beta(w + 1/2, m - w + 1/2); m + 1 if there is none."""
    tail = (1 + level) / 2
    about = m / 2 + special.ndtri(tail) * np.sqrt(m) / 2
    low, high = np.maximum(np.floor(m / 2), np.floor(about) - 4), np.minimum(m + 1, np.ceil(about) + 4)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        is_enough = special.betainc(m - middle + 0.5, middle + 0.5, 0.5) > tail
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    return np.asarray(high)


def _at_least(wins: FloatArray, m: FloatArray, share: float) -> FloatArray:
    """P(Bin(m, share) >= wins), 0 if wins > m."""
    return np.where(wins > m, 0.0, special.betainc(np.minimum(wins, m) + (m == 0), np.maximum(m - wins, 0) + 1, share))
