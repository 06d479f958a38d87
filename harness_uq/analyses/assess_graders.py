"""Assess the graders of logged runs: agreement with people, differences between graders, panels, and own family."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from harness_uq.analyses.estimate import estimate_scores
from harness_uq.analyses.graded_answers import (
    GradedAnswers,
    clusters_across_entries,
    graded_answers,
    graders_of_same_answers,
    scores_of_graders,
)
from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.panel import panel_of_scores
from harness_uq.data.question_groups import divided_logs
from harness_uq.data.selection import matches_system
from harness_uq.data.task_log import TaskLog
from harness_uq.inference.contrasts import paired_contrast
from harness_uq.inference.decisions import adjusted_p_values
from harness_uq.inference.labels import ENOUGH_LABELS, METHOD, Human
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.human_labels import Label, human_labels, selection_with_labels, without_labels
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.estimation import FEW_LABELS, NO_LABELS, RANGE_REQUIRED
from harness_uq.messages.catalogue.graders import (
    EFFECTIVE_GRADERS_UNKNOWN,
    GRADERS_OF_DIFFERENT_RANGES,
    LABELS_OF_ONE_FAMILY,
    NO_COMMON_ANSWERS,
    NO_COMMON_ANSWERS_OF_PANEL,
    NOTHING_TO_ASSESS,
)
from harness_uq.messages.errors import DataError, LogError, NotEstimableError, StructureError, refusal_of
from harness_uq.messages.message import Message, distinct
from harness_uq.options import Options, resolve
from harness_uq.options_typed import AssessGradersKeywords
from harness_uq.results.estimate import Interval, Posterior
from harness_uq.results.grader import (
    AgreementMeasure,
    GraderAgreement,
    GraderDifference,
    GraderPanel,
    GraderVerdict,
    MeasuredAgreement,
    SelfPreference,
)
from harness_uq.results.result_list import ResultList, ResultLists
from harness_uq.stats.classes.multiclass import clustered_multiclass_posterior, multiclass_posterior, multiclass_score
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.labels.effective_graders import effective_graders
from harness_uq.stats.labels.effective_labels import assess_judge
from harness_uq.stats.labels.judge import judge_corrected_posterior
from harness_uq.stats.labels.label_arrays import mean_of_trials

_MOST_GRADES = 10
_FEWEST = 3
_Row = TypeVar("_Row", GraderAgreement, GraderDifference, SelfPreference, GraderPanel)
_Difference = TypeVar("_Difference", GraderDifference, SelfPreference)


@dataclass(frozen=True, slots=True)
class GraderAssessment(ResultLists):
    """Results of `assess_graders`.

    `agreements` are those of each grader with people, per system, for all systems together, and by groups of questions.
    `grader_differences` are between graders of the same answers, and `self_preferences` of each grader for systems of
    its own family. `panels` have the mean score of all graders of the same answers, with the effective number of
    independent graders.
    """

    agreements: ResultList[GraderAgreement]
    grader_differences: ResultList[GraderDifference]
    self_preferences: ResultList[SelfPreference]
    panels: ResultList[GraderPanel]

    @property
    def lists(self) -> dict[str, Sequence[Any]]:
        """The results by the names of their lists in documents."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def assess_graders(
    logs: Runs,
    labels: str | Path | Sequence[Label] | None = None,
    options: Options | None = None,
    *,
    inclusion_probabilities: str | None = None,
    plugins: Plugins | None = None,
    **keywords: "Unpack[AssessGradersKeywords]",
) -> GraderAssessment:
    """Assess graders: agreement with people, drift between graders, panels, and preference for their own family.

    Each metric of a log is a grader, except for the one that contains the labels. Logs that contain the same answers,
    because a run was scored again, contain graders of the same answers, too.

    Parameters
    ----------
    logs : paths of logged runs or results in memory, as for `read_logs`
    labels : human labels: a CSV file, a metric of the logs, or labels. Without labels, only graders of the same answers
        are compared
    inclusion_probabilities : column of the file of labels with the probability with which each answer was drawn for
        labeling; by default `probability`, if there is one
    options : options of the assessment
    plugins : plugins to use; by default the installed ones
    **keywords : options with the names of the command line: `by`, `same_family`, `level`, `cluster`, `range`, `task`,
        `metric`, `filter` and `model`. They take precedence over `options`

    Returns
    -------
    Agreements (none without labels), differences between graders, preferences (none without `same_family`), and panels
    of several graders of the same answers

    Raises
    ------
    DataError : if labels do not name the system although there are several, `same_family` is given without labels or
        matches no system or every system, or there are neither labels nor two graders of the same answers
    LogError : if the labels cannot be read
    StructureError : if no task has a field of `by`
    TypeError : if an option does not exist
    """
    chosen, selection = resolve(
        "assess_graders", options, keywords, labels=labels, inclusion_probabilities=inclusion_probabilities
    )
    offered = plugins or load_plugins()
    if labels is None:
        return _assess(task_logs(logs, offered, selection), None, chosen, offered)
    read = without_labels(task_logs(logs, offered, selection_with_labels(selection, labels)), labels)
    return _assess(read, human_labels(labels, read, inclusion_probabilities), chosen, offered)


