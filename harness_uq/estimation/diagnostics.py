"""Check repeated, missing and partial data, and report notes and warnings."""

from collections.abc import Iterator

import numpy as np

from harness_uq.data.task_log import Scores
from harness_uq.data.trial_endings import UNKNOWN, TrialEndings, describe_counts
from harness_uq.estimands import Mean
from harness_uq.messages import Message
from harness_uq.messages.catalogue.estimation import (
    FULL_SCOPE_AVAILABLE,
    METHOD_FOR_NEW_QUESTIONS,
    MISSING_SCORES,
    MISSING_SCORES_BOUNDS,
    MISSING_SCORES_COUNTED,
    NON_EXCHANGEABLE_TRIALS,
    NON_RANDOM_SUBSET,
    TRIALS_ASSUMED_INDEPENDENT,
)
from harness_uq.plugins.protocols import Problem, ProblemData
from harness_uq.results.method_info import MethodInfo
from harness_uq.stats.trials.diagnostics import cochran_q, identical_trials, missing_bounds

BATCH_EFFECT_P = 0.03  # simulated in benchmarks/sim_batches.py


def caveats(problem: Problem, method: str, info: MethodInfo) -> tuple[Message, ...]:
    """Return notes and warnings about an estimate by `method`."""
    messages = [*_wider_scope(problem, method, info), *_full_scope(problem)]
    # in inference about exactly these questions, only trial noise is random
    if problem.estimand.scope == "benchmark" and problem.structure.max_trials > 1:
        messages.append(TRIALS_ASSUMED_INDEPENDENT())
    return (*messages, *_batch_effect(problem.data), *_partial_run(problem))


def missing_note(
    scores: Scores, bounds: tuple[float, float] | None, endings: TrialEndings | None = None
) -> tuple[Message, ...]:
    """Report how many trials of the log have no score, and the range of scores that they could lead to.

    Parameters
    ----------
    scores : scores as logged, NaN for a missing, errored or refused trial; or after policies for missing scores
    bounds : lowest and highest possible score, None if unknown
    endings : how the trials ended, None if unknown
    """
    counts, values = scores.missing, scores.values
    if counts is not None and (counts.n_worst or counts.n_open or counts.n_ignored):
        numbers = {
            "count as the worst possible score": counts.n_worst,
            "may have any score": counts.n_open,
            "are left out": counts.n_missing - counts.n_worst - counts.n_open,
        }
        return (
            MISSING_SCORES_COUNTED(
                n_missing=counts.n_missing,
                n_trials=counts.n_trials,
                causes=counts.causes,
                treatments=tuple(f"{n} {treatment}" for treatment, n in numbers.items() if n),
            ),
        )
    n_missing = int(np.isnan(values).sum())
    if not n_missing:
        return ()
    by_ending = {} if endings is None else endings.counts_without_score(values)
    causes = f" ({describe_counts(by_ending)})" if by_ending.keys() - {UNKNOWN} else ""
    if bounds is None:
        return (MISSING_SCORES(n_missing=n_missing, n_trials=values.size, causes=causes),)
    score = missing_bounds(values, *bounds)
    worst, best = ("wrong", "right") if bounds == (0.0, 1.0) else ("the lowest possible", "the highest possible")
    return (
        MISSING_SCORES_BOUNDS(
            n_missing=n_missing,
            n_trials=values.size,
            causes=causes,
            low=score.low,
            high=score.high,
            worst_case=worst,
            best_case=best,
        ),
    )


def _batch_effect(data: ProblemData) -> Iterator[Message]:
    """Warn if columns of trials differ systematically (by seed, batch or server): trials are then not exchangeable."""
    if not isinstance(data, Scores) or data.values.shape[1] < 2 or identical_trials(data.values):
        return
    test = cochran_q(data.values)
    if test.df and test.p_value < BATCH_EFFECT_P:
        yield NON_EXCHANGEABLE_TRIALS(p_value=test.p_value, intra_batch_correlation=test.intra_batch_correlation)


def _wider_scope(problem: Problem, method: str, info: MethodInfo) -> Iterator[Message]:
    """Note if a method for the question population replaces one for these questions or this benchmark: it is wider."""
    scope = problem.estimand.scope
    if scope not in info.scopes:
        target = "exactly these questions" if scope == "benchmark" else "this whole benchmark"
        yield METHOD_FOR_NEW_QUESTIONS(method=method, target=target)


def _partial_run(problem: Problem) -> Iterator[Message]:
    n, n_all = _asked_of(problem)
    if problem.log.facts.is_limited and n < n_all and not problem.log.facts.is_random_subset:
        yield NON_RANDOM_SUBSET(n_questions=n, n_all=n_all)


def _full_scope(problem: Problem) -> Iterator[Message]:
    """Note if the run covers part of a benchmark: the full score is then known more precisely than the population's."""
    n, n_all = _asked_of(problem)
    if n < n_all and isinstance(problem.data, Scores) and isinstance(problem.estimand, Mean):
        yield FULL_SCOPE_AVAILABLE(n_questions=n, n_all=n_all, relative_width=(1 - n / n_all) ** 0.5)


def _asked_of(problem: Problem) -> tuple[int, int]:
    """Return the numbers of questions in the run and in the benchmark; equal if unknown or not applicable."""
    reported = problem.log.reported.get((problem.data.metric, problem.data.filter))
    n = reported.n if reported and reported.n else problem.structure.n_questions
    n_all = problem.log.facts.n_all
    return n, n_all if problem.estimand.scope == "population" and n_all is not None else n
