"""The score of one system on one task: which evidence and method apply, and the estimate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness_uq.data.clusters import clusters_of
from harness_uq.data.estimands import (
    ConfusionMetric,
    Estimand,
    Mean,
    MethodInfo,
    PassK,
    Scope,
    Statistic,
    parse_estimand,
)
from harness_uq.data.selection import SelectedRun
from harness_uq.data.structure import Clusters, Evidence, Structure, StructureOptions, codes_of, detect
from harness_uq.data.task_groups import SAME_VALUE, about_left_out, group_data, group_structure, members_of
from harness_uq.data.task_log import (
    AggregateScore,
    Classifications,
    ClusterDeclaration,
    IntArray,
    Scores,
    SufficientStatistics,
    TaskData,
    TaskGroup,
    TaskLog,
)
from harness_uq.inference.defaults import choices
from harness_uq.inference.diagnostics import caveats, missing_note, once_about_missing
from harness_uq.inference.evidence import trials_behind, with_stored_interval
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.plugins.protocols import Estimator, Problem
from harness_uq.messages import Message, distinct
from harness_uq.messages.catalogue.comparison import SYSTEM_WITHOUT_INTERVAL, TOO_FEW_UNITS
from harness_uq.messages.catalogue.estimation import (
    CLUSTERS_USED,
    ESTIMAND_OF_TRIALS,
    ESTIMATION_FAILED,
    GRADED_BY_MODEL,
    GROUP_METHOD_REPLACED,
    IDENTICAL_TRIALS,
    METHOD_SKIPPED,
    METHOD_UNSUITABLE,
    NO_SCORES,
    NOT_A_MEAN,
    PASS_K_REQUIRED,
    SCORE_TOO_LARGE,
)
from harness_uq.messages.catalogue.plugins import (
    METHOD_FAILED,
    METHOD_INTERVAL_WITHOUT_WIDTH,
    METHOD_WITHOUT_CLUSTERS,
)
from harness_uq.messages.catalogue.score_structure import (
    CACHED_TRIALS,
    CACHED_TRIALS_OF_PASS_K,
    FEW_POSSIBLE_CLUSTERS,
)
from harness_uq.messages.errors import (
    DataError,
    HarnessUqError,
    NotEstimableError,
    StructureError,
    error_summary,
    refusal_of,
)
from harness_uq.results.estimate import NOTHING_REPORTED, Estimate, Interval
from harness_uq.stats.common.posterior import Posterior
from harness_uq.stats.common.student import StudentPosterior
from harness_uq.stats.common.validate_arrays import LARGEST
from harness_uq.stats.trials.diagnostics import identical_trials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness_uq.options import Options

_FEWEST = 4


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


def marginal(
    run: SelectedRun,
    options: "Options",
    plugins: Plugins,
    *,
    rows: IntArray | None = None,
    units: IntArray | None = None,
    logs: Sequence[TaskLog] = (),
) -> Estimate:
    """Estimate the score of the run that represents a system.

    `rows`: questions to use, None for all. `units`: codes of the clusters of these questions, which replace those of
    the log; None to keep the latter. `logs`: the system's logs, which contain the tasks of a group.
    """
    log, data = run.log, run.data
    if log.subtasks:
        return estimate_group(log, data, logs, options, plugins)
    part = _Part(rows, units)
    return _marginal(log, part.of(data), clusters_of(log, options.structure, plugins), options, plugins, part)[0]


def estimate_data(
    log: TaskLog, data: TaskData, logs: Sequence[TaskLog], options: "Options", plugins: Plugins
) -> Estimate:
    """Estimate one metric with all facts about its trials; an unexpected error makes only it not estimable."""
    try:
        if log.subtasks:
            return estimate_group(log, data, logs, options, plugins)
        clusters = clusters_of(log, options.structure, plugins)
        row, used, problem = _marginal(log, data, clusters, options, plugins)
    except HarnessUqError:
        raise
    except Exception as error:
        failure = ESTIMATION_FAILED(what="The computation", error=error_summary(error))
        return not_estimable(log, data, _estimand(data, options), (failure,))
    if problem is None:
        return row
    row = _with_few_clusters(row, log, data, clusters, options, plugins)
    row = replace(
        row,
        n_missing=_n_missing(used),
        endings={} if log.ended_by is None else log.ended_by.counts(),
        messages=once_about_missing((*row.messages, *_trial_notes(used, problem), *_grader_note(log, used, plugins))),
    )
    return replace(row, n_trials=_most_trials(used)) if _copies_count_once(used, problem.estimand) else row


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The questions of a log that are used, and their clusters; see `marginal`."""

    rows: IntArray | None = None
    units: IntArray | None = None

    def of(self, data: TaskData) -> TaskData:
        """The data with scores of these questions only."""
        if self.rows is None or not isinstance(data, Scores):
            return data
        values, codes = np.full(data.values.shape, np.nan), np.full(len(data.values), -1)
        values[self.rows] = data.values[self.rows]
        if self.units is None:
            return replace(data, values=values)
        codes[self.rows] = self.units
        return replace(data, values=values, clusters=codes)


