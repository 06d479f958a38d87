"""Planning a run: expected width of its interval, questions against trials, trials that separate two systems."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.common.arrays import FloatArray, check_level, fitted
from harness_uq.stats.common.posterior import BetaPosterior, IntervalKind, Posterior
from harness_uq.stats.common.scalars import check_number, check_range, check_whole
from harness_uq.stats.design.power import check_variance, paired_variance
from harness_uq.stats.proportion.binomial import binomial_interval

_PREDICTIVE_NODES = 33
_MOST_TRIALS = 10**9
_MOST_SEARCHED = 10**6
_ROUNDING = 1e-12  # of money and variances, forgiven


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

    Parameters
    ----------
    n_questions, n_trials : > 0; n_trials may be infinite
    variance_between : >= 0; Var(x), variance of expected scores over questions
    variance_within : >= 0; E[sigma^2], mean variance over trials of a question
    level : float in (0, 1)
    design_effect : > 0

    Returns
    -------
    ndarray, in units of the score; for scores near an end of their range see `predict_width`

    Raises
    ------
    DataError : an argument out of range

    2 z sqrt(design_effect (Var(x) + E[sigma^2] / N) / M), Miller (2024), section 3.

    >>> wide, narrow = expected_width(100, [1, 2], variance_between=1 / 12, variance_within=1 / 6)
    >>> round(float((narrow / wide) ** 2), 12)  # two trials spare a third of the variance at uniform difficulty
    0.666666666667
    """
    z = float(special.ndtri((1 + check_level(level)) / 2))
    n, trials, between, within, deff = fitted(
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
    """Expected width of the interval of a run `ratio` times as large as a pilot.

    Parameters
    ----------
    pilot : posterior of the mean score from the pilot; only its mean and sd are used
    ratio : > 0; questions (or clusters) of the run over those of the pilot, trials a question unchanged
    low, high : range of the score
    level, kind : of the interval

    Returns
    -------
    float, in units of the score

    Raises
    ------
    DataError : ratio <= 0, or a pilot whose moments do not fit into the range
    NotEstimableError : a run of no more than one effective question

    The Beta(1 + S, 1 + F) with the pilot's mean and sd carries its effective number of questions n = S + F, clusters
    and trials included; the run has ratio * n. Its mean score S' / (ratio n) varies as a beta-binomial proportion
    with theta ~ Beta(1/2 + S, 1/2 + F), Jeffreys' posterior, which pulls high scores down less than Beta(1 + S, 1 + F);
    a Beta with the same two moments stands for it. The width of Beta(1 + S', 1 + F') is averaged over its quantiles.
    No method undoes the pilot's own noise: with f failures (or successes, if fewer) the width it predicts for a run
    three times as large is off by 0.4 / sqrt(f) of itself in the median, 10 % at f = 15.

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
            f"{questions:.2g} effective questions, {ratio:.3g} times the pilot's, are too few to tell a width from"
        )
    theta = BetaPosterior(max(fitted.a - 0.5, 0.25), max(fitted.b - 0.5, 0.25))
    noise = (theta.mean * (1 - theta.mean) - theta.sd**2) / questions
    predictive = BetaPosterior.from_moments(theta.mean, theta.sd**2 + noise)
    scores = predictive.quantile((np.arange(_PREDICTIVE_NODES) + 0.5) / _PREDICTIVE_NODES)
    with np.errstate(divide="ignore", invalid="ignore"):  # where an end rounds to 0 or 1 the search bisects
        below, above = binomial_interval(questions * scores, questions, level, "hdi" if kind == "hdi" else "beta")
    return float((high - low) * np.mean(above - below))


@dataclass(frozen=True, slots=True)
class Allocation:
    """Questions and trials a question, what they cost and the standard error of the mean score they give."""

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
    """More questions or more trials: the cheapest way to a standard error, or the best one for a budget.

    Parameters
    ----------
    variance_between : > 0; Var(x), variance of expected scores over questions
    variance_within : >= 0; E[sigma^2], mean variance over trials of a question
    cost_question : >= 0; of a question, however often it is tried
    cost_trial : > 0; of one trial
    budget, target_se : > 0; exactly one of the two

    Returns
    -------
    Allocation; within the budget, or with a standard error of at most `target_se`

    Raises
    ------
    DataError : an argument out of range, both or none of budget and target_se, a budget under one question's cost

    M questions of N trials cost M (c_q + N c_t) and leave (Var(x) + E[sigma^2] / N) / M. The product of the two is
    smallest at N = sqrt(E[sigma^2] c_q / (Var(x) c_t)), whatever the budget: Cochran (1977), section 10.6. Designs in
    whole numbers are searched: the smaller of M and N is at most the root of M N, and fixes the other. The result is
    the best of all up to 10^12 trials in all, and beyond that at least as good as the closed form.

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
        raise DataError(
            "variance_between must be positive: where questions do not differ, one for the whole budget is best"
        )
    if (budget is None) == (target_se is None):
        raise DataError(f"give a positive budget or a positive target_se; got {budget} and {target_se}")
    purse = _Purse(variance_between, variance_within, cost_question, cost_trial)
    if budget is not None:
        questions, trials = purse.bought_for(budget * (1 + _ROUNDING))
    else:
        questions, trials = purse.reaching((target_se or 0.0) ** 2 * (1 + _ROUNDING))
    if not len(questions):
        raise DataError(f"a budget of {budget} does not pay for one question at {cost_question} + {cost_trial} a trial")
    cost, variance = purse.cost(questions, trials), purse.variance(questions, trials)
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
    """Trials a question at which Bayes@N is expected to rank two systems with a given confidence.

    Parameters
    ----------
    gap : not 0; difference of the two scores on exactly these questions, right answers scored 1 and wrong ones 0
    n_questions : M >= 1
    variance_within_a, variance_within_b : in [0, 1/4]; mean over the questions of pi (1 - pi)
    confidence : in (1/2, 1); probability that the observed order is the true one, Phi(z)

    Returns
    -------
    int, >= 1

    Raises
    ------
    DataError : an argument out of range
    NotEstimableError : more than 10^9 trials

    Smallest N at which z(N) = |mu_A - mu_B| / sqrt(sigma_A^2 + sigma_B^2) reaches its threshold, with mu and sigma^2 of
    Bayes@N (Hariri et al. 2025, algorithm 1 and section 2.5, uniform prior) replaced by their expectations:
    mu_A - mu_B = N gap / (N + 2), sigma^2 = (N + 1 + N (N - 1) w) / (M (N + 2)^2 (N + 3)) with w the variance within.

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
            f"gap must not be 0, and variances within [0, 1/4]; got {gap}, {variance_within_a} and {variance_within_b}"
        )
    z = float(special.ndtri(confidence))

    def reached(n: int) -> bool:
        noise = 2 * (n + 1) + n * (n - 1) * sum(within)
        return abs(gap) * n * math.sqrt(n_questions * (n + 3) / noise) >= z

    low, high = 0, 1
    while not reached(high):
        low, high = high, 2 * high
        if high > _MOST_TRIALS:
            raise NotEstimableError(f"a gap of {gap} on {n_questions} questions needs more than 10^9 trials")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class _Purse:
    """What designs cost and tell; numbers of questions and trials are whole, as floats."""

    between: float
    within: float
    question: float
    trial: float

    def cost(self, questions: FloatArray, trials: FloatArray) -> FloatArray:
        return questions * (self.question + trials * self.trial)

    def variance(self, questions: FloatArray, trials: FloatArray) -> FloatArray:
        return (self.between + self.within / trials) / questions

    def bought_for(self, budget: float) -> tuple[FloatArray, FloatArray]:
        """Questions and trials of the designs within a budget among which the best is; none where it pays for none."""
        few = self._up_to_the_root(budget / self.trial)
        questions = np.floor(budget / (self.question + few * self.trial))
        trials = np.floor((budget / few - self.question) / self.trial)
        return _designs(few, questions, trials)

    def reaching(self, variance: float) -> tuple[FloatArray, FloatArray]:
        """Questions and trials of the designs that reach a variance among which the cheapest is."""
        near = np.array([max(1.0, round(self._closed_form()))])
        enough = self.cost(np.ceil(self.variance(np.ones(1), near) / variance), near)[0]
        few = self._up_to_the_root(enough / self.trial)
        spare = few * variance - self.between  # what the trials' noise may add
        trials = np.ceil(np.divide(self.within, spare, out=np.zeros_like(few), where=spare > 0))
        return _designs(few, np.ceil(self.variance(np.ones_like(few), few) / variance), trials)

    def _closed_form(self) -> float:
        return math.sqrt(self.within / self.between * self.question / self.trial)

    def _up_to_the_root(self, all_trials: float) -> FloatArray:
        root = math.isqrt(int(min(all_trials, _MOST_SEARCHED**2)))
        near = math.floor(self._closed_form())
        return np.union1d(np.arange(1.0, root + 1), [max(1.0, near), near + 1.0])


def _designs(few: FloatArray, questions: FloatArray, trials: FloatArray) -> tuple[FloatArray, FloatArray]:
    """`questions` of `few` trials each, and `few` questions of `trials` each, where there are any."""
    m, n = np.concatenate([questions, few]), np.concatenate([few, trials])
    exists = (m >= 1) & (n >= 1)
    return m[exists], n[exists]
