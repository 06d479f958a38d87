"""Estimate scores from task logs: detect the structure, build the problem, apply an estimator."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Unpack

import numpy as np

from harness_uq.data.arrays import IntArray
from harness_uq.data.missing_scores import Extreme, MissingPolicies
from harness_uq.data.selection import trials_behind
from harness_uq.data.task_log import (
    AggregateScore,
    Classifications,
    ClusterDeclaration,
    Scores,
    SufficientStatistics,
    TaskData,
    TaskGroup,
    TaskLog,
)
from harness_uq.errors import DataError, HarnessUqError, NotEstimableError, StructureError, error_summary, refusal_of
from harness_uq.estimands import ConfusionMetric, Estimand, PassK, Statistic, parse_estimand
from harness_uq.estimation.defaults import choices
from harness_uq.estimation.diagnostics import caveats, missing_note
from harness_uq.estimation.load_plugins import load_plugins
from harness_uq.estimation.missing_scores import EstimateAt, identified, with_sensitivity
from harness_uq.estimation.samples_or_totals import with_best_evidence
from harness_uq.estimation.stored_interval import with_stored_interval
from harness_uq.messages.catalogue.estimation import (
    CLUSTERS_USED,
    ESTIMATION_FAILED,
    GRADED_BY_MODEL,
    GROUP_METHOD_REPLACED,
    IDENTICAL_TRIALS,
    METHOD_FAILED,
    METHOD_SKIPPED,
    METHOD_UNSUITABLE,
    NO_SCORES,
    SCORE_TOO_LARGE,
)
from harness_uq.messages.message import Message, distinct
from harness_uq.options import Options, resolve, resolve_arrays
from harness_uq.options_typed import EstimateKeywords, EstimateScoresKeywords
from harness_uq.plugins.manager import Plugins
from harness_uq.plugins.protocols import Problem
from harness_uq.plugins.readers import task_logs
from harness_uq.plugins.runs import Runs
from harness_uq.results.estimate import NOTHING_REPORTED, Estimate
from harness_uq.results.result_list import ResultList
from harness_uq.stats.common.validate_arrays import LARGEST
from harness_uq.stats.trials.diagnostics import identical_trials
from harness_uq.structure.clusters import clusters_of
from harness_uq.structure.structure import Clusters, Evidence, Structure, StructureOptions, codes_of, detect

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from harness_uq.estimation.subset import Probabilities
    from harness_uq.io.human_labels import Label


def estimate(
    logs: Runs,
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    labels: "str | Path | Sequence[Label] | None" = None,
    reference_runs: "Runs | None" = None,
    inclusion_probabilities: "str | Path | Probabilities | None" = None,
    **keywords: Unpack[EstimateKeywords],
) -> ResultList[Estimate]:
    """Estimate the scores of every task, metric and filter.

    Parameters
    ----------
    logs : paths of logged runs, results in memory, lists of these, or a mapping from names of systems to them, as
        for `read_logs`
    options : options of the estimates
    plugins : plugins to use; by default the installed ones
    labels : human labels that correct the scores of a grader: a CSV file, a metric of the logs, or labels
    reference_runs : runs of other systems on all questions, which adjust for questions that were not run (with
        `scope="full"`)
    inclusion_probabilities : with `reference_runs`, the file that `harness-uq subset` wrote, or its content; with a
        file of labels, its column with the probability of each label (by default `probability`, if there is one)
    **keywords : options with the names of the command line: `method`, `level`, `scope`, `estimand`, `interval`,
        `seed`, `cluster`, `range` (such as `{"bleu": (0, 100)}`), `use_samples`, `missing`, `treat`, `column` (names of
        the columns of tables by role, such as `{"score": "right"}`), and `task`, `metric`, `filter` and `model`, which
        select parts of the logs. They take precedence over `options`

    Returns
    -------
    One estimate per system, task, metric and filter. If the data are insufficient, its interval is None and a warning
    gives the reason.

    Raises
    ------
    LogError : if no log can be read from a path
    DataError : if `labels` and `reference_runs` are combined, or used with an option that they do not support
    HarnessUqError : if the requested method does not exist
    TypeError : if an option does not exist
    """
    options, selection = resolve("estimate", options, keywords)
    plugins = plugins or load_plugins()
    if labels is not None or reference_runs is not None or inclusion_probabilities is not None:
        from harness_uq.estimation.auxiliary_data import AuxiliaryData  # which uses the estimates of this module

        auxiliary = AuxiliaryData(labels, reference_runs, inclusion_probabilities)
        return ResultList(auxiliary.estimate(logs, selection, options, plugins))
    selected = task_logs(logs, plugins, selection)
    read = with_best_evidence(selected, plugins, options.structure)
    rows = ResultList[Estimate]()
    extremes = _Extremes(selected, options, plugins)
    for i, log in enumerate(read):
        for k, data in enumerate(log.data):
            row = _estimate_data(log, data, read, options, plugins)
            if _has_missing(log, data, read):
                row = extremes.applied(row, data, partial(extremes.at, i, k))
            rows.append(replace(row, messages=(*row.messages, *log.messages)))
    return rows


@dataclass(slots=True, eq=False)
class _Extremes:
    """Estimates with the worst and the best possible scores of the trials without a score.

    Attributes
    ----------
    logged : the logs as they were read
    """

    logged: Sequence[TaskLog]
    options: Options
    plugins: Plugins
    read: dict[Extreme, list[TaskLog]] = field(default_factory=dict)

    def applied(self, row: Estimate, data: TaskData, at: EstimateAt) -> Estimate:
        """The estimate for the policy `bounds`, or with a warning that it depends on the default policy."""
        policies, level = self.options.structure.missing, self.options.level
        if policies.has_bounds:
            return identified(row, at, level)
        if policies.is_default and isinstance(data, Scores) and data.missing is not None:
            return with_sensitivity(row, data.missing, at, level)
        return row

    def at(self, i: int, k: int, extreme: Extreme, level: float) -> Estimate:
        """Estimate the metric `k` of log `i` with equal tails."""
        if extreme not in self.read:
            policies = self.options.structure.missing
            chosen = (MissingPolicies("bounds") if policies.is_default else policies).at(extreme)
            structure = replace(self.options.structure, missing=chosen)
            self.read[extreme] = with_best_evidence(self.logged, self.plugins, structure)
        log = self.read[extreme][i]
        options = replace(self.options, level=level, interval="quantile")
        return _estimate_data(log, log.data[k], self.read[extreme], options, self.plugins)


def _has_missing(log: TaskLog, data: TaskData, logs: Sequence[TaskLog]) -> bool:
    """Whether trials of the metric, or of a task of the group, have no score."""
    if isinstance(data, Scores):
        return data.missing is not None
    members = (member for member in logs if member.system == log.system and member.task in log.subtasks)
    return any(isinstance(item, Scores) and item.missing is not None for member in members for item in member.data)


def estimate_scores(
    values: "ArrayLike",
    *,
    clusters: "ArrayLike | None" = None,
    options: Options | None = None,
    metric: str = "score",
    **keywords: Unpack[EstimateScoresKeywords],
) -> Estimate:
    """Estimate from an array of scores, without a log.

    Parameters
    ----------
    values : (n_questions,) or (n_questions, n_trials), an array, frame or series of numpy, pandas or polars; NaN, None
        or a mask marks a missing trial
    clusters : labels (n_questions,) of passages, dialogues and so on; each question with a missing label is a separate
        cluster; None if questions are independent
    options : options of the estimate
    metric : name of the metric in the result
    **keywords : `method`, `level`, `scope`, `estimand`, `interval` and `seed` as for `estimate`, and `range`, the
        smallest and largest possible score. They take precedence over `options`

    Raises
    ------
    DataError : if values or clusters have a different shape, or a value is not a finite number
    TypeError : if an option does not exist

    Examples
    --------
    >>> estimate_scores([1, 1, 1, 1, 1, 1, 1, 0, 1, 1], level=0.9).value
    0.9
    """
    from harness_uq.data.task_log import log_of_array

    chosen = resolve_arrays("estimate_scores", options, keywords, metric)
    return estimate(log_of_array(values, "array", clusters=clusters, metric=metric), chosen)[0]


def with_structure_of_task(log: TaskLog, options: StructureOptions, plugins: Plugins) -> TaskLog:
    """The log, which declares the clusters and the ranges of its scores, so that groups of its questions have the same.

    Detected in a group alone, clusters could be missed, because a group has fewer of them than the task.
    """
    clusters, ranges = clusters_of(log, options, plugins), options.of_task(log.task).ranges
    declared = ClusterDeclaration(clusters.key or "none", clusters.fact.evidence, clusters.is_stated)
    data = [
        replace(one, bounds=ranges[one.metric], bounds_source=None, levels=None)
        if isinstance(one, Scores) and one.metric in ranges
        else one
        for one in log.data
    ]
    return replace(log, declared=declared, data=tuple(data))


def _estimate_data(
    log: TaskLog, data: TaskData, logs: Sequence[TaskLog], options: Options, plugins: Plugins
) -> Estimate:
    """Estimate one metric; an unexpected error makes only this metric not estimable."""
    try:
        if log.subtasks:
            return estimate_group(log, data, logs, options, plugins)
        return _estimate_task(log, data, clusters_of(log, options.structure, plugins), options, plugins)
    except HarnessUqError:
        raise
    except Exception as error:
        failure = ESTIMATION_FAILED(error=error_summary(error))
        return not_estimable(log, data, _estimand(data, options), (failure,))


def _estimate_task(log: TaskLog, data: TaskData, clusters: Clusters, options: Options, plugins: Plugins) -> Estimate:
    is_open = options.method == "bayes" and options.estimand == "mean" and clusters.codes is None
    if is_open and (event := trials_behind(log, data)) is not None:
        row = _estimate_task(log, event[0], clusters, replace(options, estimand=event[1]), plugins)
        if row.interval is not None:
            return row
    try:
        problem = make_problem(log, data, clusters, options)
    except (DataError, NotEstimableError, StructureError) as error:
        return not_estimable(log, data, _estimand(data, options), (refusal_of(error),))
    row = solve(problem, options.method, plugins)
    if isinstance(data, AggregateScore):
        row = with_stored_interval(row, data, options.level)
    row = replace(
        row,
        n_missing=_n_missing(data),
        endings={} if log.ended_by is None else log.ended_by.counts(),
        messages=(*row.messages, *_trial_notes(data, problem), *_grader_note(log, data, plugins)),
    )
    return replace(row, n_trials=_most_trials(data)) if _copies_count_once(data, problem.estimand) else row


def estimate_group(
    log: TaskLog, data: TaskData, logs: Sequence[TaskLog], options: Options, plugins: Plugins
) -> Estimate:
    """Estimate the weighted mean of a group's tasks, whose logs are among `logs`."""
    from harness_uq.structure.task_groups import group_data, group_structure, members_of

    try:
        members = members_of(log, logs)
        joined = group_data(
            log, data.metric, data.filter, members, lambda member: clusters_of(member, options.structure, plugins)
        )
        structure = group_structure(joined, options.structure.of_task(log.task))
    except (DataError, NotEstimableError, StructureError) as error:
        return not_estimable(log, data, _estimand(data, options), (refusal_of(error),))
    estimand = _estimand(joined, options)
    rng = np.random.default_rng(options.seed)
    problem = Problem(estimand, joined, structure, log, options.level, options.interval, rng)
    chosen = plugins.estimators.get(options.method)
    if options.method == "bayes" or (chosen is not None and chosen.info.takes_groups):
        return solve(problem, options.method, plugins)
    row = solve(problem, "bayes", plugins)
    return replace(row, messages=(*row.messages, GROUP_METHOD_REPLACED(method=options.method)))


