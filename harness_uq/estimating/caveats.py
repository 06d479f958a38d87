"""What a careful reader asks of repeated, missing and partial data, answered from the data themselves."""

from collections.abc import Iterator

import numpy as np

from harness_uq.estimands import Mean
from harness_uq.logs.data import FloatArray, Scores
from harness_uq.plugins.protocols import Problem, ProblemData
from harness_uq.results.about import About
from harness_uq.stats.trials.checks import cochran_q, missing_bounds

BATCH_EFFECT_P = 0.01


def caveats(problem: Problem, method: str, about: About) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Notes and warnings on an estimate by `method`."""
    notes = (*_wider_scope(problem, method, about), *_full_scope(problem), *_copied_trials(problem))
    return notes, (*_batch_effect(problem.data), *_partial_run(problem))


def missing_note(values: FloatArray, bounds: tuple[float, float] | None) -> tuple[str, ...]:
    """How many trials of the log have no score, and between which scores they leave the truth.

    Parameters
    ----------
    values : float (n_questions, n_trials) as logged; NaN marks a missing, errored or refused trial
    bounds : lowest and highest possible score, where known
    """
    n_missing = int(np.isnan(values).sum())
    if not n_missing:
        return ()
    counted = f"{n_missing} of {values.size} trials have no score"
    if bounds is None:
        return (f"{counted}; scores that are missing for a reason can mislead",)
    found = missing_bounds(values, *bounds)
    worst, best = ("wrong", "right") if bounds == (0.0, 1.0) else ("the lowest possible", "the highest possible")
    return (f"{counted}; were they all {worst} the score would be {found.low:.4f}, all {best} {found.high:.4f}",)


def _batch_effect(data: ProblemData) -> Iterator[str]:
    """Trials that differ as columns are not exchangeable: a seed, a batch or a server made a difference."""
    if not isinstance(data, Scores) or data.values.shape[1] < 2:
        return
    test = cochran_q(data.values)
    if test.df and test.p_value < BATCH_EFFECT_P:
        yield (
            f"some trials score better than others on the same questions (Cochran's Q, p = {test.p_value:.1g}): they "
            "are not independent repeats (another seed, batch or server?), and the interval takes them as such"
        )


def _wider_scope(problem: Problem, method: str, about: About) -> Iterator[str]:
    """A method for new questions stands in for one about these questions or this benchmark: it is wider."""
    scope = problem.estimand.scope
    if scope not in about.scopes:
        narrower = "exactly these questions" if scope == "benchmark" else "this whole benchmark"
        yield f"{method} gives the interval for new questions of the kind, wider than one for {narrower}"


def _partial_run(problem: Problem) -> Iterator[str]:
    n, n_all = _asked_of(problem)
    if problem.log.facts.is_limited and n < n_all and not problem.log.facts.is_random_subset:
        yield f"the run used {n} of {n_all} questions, not drawn at random: the rest may differ in kind"


def _full_scope(problem: Problem) -> Iterator[str]:
    """Where part of a benchmark was asked, the score on all of it is known better than that on new questions."""
    n, n_all = _asked_of(problem)
    if n < n_all and isinstance(problem.data, Scores) and isinstance(problem.estimand, Mean):
        yield (
            f"--scope full gives the score on all {n_all} questions of the benchmark, of which {n} are known: an "
            f"interval about {(1 - n / n_all) ** 0.5:.0%} as wide as this one, which is for new questions"
        )


def _copied_trials(problem: Problem) -> Iterator[str]:
    """About exactly these questions only the trials' noise is left: what scores cannot show of it is said."""
    if problem.estimand.scope == "benchmark" and problem.structure.max_trials > 1:
        yield (
            "trials are taken as independent given their question: copies of one another (a cache, a fixed seed) look "
            "like agreement and make the interval too narrow (.65 to .74 for .95 where half of them are)"
        )


def _asked_of(problem: Problem) -> tuple[int, int]:
    """Questions asked, and of the whole benchmark; alike where the log does not say or the scope is another."""
    reported = problem.log.reported.get((problem.data.metric, problem.data.filter))
    n = reported.n if reported and reported.n else problem.structure.n_questions
    n_all = problem.log.facts.n_all
    return n, n_all if problem.estimand.scope == "population" and n_all is not None else n