def _assess(logs: Sequence[TaskLog], labels: Human | None, options: Options, plugins: Plugins) -> GraderAssessment:
    structure = options.structure.without_bounds("graders")
    systems = list(dict.fromkeys(log.system for log in logs))
    if options.same_family:
        _check_family(options.same_family, systems)
    entries = graded_answers(logs, labels, structure, plugins)
    agreements: list[GraderAgreement] = []
    if labels is not None:
        agreements += _agreements(entries, options.level)
        for name in options.by:
            agreements += _agreements_by(logs, labels, name, options, plugins)
    differences = grader_differences(entries, options.level)
    if not (agreements or differences):
        raise DataError(NOTHING_TO_ASSESS())
    preferences = self_preferences(entries, options.same_family, options.level) if options.same_family else []
    panels = grader_panels(entries, options.level)
    return GraderAssessment(
        ResultList(agreements), ResultList(differences), ResultList(preferences), ResultList(panels)
    )


def _check_family(patterns: Sequence[str], systems: Sequence[str]) -> None:
    own = [system for system in systems if matches_system(system, patterns)]
    if not own or len(own) == len(systems):
        which = "every system" if own else "no system"
        raise DataError(
            f"same_family matches {which}: {', '.join(systems)}. Give patterns that match only the grader's family."
        )


def _agreements(
    entries: Sequence[GradedAnswers], level: float, *, field: str | None = None, group: str | None = None
) -> Iterator[GraderAgreement]:
    """The agreement for each grader and task: for all systems together if there are several, and for each system."""
    for graded in _by_grader(entries):
        if len({entry.log.system for entry in graded}) > 1:
            yield agreement_of(graded, level, system=None, field=field, group=group)
        for system in dict.fromkeys(entry.log.system for entry in graded):
            own = [entry for entry in graded if entry.log.system == system]
            yield agreement_of(own, level, system=system, field=field, group=group)


def _agreements_by(
    logs: Sequence[TaskLog], labels: Human, name: str, options: Options, plugins: Plugins
) -> Iterator[GraderAgreement]:
    """The agreement on groups of questions, of all systems together."""
    structure = options.structure.without_bounds("graders")
    parts: dict[str, list[TaskLog]] = {}
    for log, groups in divided_logs([log for log in logs if not log.subtasks], name)[0]:
        for label, part in groups.parts(log):
            parts.setdefault(label, []).append(part)
    for label, part_logs in parts.items():
        rows = list(
            _agreements(graded_answers(part_logs, labels, structure, plugins), options.level, field=name, group=label)
        )
        pooled = [row for row in rows if row.system is None]
        yield from pooled or rows


def _by_grader(entries: Sequence[GradedAnswers]) -> list[list[GradedAnswers]]:
    """The entries of each grader, task and filter."""
    by_grader: dict[tuple[str, str, str], list[GradedAnswers]] = {}
    for entry in entries:
        by_grader.setdefault((entry.grader, entry.log.task, entry.data.filter), []).append(entry)
    return list(by_grader.values())


def _or_refusal(row: _Row, complete: Callable[[_Row], _Row]) -> _Row:
    """The complete row, or the row with the reason why it is not estimable."""
    try:
        return complete(row)
    except (DataError, LogError, NotEstimableError, StructureError) as error:
        return replace(row, messages=(refusal_of(error),))


# ---------------------------------------------------------------- agreement with people