def _marginal(
    log: TaskLog,
    data: TaskData,
    clusters: Clusters,
    options: "Options",
    plugins: Plugins,
    part: _Part = _Part(),
) -> tuple[Estimate, TaskData, Problem | None]:
    """Return the estimate, the data it rests on, and the problem; None if there is none to solve."""
    if options.estimand != "mean" and isinstance(data, Classifications | SufficientStatistics):
        refusal = ESTIMAND_OF_TRIALS(metric=data.metric, estimand=options.estimand)
        return not_estimable(log, data, parse_estimand(options.estimand, options.scope), (refusal,)), data, None
    is_open = options.method == "bayes" and options.estimand == "mean" and clusters.codes is None
    if is_open and (event := trials_behind(log, data)) is not None:
        trials, estimand = event
        found = _marginal(log, part.of(trials), clusters, replace(options, estimand=estimand), plugins)
        if found[0].interval is not None:
            return found
    try:
        problem = make_problem(log, data, clusters, options)
    except (DataError, NotEstimableError, StructureError) as error:
        return not_estimable(log, data, _estimand(data, options), (refusal_of(error),)), data, None
    row = solve(problem, options.method, plugins)
    if isinstance(data, AggregateScore):
        row = with_stored_interval(row, data, options.level)
    return row, data, problem


def estimate_group(
    log: TaskLog, data: TaskData, logs: Sequence[TaskLog], options: "Options", plugins: Plugins
) -> Estimate:
    """Estimate the weighted mean of a group's tasks, whose logs are among `logs`; a group of one task is that task."""
    chosen = plugins.estimators.get(options.method)
    takes_groups = chosen is not None and chosen.info.takes_groups
    try:
        members = members_of(log, logs)
        if not takes_groups and (single := _only_member(log, data, members)) is not None:
            row = estimate_data(*single, logs, options, plugins)
            reported = log.reported.get((data.metric, data.filter), row.harness)
            others = [member.task for member in members if member is not single[0]]
            notes = about_left_out(others, len(members), data.metric)
            return replace(row, task=log.task, source=log.source, harness=reported, messages=(*row.messages, *notes))
        joined = group_data(
            log, data.metric, data.filter, members, lambda member: clusters_of(member, options.structure, plugins)
        )
        structure = group_structure(joined, options.structure.of_task(log.task))
    except (DataError, NotEstimableError, StructureError) as error:
        return not_estimable(log, data, _estimand(data, options), (refusal_of(error),))
    estimand = _estimand(joined, options)
    rng = np.random.default_rng(options.seed)
    problem = Problem(estimand, joined, structure, log, options.level, options.interval, rng)
    if options.method == "bayes" or takes_groups:
        return solve(problem, options.method, plugins)
    row = solve(problem, "bayes", plugins)
    return replace(row, messages=(*row.messages, GROUP_METHOD_REPLACED(method=options.method)))


def _only_member(log: TaskLog, data: TaskData, members: Sequence[TaskLog]) -> tuple[TaskLog, TaskData] | None:
    """The only task of a group with this metric and its data; None if several have it, or it has another score."""
    key = (data.metric, data.filter)
    having = [(member, one) for member in members for one in member.data if (one.metric, one.filter) == key]
    if len(having) != 1:
        return None
    reported, own = (one.reported.get(key, NOTHING_REPORTED).value for one in (log, having[0][0]))
    is_same = reported is None or own is None or abs(reported - own) <= SAME_VALUE * max(1.0, abs(reported))
    return having[0] if is_same else None


