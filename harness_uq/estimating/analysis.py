"""From task logs to estimates: structure, problem, estimator, result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from harness_uq.errors import DataError, HarnessUqError, NotEstimableError, StructureError, told
from harness_uq.estimands import ConfusionMetric, Estimand, PassK, Scope, Statistic, parse_estimand
from harness_uq.estimating.caveats import caveats, missing_note
from harness_uq.estimating.evidence import better_evidence
from harness_uq.estimating.selection import choices
from harness_uq.logs.arrays import label_codes, score_table
from harness_uq.logs.data import (
    Classifications,
    FloatArray,
    IntArray,
    Questions,
    Records,
    Scores,
    Source,
    TaskData,
    TaskGroup,
    TaskLog,
    Totals,
)
from harness_uq.logs.events import trials_behind
from harness_uq.plugins.manager import Plugins, cluster_keys, load_plugins
from harness_uq.plugins.protocols import CredibleKind, Problem
from harness_uq.plugins.reading import Runs, task_logs
from harness_uq.results.estimate import NOTHING_REPORTED, Estimate
from harness_uq.stats.common.arrays import LARGEST
from harness_uq.stats.trials.checks import identical_trials
from harness_uq.structure.clusters import codes_of, find_clusters
from harness_uq.structure.detection import detect
from harness_uq.structure.facts import Clusters, Fact, Structure, StructureOptions
from harness_uq.structure.task_groups import group_data, group_structure, members_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Options:
    """How to estimate.

    Attributes
    ----------
    method : `bayes`, `wilson`, `t`, `clt` or the name of an estimator
    level : coverage aimed at, in (0, 1)
    scope : `population`, `benchmark` or `full`
    estimand : `mean`, `pass@K`, `pass^K`, `G-pass@K:TAU`, `mG-pass@K` or `maj@K`, of metrics that are averages
    interval : kind of credible interval; None for each method's default
    structure : what the user says about clusters and ranges
    seed : of the methods that sample
    """

    method: str = "bayes"
    level: float = 0.95
    scope: Scope = "population"
    estimand: str = "mean"
    interval: CredibleKind | None = None
    structure: StructureOptions = field(default_factory=StructureOptions)
    seed: int = 0

    def __post_init__(self) -> None:
        parse_estimand(self.estimand, self.scope)
        if not 0 < self.level < 1:
            raise DataError(f"level must lie strictly between 0 and 1, such as 0.95; got {self.level}")


@dataclass(frozen=True, slots=True)
class TaskStructure:
    """The structure of one task in one run, for printing.

    Attributes
    ----------
    log : the task
    clusters : what was found about clusters
    metrics : structure of each metric's data, by (metric, filter)
    """

    log: TaskLog
    clusters: Clusters
    metrics: Mapping[tuple[str, str], Structure]


def estimate(
    logs: Runs,
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
) -> list[Estimate]:
    """Estimates of every task, metric and filter.

    Parameters
    ----------
    logs : paths of logged runs, or task logs already read
    options : how to estimate
    plugins : what to choose from; the installed ones by default

    Returns
    -------
    One estimate a system, task, metric and filter. Where the data have no answer its interval is None and a
    warning says why.

    Raises
    ------
    LogError : if a path gives no log
    HarnessUqError : if no method has the name asked for
    """
    chosen = options or Options()
    offered = plugins or load_plugins()
    read = task_logs(logs, offered)
    return [row for log in read for row in _estimate_log(log, read, chosen, offered)]


def estimate_scores(
    values: "ArrayLike",
    *,
    clusters: "ArrayLike | None" = None,
    options: Options | None = None,
    metric: str = "score",
) -> Estimate:
    """Estimate from an array of scores, without a log.

    Parameters
    ----------
    values : (n_questions,) or (n_questions, n_trials), of any kind that numpy, pandas or polars makes; NaN, None or a
        mask marks a missing trial
    clusters : labels (n_questions,) of passages, dialogues…, missing ones each their own; None where questions are
        independent
    options : how to estimate
    metric : name in the result; a range for it may be given in `options.structure.ranges`

    Raises
    ------
    DataError : if values or clusters have another shape, or a value is no finite number

    Examples
    --------
    >>> estimate_scores([1, 1, 1, 1, 1, 1, 1, 0, 1, 1]).value
    0.9
    """
    table = score_table(values)
    codes = None if clusters is None else label_codes(clusters, len(table))
    codes = None if codes is None or (codes < 0).all() else codes
    log = TaskLog(
        system="array",
        task="array",
        source=Source("array", "array"),
        questions=Questions(tuple(str(i) for i in range(len(table)))),
        data=(Scores(metric, "none", table, codes),),
    )
    return estimate(log, options)[0]


def structures(
    logs: Runs,
    options: StructureOptions | None = None,
    *,
    plugins: Plugins | None = None,
) -> list[TaskStructure]:
    """What is known of each task's clusters, trials and score types, with the evidence."""
    offered = plugins or load_plugins()
    chosen = options or StructureOptions()
    return [
        _task_structure(log, clusters_of(log, chosen, offered), chosen)
        for log in task_logs(logs, offered, need_scores=False)
    ]


