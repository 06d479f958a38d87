"""Estimate the score on a full benchmark from a run on some of its questions, assisted by runs of earlier systems.

The questions were drawn before the run, or chosen actively during it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from harness_uq.data.arrays import FloatArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.estimands import MethodInfo, parse_estimand
from harness_uq.data.reference_runs import ReferenceRuns, reference_runs
from harness_uq.data.selection import ActiveDraws, active_draws, merge_runs
from harness_uq.data.task_log import IntArray, Scores, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.marginals import make_problem, not_estimable
from harness_uq.inference.method import credible
from harness_uq.io import paths as io_paths
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.plugins.protocols import Problem
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.estimation import RANGE_REQUIRED
from harness_uq.messages.catalogue.planning import (
    DRAW_SIZE_MISMATCH,
    EFFECTIVE_SUBSET,
    EQUAL_PROBABILITIES_ASSUMED,
    PROBABILITIES_INVALID,
    PROBABILITIES_MISSING,
    REFERENCE_SIZE_MISMATCH,
    SUBSET_WITH_REFERENCE_RUNS,
    TOO_FEW_ACTIVE_SCORES,
    WHOLE_BENCHMARK_ESTIMAND,
)
from harness_uq.messages.catalogue.reading import FILE_UNREADABLE
from harness_uq.messages.errors import DataError, LogError, NotEstimableError, StructureError, refusal_of
from harness_uq.messages.message import Message
from harness_uq.messages.redaction import redact
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq.stats.active.predictor import Answers, Predictor, fit_predictor
from harness_uq.stats.active.rounds import Knowledge, RoundEstimate, combine_rounds, estimate_round
from harness_uq.stats.subsets.estimate import SubsetEstimate, subset_estimate

METHOD: Final = "difference-estimator"
METHOD_INFO: Final = MethodInfo(
    title="Score on the whole benchmark, by a difference estimator",
    formula="T = m̄ + Σ<sub>s</sub> ((y − m) / p) / Σ<sub>s</sub> (1 / p)",
    text=(
        "y are the scores of the questions s that were tried, drawn with probabilities p; m, of all questions, is what "
        "earlier systems let one expect, fitted without the question itself. T is right on average however bad m is, "
        "and the variance falls to 0 as the part grows to the whole."
    ),
    sources=("sarndal1992",),
    scopes=("full",),
)
ACTIVE_INFO: Final = MethodInfo(
    title="Score on the whole benchmark, from actively chosen questions",
    formula="T = Σ<sub>r</sub> w<sub>r</sub> (Σ<sub>known</sub> y + Σ<sub>R</sub> m + |R| ē<sub>r</sub>) / N",
    text=(
        "Questions are drawn in rounds r with known probabilities p. R are the questions that were unknown before the "
        "round, m their scores predicted by a factor model of earlier systems, and ē the mean of y − m in the round, "
        "weighted by 1 / p. T is consistent for any m, and its variance is estimated from the y − m of each round."
    ),
    sources=("sarndal1992",),
    scopes=("full",),
)

ACTIVE: Final = "active"
_ODD = 0.2  # largest share by which the number of questions may differ from the sum of the probabilities

Probabilities = Mapping[str, Mapping[str, float]]


def estimate_whole(
    logs: Runs,
    history: Runs,
    options: Options | None = None,
    *,
    drawn: Probabilities | None = None,
    plugins: Plugins | None = None,
) -> list[Estimate]:
    """Estimate the score on all questions of each task, metric and filter from runs on a subset of the questions.

    Runs of a system without common questions are combined into one. `history` are runs of other systems on the full
    benchmark; those of the same system are ignored. `drawn` are the probabilities with which questions were drawn; None
    if all are equal. If the history cannot be used, the interval of an estimate is None and a warning gives the reason.
    Raises DataError if another estimand than the mean is requested.
    """
    chosen, offered = replace(options or Options(), scope="full"), plugins or load_plugins()
    if chosen.estimand != "mean":
        raise DataError(WHOLE_BENCHMARK_ESTIMAND(estimand=chosen.estimand))
    earlier = task_logs(history, offered)
    logs_read = merge_runs([log for log in task_logs(logs, offered) if not log.subtasks])
    return [row for log in logs_read for row in _rows(log, earlier, chosen, drawn or {}, offered)]


def read_probabilities(path: str | Path) -> Probabilities:
    """Read the probabilities that `harness-uq subset` stored with the ids, by task and question id.

    `path` may be a URL. Raises LogError if the file cannot be read or has different contents.
    """
    try:
        return msgspec.json.decode(io_paths.read_bytes(str(path)), type=dict[str, dict[str, float]])
    except OSError as error:
        reason = str(error.strerror or error)
        raise LogError(FILE_UNREADABLE(reason=reason).at(str(path))) from None
    except msgspec.DecodeError as error:
        is_json = isinstance(error, msgspec.ValidationError)
        reason = "the file must be " + (
            "a JSON object of probabilities by task and question" if is_json else "valid JSON"
        )
        raise LogError(PROBABILITIES_INVALID(path=redact(str(path)), reason=reason)) from None


def probabilities_of(chances: Mapping[str, float] | None, history: ReferenceRuns) -> FloatArray | None:
    """The probability with which each question of the history was drawn; None if all are equal.

    Raises NotEstimableError if the probability of a question is missing.
    """
    if chances is None:
        return None
    if missing := [question for question in history.ids if question not in chances]:
        raise NotEstimableError(
            PROBABILITIES_MISSING(n_missing=len(missing), n_questions=len(history.ids), example=missing[0])
        )
    return np.array([chances[question] for question in history.ids])


def _rows(
    log: TaskLog, earlier: Sequence[TaskLog], options: Options, drawn: Probabilities, plugins: Plugins
) -> Iterator[Estimate]:
    # questions that were chosen actively, by reference runs of any system; such a run is no reference run itself
    is_active = active_draws(log.questions) is not None
    complete = [other for other in earlier if active_draws(other.questions) is None]
    others = [other for other in complete if is_active or other.system != log.system]
    for data in log.data:
        if not isinstance(data, Scores):
            continue
        try:
            history = reference_runs(others, log.task, data.metric, data.filter)
            row = _whole(log, data, history, drawn.get(log.task), options, plugins)
        except (DataError, NotEstimableError, StructureError) as error:
            row = not_estimable(log, data, parse_estimand("mean", "full"), (refusal_of(error),))
        yield replace(row, messages=(*row.messages, *log.messages))


def _whole(
    log: TaskLog,
    data: Scores,
    history: ReferenceRuns,
    chances: Mapping[str, float] | None,
    options: Options,
    plugins: Plugins,
) -> Estimate:
    if (draws := active_draws(log.questions)) is not None:
        return _active(log, data, history, draws, options, plugins)
    n_all, logged = len(history.ids), log.facts.n_all
    if logged is not None and logged != n_all:
        raise NotEstimableError(REFERENCE_SIZE_MISMATCH(n_reference=n_all, n_all=logged))
    problem, bounds = _problem(log, data, options, plugins)
    probabilities = probabilities_of(chances, history)
    subset = subset_estimate(
        history.align(log.questions, data),
        probabilities,
        history=history.scores,
        low=bounds[0],
        high=bounds[1],
    )
    result = credible(
        problem,
        subset.posterior,
        subset.mean,
        default="quantile",
        diagnostics=_diagnostics(subset, len(history.systems)),
        messages=(*_notes(subset, history, probabilities is None), *_warnings(subset, probabilities)),
    )
    return replace(
        result.estimate(problem, METHOD), method_reason="runs of earlier systems were given", info=METHOD_INFO
    )


def _problem(
    log: TaskLog, data: Scores, options: Options, plugins: Plugins, method: str = METHOD
) -> tuple[Problem, tuple[float, float]]:
    """The problem and the range of its scores; raises NotEstimableError if the range is unknown."""
    problem = make_problem(log, data, clusters_of(log, options.structure, plugins), options)
    if (bounds := problem.structure.bounds) is None:
        raise NotEstimableError(RANGE_REQUIRED(method=method))
    return problem, bounds


def _active(
    log: TaskLog, data: Scores, history: ReferenceRuns, draws: ActiveDraws, options: Options, plugins: Plugins
) -> Estimate:
    """Estimate from a run whose questions were chosen actively."""
    problem, bounds = _problem(log, data, options, plugins, ACTIVE)
    columns = np.array(history.columns_of(log.questions))
    scores = history.align(log.questions, data)[columns]
    predictor = fitted_predictor(history.scores, *bounds)
    subset = estimate_active_run(predictor, draws, columns, scores, bounds)
    result = credible(
        problem,
        subset.posterior,
        subset.mean,
        default="quantile",
        diagnostics=_diagnostics(subset, len(history.systems)) | {"rank": float(predictor.model.rank)},
        messages=tuple(_notes(subset, history, are_alike=False)),
    )
    reason = "the questions were chosen actively"
    return replace(result.estimate(problem, ACTIVE), method_reason=reason, info=ACTIVE_INFO)


def _diagnostics(subset: SubsetEstimate, n_systems: int) -> dict[str, float]:
    named = {
        "n_all": float(subset.n_all),
        "n_systems": float(n_systems),
        "effective_subset": subset.effective_questions,
        "std_error_uniform": subset.std_error_uniform,
    }
    return {name: value for name, value in named.items() if value is not None}


def _notes(subset: SubsetEstimate, history: ReferenceRuns, are_alike: bool) -> Iterator[Message]:
    yield SUBSET_WITH_REFERENCE_RUNS(n_questions=subset.n_questions, n_all=subset.n_all, n_systems=len(history.systems))
    if subset.effective_questions is not None:
        yield EFFECTIVE_SUBSET(effective=subset.effective_questions)
    if are_alike:
        yield EQUAL_PROBABILITIES_ASSUMED()


def _warnings(subset: SubsetEstimate, probabilities: FloatArray | None) -> Iterator[Message]:
    if probabilities is None:
        return
    drawn = float(probabilities.sum())
    if abs(subset.n_questions - drawn) > _ODD * drawn:
        yield DRAW_SIZE_MISMATCH(expected=drawn, n_questions=subset.n_questions)


# ---------------------------------------------------------------- questions that were chosen actively


def fitted_predictor(scores: FloatArray, low: float, high: float) -> Predictor:
    """Model of the scores of earlier systems; the last two models are kept, so that several estimates share a fit."""
    return _fitted(np.ascontiguousarray(scores).tobytes(), scores.shape, low, high)


@lru_cache(maxsize=2)
def _fitted(scores: bytes, shape: tuple[int, ...], low: float, high: float) -> Predictor:
    return fit_predictor(np.frombuffer(scores).reshape(shape), low=low, high=high)


def estimate_active_run(
    predictor: Predictor, draws: ActiveDraws, columns: IntArray, scores: FloatArray, bounds: tuple[float, float]
) -> SubsetEstimate:
    """Estimate the mean score on all questions from the rounds of a run.

    `predictor` is the model of the reference runs, for scores in `bounds`, the smallest and the largest possible score.
    `columns` are the positions of the run's questions among those of the reference runs. A missing score counts as the
    lowest, as during the run. Raises NotEstimableError if the first round has fewer than two questions.
    """
    low, high = bounds
    unit = (np.where(np.isnan(scores), low, scores) - low) / (high - low)
    rounds = list(_rounds(predictor, draws, columns, unit))
    if not rounds:
        raise NotEstimableError(TOO_FEW_ACTIVE_SCORES())
    return combine_rounds(rounds, predictor.n_questions, low=low, high=high)


def _rounds(predictor: Predictor, draws: ActiveDraws, columns: IntArray, scores: FloatArray) -> Iterator[RoundEstimate]:
    """The estimate of each round; an incomplete round ends the evaluation."""
    known = Knowledge()
    for number in np.unique(draws.rounds):
        of_round = np.flatnonzero(draws.rounds == number)
        planned = int(draws.round_sizes[of_round[0]])
        if len(of_round) < 2:
            return
        estimate = estimate_round(
            predictor,
            known,
            Answers(columns[of_round], scores[of_round]),
            draws.probabilities[of_round] * (len(of_round) / planned),
        )
        yield estimate
        if len(of_round) < planned:
            return
        known = known.after(estimate)