@dataclass(frozen=True, slots=True, eq=False)
class LabeledAnswers:
    """Scores of a grader and labels of people for the same answers.

    `graded` and `human` are (n,). `clusters` (n,) may be the questions of the answers, and `has_clusters` says whether
    they are larger. `weights` are 1 / probability of a label; None if all answers were labeled with equal probability.
    """

    graded: FloatArray
    human: FloatArray
    questions: IntArray
    clusters: IntArray
    weights: FloatArray | None
    bounds: tuple[float, float] | None
    has_clusters: bool

    @property
    def is_binary(self) -> bool:
        """Whether scores and labels are 0 or 1."""
        return bool(np.isin(self.graded, (0.0, 1.0)).all() and np.isin(self.human, (0.0, 1.0)).all())

    @property
    def units(self) -> IntArray | None:
        """Clusters of dependent answers; None if all answers are independent."""
        return None if len(np.unique(self.clusters)) == len(self.clusters) else self.clusters


def agreement_of(
    entries: Sequence[GradedAnswers],
    level: float,
    *,
    system: str | None,
    field: str | None = None,
    group: str | None = None,
) -> GraderAgreement:
    """The agreement of one grader with the labels of one task, of one system or of several together.

    `entries` have one grader, task and filter, one entry per system; `system`, `field` and `group` name the answers in
    the result.
    """

    def complete(row: GraderAgreement) -> GraderAgreement:
        answers = labeled_answers(entries)
        n_labels = len(answers.human)
        few = (FEW_LABELS(n_labels=n_labels, enough=ENOUGH_LABELS),) if n_labels < ENOUGH_LABELS else ()
        return replace(
            row,
            n_labels=n_labels,
            n_questions=len(np.unique(answers.questions)),
            n_clusters=len(np.unique(answers.clusters)) if answers.has_clusters else None,
            measures=tuple(_measures(answers, level)),
            messages=(*few, *distinct(message for entry in entries for message in entry.messages)),
        )

    first = entries[0]
    row = GraderAgreement(first.grader, first.log.task, first.data.filter, system, field, group, 0, 0, None)
    return _or_refusal(row, complete)


def labeled_answers(entries: Sequence[GradedAnswers]) -> LabeledAnswers:
    """The labeled answers of all entries.

    Raises NotEstimableError if there are fewer than three.
    """
    parts = [_answers_of(entry) for entry in entries]
    if sum(len(rows) for _, _, rows in parts) < _FEWEST:
        raise NotEstimableError(NO_LABELS())
    ids = {question: i for i, question in enumerate(dict.fromkeys(q for e in entries for q in e.log.questions.ids))}
    questions = [
        np.array([ids[q] for q in entry.log.questions.ids], np.int64)[rows]
        for entry, (_, _, rows) in zip(entries, parts, strict=True)
    ]
    clusters = [codes[rows] for codes, (_, _, rows) in zip(clusters_across_entries(entries), parts, strict=True)]
    weights = [_weights(entry, rows) for entry, (_, _, rows) in zip(entries, parts, strict=True)]
    is_weighted = any(np.ptp(part) > 0 for part in weights if len(part))
    return LabeledAnswers(
        graded=np.concatenate([graded for graded, _, _ in parts]),
        human=np.concatenate([human for _, human, _ in parts]),
        questions=np.concatenate(questions),
        clusters=np.concatenate(clusters),
        weights=np.concatenate(weights) if is_weighted else None,
        bounds=entries[0].bounds,
        has_clusters=any(entry.clusters is not None for entry in entries),
    )


def _answers_of(entry: GradedAnswers) -> tuple[FloatArray, FloatArray, IntArray]:
    """Grades, labels and question of each labeled answer; trials are averaged if a question has a single label."""
    graded, human = entry.data.values, entry.human
    if human is None:
        return np.empty(0), np.empty(0), np.empty(0, np.int64)
    if human.shape != graded.shape:
        counts = np.maximum(np.isfinite(graded).sum(axis=1), 1)
        means = np.nansum(graded, axis=1) / counts
        graded = np.where(np.isfinite(graded).any(axis=1), means, np.nan)[:, None]
        human = entry.labels[:, None]
    rows, trials = np.nonzero(np.isfinite(graded) & np.isfinite(human))
    return graded[rows, trials], human[rows, trials], rows


def _weights(entry: GradedAnswers, rows: IntArray) -> FloatArray:
    return np.ones(len(rows)) if entry.probabilities is None else 1.0 / entry.probabilities[rows]