def _task_structure(log: TaskLog, clusters: Clusters, options: StructureOptions) -> TaskStructure:
    metrics, warnings = {}, clusters.warnings
    for data in log.data:
        if isinstance(data, Totals):
            continue
        try:
            metrics[data.metric, data.filter] = detect(data, clusters, options.of_task(log.task))
        except StructureError as error:
            warnings += (str(error),)
    return TaskStructure(log, replace(clusters, warnings=warnings), metrics)


def clusters_of(log: TaskLog, options: StructureOptions, plugins: Plugins) -> Clusters:
    """Clusters of a task; a field that the user named and the task lacks is warned of, and others are looked for."""
    known = plugins.catalogues.get(log.source.harness)
    catalogue = known.tasks if known else ()
    suggestions, warnings = cluster_keys(plugins, log.task, log.facts.settings)
    try:
        found = find_clusters(log, options, catalogue=catalogue, suggestions=suggestions)
    except StructureError as error:
        found = find_clusters(log, StructureOptions(), catalogue=catalogue, suggestions=suggestions)
        warnings += (str(error),)
    return replace(found, warnings=(*found.warnings, *warnings))


def _estimate_log(log: TaskLog, logs: Sequence[TaskLog], options: Options, plugins: Plugins) -> list[Estimate]:
    rows = [_isolated(log, data, logs, options, plugins) for data in log.data]
    return [replace(row, notes=(*row.notes, *log.notes), warnings=(*row.warnings, *log.warnings)) for row in rows]


def _isolated(log: TaskLog, data: TaskData, logs: Sequence[TaskLog], options: Options, plugins: Plugins) -> Estimate:
    """The estimate; an error that nobody foresaw costs this one alone."""
    try:
        if log.subtasks:
            return _estimate_group(log, data, logs, options, plugins)
        return _estimate_task(log, data, clusters_of(log, options.structure, plugins), options, plugins)
    except HarnessUqError:
        raise
    except Exception as error:
        row = not_estimable(log, data, _estimand(data, options), told(error))
        return replace(row, failure=told(error))


def _estimate_task(log: TaskLog, data: TaskData, clusters: Clusters, options: Options, plugins: Plugins) -> Estimate:
    if options.method == "bayes" and options.estimand == "mean":
        data = better_evidence(log, data, plugins.catalogues.get(log.source.harness))
    is_open = options.method == "bayes" and options.estimand == "mean" and clusters.codes is None
    if is_open and (event := trials_behind(log, data)) is not None:
        row = _estimate_task(log, event[0], clusters, replace(options, estimand=event[1]), plugins)
        if row.interval is not None:
            return row
    try:
        problem = make_problem(log, data, clusters, options)
    except (DataError, NotEstimableError, StructureError) as error:
        return not_estimable(log, data, _estimand(data, options), str(error))
    row = solve(problem, options.method, plugins)
    row = replace(row, notes=(*row.notes, *_trial_notes(data, problem), *_judge_note(log, data, plugins)))
    return replace(row, n_trials=_most_trials(data)) if _are_copies(data) else row


