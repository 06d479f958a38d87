"""The scores of one or several systems on the same questions: what every analysis of one task reads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness_uq.data.clusters import ClusterSources
from harness_uq.data.match_questions import common_clusters, common_questions
from harness_uq.data.selection import ScoreKey, SelectedRun, distinct_pair
from harness_uq.data.structure import StructureOptions, score_type_of
from harness_uq.data.task_groups import item_labels, joined_labels, labels_of_tasks
from harness_uq.data.task_log import AggregateScore, FloatArray, IntArray, Scores
from harness_uq.messages import HasMessages, Message
from harness_uq.messages.catalogue.comparison import (
    FAILED_FOR_ONE_SYSTEM,
    QUESTION_SCORES_MISSING,
    SYSTEM_WITHOUT_QUESTION_SCORES,
    UNMATCHED_QUESTIONS,
)
from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.trials.diagnostics import identical_trials


@dataclass(frozen=True, slots=True, eq=False)
class Panel(HasMessages):
    """Scores of S systems on the same Q questions of one task, or of several tasks that are pooled."""

    key: ScoreKey  # task, metric and filter
    systems: tuple[str, ...]  # S unique names
    runs: tuple[SelectedRun, ...]  # that represent each system; those of the first task if tasks are pooled
    rows: IntArray  # (S, Q); row of each question in the log of each system
    values: tuple[FloatArray, ...]  # S arrays (Q, T_s), NaN for a missing trial; trials that agree everywhere are one
    means: FloatArray  # (S, Q); mean score over the trials of each question
    units: IntArray | None  # (Q,); codes of the independent units; None if each question is one
    cluster_key: str | None  # field that defines the units; None if questions are independent
    weights: FloatArray | None  # (Q,), > 0, with mean 1; of each question in the score, None if all are equal
    bounds: tuple[float, float] | None  # of a score, None if unknown
    is_binary: bool  # whether all scores are 0 or 1
    n_unmatched: tuple[int, ...]  # questions of each system that another system lacks
    fewest_trials: int  # per question; the smallest number if tasks are pooled
    messages: tuple[Message, ...] = ()  # on excluded systems and questions, and warnings

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return int(self.means.shape[1])

    @property
    def n_trials(self) -> int:
        """Maximum number of distinct trials per question."""
        return max(int(values.shape[1]) for values in self.values)

    @property
    def n_units(self) -> int | None:
        """Number of clusters; None if questions are independent."""
        return None if self.units is None else len(np.unique(self.units))

    @property
    def labels(self) -> IntArray:
        """Labels of the independent units: the clusters, or a label per question."""
        return np.arange(self.n_questions) if self.units is None else self.units

    @property
    def logged(self) -> tuple[FloatArray, ...]:
        """S arrays (Q, T_s); scores of all trials in the logs, also of those that agree on every question."""
        pairs = zip(self.runs, self.rows, strict=True)
        return tuple(_without_empty_trials(run.data.values[at]) for run, at in pairs if isinstance(run.data, Scores))

    @property
    def scores(self) -> FloatArray:
        """Observed score of each system; float (S,)."""
        return np.asarray(np.average(self.means, axis=1, weights=self.weights))

    @property
    def is_single_binary(self) -> bool:
        """Whether each question has one trial of each system that is scored 0 or 1."""
        return self.is_binary and self.n_trials == 1

    @property
    def has_two_values(self) -> bool:
        """Whether each score is the lowest or the highest possible one, such as 0 or 100 with this range."""
        if self.is_binary or self.bounds is None:
            return self.is_binary
        return all(bool(np.isin(values[np.isfinite(values)], self.bounds).all()) for values in self.values)

    @property
    def n_repeated(self) -> int:
        """Trials per question if the scores have two values; otherwise 1."""
        return self.fewest_trials if self.has_two_values else 1

    @property
    def has_repeated_answers(self) -> bool:
        """Whether scores have two values, and questions are in clusters or were tried several times."""
        return self.n_repeated > 1 or (self.has_two_values and self.n_trials == 1 and self.units is not None)

    @property
    def differences(self) -> FloatArray:
        """Score of the first system minus that of the second one on each question; float (Q,)."""
        return np.asarray(self.means[0] - self.means[1])

    @property
    def table(self) -> tuple[int, int, int, int] | None:
        """Numbers of questions that two systems answered rightly: both, only the first, only the second, none.

        None for other scores than single answers with two values.
        """
        if self.n_trials > 1 or not self.has_two_values:
            return None
        first, second = self.means[:2] == (1.0 if self.bounds is None else self.bounds[1])
        cells = (first & second, first & ~second, ~first & second, ~first & ~second)
        both, only_first, only_second, neither = (int(cell.sum()) for cell in cells)
        return both, only_first, only_second, neither

    def pair(self, i: int, j: int) -> "Panel":
        """The systems i and j on the same questions of one task."""
        at = [i, j]
        values = tuple(self.values[k] for k in at)
        return replace(
            self,
            systems=tuple(self.systems[k] for k in at),
            runs=tuple(self.runs[k] for k in at),
            rows=self.rows[at],
            values=values,
            means=self.means[at],
            n_unmatched=tuple(self.n_unmatched[k] for k in at),
            fewest_trials=max(table.shape[1] for table in values),
            messages=(),
        )


def build_panel(chosen: Sequence[SelectedRun], options: StructureOptions, plugins: ClusterSources) -> Panel:
    """Match the questions of runs of one task, metric and filter that score each question, one per system.

    Raises DataError if two questions of a log cannot be distinguished, and NotEstimableError if too few questions
    match, or fewer than two systems score each question.
    """
    known = [entry for entry in chosen if isinstance(entry.data, Scores)]
    missing = {entry.log.system: _why_no_scores(entry.data) for entry in chosen if entry not in known}
    if missing and len(known) < 2:
        system, reason = next(iter(missing.items()))
        raise NotEstimableError(QUESTION_SCORES_MISSING(system=system, reason=reason))
    common = common_questions(known)
    clusters = common_clusters(common, options, plugins)
    left_out = (SYSTEM_WITHOUT_QUESTION_SCORES(system=name, reason=reason) for name, reason in missing.items())
    return panel_on(
        common.entries,
        common.systems,
        common.rows,
        options,
        units=clusters.labels,
        cluster_key=clusters.key,
        n_unmatched=common.n_unmatched,
        messages=(*left_out, *common.messages, *clusters.messages),
    )


def panel_on(
    runs: Sequence[SelectedRun],
    systems: tuple[str, ...],
    rows: IntArray,
    options: StructureOptions,
    *,
    units: IntArray | None,
    cluster_key: str | None,
    n_unmatched: tuple[int, ...],
    messages: tuple[Message, ...] = (),
) -> Panel:
    """The panel of runs whose questions are matched already; parameters as the attributes of `Panel`."""
    log, scores = runs[0].log, [entry.data for entry in runs if isinstance(entry.data, Scores)]
    tables = [_without_empty_trials(score.values[at]) for score, at in zip(scores, rows, strict=True)]
    kind, bounds, _ = score_type_of(_joined(scores, tables), options.of_task(log.task).ranges)
    values = tuple(np.nanmean(table, axis=1, keepdims=True) if identical_trials(table) else table for table in tables)
    return Panel(
        key=(log.task, scores[0].metric, scores[0].filter),
        systems=systems,
        runs=tuple(runs),
        rows=rows,
        values=values,
        means=np.stack([np.nanmean(table, axis=1) for table in values]),
        units=units,
        cluster_key=cluster_key,
        weights=None,
        bounds=bounds,
        is_binary=kind == "binary",
        n_unmatched=n_unmatched,
        fewest_trials=max(table.shape[1] for table in values),
        messages=messages,
    )


def _without_empty_trials(table: FloatArray) -> FloatArray:
    return table[:, ~np.isnan(table).all(axis=0)]


def _joined(scores: Sequence[Scores], values: Sequence[FloatArray]) -> Scores:
    """Stack the scores of all systems into one column; the levels are the union if every system declares levels."""
    levels = [score.levels for score in scores if score.levels is not None]
    union = tuple(sorted({x for declared in levels for x in declared})) if len(levels) == len(scores) else None
    bounds = scores[0].bounds if all(score.bounds == scores[0].bounds for score in scores) else None
    column = np.concatenate([v.ravel() for v in values])[:, None]
    return Scores(scores[0].metric, scores[0].filter, column, levels=union, bounds=bounds)


@dataclass(frozen=True, slots=True, eq=False)
class MatchedScore:
    """The matched questions of a task, or of several tasks that are pooled."""

    members: tuple[Panel, ...]  # the tasks
    weights: Sequence[float] | None = None  # of the tasks; None weights each by its size
    is_pooled: bool = False  # whether the questions of all members are pooled

    @property
    def panel(self) -> Panel:
        """The scores of all questions."""
        return pool(self.members, self.weights) if self.is_pooled else self.members[0]


def pool(panels: Sequence[Panel], weights: Sequence[float] | None) -> Panel:
    """Pool the questions of several tasks with the same systems and the same range of scores.

    The weights are those of the tasks' scores; None weights each task by its size, so that all questions have equal
    weight. Questions that share an item across tasks, or a cluster within a task, in the logs of any system form one
    independent unit.
    """
    first = panels[0]
    sizes = np.array([panel.n_questions for panel in panels], float)
    shares = sizes / sizes.sum() if weights is None else np.asarray(weights, float)
    each = np.repeat(shares / sizes, sizes.astype(int))
    units = pooled_units(panels)
    widest = max(panel.n_trials for panel in panels)
    return replace(
        first,
        rows=np.concatenate([panel.rows for panel in panels], axis=1),
        values=tuple(
            np.concatenate([_padded(panel.values[s], widest) for panel in panels]) for s in range(len(first.systems))
        ),
        means=np.concatenate([panel.means for panel in panels], axis=1),
        units=None if len(np.unique(units)) == len(units) else units,
        cluster_key=None,
        weights=None if np.allclose(each, each[0], rtol=1e-12) else each / each.mean(),
        is_binary=all(panel.is_binary for panel in panels),
        n_unmatched=tuple(sum(of_system) for of_system in zip(*(panel.n_unmatched for panel in panels), strict=True)),
        fewest_trials=min(panel.fewest_trials for panel in panels),
        messages=(),
    )


def _why_no_scores(data: object) -> str:
    return data.reason if isinstance(data, AggregateScore) else "Its score is a function of all answers"


def pair_panel(a: SelectedRun, b: SelectedRun, options: StructureOptions, plugins: ClusterSources) -> Panel:
    """Match the questions of two runs; a message counts those that only one of them scored. Raises NotEstimableError
    with the reason if too few questions can be matched.
    """
    panel = build_panel([a, b], options, plugins)
    n_a, n_b = (int(failed_for_other(run, other).sum()) for run, other in ((b, a), (a, b)))
    if not n_a + n_b:
        return panel
    system_a, system_b = distinct_pair(a.log.system, b.log.system)
    note = FAILED_FOR_ONE_SYSTEM(n_questions=n_a + n_b, n_a=n_a, n_b=n_b, system_a=system_a, system_b=system_b)
    is_whole_loss = sum(panel.n_unmatched) == n_a + n_b
    others = [one for one in panel.messages if not (is_whole_loss and one.code == UNMATCHED_QUESTIONS.code)]
    return replace(panel, messages=(*others, note))


def panel_of_scores(
    scores: Sequence[FloatArray],
    units: IntArray | None,
    bounds: tuple[float, float] | None,
    *,
    weights: FloatArray | None = None,
    is_binary: bool = False,
) -> Panel:
    """The panel of scores that are not in logs: an array (Q,) or (Q, T_s) for each system."""
    values = tuple(table[:, None] if table.ndim == 1 else table for table in scores)
    rows = np.tile(np.arange(len(values[0])), (len(values), 1))
    return Panel(
        key=("", "", ""),
        systems=tuple(map(str, range(len(values)))),
        runs=(),
        rows=rows,
        values=values,
        means=np.stack([np.nanmean(table, axis=1) for table in values]),
        units=units,
        cluster_key=None,
        weights=weights,
        bounds=bounds,
        is_binary=is_binary,
        n_unmatched=(0,) * len(values),
        fewest_trials=max(table.shape[1] for table in values),
    )


def failed_for_other(own: SelectedRun, other: SelectedRun) -> NDArray[np.bool_]:
    """Which scored questions of a run are in the log of the other run, but have no score there; bool (n_questions,)."""
    if not (isinstance(own.data, Scores) and isinstance(other.data, Scores)) or other.data.is_scored.all():
        return np.zeros(len(own.log.questions), bool)
    unscored = {other.log.questions.ids[row] for row in np.flatnonzero(~other.data.is_scored)}
    return np.asarray(own.data.is_scored & np.array([name in unscored for name in own.log.questions.ids], bool))


def _padded(table: FloatArray, n_trials: int) -> FloatArray:
    return np.pad(table, ((0, 0), (0, n_trials - table.shape[1])), constant_values=np.nan)


def pooled_units(panels: Sequence[Panel]) -> IntArray:
    """Label the independent units of the questions of several tasks; int (n_questions of all tasks,)."""
    joined = labels_of_tasks([panel.units for panel in panels], [panel.n_questions for panel in panels])
    for s in range(len(panels[0].systems)):
        items = item_labels([panel.runs[s].log for panel in panels], [panel.rows[s] for panel in panels])
        joined = joined if items is None else joined_labels(joined, items)
    return joined
