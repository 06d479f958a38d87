"""Planning of a run: expected interval width, numbers of questions and trials, and trials that separate two systems."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.common.posterior import BetaPosterior, IntervalKind, Posterior
from harness_uq.stats.common.validate_arrays import FloatArray, broadcast_floats, check_level
from harness_uq.stats.common.validate_scalars import check_number, check_range, check_whole
from harness_uq.stats.design.power import check_variance, paired_variance
from harness_uq.stats.proportion.binomial import binomial_interval

_PREDICTIVE_NODES = 33
_MAX_TRIALS = 10**9
_MAX_SEARCHED = 10**6
_ROUNDING = 1e-12  # relative tolerance of costs and variances


def expected_width(
    n_questions: ArrayLike,
    n_trials: ArrayLike = 1,
    *,
    variance_between: ArrayLike,
    variance_within: ArrayLike = 0.0,
    level: float = 0.95,
    design_effect: ArrayLike = 1.0,
) -> FloatArray:
    """Width of the interval of a mean score over M questions with N trials each.

    The width is 2 z sqrt(design_effect (Var(x) + E[sigma^2] / N) / M).

    Parameters
    ----------
    n_questions, n_trials : array_like
        Positive; n_trials may be infinite. All array arguments broadcast together.
    variance_between : array_like
        Var(x), the variance of expected scores over questions, non-negative.
    variance_within : array_like, optional
        E[sigma^2], the mean variance over trials of a question, non-negative (default 0).
    level : float, optional
        Nominal coverage (default 0.95).
    design_effect : array_like, optional
        Positive design effect (default 1).

    Returns
    -------
    ndarray
        Widths in units of the score. For scores near a bound use `predict_width`.

    Raises
    ------
    DataError
        If an argument is out of range.

    References
    ----------
    Miller (2024), section 3.

    Examples
    --------
    For uniformly distributed difficulty a second trial reduces the variance by a third:

    >>> wide, narrow = expected_width(100, [1, 2], variance_between=1 / 12, variance_within=1 / 6)
    >>> round(float((narrow / wide) ** 2), 12)
    0.666666666667
    """
    z = float(special.ndtri((1 + check_level(level)) / 2))
    n, trials, between, within, deff = broadcast_floats(
        n_questions=n_questions,
        n_trials=n_trials,
        variance_between=variance_between,
        variance_within=variance_within,
        design_effect=design_effect,
    )
    if not (n > 0).all():
        raise DataError(f"n_questions must be positive; got {n.min()}")
    if not (trials >= 1).all():
        raise DataError(f"n_trials must be at least 1; got {trials.min()}")
    between, within = check_variance(between, "variance_between"), check_variance(within, "variance_within")
    variance = paired_variance(between, within, trials_a=trials, design_effect=deff)
    return np.asarray(2 * z * np.sqrt(variance / n))


def predict_width(
    pilot: Posterior,
    ratio: float,
    *,
    low: float = 0.0,
    high: float = 1.0,
    level: float = 0.95,
    kind: IntervalKind = "hdi",
) -> float:
    """Expected interval width of a run that is `ratio` times as large as a pilot.

    Parameters
    ----------
    pilot : Posterior
        Posterior of the mean score of the pilot, of which only the mean and sd are used.
    ratio : float
        Positive ratio of the numbers of questions (or clusters), for equal numbers of trials per question.
    low, high : float, optional
        Range of the score (default 0 and 1).
    level : float, optional
        Probability of the interval (default 0.95).
    kind : {"hdi", "quantile"}, optional
        Type of the interval (default "hdi").

    Returns
    -------
    float
        Width in units of the score.

    Raises
    ------
    DataError
        If `ratio` is not positive, or the moments of the pilot are incompatible with the range.
    NotEstimableError
        If the run has at most one effective question.

    Notes
    -----
    The Beta(1 + S, 1 + F) with the pilot's mean and sd has n = S + F effective questions, which accounts for clusters
    and trials; the run has ratio * n. Its mean score S' / (ratio n) is a beta-binomial proportion with theta ~ Beta(1/2
    + S, 1/2 + F). This is Jeffreys' posterior, which shrinks high scores less than Beta(1 + S, 1 + F). The proportion
    is approximated by a Beta with the same moments, and the width of Beta(1 + S', 1 + F') is averaged over its
    quantiles.

    No method removes the pilot's own noise. With f failures (or successes, if fewer) the median relative error of the
    width predicted for a run three times as large is 0.4 / sqrt(f), which is 10 % for f = 15.

    Examples
    --------
    >>> pilot = BetaPosterior(1 + 80, 1 + 20)
    >>> 0.5 < predict_width(pilot, 3) / (pilot.interval(kind="hdi")[1] - pilot.interval(kind="hdi")[0]) < 0.65
    True
    """
    check_range(low, high)
    check_number(ratio, "ratio", above=0, below=1e9)
    fitted = BetaPosterior.from_moments(pilot.mean, pilot.sd**2, low, high)
    questions = ratio * (fitted.a + fitted.b - 2)
    if questions <= 1:
        raise NotEstimableError(
            f"{questions:.2g} effective questions ({ratio:.3g} times the pilot's) are too few to predict a width"
        )
    theta = BetaPosterior(max(fitted.a - 0.5, 0.25), max(fitted.b - 0.5, 0.25))
    noise = (theta.mean * (1 - theta.mean) - theta.sd**2) / questions
    predictive = BetaPosterior.from_moments(theta.mean, theta.sd**2 + noise)
    scores = predictive.quantile((np.arange(_PREDICTIVE_NODES) + 0.5) / _PREDICTIVE_NODES)
    with np.errstate(divide="ignore", invalid="ignore"):  # if a limit rounds to 0 or 1, the search bisects
        below, above = binomial_interval(questions * scores, questions, level, "hdi" if kind == "hdi" else "beta")
    return float((high - low) * np.mean(above - below))


@dataclass(frozen=True, slots=True)
class Allocation:
    """Numbers of questions and of trials per question, with their cost and the standard error of the mean score."""

    n_questions: int
    n_trials: int
    cost: float
    std_error: float


def allocate(
    *,
    variance_between: float,
    variance_within: float,
    cost_question: float,
    cost_trial: float,
    budget: float | None = None,
    target_se: float | None = None,
) -> Allocation:
    """Optimal numbers of questions and trials: lowest cost for a standard error, or lowest standard error for a budget.

    Parameters
    ----------
    variance_between : float
        Var(x), the variance of expected scores over questions, positive.
    variance_within : float
        E[sigma^2], the mean variance over trials of a question, non-negative.
    cost_question : float
        Cost of a question regardless of its number of trials, non-negative.
    cost_trial : float
        Cost of a trial, positive.
    budget, target_se : float, optional
        Positive budget or target of the standard error; give exactly one.

    Returns
    -------
    Allocation
        Within the budget, or with a standard error of at most `target_se`.

    Raises
    ------
    DataError
        If an argument is out of range, both or none of `budget` and `target_se` are given, or the budget is below the
        cost of one question.

    Notes
    -----
    M questions with N trials cost M (c_q + N c_t) and give the variance (Var(x) + E[sigma^2] / N) / M. The product of
    both is smallest at N = sqrt(E[sigma^2] c_q / (Var(x) c_t)) for any budget (Cochran 1977, section 10.6). Designs in
    whole numbers are searched: the smaller of M and N is at most the root of M N and determines the other. The result
    is optimal for up to 10^12 trials in total, and at least as good as the closed form beyond.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 10.6.

    Examples
    --------
    >>> allocate(variance_between=1 / 12, variance_within=1 / 6, cost_question=8, cost_trial=1, budget=1200)
    Allocation(n_questions=100, n_trials=4, cost=1200.0, std_error=0.035355339059327376)
    """
    check_number(variance_between, "variance_between", lowest=0)
    check_number(variance_within, "variance_within", lowest=0)
    check_number(cost_question, "cost_question", lowest=0)
    check_number(cost_trial, "cost_trial", above=0)
    if budget is not None:
        check_number(budget, "budget", above=0)
    if target_se is not None:
        check_number(target_se, "target_se", above=0)
    if variance_between == 0:
        raise DataError("variance_between must be positive; if questions do not differ, a single question is optimal")
    if (budget is None) == (target_se is None):
        raise DataError(f"give a positive budget or a positive target_se; got {budget} and {target_se}")
    model = _CostModel(variance_between, variance_within, cost_question, cost_trial)
    if budget is not None:
        questions, trials = model.within_budget(budget * (1 + _ROUNDING))
    else:
        questions, trials = model.reaching((target_se or 0.0) ** 2 * (1 + _ROUNDING))
    if not len(questions):
        raise DataError(
            f"a budget of {budget} is below the cost {cost_question} + {cost_trial} of one question and trial"
        )
    cost, variance = model.cost(questions, trials), model.variance(questions, trials)
    best = np.lexsort((cost, variance) if target_se is None else (variance, cost))[0]
    return Allocation(int(questions[best]), int(trials[best]), float(cost[best]), math.sqrt(variance[best]))


def trials_to_separate(
    gap: float,
    n_questions: int,
    *,
    variance_within_a: float,
    variance_within_b: float,
    confidence: float = 0.95,
) -> int:
    """Number of trials per question at which Bayes@N is expected to rank two systems with a given confidence.

    Parameters
    ----------
    gap : float
        Non-zero difference of the two scores on exactly these questions, for answers scored 0 or 1.
    n_questions : int
        Number M of questions.
    variance_within_a, variance_within_b : float
        Mean of pi (1 - pi) over the questions, from 0 to 1/4.
    confidence : float, optional
        Probability in (1/2, 1) that the observed order is right, Phi(z) (default 0.95).

    Returns
    -------
    int
        Number of trials, at least 1.

    Raises
    ------
    DataError
        If an argument is out of range.
    NotEstimableError
        If more than 10^9 trials are needed.

    Notes
    -----
    It is the smallest N at which z(N) = |mu_A - mu_B| / sqrt(sigma_A^2 + sigma_B^2) reaches its threshold. mu and
    sigma^2 of Bayes@N (uniform prior) are replaced by their expectations, mu_A - mu_B = N gap / (N + 2) and sigma^2 =
    (N + 1 + N (N - 1) w) / (M (N + 2)^2 (N + 3)) with the variance within w.

    References
    ----------
    Hariri et al. (2025), algorithm 1 and section 2.5.

    Examples
    --------
    >>> trials_to_separate(0.0133, 30, variance_within_a=0.195, variance_within_b=0.195)
    200
    """
    check_number(gap, "gap")
    check_whole(n_questions, "n_questions", 1)
    check_number(variance_within_a, "variance_within_a", lowest=0)
    check_number(variance_within_b, "variance_within_b", lowest=0)
    check_number(confidence, "confidence", above=0.5, below=1)
    within = (variance_within_a, variance_within_b)
    if gap == 0 or max(within) > 0.25:
        raise DataError(
            f"gap must not be 0, and variances must be in [0, 1/4]; got {gap}, {variance_within_a}, {variance_within_b}"
        )
    z = float(special.ndtri(confidence))

    def reached(n: int) -> bool:
        noise = 2 * (n + 1) + n * (n - 1) * sum(within)
        return abs(gap) * n * math.sqrt(n_questions * (n + 3) / noise) >= z

    low, high = 0, 1
    while not reached(high):
        low, high = high, 2 * high
        if high > _MAX_TRIALS:
            raise NotEstimableError(f"a gap of {gap} on {n_questions} questions needs more than 10^9 trials")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class _CostModel:
    """Cost and variance of designs; numbers of questions and trials are whole numbers as floats."""

    between: float
    within: float
    question: float
    trial: float

    def cost(self, questions: FloatArray, trials: FloatArray) -> FloatArray:
        return questions * (self.question + trials * self.trial)

    def variance(self, questions: FloatArray, trials: FloatArray) -> FloatArray:
        return (self.between + self.within / trials) / questions

    def within_budget(self, budget: float) -> tuple[FloatArray, FloatArray]:
        """Questions and trials of candidate designs within a budget, including the best; possibly empty."""
        few = self._up_to_the_root(budget / self.trial)
        questions = np.floor(budget / (self.question + few * self.trial))
        trials = np.floor((budget / few - self.question) / self.trial)
        return _designs(few, questions, trials)

    def reaching(self, variance: float) -> tuple[FloatArray, FloatArray]:
        """Questions and trials of candidate designs that reach a variance, including the cheapest."""
        near = np.array([max(1.0, round(self._closed_form))])
        enough = self.cost(np.ceil(self.variance(np.ones(1), near) / variance), near)[0]
        few = self._up_to_the_root(enough / self.trial)
        spare = few * variance - self.between  # variance that is left for the trials
        trials = np.ceil(np.divide(self.within, spare, out=np.zeros_like(few), where=spare > 0))
        return _designs(few, np.ceil(self.variance(np.ones_like(few), few) / variance), trials)

    @property
    def _closed_form(self) -> float:
        return math.sqrt(self.within / self.between * self.question / self.trial)

    def _up_to_the_root(self, all_trials: float) -> FloatArray:
        root = math.isqrt(int(min(all_trials, _MAX_SEARCHED**2)))
        near = math.floor(self._closed_form)
        return np.union1d(np.arange(1.0, root + 1), [max(1.0, near), near + 1.0])


def _designs(few: FloatArray, questions: FloatArray, trials: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Designs with `questions` of `few` trials each, and with `few` questions of `trials` each, if at least 1."""
    m, n = np.concatenate([questions, few]), np.concatenate([few, trials])
    exists = (m >= 1) & (n >= 1)
    return m[exists], n[exists]
