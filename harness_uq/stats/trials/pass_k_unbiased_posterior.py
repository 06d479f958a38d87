"""Posterior of pass@k and related metrics from unbiased estimates, for any distribution of success rates."""

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.common.validate_outcomes import check_question_counts
from harness_uq.stats.means.bounded import (
    bounded_posterior,
    cluster_totals,
    clustered_bounded_posterior,
    default_atom_mass,
)
from harness_uq.stats.trials.pass_k import PassScope, checked_count_score
from harness_uq.stats.trials.pass_k_family import PassKind, expected_scores, squared_score


def unbiased_pass_k_posterior(
    successes: ArrayLike,
    trials: ArrayLike,
    k: int,
    *,
    scope: PassScope = "population",
    kind: PassKind = "at",
    tau: float | None = None,
    clusters: ArrayLike | None = None,
) -> BetaPosterior:
    """Posterior of pass@k (or a related metric) without assumptions on the distribution of success rates.

    Parameters
    ----------
    successes, trials : array_like, shape (n_questions,)
        Right trials and all trials of each question, whole numbers that broadcast together.
    k : int
        Number of trials, from 1 to the smallest number of trials of a question.
    scope : {"population", "benchmark"}, optional
        Score expected on a new question (default), or mean over exactly these questions.
    kind, tau
        As in `pass_k_posterior`.
    clusters : array_like, shape (n_questions,), optional
        Cluster labels, used in the population scope.

    Returns
    -------
    BetaPosterior
        Posterior of the score.

    Raises
    ------
    DataError
        If counts are negative, fractional or inconsistent, or k, `tau` or `scope` is invalid.
    NotEstimableError
        If a question has fewer than k trials, or for mG-pass@1, which is 0 by definition.

    Notes
    -----
    Each question has an unbiased estimate e_q in [0, 1] (Chen et al. 2021; Hariri et al. 2025, eqs. 21-24).

    *Population:* the e_q are independent bounded scores whose expectation is the estimand. The posterior is that of
    `bounded_posterior` or, with clusters, `clustered_bounded_posterior`.

    *Benchmark:* the random part is e_q - g(pi_q), with variance E[e_q^2] - g(pi_q)^2. With 2k trials there is also an
    unbiased estimate e2_q of g(pi_q)^2, and sum_q (e_q^2 - e2_q) is an unbiased estimate of the variance of sum_q e_q.
    The result is the Beta with the mean of the population scope and variance (max(sum (e^2 - e2), 0) + m^2)
    / (M + 2 m)^2, with m from `default_atom_mass`. The term m^2 is the smallest for which the interval extends to a
    bound if all questions are at that bound. The interval is never wider than that of the population scope, which is
    used if a question has fewer than 2k trials.

    Examples
    --------
    With k = 1 and one trial it is the Beta posterior of a proportion:

    >>> unbiased_pass_k_posterior([1, 1, 0], 1, 1)
    BetaPosterior(a=3, b=2, low=0, high=1)
    """
    score = checked_count_score(k, kind, tau, scope)
    top = float(score[-1])
    s, n = check_question_counts(successes, trials)
    if n.min() < k:
        raise NotEstimableError(f"a question has {n.min():g} trials; an unbiased estimate needs at least k = {k}")
    estimates = expected_scores(score, s, n)
    if scope == "population" and clusters is not None:
        return clustered_bounded_posterior(*cluster_totals(estimates, clusters), 0.0, top)
    population = bounded_posterior(estimates, 0.0, top)
    if scope == "population" or n.min() < 2 * k:
        return population
    noise = float(np.sum(estimates**2 - expected_scores(squared_score(score), s, n)))
    mass = default_atom_mass(estimates, np.ones_like(estimates), 0.0, top)
    variance = (max(noise, 0.0) + (top * mass) ** 2) / (len(s) + 2 * mass) ** 2
    return BetaPosterior.from_moments(population.mean, min(variance, population.sd**2), 0.0, top)
