"""Correct the judge scores of a run with human labels from a table or from another metric of the same log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness_uq.data.arrays import FloatArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.estimands import MethodInfo, parse_estimand
from harness_uq.data.structure import Clusters, detect
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.marginals import make_problem, not_estimable
from harness_uq.inference.method import credible
from harness_uq.io.human_labels import Label, answers_without_label, grades, labels_of_answers
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.plugins.protocols import Problem
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue import estimation
from harness_uq.messages.catalogue.comparison import LABELS_OF_SEVERAL_RATERS
from harness_uq.messages.catalogue.estimation import (
    EFFECTIVE_LABELS,
    FEW_CLUSTERS,
    GRADER_CORRECTION,
    GRADER_CORRECTION_UNSUPPORTED,
    LABELED_QUESTIONS_UNSCORED,
    LABELS_ASSUMED_RANDOM,
    LABELS_UNMATCHED,
    NO_LABEL_METRIC,
    NO_LABELS,
    RANGE_REQUIRED,
    UNIFORM_LABELS,
    WEAK_GRADER,
)
from harness_uq.messages.catalogue.planning import LABELS_INCOMPLETE
from harness_uq.messages.errors import DataError, LogError, NotEstimableError, StructureError, refusal_of
from harness_uq.messages.message import Message
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq.stats.labels.effective_labels import JudgeAssessment, assess_judge
from harness_uq.stats.labels.judge import judge_corrected_posterior
from harness_uq.stats.labels.raters import rater_disagreement

METHOD = "judge-corrected"
METHOD_INFO = MethodInfo(
    title="Mean score of a grader, corrected with human labels",
    formula=(
        "θ = h̄<sub>L</sub> + β (f̄ − f̄<sub>L</sub>), β = cov<sub>L</sub>(f, h) / var<sub>L</sub>(f), under Gamma(1) "
        "weights of the questions and of prior atoms at the corners {lowest f, highest f} × {lowest h, highest h}"
    ),
    text=(
        "f are the judge's scores of all questions, h the person's of those in L, drawn at random or with known "
        "probabilities. The judge's errors are in the interval; those of the person are not."
    ),
    sources=("angelopoulos2023", "rubin1981", "ferguson1973"),
)
ENOUGH_LABELS = 20

Human = str | Sequence[Label]


@dataclass(frozen=True, slots=True, eq=False)
class Grades:
    """Human labels of the questions of a task.

    Attributes
    ----------
    scores : the labels, averaged over raters
    probabilities : float (n_questions,); probabilities with which questions were labeled; None if all are equal
    messages : a note about the disagreement of raters
    is_binary : whether the label of each rater is 0 or 1, although their mean may not be
    """

    scores: Scores
    probabilities: FloatArray | None
    messages: tuple[Message, ...] = ()
    is_binary: bool = False

    @property
    def majority(self) -> FloatArray:
        """Labels by the majority of raters if they are 0 or 1, NaN for a tie; otherwise the mean labels."""
        values = self.scores.values
        return np.where(values == 0.5, np.nan, np.round(values)) if self.is_binary else values


def correct(
    logs: Runs, human: Human, options: Options | None = None, *, plugins: Plugins | None = None
) -> list[Estimate]:
    """Estimate the human score of every task, metric and filter that a judge scored.

    Parameters
    ----------
    logs : paths of logged runs or results in memory, as for `read_logs`
    human : name of the metric with the human scores, or labels
    options : options of the estimates; the scope is `population` and the estimand is `mean`
    plugins : plugins to use; by default the installed ones

    Returns
    -------
    One estimate per system, task, metric and filter, except for the metric with human scores and for groups of tasks.
    If the labels are insufficient, its interval is None and a warning gives the reason.

    Raises
    ------
    DataError : if a different scope or estimand is requested
    """
    chosen, offered = options or Options(), plugins or load_plugins()
    if chosen.scope != "population" or chosen.estimand != "mean":
        raise DataError(GRADER_CORRECTION_UNSUPPORTED(scope=chosen.scope, estimand=chosen.estimand))
    return [row for log in task_logs(logs, offered) if not log.subtasks for row in _rows(log, human, chosen, offered)]


def _rows(log: TaskLog, human: Human, options: Options, plugins: Plugins) -> Iterator[Estimate]:
    clusters = clusters_of(log, options.structure, plugins)
    for data in log.data:
        if not isinstance(data, Scores) or data.metric == human:
            continue
        try:
            row = corrected_estimate(log, data, human, clusters, options)
        except (DataError, LogError, NotEstimableError, StructureError) as error:
            row = not_estimable(log, data, parse_estimand("mean", "population"), (refusal_of(error),))
        yield replace(row, messages=(*row.messages, *log.messages))


def grades_of(log: TaskLog, judge: Scores, human: Human) -> Grades:
    """The human labels of the answers that a grader scored.

    Raises
    ------
    NotEstimableError : if the log has no such metric
    LogError : if a question has two labels, or only some labels have a probability
    """
    if not isinstance(human, str):
        values, chances = grades(human, log.task, log.questions.ids, log.system)
        mine = labels_of_answers(human, log.task, frozenset(log.questions.ids), log.system)
        is_binary = all(label.score in (0.0, 1.0) for label in mine)
        has_shares = bool(((values > 0) & (values < 1)).any())
        bounds = (0.0, 1.0) if is_binary and has_shares else judge.bounds
        scores = replace(judge, values=values[:, None], clusters=None, bounds=bounds)
        messages = (*_missing_labels(log, human), *_rater_notes(log.system, mine))
        return Grades(scores, chances, messages, is_binary)
    candidates = [data for data in log.data if isinstance(data, Scores) and data.metric == human]
    if not candidates:
        raise NotEstimableError(NO_LABEL_METRIC(metric=human))
    same = [data for data in candidates if data.filter == judge.filter]
    return Grades((same or candidates)[0], None)


def _missing_labels(log: TaskLog, labels: Sequence[Label]) -> tuple[Message, ...]:
    n_missing, n_answers = answers_without_label(labels, log.task, frozenset(log.questions.ids), log.system)
    if n_missing in (0, n_answers):  # without any label there is no result
        return ()
    return (LABELS_INCOMPLETE(system=log.system, n_missing=n_missing, n_answers=n_answers),)


def _rater_notes(system: str, labels: Sequence[Label]) -> tuple[Message, ...]:
    by_answer: dict[str, list[float]] = {}
    for label in labels:
        by_answer.setdefault(label.id, []).append(label.score)
    found = rater_disagreement(by_answer.values())
    if found is None:
        return ()
    share = found.variance_share
    note = LABELS_OF_SEVERAL_RATERS(
        system=system,
        n_answers=found.n_answers,
        n_raters=len({label.rater for label in labels}),
        agreement=found.agreement,
        variance="" if share is None else f" (disagreement causes {100 * share:.0f} % of the variance of a label)",
    )
    return (note,)


def corrected_estimate(log: TaskLog, judge: Scores, labels: Human, clusters: Clusters, options: Options) -> Estimate:
    """Estimate the human score from a grader's scores and human labels.

    Raises
    ------
    NotEstimableError : if the labels are insufficient
    DataError, LogError : if the labels are invalid
    """
    human, is_judged = grades_of(log, judge, labels), judge.is_scored
    f, h = _matched(judge.values[is_judged], human.scores.values[is_judged])
    if (n_lost := int((human.scores.is_scored & ~is_judged).sum())) and not np.isfinite(h).any():
        raise NotEstimableError(LABELED_QUESTIONS_UNSCORED(n_labels=n_lost, metric=judge.metric))
    if not np.isfinite(h).any():
        raise NotEstimableError(NO_LABELS())
    bounds = detect(replace(human.scores, clusters=None), clusters, options.structure.of_task(log.task)).bounds
    if bounds is None:
        raise NotEstimableError(RANGE_REQUIRED(method=METHOD))
    problem = make_problem(log, judge, clusters, options)
    units = problem.data.clusters if isinstance(problem.data, Scores) else None
    chance = None if human.probabilities is None else human.probabilities[is_judged]
    worth = assess_judge(f, h, clusters=units, probabilities=chance)
    rng = np.random.default_rng(options.seed)
    posterior = judge_corrected_posterior(
        f, h, clusters=units, probabilities=chance, low=bounds[0], high=bounds[1], rng=rng
    )
    value = float(np.clip(worth.estimate, *bounds))
    result = credible(
        problem,
        posterior,
        value,
        diagnostics=_diagnostics(worth),
        messages=(*_notes(worth, chance is None), *human.messages, *_warnings(problem, worth)),
    )
    return replace(result.estimate(problem, METHOD), method_reason="human labels were given", info=METHOD_INFO)


def _matched(judge: FloatArray, human: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bring both scores to the same shape: one per trial, or one per question."""
    if human.shape == judge.shape:
        return judge, np.where(np.isfinite(judge), human, np.nan)
    if human.shape[1] == 1:
        return judge, human[:, 0]
    raise NotEstimableError(LABELS_UNMATCHED(n_labeled=human.shape[1], n_graded=judge.shape[1]))