def _measures(answers: LabeledAnswers, level: float) -> Iterator[MeasuredAgreement]:
    grades = np.array([0.0, 1.0]) if answers.is_binary else np.unique([*answers.graded, *answers.human])
    if 1 < len(grades) <= _MOST_GRADES:
        equal = answers.graded == answers.human
        yield from _share(answers, "agreement", equal, np.full(len(equal), True), level)
        if answers.is_binary:
            yield from _share(answers, "sensitivity", equal, answers.human == 1, level)
            yield from _share(answers, "specificity", equal, answers.human == 0, level)
        targets, predictions = (np.searchsorted(grades, values) for values in (answers.human, answers.graded))
        for measure in ("kappa", "ac1"):
            yield _beyond_chance(answers, measure, targets, predictions, len(grades), level)
    yield _mean_error(answers, level)


def _share(
    answers: LabeledAnswers, measure: AgreementMeasure, equal: NDArray[np.bool_], rows: NDArray[np.bool_], level: float
) -> Iterator[MeasuredAgreement]:
    """The share of `equal` in these rows with the default interval of a mean score; nothing without rows."""
    if not rows.any():
        return
    values, clusters = equal[rows].astype(float), answers.clusters[rows]
    if answers.weights is not None:
        weights = answers.weights[rows]
        value, n = float(np.average(values, weights=weights)), _effective_number(weights, clusters)
        low, high = BetaPosterior(1 + n * value, 1 + n * (1 - value)).interval(level, "hdi")
        yield MeasuredAgreement(measure, value, Interval(low, high, level, "hdi"))
        return
    units = None if answers.units is None else clusters
    row = estimate_scores(values, clusters=units, level=level, range=(0.0, 1.0))
    if row.value is not None and row.interval is not None:
        yield MeasuredAgreement(measure, row.value, row.interval)


def _beyond_chance(
    answers: LabeledAnswers,
    measure: Literal["kappa", "ac1"],
    targets: IntArray,
    predictions: IntArray,
    n_grades: int,
    level: float,
) -> MeasuredAgreement:
    """Kappa or AC1; with unequal probabilities of a label, from the cells' weights times the effective number."""
    matrix = np.zeros((n_grades, n_grades))
    np.add.at(matrix, (targets, predictions), 1.0 if answers.weights is None else answers.weights)
    if answers.weights is not None:
        matrix *= _effective_number(answers.weights, answers.clusters) / matrix.sum()
    posterior: Posterior
    if answers.weights is not None or answers.units is None:
        posterior = multiclass_posterior(matrix, measure)
    else:
        posterior = clustered_multiclass_posterior(targets, predictions, answers.units, measure, n_classes=n_grades)
    return MeasuredAgreement(measure, multiclass_score(matrix, measure), _interval(posterior, level))


def _effective_number(weights: FloatArray, clusters: IntArray) -> float:
    """Kish's effective number of clusters, (sum of their weights)^2 / (sum of the squares)."""
    of_clusters = np.bincount(clusters, weights)
    return float(of_clusters.sum() ** 2 / (of_clusters**2).sum())


def _mean_error(answers: LabeledAnswers, level: float) -> MeasuredAgreement:
    """Mean of the score minus the label: how much the grader overrates the answers."""
    panel = panel_of_scores(
        [answers.graded, answers.human],
        answers.units,
        answers.bounds,
        weights=answers.weights,
        is_binary=answers.is_binary,
    )
    posterior = paired_contrast(panel).posterior
    value = float(np.average(panel.differences, weights=answers.weights))
    return MeasuredAgreement("mean error", value, _interval(posterior, level))


def _interval(posterior: Posterior, level: float) -> Interval:
    low, high = posterior.interval(level)
    return Interval(low, high, level, "quantile")


# ---------------------------------------------------------------- differences of graders, and of families of systems


def grader_differences(entries: Sequence[GradedAnswers], level: float) -> list[GraderDifference]:
    """Compare every later grader with the first grader of the same answers, with Holm's correction."""
    rows = []
    for graders in graders_of_same_answers(entries):
        first, *later = sorted(graders, key=lambda entry: entry.log.source.time or "")
        rows += [_difference(entry, first, level) for entry in later]
    return with_verdicts(rows, level)


def self_preferences(entries: Sequence[GradedAnswers], patterns: Sequence[str], level: float) -> list[SelfPreference]:
    """Compare the errors of each grader on systems that match the patterns with those on other systems."""
    return with_verdicts([_preference(graded, patterns, level) for graded in _by_grader(entries)], level)


def with_verdicts(rows: Sequence[_Difference], level: float) -> list[_Difference]:
    """The rows with the verdicts of their intervals, and with p-values and verdicts corrected by Holm's method."""
    adjusted = adjusted_p_values([row.p_value for row in rows])
    return [row if p is None else _with_verdict(row, p, level) for row, p in zip(rows, adjusted, strict=True)]


