"""What a careful reader asks of repeated, missing and partial data, answered from the data themselves."""

from collections.abc import Iterator

from harness_uq.data import Scores
from harness_uq.hookspecs import Problem
from harness_uq.stats.checks import cochran_q, missing_bounds

BATCH_EFFECT_P = 0.01


def caveats(problem: Problem) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Notes and warnings that hold whatever the estimator."""
    data = problem.data
    if not isinstance(data, Scores):
        return (), ()
    notes = (*_missing(problem, data),)
    warnings = (*_batch_effect(data), *_partial_run(problem))
    return notes, warnings


def _batch_effect(data: Scores) -> Iterator[str]:
    """Trials that differ as columns are not exchangeable: a seed, a batch or a server made a difference."""
    if data.values.shape[1] < 2:
        return
    test = cochran_q(data.values)
    if test.df and test.p_value < BATCH_EFFECT_P:
        yield (
            f"some trials score better than others on the same questions (Cochran's Q, p = {test.p_value:.1g}): they "
            "are not independent repeats (another seed, batch or server?), and the interval takes them as such"
        )


def _missing(problem: Problem, data: Scores) -> Iterator[str]:
    if not problem.structure.has_missing or problem.structure.bounds is None:
        return
    bounds = missing_bounds(data.values, *problem.structure.bounds)
    yield (
        f"{bounds.n_missing} of {bounds.n_trials} trials have no score; were they all wrong the score would be "
        f"{bounds.low:.4f}, all right {bounds.high:.4f}"
    )


def _partial_run(problem: Problem) -> Iterator[str]:
    n_all, limit = problem.log.config.get("n_original"), problem.log.config.get("limit")
    if problem.estimand.scope == "population" and limit and isinstance(n_all, int):
        reported = problem.log.reported.get((problem.data.metric, problem.data.filter))
        n = reported.n if reported and reported.n else problem.structure.n_questions
        if n < n_all and not problem.log.config.get("is_random_subset"):
            yield f"the run used the first {n} of {n_all} questions, not a random draw: the rest may differ in kind"
