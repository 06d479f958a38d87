"""Plan human labels: how many, and of which answers, for an interval of a certain width or a detectable difference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

import numpy as np
from scipy import special

from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.structure import score_type_of
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.inference.labels import Human, grades_of
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.human_labels import Label, human_labels, selection_with_labels, without_labels
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.estimation import NOT_COMPUTABLE
from harness_uq.messages.catalogue.planning import LABEL_PLAN_TRIALS, PLAN_UNAVAILABLE
from harness_uq.messages.errors import (
    DataError,
    HarnessUqError,
    LogError,
    NotEstimableError,
    StructureError,
    refusal_of,
)
from harness_uq.messages.message import Message
from harness_uq.options import Options, resolve
from harness_uq.options_typed import PlanLabelsKeywords
from harness_uq.results.plan import LabelPlan, LabelStratum
from harness_uq.results.result_list import ResultList
from harness_uq.stats.labels.label_design import LabelDesign, design_labels


def plan_labels(
    logs: Runs,
    labels: str | Path | Sequence[Label],
    options: Options | None = None,
    *,
    inclusion_probabilities: str | None = None,
    plugins: Plugins | None = None,
    **keywords: "Unpack[PlanLabelsKeywords]",
) -> ResultList[LabelPlan]:
    """Plan which answers people should label, from the grades of all answers and a pilot of labels.

    Parameters
    ----------
    logs : logged runs of one system, for a corrected score, or of two systems, for a corrected difference
    labels : pilot of at least ten labels of randomly drawn questions: a CSV file, a metric of the log, or labels. With
        two systems, a question needs labels of both
    options : options of the plan
    inclusion_probabilities : column of the file of labels with the probability with which each question was drawn for
        the pilot; by default `probability`, if there is one
    plugins : plugins to use; by default the installed ones
    **keywords : `width`, the width of the interval to reach, or `difference`, the true difference of two systems to
        detect with the probability `power`; `level`, `seed`, and options about the structure and the selection of the
        logs. They take precedence over `options`

    Returns
    -------
    One plan per task, metric and filter

    Raises
    ------
    DataError : if the logs contain more than two systems, `difference` is given for one system, or labels do not name
        the system although there are two
    LogError : if the labels cannot be read
    """
    chosen, selection = resolve("plan_labels", options, keywords)
    if (chosen.width is None) == (chosen.difference is None):
        raise DataError("a plan of labels requires either width or difference")
    offered = plugins or load_plugins()
    selected = task_logs(logs, offered, selection_with_labels(selection, labels))
    read = [log for log in without_labels(selected, labels) if not log.subtasks]
    human = human_labels(labels, read, inclusion_probabilities)
    systems = tuple(dict.fromkeys(log.system for log in read))
    if len(systems) > 2:
        raise DataError(f"labels are planned for one or two systems; the logs contain {', '.join(systems)}")
    if chosen.difference is not None and len(systems) == 1:
        raise DataError("a difference to detect requires runs of two systems; give a width for one system")
    by_score: dict[tuple[str, str, str], list[tuple[TaskLog, Scores]]] = {}
    for log in read:
        for data in log.data:
            if isinstance(data, Scores) and data.metric != human:
                by_score.setdefault((log.task, data.metric, data.filter), []).append((log, data))
    complete = [runs for runs in by_score.values() if [log.system for log, _ in runs] == list(systems)]
    return ResultList(_plan(runs, human, chosen, offered) for runs in complete)


def _target_width(options: Options) -> float:
    """The width to reach; an interval of this width excludes 0 with the requested power."""
    if options.difference is None:
        return float(options.width or 0.0)
    z, z_power = float(special.ndtri((1 + options.level) / 2)), float(special.ndtri(options.power))
    return 2 * z * options.difference / (z + z_power)


def _plan(runs: Sequence[tuple[TaskLog, Scores]], labels: Human, options: Options, plugins: Plugins) -> LabelPlan:
    log, data = runs[0]
    systems = tuple(run.system for run, _ in runs)
    plan = LabelPlan(log.task, data.metric, data.filter, systems, options.level, _target_width(options))
    try:
        if any(scores.values.shape[1] > 1 for _, scores in runs):
            raise NotEstimableError(LABEL_PLAN_TRIALS())
        pilot = _matched(runs, labels)
        clusters = clusters_of(log, options.structure, plugins).codes
        _, bounds, _ = score_type_of(data, options.structure.of_task(log.task).ranges)
        low, high = bounds or (float(np.nanmin(pilot.human)), float(np.nanmax(pilot.human)))
        rng = np.random.default_rng(options.seed)
        design = design_labels(
            pilot.grades,
            pilot.human,
            _target_width(options),
            probabilities=pilot.probabilities,
            clusters=None if clusters is None else clusters[pilot.rows],
            low=low,
            high=high,
            level=options.level,
            rng=rng,
        )
    except (DataError, LogError, NotEstimableError, StructureError) as error:
        return replace(plan, messages=(_reason(plan, error),))
    ids = [log.questions.ids[row] for row in pilot.rows]
    return _with_design(replace(plan, messages=pilot.messages), design, ids, pilot.human, rng)


def _reason(plan: LabelPlan, error: HarnessUqError) -> Message:
    """Why there is no plan."""
    reason = refusal_of(error)
    if reason.code != NOT_COMPUTABLE.code:
        return reason
    return PLAN_UNAVAILABLE(reasons=f"metric {plan.metric!r} of task {plan.task!r}: {error}")


@dataclass(frozen=True, slots=True, eq=False)
class _Pilot:
    """Grades and labels of the questions that all systems have grades of.

    `grades` and `human` are (n_questions, n_systems); labels are NaN without one. `probabilities` (n_questions,) are
    those with which questions were drawn, None if all are equal; `rows` are their rows in the first log, and `messages`
    notes and warnings about the labels.
    """

    grades: FloatArray
    human: FloatArray
    probabilities: FloatArray | None
    rows: IntArray
    messages: tuple[Message, ...]


def _matched(runs: Sequence[tuple[TaskLog, Scores]], labels: Human) -> _Pilot:
    places = [{question: i for i, question in enumerate(log.questions.ids)} for log, _ in runs]
    first = runs[0][0].questions.ids
    given = [grades_of(log, data, labels) for log, data in runs]
    rows = []
    for i, question in enumerate(first):
        at = [place.get(question) for place in places]
        if all(j is not None and np.isfinite(data.values[j, 0]) for j, (_, data) in zip(at, runs, strict=True)):
            rows.append([i, *(j for j in at if j is not None)])
    table = np.array(rows, np.int64).reshape(len(rows), len(runs) + 1)
    own_rows = table[:, 1:].T
    grades = np.column_stack([data.values[at, 0] for (_, data), at in zip(runs, own_rows, strict=True)])
    human = np.column_stack([one.scores.values[at, 0] for one, at in zip(given, own_rows, strict=True)])
    chances = [
        None if one.probabilities is None else one.probabilities[at] for one, at in zip(given, own_rows, strict=True)
    ]
    messages = tuple(message for one in given for message in one.messages)
    return _Pilot(grades, human, _same_probabilities(chances), table[:, 0], messages)


def _same_probabilities(chances: Sequence[FloatArray | None]) -> FloatArray | None:
    """The probabilities with which questions were drawn, which have to be those of all of their labels.

    Raises NotEstimableError if they are not.
    """
    known = [chance for chance in chances if chance is not None]
    if not known:
        return None
    if len(known) < len(chances) or not all(np.array_equal(known[0], other, equal_nan=True) for other in known):
        raise NotEstimableError(
            "the answers of both systems to a question have different inclusion probabilities, or only one of them has "
            "a label. Draw questions instead of answers, or plan for one system with --model"
        )
    return known[0]


def _with_design(
    plan: LabelPlan, design: LabelDesign, ids: Sequence[str], human: FloatArray, rng: np.random.Generator
) -> LabelPlan:
    has_label = np.isfinite(human).all(axis=1)
    new = design.draw(has_label, rng)
    strata = tuple(
        LabelStratum(tuple(grades), int(n), int(pilot), int(labels), float(labels / n))
        for grades, n, pilot, labels in zip(
            design.grades.tolist(), design.n_questions, design.n_pilot, design.n_labels, strict=True
        )
    )
    n_labels = int(design.n_labels.sum())
    return replace(
        plan,
        expected_width=design.width,
        n_labels=n_labels,
        n_new=len(new),
        n_new_labels=len(new) * len(plan.systems),
        n_uniform=design.n_uniform,
        strata=strata,
        answer=_answer(plan, len(new), n_labels, design.n_uniform),
        template=tuple(_template(plan, design, ids, human, np.flatnonzero(has_label), new)),
    )


def _answer(plan: LabelPlan, n_new: int, n_labels: int, n_uniform: int | None) -> str:
    is_one = len(plan.systems) == 1
    whose = plan.systems[0] if is_one else f"both {plan.systems[0]} and {plan.systems[1]}"
    total = "" if is_one else f" ({2 * n_new:,} labels)"
    uniform = "" if n_uniform is None or n_uniform <= n_labels else f" Drawn uniformly, {n_uniform:,} would be needed."
    return (
        f"Label the answers of {whose} to {n_new:,} more questions of {plan.task}{total}. With {n_labels:,} labeled "
        f"questions the interval of the corrected {'score' if is_one else 'difference'} is expected to be "
        f"{plan.target_width:.3g} wide.{uniform}"
    )


def _template(
    plan: LabelPlan, design: LabelDesign, ids: Sequence[str], human: FloatArray, pilot: IntArray, new: IntArray
) -> "list[tuple[str, ...]]":
    """Rows of the table of labels, of the pilot with their scores and of the further questions without."""
    rows: list[tuple[str, ...]] = []
    for i in sorted((*pilot.tolist(), *new.tolist())):
        chance = repr(float(design.probabilities[i]))
        for system, score in zip(plan.systems, human[i].tolist(), strict=True):
            text = f"{score:g}" if np.isfinite(human[i]).all() else ""
            rows.append((ids[i], plan.task, system, text, chance))
    return rows