def posterior_of(row: Estimate) -> Posterior:
    """Return the posterior, or Student's t for an estimate without one, such as a frequentist or a stored interval.
    Raises NotEstimableError if there is neither a posterior nor a standard error of four questions or clusters.
    """
    if isinstance(row.posterior, Posterior):
        return row.posterior
    if row.std_error is None or row.value is None:
        reason = row.reason.text if row.reason else "Its score has no interval"
        raise NotEstimableError(SYSTEM_WITHOUT_INTERVAL(system=row.system, reason=reason))
    n = row.n_clusters or row.n_questions
    if n is None:
        reason = "The number of questions or clusters behind its interval is unknown"
        raise NotEstimableError(SYSTEM_WITHOUT_INTERVAL(system=row.system, reason=reason))
    if n < _FEWEST:
        raise NotEstimableError(TOO_FEW_UNITS(system=row.system, n_units=n))
    return StudentPosterior(row.value, row.std_error, n - 1)


def solve(problem: Problem, method: str, plugins: Plugins) -> Estimate:
    """Estimate with the first applicable estimator; the reasons why others do not apply become notes. Raises
    HarnessUqError if the requested method does not exist.
    """
    estimand = problem.estimand
    if method == "bayes" and isinstance(estimand, PassK) and estimand.is_mean and _is_binary(problem):
        problem = replace(problem, estimand=Mean(estimand.scope, estimand.label))
    skipped: dict[str, Message] = {}
    for choice in choices(problem, method, plugins.estimators):
        name, info = choice.estimator.name, choice.estimator.info
        try:
            row = _estimated(problem, choice.estimator)
        except (DataError, NotEstimableError) as error:
            skipped[name] = refusal_of(error)
            continue
        except Exception as error:
            provider, reason = plugins.provider_of(choice.estimator), error_summary(error)
            skipped[name] = (
                METHOD_FAILED(method=name, provider=provider, error=reason)
                if provider
                else ESTIMATION_FAILED(what=f"Method {name!r}", error=reason)
            )
            continue
        # a refusal is a note if another method replaced the refused one
        refusals = [
            why if why.severity == "error" else METHOD_SKIPPED(method=name, reason_code=why.code, reason=why.text)
            for name, why in skipped.items()
        ]
        if problem.structure.n_clusters is not None and not _uses_clusters(info, problem.estimand.scope):
            row = replace(row, design_effect=None, effective_questions=None)
            if not _is_for_these_questions(info, problem.estimand.scope):
                row = replace(row, n_clusters=None, cluster_key=None, icc=None)
        notes = (*refusals, *_cluster_notes(problem, row.method, info), *caveats(problem, row.method, info))
        messages = (*row.messages, *notes, *problem.structure.messages)
        return replace(row, messages=messages, method_reason=choice.reason, info=info)
    return not_estimable(
        problem.log, problem.data, problem.estimand, distinct(skipped.values()), structure=problem.structure
    )


def require_estimand(method: Estimator, estimand: Estimand) -> None:
    """Require that the method declares the estimand. Raises NotEstimableError otherwise."""
    if isinstance(estimand, PassK) and "pass@k" not in method.info.estimands:
        raise NotEstimableError(NOT_A_MEAN(method=method.name, estimand=estimand.label))
    if isinstance(estimand, Mean) and "mean" not in method.info.estimands:
        raise NotEstimableError(PASS_K_REQUIRED(method=method.name))


def _is_binary(problem: Problem) -> bool:
    return isinstance(problem.data, Scores) and problem.structure.score_type == "binary"


def _estimated(problem: Problem, method: Estimator) -> Estimate:
    """Estimate with one method. Raises NotEstimableError if it does not apply or its interval has no width, and
    TypeError or ValueError if it returns something other than an estimate with an interval.
    """
    name = method.name
    require_estimand(method, problem.estimand)
    if reason := method.why_unsupported(problem):
        raise NotEstimableError(METHOD_UNSUITABLE(method=name, reason=reason) if isinstance(reason, str) else reason)
    row: object = method.estimate(problem)
    if not isinstance(row, Estimate):
        raise TypeError(f"`estimate` must return an Estimate, not {type(row).__name__}")
    if row.interval is not None:
        low, high = row.interval.low, row.interval.high
        if low == high:
            raise NotEstimableError(METHOD_INTERVAL_WITHOUT_WIDTH(method=name, limit=low))
        if not (low < high and np.isfinite([low, high]).all()):
            raise ValueError(f"the limits of the interval are {low} and {high}")
    return row