def _diagnostics(worth: JudgeAssessment) -> dict[str, float]:
    named = {
        "n_labels": float(worth.n_labels),
        "effective_labels": worth.effective_labels,
        "judge_mean": worth.judge_mean,
        "human_mean": worth.human_mean,
        "judge_weight": worth.weight,
        "judge_agreement": worth.agreement,
    }
    return {name: value for name, value in named.items() if value is not None}


def _notes(worth: JudgeAssessment, is_plain_sample: bool) -> Iterator[Message]:
    yield GRADER_CORRECTION(grader_mean=worth.judge_mean, label_mean=worth.human_mean, estimate=worth.estimate)
    if worth.effective_labels is not None:
        yield EFFECTIVE_LABELS(n_labels=worth.n_labels, effective=worth.effective_labels)
    if worth.is_no_better:
        yield WEAK_GRADER(agreement=worth.agreement)
    if is_plain_sample:
        yield LABELS_ASSUMED_RANDOM()


def _warnings(problem: Problem, worth: JudgeAssessment) -> Iterator[Message]:
    if worth.n_labels < ENOUGH_LABELS:
        yield estimation.FEW_LABELS(n_labels=worth.n_labels, enough=ENOUGH_LABELS)
    if worth.effective_labels is None:
        yield UNIFORM_LABELS()
    if problem.structure.n_clusters is not None and problem.structure.n_clusters < 10:
        yield FEW_CLUSTERS(n_clusters=problem.structure.n_clusters, clusters=problem.structure.cluster_key)
