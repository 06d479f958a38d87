"""Assess the graders of logged runs: the function behind `harness-uq grader`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from harness_uq.data.selection import matches
from harness_uq.data.task_log import TaskLog
from harness_uq.errors import DataError
from harness_uq.estimation.auxiliary_data import human_labels, require_labels, selection_with_labels, without_labels
from harness_uq.estimation.judge_correction import Human
from harness_uq.graders.agreement import agreement_of
from harness_uq.graders.differences import grader_differences, self_preferences
from harness_uq.graders.graded_answers import GradedAnswers, graded_answers
from harness_uq.graders.panels import grader_panels
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.human_labels import Label
from harness_uq.messages.catalogue.graders import NOTHING_TO_ASSESS
from harness_uq.options import Options, resolve
from harness_uq.options_typed import AssessGradersKeywords
from harness_uq.plugins.manager import Plugins
from harness_uq.plugins.readers import task_logs
from harness_uq.plugins.runs import Runs
from harness_uq.results.grader import GraderAgreement, GraderDifference, GraderPanel, SelfPreference
from harness_uq.results.result_list import ResultList
from harness_uq.structure.question_groups import divided_logs


@dataclass(frozen=True, slots=True)
class GraderAssessment:
    """Results of `assess_graders`.

    Attributes
    ----------
    agreements : agreement of each grader with people, per system, for all systems together, and by groups of questions
    grader_differences : differences between graders of the same answers
    self_preferences : preference of each grader for systems of its own family
    panels : mean score of all graders of the same answers, with the effective number of independent graders
    """

    agreements: ResultList[GraderAgreement]
    grader_differences: ResultList[GraderDifference]
    self_preferences: ResultList[SelfPreference]
    panels: ResultList[GraderPanel]


def assess_graders(
    logs: Runs,
    labels: str | Path | Sequence[Label] | None = None,
    options: Options | None = None,
    *,
    inclusion_probabilities: str | None = None,
    plugins: Plugins | None = None,
    **keywords: Unpack[AssessGradersKeywords],
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
    chosen, selection = resolve("assess_graders", options, keywords)
    offered = plugins or load_plugins()
    require_labels(labels, inclusion_probabilities)
    if labels is None:
        return _assess(task_logs(logs, offered, selection), None, chosen, offered)
    read = without_labels(task_logs(logs, offered, selection_with_labels(selection, labels)), labels)
    return _assess(read, human_labels(labels, read, inclusion_probabilities), chosen, offered)


def _assess(logs: Sequence[TaskLog], labels: Human | None, options: Options, plugins: Plugins) -> GraderAssessment:
    structure = options.structure.without_bounds("graders")
    systems = list(dict.fromkeys(log.system for log in logs))
    if options.same_family:
        _check_family(options.same_family, systems, has_labels=labels is not None)
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


def _check_family(patterns: Sequence[str], systems: Sequence[str], *, has_labels: bool) -> None:
    own = [system for system in systems if matches(system, patterns)]
    if not has_labels:
        raise DataError("same_family requires labels, because only they show which system the grader overrates.")
    if not own or len(own) == len(systems):
        which = "every system" if own else "no system"
        raise DataError(
            f"same_family matches {which}: {', '.join(systems)}. Give patterns that match only the grader's family."
        )


def _agreements(
    entries: Sequence[GradedAnswers], level: float, *, field: str | None = None, group: str | None = None
) -> Iterator[GraderAgreement]:
    """The agreement for each grader and task: for all systems together if there are several, and for each system."""
    by_grader: dict[tuple[str, str, str], list[GradedAnswers]] = {}
    for entry in entries:
        by_grader.setdefault((entry.grader, entry.log.task, entry.data.filter), []).append(entry)
    for graded in by_grader.values():
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