def _estimate_group(
    log: TaskLog, data: TaskData, logs: Sequence[TaskLog], options: Options, plugins: Plugins
) -> Estimate:
    try:
        members = members_of(log, logs)
        joined = group_data(
            log, data.metric, data.filter, members, lambda member: clusters_of(member, options.structure, plugins)
        )
        structure = group_structure(joined, options.structure.of_task(log.task))
    except (DataError, NotEstimableError, StructureError) as error:
        return not_estimable(log, data, _estimand(data, options), str(error))
    estimand = _estimand(joined, options)
    rng = np.random.default_rng(options.seed)
    problem = Problem(estimand, joined, structure, log, options.level, options.interval, rng)
    if options.method == "bayes" or _takes_groups(options.method, plugins):
        return solve(problem, options.method, plugins)
    row = solve(problem, "bayes", plugins)
    return replace(row, notes=(*row.notes, f"{options.method} has no form for groups of tasks; this is the posterior"))


def _takes_groups(method: str, plugins: Plugins) -> bool:
    return method in plugins.estimators and plugins.estimators[method].about.takes_groups


def solve(problem: Problem, method: str, plugins: Plugins) -> Estimate:
    """The estimate of the first estimator that fits; the reasons of those that did not are notes.

    Raises
    ------
    HarnessUqError : if no method has the name asked for
    """
    log, data, estimand = problem.log, problem.data, problem.estimand
    refusals: list[str] = []
    failure: str | None = None
    for choice in choices(problem, method, plugins.estimators):
        try:
            if reason := choice.estimator.unsuitable(problem):
                raise NotEstimableError(reason if method == "bayes" else f"{choice.estimator.name} {reason}")
            row, about = choice.estimator.estimate(problem), choice.estimator.about
        except (DataError, NotEstimableError) as error:
            refusals.append(str(error))
            continue
        except Exception as error:
            failure = f"{choice.estimator.name} failed: {told(error)}"
            refusals.append(failure)
            continue
        structure = problem.structure
        notes, warnings = caveats(problem, row.method, about)
        notes = (*row.notes, *refusals, *_cluster_notes(structure), *notes, *structure.hints)
        warnings = (*row.warnings, *structure.warnings, *warnings)
        return replace(row, notes=notes, warnings=warnings, method_reason=choice.reason, failure=failure, about=about)
    row = not_estimable(log, data, estimand, "; ".join(dict.fromkeys(refusals)), problem.structure)
    return replace(row, failure=failure)


def _estimand(data: TaskData | TaskGroup, options: Options) -> Estimand:
    if isinstance(data, Classifications):
        return ConfusionMetric(data.function, options.scope)
    if isinstance(data, Records):
        return Statistic(data.statistic, options.scope)
    return parse_estimand(options.estimand, options.scope)


def make_problem(log: TaskLog, data: TaskData, clusters: Clusters, options: Options) -> Problem:
    """The problem that an estimator sees: scored questions only, clusters attached, copies of a trial dropped.

    Raises
    ------
    NotEstimableError : if no question has a score
    """
    rng, estimand = np.random.default_rng(options.seed), _estimand(data, options)
    if isinstance(data, Totals):
        structure = _totals_structure(data)
        return Problem(estimand, data, structure, log, options.level, options.interval, rng)
    scored = data.is_scored
    if not scored.any():
        raise NotEstimableError("no question has a score")
    used = _with_distinct_trials(data) if isinstance(data, Scores) else data
    structure = _told_of_copies(detect(used, clusters, options.structure.of_task(log.task)), data)
    kept = _only(used, scored, codes_of(data, clusters))
    return Problem(estimand, kept, structure, log, options.level, options.interval, rng)


