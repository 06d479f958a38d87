"""The score on a whole benchmark from a run of part of it, assisted by runs of earlier systems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from harness_uq.errors import DataError, LogError, NotEstimableError, StructureError
from harness_uq.estimands import parse_estimand
from harness_uq.estimating.analysis import Options, clusters_of, make_problem, not_estimable
from harness_uq.estimating.finding import build, credible
from harness_uq.logs import places
from harness_uq.logs.data import FloatArray, Scores, TaskLog
from harness_uq.logs.history import History, history_of
from harness_uq.logs.joining import joined_parts
from harness_uq.logs.refusals import shown
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.reading import Runs, task_logs
from harness_uq.results.about import About
from harness_uq.results.estimate import Estimate
from harness_uq.stats.subsets.estimate import SubsetEstimate, subset_estimate

METHOD = "difference-estimator"
ABOUT = About(
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
    """The score on all questions of each task, metric and filter, of which the runs tried some.

    Parameters
    ----------
    logs : paths of runs of part of the benchmark, or task logs already read; a system's runs that share no question
        count as one
    history : runs of other systems on all of it; a run of the same system does not count
    options : how to estimate; estimand `mean`
    drawn : by task and question id, with which probability the question was drawn; None where all were alike
    plugins : what to choose from; the installed ones by default

    Returns
    -------
    One estimate a system, task, metric and filter with a score a question. Where the history does not fit its interval
    is None and a warning says why.

    Raises
    ------
    DataError : if another estimand is asked for
    """
    chosen, offered = replace(options or Options(), scope="full"), plugins or load_plugins()
    if chosen.estimand != "mean":
        raise DataError(f"the whole benchmark is estimated for the mean score; got {chosen.estimand}")
    earlier = task_logs(history, offered)
    logs_read = joined_parts([log for log in task_logs(logs, offered) if not log.subtasks])
    return [row for log in logs_read for row in _rows(log, earlier, chosen, drawn or {}, offered)]


def read_probabilities(path: str | Path) -> Probabilities:
    """What `harness-uq subset` wrote beside the ids: by task and question id, the probability of being drawn.

    `path` may be a URL.

    Raises
    ------
    LogError : if the file cannot be read or holds something else
    """
    try:
        return msgspec.json.decode(places.read_bytes(str(path)), type=dict[str, dict[str, float]])
    except OSError as error:
        raise LogError(f"{shown(str(path))} cannot be read: {error.strerror or error}") from None
    except msgspec.DecodeError as error:
        raise LogError(f"{shown(str(path))} holds no probabilities of questions: {error}") from None


def probabilities_of(chances: Mapping[str, float] | None, history: History) -> FloatArray | None:
    """Probability of each question of the history of being drawn; None where all were alike.

    Raises
    ------
    NotEstimableError : if a question has none
    """
    if chances is None:
        return None
    if missing := [question for question in history.ids if question not in chances]:
        raise NotEstimableError(
            f"{len(missing)} of {len(history.ids)} questions have no probability of being drawn, such as {missing[0]}"
        )
    return np.array([chances[question] for question in history.ids])


def _rows(
    log: TaskLog, earlier: Sequence[TaskLog], options: Options, drawn: Probabilities, plugins: Plugins
) -> Iterator[Estimate]:
    for data in log.data:
        if not isinstance(data, Scores):
            continue
        try:
            others = [other for other in earlier if other.system != log.system]
            history = history_of(others, log.task, data.metric, data.filter)
            row = _whole(log, data, history, drawn.get(log.task), options, plugins)
        except (DataError, NotEstimableError, StructureError) as error:
            row = not_estimable(log, data, parse_estimand("mean", "full"), str(error))
        yield replace(row, notes=(*row.notes, *log.notes), warnings=(*row.warnings, *log.warnings))


def _whole(
    log: TaskLog,
    data: Scores,
    history: History,
    chances: Mapping[str, float] | None,
    options: Options,
    plugins: Plugins,
) -> Estimate:
    n_all, logged = len(history.ids), log.facts.n_all
    if logged is not None and logged != n_all:
        raise NotEstimableError(f"the runs of the history hold {n_all} questions, and the benchmark has {logged}")
    problem = make_problem(log, data, clusters_of(log, options.structure, plugins), options)
    if (bounds := problem.structure.bounds) is None:
        raise NotEstimableError("scores of unknown range cannot be used; --range METRIC=LO,HI gives one")
    probabilities = probabilities_of(chances, history)
    found = subset_estimate(
        history.placed(log.questions, data),
        probabilities,
        history=history.scores,
        low=bounds[0],
        high=bounds[1],
    )
    finding = credible(
        problem,
        found.posterior,
        found.mean,
        default="quantile",
        diagnostics=_diagnostics(found, len(history.systems)),
        notes=tuple(_notes(found, history, probabilities is None)),
        warnings=tuple(_warnings(found, probabilities)),
    )
    return replace(build(problem, METHOD, finding), method_reason="runs of earlier systems were given", about=ABOUT)


def _diagnostics(found: SubsetEstimate, n_systems: int) -> dict[str, float]:
    named = {
        "n_all": float(found.n_all),
        "n_systems": float(n_systems),
        "effective_subset": found.effective_questions,
        "std_error_uniform": found.std_error_uniform,
    }
    return {name: value for name, value in named.items() if value is not None}


def _notes(found: SubsetEstimate, history: History, are_alike: bool) -> Iterator[str]:
    yield (
        f"{found.n_questions} of {found.n_all} questions were tried; the scores of {len(history.systems)} earlier "
        "systems on all of them say how they differ from the rest"
    )
    if found.effective_questions is not None:
        yield f"they tell as much as {found.effective_questions:.0f} questions without history"
    if are_alike:
        yield "all questions are taken to have been drawn with the same probability (the first n of a file were not)"


def _warnings(found: SubsetEstimate, probabilities: FloatArray | None) -> Iterator[str]:
    if probabilities is None:
        return
    drawn = float(probabilities.sum())
    if abs(found.n_questions - drawn) > _ODD * drawn:
        yield (
            f"the probabilities are those of a draw of {drawn:.0f} questions, and {found.n_questions} have scores: "
            "after a second part its own file counts, and questions that were drawn and lost are in no interval"
        )