def _estimand(data: TaskData | TaskGroup, options: "Options") -> Estimand:
    if isinstance(data, Classifications):
        return ConfusionMetric(data.function, options.scope)
    if isinstance(data, SufficientStatistics):
        return Statistic(data.statistic, options.scope)
    return parse_estimand(options.estimand, options.scope)


def make_problem(log: TaskLog, data: TaskData, clusters: Clusters, options: "Options") -> Problem:
    """Build the problem for an estimator: scored questions only, with clusters, without identical copies of a trial.

    Scores of several trials, such as pass@2, keep identical trials, because one trial does not determine it. Raises
    NotEstimableError if no question has a score.
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
    """Reduce the scores to one trial if identical trials count once, or if no question has two trials. Raises
    NotEstimableError if a score is so large that its square overflows.
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


def _uses_clusters(info: MethodInfo, scope: Scope) -> bool:
    """Whether the interval accounts for clusters: for exactly these questions, only the noise of the trials counts."""
    return info.uses_clusters and not _is_for_these_questions(info, scope)


def _is_for_these_questions(info: MethodInfo, scope: Scope) -> bool:
    return scope == "benchmark" and scope in info.scopes


def _cluster_notes(problem: Problem, method: str, info: MethodInfo) -> tuple[Message, ...]:
    n_clusters, scope = problem.structure.n_clusters, problem.estimand.scope
    if n_clusters is None or _is_for_these_questions(info, scope):
        return ()
    facts = [fact for fact in problem.structure.facts if fact.name == "clusters"]
    if not info.uses_clusters:
        return tuple(METHOD_WITHOUT_CLUSTERS(method=method, clusters=fact.value) for fact in facts)
    return tuple(CLUSTERS_USED(clusters=fact.value, evidence=fact.evidence) for fact in facts)


def _with_few_clusters(
    row: Estimate, log: TaskLog, data: TaskData, clusters: Clusters, options: "Options", plugins: Plugins
) -> Estimate:
    """The estimate, with a note about detected clusters that are too few to be used, in place of the hint at them."""
    few = clusters.few
    if few is None or row.interval is None or row.n_clusters is not None or row.scope != "population":
        return row
    other = _marginal(log, data, few, options, plugins)[0].interval
    if other is None:
        return row
    messages = (message for message in row.messages if message not in clusters.messages)
    return replace(row, messages=(*messages, *few.messages, few_clusters_note(few, row.interval, other)))


def few_clusters_note(clusters: Clusters, independent: Interval, clustered: Interval) -> Message:
    """Note that these clusters are too few to be used, with the intervals without and with them."""
    return FEW_POSSIBLE_CLUSTERS(
        field=clusters.key,
        n_clusters=clusters.n_clusters,
        low=clustered.low,
        high=clustered.high,
        low_independent=independent.low,
        high_independent=independent.high,
    )


def _trial_notes(logged: TaskData, problem: Problem) -> tuple[Message, ...]:
    used = problem.data
    if not (isinstance(logged, Scores) and isinstance(used, Scores)):
        return ()
    is_whole = logged.is_complete and logged.missing is None
    notes = () if is_whole else missing_note(logged, problem.structure.bounds, problem.log.ended_by)
    if _copies_count_once(logged, problem.estimand):
        notes += (IDENTICAL_TRIALS(n_trials=_most_trials(logged)),)
    n_repeats = int((np.isfinite(logged.values).sum(axis=1) - 1).clip(0).sum())
    if n_cached := min(problem.log.facts.n_cached, n_repeats):
        counts = {"n_cached": n_cached, "n_repeats": n_repeats}
        if isinstance(problem.estimand, PassK) and problem.estimand.k > 1:
            notes += (CACHED_TRIALS_OF_PASS_K(**counts, estimand=problem.estimand.label),)
        else:
            notes += (CACHED_TRIALS(**counts),)
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
