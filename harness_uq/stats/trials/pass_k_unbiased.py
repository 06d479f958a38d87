"""pass@k and its relatives from the questions' unbiased estimates, whatever the shape of their success rates."""

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import NotEstimableError
from harness_uq.stats.common.outcomes import check_question_counts
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.means.bounded import (
    bounded_posterior,
    cluster_totals,
    clustered_bounded_posterior,
    default_atom_mass,
)
from harness_uq.stats.trials.count_scores import PassKind, expected_scores, squared_score
from harness_uq.stats.trials.pass_k import PassScope, scored_event


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
    """Posterior of pass@k (or a relative) without an assumption on how the success rates vary over questions.

    Parameters
    ----------
    successes, trials : (M,) whole numbers, broadcast together; right trials and all trials of each question
    k : int, 1 <= k <= the fewest trials
    scope : `population`, the score expected on a new question; `benchmark`, the mean over exactly these questions
    kind, tau : as in `pass_k_posterior`
    clusters : (M,) label of the cluster of each question, or None; used in the population scope

    Raises
    ------
    DataError : counts that are negative, fractional or inconsistent; k, tau or scope out of range
    NotEstimableError : a question has fewer than k trials; mG-pass@1, which is 0 by definition

    Notes
    -----
    Each question has an unbiased estimate e_q in [0, 1] (Chen et al. 2021; Hariri et al. 2025, eqs. 21-24).

    Population: they are independent bounded scores whose expectation is the estimand: the Dirichlet process of
    `bounded_posterior` with the atoms of `default_atom_mass`, or over clusters `clustered_bounded_posterior`.

    Benchmark: what varies is e_q around g(pi_q), by E[e_q^2] - g(pi_q)^2. With 2k trials g^2 has an unbiased estimate
    e2_q as well, so that sum_q (e_q^2 - e2_q) estimates the variance of sum_q e_q without bias. Returned is the Beta
    with the population's mean (sum e + m) / (M + 2 m) and variance (max(sum (e^2 - e2), 0) + m^2) / (M + 2 m)^2, m of
    `default_atom_mass`: m^2 is the least by which the interval reaches a bound where every question is there. It is
    never wider than the population's, which stands where a question has fewer than 2k trials.

    Examples
    --------
    With k = 1 and one trial it is the Beta posterior of a proportion:

    >>> unbiased_pass_k_posterior([1, 1, 0], 1, 1)
    BetaPosterior(a=3, b=2, low=0, high=1)
    """
    score = scored_event(k, kind, tau, scope)
    top = float(score[-1])
    s, n = check_question_counts(successes, trials)
    if n.min() < k:
        raise NotEstimableError(f"a question has {n.min():g} trials: an unbiased estimate needs at least k = {k}")
    estimates = expected_scores(score, s, n)
    if scope == "population" and clusters is not None:
        return clustered_bounded_posterior(*cluster_totals(estimates, clusters), 0.0, top)
    mass = default_atom_mass(estimates, np.ones_like(estimates), 0.0, top)
    population = bounded_posterior(estimates, 0.0, top, atom_mass=mass)
    if scope == "population" or n.min() < 2 * k:
        return population
    noise = float(np.sum(estimates**2 - expected_scores(squared_score(score), s, n)))
    variance = (max(noise, 0.0) + (top * mass) ** 2) / (len(s) + 2 * mass) ** 2
    return BetaPosterior.from_moments(population.mean, min(variance, population.sd**2), 0.0, top)