def solve(problem: Problem, method: str, plugins: Plugins) -> Estimate:
    """Estimate with the first applicable estimator; the reasons why others do not apply become notes.

    Raises
    ------
    HarnessUqError : if the requested method does not exist
    """
    skipped: dict[str, Message] = {}
    for choice in choices(problem, method, plugins.estimators):
        name = choice.estimator.name
        try:
            if reason := choice.estimator.why_unsupported(problem):
                unsuitable = METHOD_UNSUITABLE(method=name, reason=reason) if isinstance(reason, str) else reason
                raise NotEstimableError(unsuitable)
            row, info = choice.estimator.estimate(problem), choice.estimator.info
        except (DataError, NotEstimableError) as error:
            skipped[name] = refusal_of(error)
            continue
        except Exception as error:
            skipped[name] = METHOD_FAILED(method=name, error=error_summary(error))
            continue
        # a refusal is a note if another method replaced the refused one
        refusals = [
            why if why.severity == "error" else METHOD_SKIPPED(method=name, reason_code=why.code, reason=why.text)
            for name, why in skipped.items()
        ]
        notes = (*refusals, *_cluster_notes(problem.structure), *caveats(problem, row.method, info))
        messages = (*row.messages, *notes, *problem.structure.messages)
        return replace(row, messages=messages, method_reason=choice.reason, info=info)
    return not_estimable(
        problem.log, problem.data, problem.estimand, distinct(skipped.values()), structure=problem.structure
    )