def _with_verdict(row: _Difference, adjusted_p: float, level: float) -> _Difference:
    verdict: GraderVerdict = "undecided"
    if row.interval is not None and not row.interval.low <= 0 <= row.interval.high:
        verdict = "higher" if row.interval.low > 0 else "lower"
    corrected = verdict if adjusted_p <= 1 - level else "undecided"
    return replace(row, adjusted_p=adjusted_p, verdict=verdict, verdict_corrected=corrected)


def _difference(a: GradedAnswers, b: GradedAnswers, level: float) -> GraderDifference:
    def complete(row: GraderDifference) -> GraderDifference:
        at_a, at_b = _common_rows(a, b)
        values_a, values_b = a.data.values[at_a], b.data.values[at_b]
        if values_a.shape[1] != values_b.shape[1]:
            values_a, values_b = (mean_of_trials(values)[:, None] for values in (values_a, values_b))
        both = np.isfinite(values_a) & np.isfinite(values_b)
        used = both.any(axis=1)
        if used.sum() < _FEWEST:
            raise NotEstimableError(NO_COMMON_ANSWERS(grader_a=a.grader, grader_b=b.grader))
        mean_a, mean_b = (mean_of_trials(np.where(both, values, np.nan)[used]) for values in (values_a, values_b))
        units = None if a.clusters is None else a.clusters[at_a][used]
        bounds = a.bounds if a.bounds == b.bounds else None
        is_binary = values_a.shape[1] == 1 and bool(np.isin([mean_a, mean_b], (0.0, 1.0)).all())
        different = float((values_a != values_b)[both].mean())
        row = replace(row, share_different=different)
        return _with_difference(row, (mean_a, mean_b), units, bounds, level, is_binary=is_binary)

    row = GraderDifference(a.grader, b.grader, a.log.task, a.data.filter, a.log.system, 0)
    return _or_refusal(row, complete)


