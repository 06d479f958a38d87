"""Estimate the score on a full benchmark from a run on a subset, assisted by runs of earlier systems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from harness_uq.data.arrays import FloatArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.estimands import MethodInfo, parse_estimand
from harness_uq.data.reference_runs import ReferenceRuns, reference_runs
from harness_uq.data.selection import ActiveDraws, active_draws, merge_runs
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.inference import active_runs as active
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.marginals import make_problem, not_estimable
from harness_uq.inference.method import credible
from harness_uq.io import paths as io_paths
from harness_uq.io.plugins.manager import Plugins
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
    WHOLE_BENCHMARK_ESTIMAND,
)
from harness_uq.messages.catalogue.reading import FILE_UNREADABLE
from harness_uq.messages.errors import DataError, LogError, NotEstimableError, StructureError, refusal_of
from harness_uq.messages.message import Message
from harness_uq.messages.redaction import redact
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq.stats.subsets.estimate import SubsetEstimate, subset_estimate

METHOD = "difference-estimator"
METHOD_INFO = MethodInfo(
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
_ODD = 0.2

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

    Parameters
    ----------
    logs : paths of runs on part of the benchmark or results in memory, as for `read_logs`; runs of a system without
        common questions are combined into one
    history : runs of other systems on the full benchmark; runs of the same system are ignored
    options : options of the estimates; the estimand is `mean`
    drawn : probability with which each question was drawn, by task and question id; None if all are equal
    plugins : plugins to use; by default the installed ones

    Returns
    -------
    One estimate per system, task, metric and filter that scores each question. If the history cannot be used, its
    interval is None and a warning gives the reason.

    Raises
    ------
    DataError : if a different estimand is requested
    """
    chosen, offered = replace(options or Options(), scope="full"), plugins or load_plugins()
    if chosen.estimand != "mean":
        raise DataError(WHOLE_BENCHMARK_ESTIMAND(estimand=chosen.estimand))
    earlier = task_logs(history, offered)
    logs_read = merge_runs([log for log in task_logs(logs, offered) if not log.subtasks])
    return [row for log in logs_read for row in _rows(log, earlier, chosen, drawn or {}, offered)]


def read_probabilities(path: str | Path) -> Probabilities:
    """Read the probabilities that `harness-uq subset` stored with the ids, by task and question id.

    `path` may be a URL.

    Raises
    ------
    LogError : if the file cannot be read or has different contents
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
    """Return the probability with which each question of the history was drawn; None if all are equal.

    Raises
    ------
    NotEstimableError : if the probability of a question is missing
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
    problem = make_problem(log, data, clusters_of(log, options.structure, plugins), options)
    if (bounds := problem.structure.bounds) is None:
        raise NotEstimableError(RANGE_REQUIRED(method=METHOD))
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


def _active(
    log: TaskLog, data: Scores, history: ReferenceRuns, draws: ActiveDraws, options: Options, plugins: Plugins
) -> Estimate:
    """Estimate from a run whose questions were chosen actively."""
    problem = make_problem(log, data, clusters_of(log, options.structure, plugins), options)
    if (bounds := problem.structure.bounds) is None:
        raise NotEstimableError(RANGE_REQUIRED(method=active.METHOD))
    columns = np.array(history.columns_of(log.questions))
    scores = history.align(log.questions, data)[columns]
    predictor = active.fitted_predictor(history.scores, *bounds)
    subset = active.estimate_active_run(predictor, draws, columns, scores, bounds)
    result = credible(
        problem,
        subset.posterior,
        subset.mean,
        default="quantile",
        diagnostics=_diagnostics(subset, len(history.systems)) | {"rank": float(predictor.model.rank)},
        messages=tuple(_notes(subset, history, are_alike=False)),
    )
    reason = "the questions were chosen actively"
    return replace(result.estimate(problem, active.METHOD), method_reason=reason, info=active.METHOD_INFO)


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