def _with_distinct_trials(data: Scores) -> Scores:
    """The scores with one trial where all are copies, or where no question has two.

    Raises
    ------
    NotEstimableError : if a score is so large that squares overflow
    """
    largest = float(np.nanmax(np.abs(data.values)))
    if largest > LARGEST:
        raise NotEstimableError(f"a score of {largest:.3g} is larger than can be averaged ({LARGEST:g})")
    counts = np.isfinite(data.values).sum(axis=1)
    is_single = counts.max() == 1 or _are_copies(data)
    return replace(data, values=_first_trial(data.values)) if is_single else data


def _are_copies(data: TaskData) -> bool:
    return isinstance(data, Scores) and identical_trials(data.values[data.is_scored])


def _told_of_copies(structure: Structure, logged: TaskData) -> Structure:
    if not _are_copies(logged):
        return structure
    told = Fact("trials", f"{_most_trials(logged)} trials a question, all alike, so one counts", "the log")
    return replace(structure, facts=tuple(told if fact.name == "trials" else fact for fact in structure.facts))


def _most_trials(logged: TaskData) -> int | None:
    """Most trials a question in the log, copies included."""
    return int(np.isfinite(logged.values).sum(axis=1).max()) if isinstance(logged, Scores) else None


def _first_trial(values: FloatArray) -> FloatArray:
    """The first trial that each question has; float (n_questions, 1)."""
    return np.take_along_axis(values, np.isfinite(values).argmax(axis=1)[:, None], axis=1)


def _only(
    data: Scores | Classifications | Records, scored: "NDArray[np.bool_]", codes: IntArray | None
) -> Scores | Classifications | Records:
    clusters = None if codes is None else codes[scored]
    if isinstance(data, Scores):
        return replace(data, values=data.values[scored], clusters=clusters)
    if isinstance(data, Classifications):
        return replace(data, targets=data.targets[scored], predictions=data.predictions[scored], clusters=clusters)
    return replace(data, statistics=data.statistics[scored], clusters=clusters)


def _totals_structure(data: Totals) -> Structure:
    fact = Fact("clusters", "unknown", data.reason)
    return Structure("record", None, data.n or 0, 1, data.n or 0, None, None, (fact,))


def _cluster_notes(structure: Structure) -> tuple[str, ...]:
    if structure.n_clusters is None:
        return ()
    return tuple(f"clusters: {fact.value} ({fact.evidence})" for fact in structure.facts if fact.name == "clusters")


def _trial_notes(logged: TaskData, problem: Problem) -> tuple[str, ...]:
    used = problem.data
    if not (isinstance(logged, Scores) and isinstance(used, Scores)):
        return ()
    notes = missing_note(logged.values, problem.structure.bounds)
    if _are_copies(logged):
        n = _most_trials(logged)
        notes += (f"all {n} trials of every question scored alike (temperature 0 or a cache?), so one of them counts",)
    return notes


def _judge_note(log: TaskLog, data: TaskData, plugins: Plugins) -> tuple[str, ...]:
    known = plugins.catalogues.get(log.source.harness)
    if known is None or not known.is_judged(log.task, data.metric):
        return ()
    return (
        "a model graded these answers, and its errors are in no interval: more questions do not make them smaller, a "
        "person's labels of some do (--human)",
    )


def not_estimable(
    log: TaskLog, data: "TaskData | TaskGroup", estimand: Estimand, reason: str, structure: Structure | None = None
) -> Estimate:
    """An estimate that says why there is none; the harness's own value stands."""
    reported = log.reported.get((data.metric, data.filter), NOTHING_REPORTED)
    value = data.value if isinstance(data, Totals) else reported.value
    if isinstance(estimand, PassK):
        value = None
    return Estimate(
        system=log.system,
        task=log.task,
        metric=data.metric,
        filter=data.filter,
        estimand=estimand.label,
        scope=estimand.scope,
        method="not estimable",
        value=value,
        std_error=None,
        interval=None,
        source=log.source,
        n_questions=_n_questions(data),
        harness=reported,
        structure=structure,
        warnings=(f"not estimable: {reason}",),
    )


def _n_questions(data: "TaskData | TaskGroup") -> int | None:
    if isinstance(data, Totals):
        return data.n
    return len(data.values) if isinstance(data, TaskGroup) else int(data.is_scored.sum())