def _estimand(data: TaskData | TaskGroup, options: Options) -> Estimand:
    if isinstance(data, Classifications):
        return ConfusionMetric(data.function, options.scope)
    if isinstance(data, SufficientStatistics):
        return Statistic(data.statistic, options.scope)
    return parse_estimand(options.estimand, options.scope)


def make_problem(log: TaskLog, data: TaskData, clusters: Clusters, options: Options) -> Problem:
    """Build the problem for an estimator: scored questions only, with clusters, without identical copies of a trial.

    Scores of several trials, such as pass@2, keep identical trials, because one trial does not determine it.

    Raises
    ------
    NotEstimableError : if no question has a score
    """
    rng, estimand = np.random.default_rng(options.seed), _estimand(data, options)
    if isinstance(data, AggregateScore):
        structure = _totals_structure(data)
        return Problem(estimand, data, structure, log, options.level, options.interval, rng)
    scored = data.is_scored
    if not scored.any():
        raise NotEstimableError(NO_SCORES())
    used = _with_distinct_trials(data, estimand) if isinstance(data, Scores) else data
    structure = detect(used, clusters, options.structure.of_task(log.task))
    if _copies_count_once(data, estimand):
        evidence = Evidence("trials", f"{_most_trials(data)} trials per question, all alike, so one counts", "the log")
        facts = tuple(evidence if fact.name == "trials" else fact for fact in structure.facts)
        structure = replace(structure, facts=facts)
    scored_data = _only(used, scored, codes_of(data, clusters))
    return Problem(estimand, scored_data, structure, log, options.level, options.interval, rng)


