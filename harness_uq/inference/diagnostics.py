"""Check repeated, missing and partial data, and report notes and warnings."""

from collections.abc import Iterable, Iterator

import numpy as np

from harness_uq.data.estimands import Mean, MethodInfo
from harness_uq.data.selection import non_random_subset, questions_covered
from harness_uq.data.task_log import Scores
from harness_uq.data.trial_endings import TrialEndings, causes_of_missing
from harness_uq.io.plugins.protocols import Problem, ProblemData
from harness_uq.messages import Message
from harness_uq.messages.catalogue.comparison import FAILED_FOR_ONE_SYSTEM, VERDICT_DEPENDS_ON_MISSING
from harness_uq.messages.catalogue.estimation import (
    FULL_SCOPE_AVAILABLE,
    METHOD_FOR_NEW_QUESTIONS,
    MISSING_SCORES,
    MISSING_SCORES_BOUNDS,
    MISSING_SCORES_COUNTED,
    MISSING_SCORES_MATTER,
    NON_EXCHANGEABLE_TRIALS,
    TRIALS_ASSUMED_INDEPENDENT,
)
from harness_uq.results.estimate import Estimate
from harness_uq.stats.trials.diagnostics import cochran_q, identical_trials, missing_bounds

TRIALS_WITHOUT_SCORE = "trials-without-score"  # name of a message of readers
_ABOUT_MISSING = (
    frozenset({VERDICT_DEPENDS_ON_MISSING.code}),
    frozenset({MISSING_SCORES_MATTER.code}),
    frozenset({FAILED_FOR_ONE_SYSTEM.code}),
    frozenset({MISSING_SCORES_COUNTED.code, MISSING_SCORES_BOUNDS.code, MISSING_SCORES.code}),
)
BATCH_EFFECT_P = 0.09  # false alarms in at most 10 % of data sets, see benchmarks/sim_batches.py


def caveats(problem: Problem, method: str, info: MethodInfo) -> tuple[Message, ...]:
    """Return notes and warnings about an estimate by `method`."""
    messages = [*_wider_scope(problem, method, info), *_full_scope(problem)]
    # in inference about exactly these questions, only trial noise is random
    if problem.estimand.scope == "benchmark" and problem.structure.max_trials > 1:
        messages.append(TRIALS_ASSUMED_INDEPENDENT())
    of_run = non_random_subset(problem.log, problem.data, problem.structure.n_questions, problem.estimand.scope)
    return (*messages, *_batch_effect(problem.data), *of_run)


def missing_note(
    scores: Scores, bounds: tuple[float, float] | None, endings: TrialEndings | None = None
) -> tuple[Message, ...]:
    """Report how many trials of the log have no score, and the range of scores that they could lead to.

    `scores`: scores as logged, NaN for a missing, errored or refused trial; or after policies for missing scores.
    `bounds`: lowest and highest possible score, None if unknown. `endings`: how the trials ended, None if unknown.
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
    causes = causes_of_missing(endings, values)
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


def once_about_missing(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages, of which only the first in `_ABOUT_MISSING` that occurs states that scores are missing."""
    said = tuple(messages)
    codes = {message.code for message in said}
    kept = next((about for about in _ABOUT_MISSING if not about.isdisjoint(codes)), None)
    if kept is None:
        return said
    left_out = frozenset().union(*_ABOUT_MISSING) - kept
    return tuple(m for m in said if m.code not in left_out and m.name != TRIALS_WITHOUT_SCORE)


def messages_of_log(messages: Iterable[Message], rows: Iterable[Estimate]) -> tuple[Message, ...]:
    """The messages of a log without those on missing scores that one of its estimates states too."""
    about = frozenset().union(*_ABOUT_MISSING)
    stated = {row.metric for row in rows if any(message.code in about for message in row.messages)}
    return tuple(m for m in messages if m.name != TRIALS_WITHOUT_SCORE or m.params.get("scorer") not in stated)


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


def _full_scope(problem: Problem) -> Iterator[Message]:
    """Note if the run covers part of a benchmark: the full score is then known more precisely than the population's."""
    n, n_all = questions_covered(problem.log, problem.data, problem.structure.n_questions)
    is_mean_of_questions = isinstance(problem.data, Scores) and isinstance(problem.estimand, Mean)
    if n < n_all and is_mean_of_questions and problem.estimand.scope == "population":
        yield FULL_SCOPE_AVAILABLE(n_questions=n, n_all=n_all, relative_width=(1 - n / n_all) ** 0.5)
