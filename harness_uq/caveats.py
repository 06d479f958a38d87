"""What a careful reader asks of repeated, missing and partial data, answered from the data themselves."""

from collections.abc import Iterator

import numpy as np

from harness_uq.data import FloatArray, Scores
from harness_uq.hookspecs import Problem, ProblemData
from harness_uq.stats.checks import cochran_q, missing_bounds

BATCH_EFFECT_P = 0.01
_OF_NEW_QUESTIONS = {
    *("beta", "jeffreys", "wilson", "clopper-pearson", "agresti-coull", "t", "clt", "dirichlet-process"),
    *("clustered", "clustered-gamma", "clustered-is", "clustered-dp", "nested", "bayesian-bootstrap"),
    *("clustered-wilson", "clustered-t", "clustered-cr2", "clustered-clt"),
    *("confusion", "totals", "group", "new-tasks"),
}


def caveats(problem: Problem, method: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Notes and warnings on an estimate by `method`."""
    return tuple(_wider_scope(problem, method)), (*_batch_effect(problem.data), *_partial_run(problem))


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


def _wider_scope(problem: Problem, method: str) -> Iterator[str]:
    """A method for new questions stands in for one about these questions or this benchmark: it is wider."""
    scope = problem.estimand.scope
    if scope == "benchmark" and method in _OF_NEW_QUESTIONS:
        yield f"{method} gives the interval for new questions of the kind, wider than one for exactly these questions"
    if scope == "full" and method in _OF_NEW_QUESTIONS:
        yield f"{method} gives the interval for new questions of the kind, wider than one for this whole benchmark"


def _partial_run(problem: Problem) -> Iterator[str]:
    n_all, limit = problem.log.config.get("n_original"), problem.log.config.get("limit")
    if problem.estimand.scope == "population" and limit and isinstance(n_all, int):
        reported = problem.log.reported.get((problem.data.metric, problem.data.filter))
        n = reported.n if reported and reported.n else problem.structure.n_questions
        if n < n_all and not problem.log.config.get("is_random_subset"):
            yield f"the run used the first {n} of {n_all} questions, not a random draw: the rest may differ in kind"