def _with_distinct_trials(data: Scores, estimand: Estimand) -> Scores:
    """Reduce the scores to one trial if identical trials count once, or if no question has two trials.

    Raises
    ------
    NotEstimableError : if a score is so large that its square overflows
    """
    largest = float(np.nanmax(np.abs(data.values)))
    if largest > LARGEST:
        raise NotEstimableError(SCORE_TOO_LARGE(value=largest, limit=LARGEST))
    counts = np.isfinite(data.values).sum(axis=1)
    if counts.max() > 1 and not _copies_count_once(data, estimand):
        return data
    first_scored = np.isfinite(data.values).argmax(axis=1)[:, None]
    return replace(data, values=np.take_along_axis(data.values, first_scored, axis=1))


def _n_missing(data: TaskData) -> int | None:
    """Number of trials that have no score or whose score is ignored; None if the trials are unknown."""
    if not isinstance(data, Scores):
        return None
    if data.missing is not None:
        return data.missing.n_missing
    return 0 if data.is_complete else int(np.isnan(data.values).sum())


def _copies_count_once(data: TaskData, estimand: Estimand) -> bool:
    """Whether all trials of each question agree and the estimand is determined by one of them."""
    if isinstance(estimand, PassK) and estimand.k > 1:
        return False
    return isinstance(data, Scores) and identical_trials(data.values[data.is_scored])


def _most_trials(logged: TaskData) -> int | None:
    """Return the maximum number of trials per question in the log, including identical copies."""
    return int(np.isfinite(logged.values).sum(axis=1).max()) if isinstance(logged, Scores) else None


def _only(
    data: Scores | Classifications | SufficientStatistics, scored: "NDArray[np.bool_]", codes: IntArray | None
) -> Scores | Classifications | SufficientStatistics:
    clusters = None if codes is None else codes[scored]
    if isinstance(data, Scores):
        return replace(data, values=data.values[scored], clusters=clusters)
    if isinstance(data, Classifications):
        return replace(data, targets=data.targets[scored], predictions=data.predictions[scored], clusters=clusters)
    return replace(data, statistics=data.statistics[scored], clusters=clusters)


def _totals_structure(data: AggregateScore) -> Structure:
    fact = Evidence("clusters", "unknown", data.reason)
    return Structure("record", None, data.n or 0, 1, data.n or 0, None, None, (fact,))


def _cluster_notes(structure: Structure) -> tuple[Message, ...]:
    if structure.n_clusters is None:
        return ()
    facts = [fact for fact in structure.facts if fact.name == "clusters"]
    return tuple(CLUSTERS_USED(clusters=fact.value, evidence=fact.evidence) for fact in facts)


def _trial_notes(logged: TaskData, problem: Problem) -> tuple[Message, ...]:
    used = problem.data
    if not (isinstance(logged, Scores) and isinstance(used, Scores)):
        return ()
    is_whole = logged.is_complete and logged.missing is None
    notes = () if is_whole else missing_note(logged, problem.structure.bounds, problem.log.ended_by)
    if _copies_count_once(logged, problem.estimand):
        notes += (IDENTICAL_TRIALS(n_trials=_most_trials(logged)),)
    return notes


def _grader_note(log: TaskLog, data: TaskData, plugins: Plugins) -> tuple[Message, ...]:
    known = plugins.catalogues.get(log.source.harness)
    if known is None or not known.is_judged(log.task, data.metric):
        return ()
    return (GRADED_BY_MODEL(),)


def not_estimable(
    log: TaskLog,
    data: "TaskData | TaskGroup",
    estimand: Estimand,
    reasons: tuple[Message, ...],
    *,
    structure: Structure | None = None,
) -> Estimate:
    """Build an estimate without an interval, with the reasons; it retains the value reported by the harness."""
    reported = log.reported.get((data.metric, data.filter), NOTHING_REPORTED)
    value = data.value if isinstance(data, AggregateScore) else reported.value
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
        messages=reasons,
    )


def _n_questions(data: "TaskData | TaskGroup") -> int | None:
    if isinstance(data, AggregateScore):
        return data.n
    return len(data.values) if isinstance(data, TaskGroup) else int(data.is_scored.sum())