def _common_rows(a: GradedAnswers, b: GradedAnswers) -> tuple[IntArray, IntArray]:
    """Rows of the questions that both have, in the same order."""
    place = {question: i for i, question in enumerate(b.log.questions.ids)}
    pairs = [(i, place[q]) for i, q in enumerate(a.log.questions.ids) if q in place]
    rows = np.array(pairs, np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def _preference(entries: Sequence[GradedAnswers], patterns: Sequence[str], level: float) -> SelfPreference:
    first = entries[0]
    is_own = [matches_system(entry.log.system, patterns) for entry in entries]
    sides = [[entry for entry, own in zip(entries, is_own, strict=True) if own is wanted] for wanted in (True, False)]

    def complete(row: SelfPreference) -> SelfPreference:
        errors = [_mean_errors(side) for side in sides]
        common = [question for question in errors[0] if question in errors[1]]
        if len(common) < _FEWEST:
            raise NotEstimableError(LABELS_OF_ONE_FAMILY(n_questions=len(common), needed=_FEWEST))
        cluster = _cluster_by_question(entries)
        a, b = (np.array([side[question] for question in common]) for side in errors)
        has_clusters = any(entry.clusters is not None for entry in entries)
        units = np.array([cluster[question] for question in common]) if has_clusters else None
        width = None if first.bounds is None else first.bounds[1] - first.bounds[0]
        return _with_difference(row, (a, b), units, None if width is None else (-width, width), level)

    own, others = (tuple(dict.fromkeys(entry.log.system for entry in side)) for side in sides)
    return _or_refusal(SelfPreference(first.grader, first.log.task, first.data.filter, own, others), complete)


def _mean_errors(entries: Sequence[GradedAnswers]) -> Mapping[str, float]:
    """Mean over systems of the score minus the label, by question with a label of any system."""
    errors: dict[str, list[float]] = {}
    for entry in entries:
        difference = mean_of_trials(entry.data.values) - entry.labels
        for question, error in zip(entry.log.questions.ids, difference.tolist(), strict=True):
            if np.isfinite(error):
                errors.setdefault(question, []).append(error)
    return {question: float(np.mean(values)) for question, values in errors.items()}


def _cluster_by_question(entries: Sequence[GradedAnswers]) -> dict[str, int]:
    return {
        question: code
        for entry, codes in zip(entries, clusters_across_entries(entries), strict=True)
        for question, code in zip(entry.log.questions.ids, codes.tolist(), strict=True)
    }


def _with_difference(
    row: _Difference,
    scores: tuple[FloatArray, FloatArray],
    clusters: IntArray | None,
    bounds: tuple[float, float] | None,
    level: float,
    *,
    is_binary: bool = False,
) -> _Difference:
    """The row with the mean difference of scores of the same questions."""
    units = _codes(clusters)
    panel = panel_of_scores(list(scores), units, bounds, is_binary=is_binary)

    def complete(row: _Difference) -> _Difference:
        result = paired_contrast(panel)
        interval = Interval(*result.posterior.interval(level), level, result.kind)
        return replace(row, value=float(panel.differences.mean()), interval=interval, p_value=result.p_value)

    return _or_refusal(
        replace(row, n_questions=len(scores[0]), n_clusters=None if units is None else int(units.max()) + 1), complete
    )


def _codes(clusters: IntArray | None) -> IntArray | None:
    """Clusters as numbers from 0."""
    return None if clusters is None else np.unique(clusters, return_inverse=True)[1]


# ---------------------------------------------------------------- several graders of the same answers


def grader_panels(entries: Sequence[GradedAnswers], level: float) -> list[GraderPanel]:
    """The mean score of all graders of the same answers, for each set of answers with several graders."""
    return [_panel(graders, level) for graders in graders_of_same_answers(entries)]


def _panel(graders: Sequence[GradedAnswers], level: float) -> GraderPanel:
    first = graders[0]

    def complete(row: GraderPanel) -> GraderPanel:
        if len({entry.bounds for entry in graders}) > 1:
            raise NotEstimableError(GRADERS_OF_DIFFERENT_RANGES(graders=row.graders))
        table = scores_of_graders(graders)
        rows = np.flatnonzero(np.isfinite(table).all(axis=1))
        if len(rows) < _FEWEST:
            raise NotEstimableError(NO_COMMON_ANSWERS_OF_PANEL(graders=row.graders))
        units = _codes(None if first.clusters is None else first.clusters[rows])
        if first.bounds is None:
            raise NotEstimableError(RANGE_REQUIRED(method="mean of graders"))
        scores = table[rows]
        combined = estimate_scores(scores.mean(axis=1), clusters=units, level=level, range=first.bounds)
        row = replace(
            row,
            n_questions=len(rows),
            n_clusters=None if units is None else int(units.max()) + 1,
            value=combined.value,
            interval=combined.interval,
        )
        return _with_labels(row, first, scores, rows, units, level)

    names = tuple(entry.grader for entry in graders)
    return _or_refusal(GraderPanel(names, first.log.task, first.data.filter, first.log.system), complete)


def _with_labels(
    row: GraderPanel, entry: GradedAnswers, scores: FloatArray, rows: IntArray, units: IntArray | None, level: float
) -> GraderPanel:
    """The panel with the corrected score and the effective number of graders, as far as the labels allow."""
    labels = entry.labels[rows]
    is_labeled = np.isfinite(labels)
    if not is_labeled.any():
        return replace(row, messages=(EFFECTIVE_GRADERS_UNKNOWN(),))
    row = replace(row, n_labels=int(is_labeled.sum()))
    messages: list[Message] = []
    chance = None if entry.probabilities is None else entry.probabilities[rows]
    try:
        row = _corrected(row, entry, scores.mean(axis=1), labels, units, chance, level)
    except (DataError, NotEstimableError) as error:
        messages.append(refusal_of(error))
    try:
        clusters = None if units is None else units[is_labeled]
        found = effective_graders(scores[is_labeled] - labels[is_labeled, None], clusters=clusters, level=level)
        row = replace(
            row,
            effective_graders=found.value,
            effective_interval=Interval(found.low, found.high, level, "confidence"),
            error_correlation=found.correlation,
        )
    except NotEstimableError as error:
        messages.append(refusal_of(error))
    return replace(row, messages=tuple(messages))


def _corrected(
    row: GraderPanel,
    entry: GradedAnswers,
    means: FloatArray,
    labels: FloatArray,
    units: IntArray | None,
    chance: FloatArray | None,
    level: float,
) -> GraderPanel:
    if entry.bounds is None:
        raise NotEstimableError(RANGE_REQUIRED(method=METHOD))
    low, high = entry.bounds
    posterior = judge_corrected_posterior(means, labels, clusters=units, probabilities=chance, low=low, high=high)
    ends = posterior.interval(level, "hdi")
    worth = assess_judge(means, labels, clusters=units, probabilities=chance)
    value = float(np.clip(worth.estimate, low, high))
    return replace(row, corrected=value, corrected_interval=Interval(*ends, level, "hdi"))
