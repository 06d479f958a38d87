"""Compare two sides on each task, on groups of tasks and over all tasks: match questions, then read the contrasts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from harness_uq.analyses.comparison.identical_runs import sameness
from harness_uq.analyses.comparison.validate_margins import check_difference
from harness_uq.data.clusters import clusters_of
from harness_uq.data.panel import MatchedScore, Panel, pair_panel
from harness_uq.data.selection import (
    ScoreKey,
    SelectedRun,
    distinct_pair,
    higher_is_better,
    messages_of_systems,
    name_systems,
    tasks_by_metric,
)
from harness_uq.data.structure import Clusters
from harness_uq.data.task_groups import group_data, members_of
from harness_uq.data.task_log import Classifications, SufficientStatistics, TaskLog
from harness_uq.inference.compared_runs import Side, common_keys
from harness_uq.inference.contrasts import (
    ComparisonContext,
    Contrast,
    common_bounds,
    comparison_row,
    independent_contrast,
    paired_contrast,
    undecided_row,
)
from harness_uq.inference.decisions import with_corrected_verdicts
from harness_uq.inference.diagnostics import once_about_missing
from harness_uq.inference.joint_posterior import PairedPosterior
from harness_uq.inference.marginals import few_clusters_note, marginal
from harness_uq.inference.paired_records import pair_records
from harness_uq.inference.scenarios import with_open_differences
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.comparison import (
    GROUP_NOT_PAIRED,
    INDEPENDENT_COMPARISON,
    NO_BENCHMARK_SCOPE_POOLING,
    POOLED_GROUP,
    POOLED_TASKS,
    POOLED_TASKS_INCOMPLETE,
    POOLED_UNITS,
    UNMATCHED_QUESTIONS,
)
from harness_uq.messages.catalogue.estimation import ESTIMATION_FAILED
from harness_uq.messages.errors import (
    DataError,
    HarnessUqError,
    NotEstimableError,
    StructureError,
    error_summary,
    refusal_of,
)
from harness_uq.messages.message import Message, distinct
from harness_uq.options import OVERALL, Options
from harness_uq.results.comparison import Comparison
from harness_uq.stats.units.contrasts import solve_together


def compare_sides(
    side_a: Side,
    side_b: Side,
    options: Options,
    plugins: Plugins,
    *,
    is_tested_at_margin: bool = True,
    pools_tasks: bool = False,
) -> tuple[list[Comparison], dict[ScoreKey, MatchedScore]]:
    """Compare two systems as `compare` does; also return the matched questions behind each row, if there are any.

    `is_tested_at_margin`: whether intervals are those of the tests of the margins, where these are not of posteriors.
    `pools_tasks`: whether to add a row over the questions of all tasks for each metric that several tasks share.
    """

    def rows_of(a: Side, b: Side) -> tuple[list[Comparison], dict[ScoreKey, MatchedScore]]:
        return _rows(a, b, options, plugins, is_tested_at_margin=is_tested_at_margin, pools_tasks=pools_tasks)

    rows, matched = rows_of(side_a, side_b)
    rows = with_open_differences(rows, (side_a, side_b), options, plugins, lambda a, b: rows_of(a, b)[0])
    return [replace(row, messages=once_about_missing(row.messages)) for row in rows], matched


def _rows(
    side_a: Side, side_b: Side, options: Options, plugins: Plugins, *, is_tested_at_margin: bool, pools_tasks: bool
) -> tuple[list[Comparison], dict[ScoreKey, MatchedScore]]:
    """Comparisons of all tasks, groups and over all tasks, with their verdicts after correction."""
    matched, notes = common_keys(side_a, side_b)
    names = distinct_pair(side_a.system, side_b.system)
    job = _Job(options, plugins, names, side_a, side_b, is_tested_at_margin)
    for key, _ in matched:
        check_difference("margin", options.margin_of(key[0]), side_a.chosen[key], options.structure)
    pairs = [(side_a.chosen[key_a], side_b.chosen[key_b]) for key_a, key_b in matched]
    job.prepare([pair for pair in pairs if not pair[0].log.subtasks])
    rows = [job.isolated(a, b) for a, b in pairs if not a.log.subtasks]
    panels = {key: score.members[0] for key, score in job.matched.items()}
    groups = {key: subtasks for key, _ in matched if (subtasks := side_a.chosen[key].log.subtasks)}
    of_tasks = {row.key: row for row in rows}
    rows += [replace(job.group(key, panels, of_tasks), subtasks=subtasks) for key, subtasks in groups.items()]
    rows += job.overall(panels) if pools_tasks else ()
    rows = [replace(row, messages=(*row.messages, *notes)) for row in rows]
    same = sameness(side_a, side_b, matched)
    if same is not None:  # more questions would not separate a run from itself
        rows = [
            replace(
                row,
                identical_runs_note=same.text,
                verdict_text=same.text if row.verdict == "undecided" else row.verdict_text,
                next_step="",
                n_additional_questions=None,
                messages=(same, *row.messages),
            )
            for row in rows
        ]
    return with_corrected_verdicts(rows, options.level), job.matched


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """The inputs of one call of `compare`, and the questions that were matched."""

    options: Options
    plugins: Plugins
    names: tuple[str, str]
    side_a: Side
    side_b: Side
    is_tested_at_margin: bool
    matched: dict[ScoreKey, MatchedScore] = field(default_factory=dict)
    joint: dict[ScoreKey, PairedPosterior] = field(default_factory=dict)

    def prepare(self, pairs: Iterable[tuple[SelectedRun, SelectedRun]]) -> None:
        """Match the questions of all tasks, so that the limits of their differences are computed together."""
        if self.options.method == "independent" or self.options.scope == "benchmark":
            return
        for a, b in pairs:
            with suppress(Exception):  # `task` meets the same error, and reports it
                joint = self._joint(a, b)
                joint.contrast(0, 1)
                self.joint[joint.key] = joint
        solve_together(joint.contrast(0, 1).posterior for joint in self.joint.values())

    def _joint(self, a: SelectedRun, b: SelectedRun) -> PairedPosterior:
        panel = pair_panel(a, b, self.options.structure, self.plugins)
        return PairedPosterior(panel, self.options.estimation, self.plugins, method=self.options.method)

    def isolated(self, a: SelectedRun, b: SelectedRun) -> Comparison:
        """Call `task`; an unexpected error affects only this row."""
        try:
            return self.task(a, b)
        except (DataError, StructureError) as error:
            return undecided_row(self._context(a, b), self.options, refusal_of(error))
        except HarnessUqError:
            raise
        except Exception as error:
            failure = ESTIMATION_FAILED(what="The computation", error=error_summary(error))
            return undecided_row(self._context(a, b), self.options, failure)

    def task(self, a: SelectedRun, b: SelectedRun) -> Comparison:
        """Compare one task, metric and filter."""
        reason = "Method independent was requested"
        if self.options.method != "independent":
            try:
                if isinstance(a.data, SufficientStatistics | Classifications):
                    return self._records(a, b)
                joint = self.joint.get((a.log.task, a.data.metric, a.data.filter)) or self._joint(a, b)
            except NotEstimableError as error:
                reason = str(error)
            else:
                row = self._paired(joint)
                self.matched[row.key] = MatchedScore((joint.panel,))
                return row
        return self._independent(a, b, reason)

    def group(
        self, key: ScoreKey, panels: Mapping[ScoreKey, Panel], of_tasks: Mapping[ScoreKey, Comparison]
    ) -> Comparison:
        """Compare a group of tasks, with the weights of the harness; the row of a group of one task is that task's."""
        _, metric, name = key
        try:
            weights = self._group_weights(key)
            single = of_tasks.get((next(iter(weights)), metric, name)) if len(weights) == 1 else None
            if single is not None and single.margin == self.options.margin_of(key[0]):
                if (matched := self.matched.get(single.key)) is not None:
                    self.matched[key] = matched
                return replace(single, task=key[0])
            panel_of_task = [panels.get((task, metric, name)) for task in weights]
            if missing := [task for task, panel in zip(weights, panel_of_task, strict=True) if panel is None]:
                raise NotEstimableError(GROUP_NOT_PAIRED(tasks=missing))
        except NotEstimableError as error:
            return self._independent(self.side_a.chosen[key], self.side_b.chosen[key], str(error))
        present = [panel for panel in panel_of_task if panel is not None]
        return self._pooled(key, present, list(weights.values()), POOLED_GROUP(n_tasks=len(present)))

    def _group_weights(self, key: ScoreKey) -> dict[str, float]:
        """Return the mean over both systems of the weight of each task of a group.

        They differ if the weights are numbers of questions, and a system lacks some scores. Raises NotEstimableError if
        the logs of a system do not determine its weights, or both have different tasks.
        """
        of_side = []
        for side in (self.side_a, self.side_b):
            log = side.chosen[key].log
            group = group_data(log, *key[1:], members_of(log, side.logs), self._clusters)
            of_side.append(dict(zip(group.names, group.weights.tolist(), strict=True)))
        a, b = of_side
        if different := sorted(a.keys() ^ b.keys()):
            raise NotEstimableError(GROUP_NOT_PAIRED(tasks=different))
        return {task: (weight + b[task]) / 2 for task, weight in a.items()}

    def _clusters(self, log: TaskLog) -> Clusters:
        return clusters_of(log, self.options.structure, self.plugins)

    def overall(self, panels: Mapping[ScoreKey, Panel]) -> list[Comparison]:
        """Compare over all tasks that share a metric and filter; all questions have equal weight."""
        rows = []
        for (metric, name), tasks in tasks_by_metric(panels).items():
            members = [panels[task, metric, name] for task in tasks]
            if len(members) > 1 and len({member.bounds for member in members}) == 1:
                note = self._pooling_note(metric, name, tasks)
                rows.append(self._pooled((OVERALL, metric, name), members, None, note))
        return rows

    def _pooling_note(self, metric: str, name: str, pooled: Sequence[str]) -> Message:
        both = self.side_a.chosen.keys() & self.side_b.chosen.keys()
        plain = [key for key in both if key[1:] == (metric, name) and not self.side_a.chosen[key].log.subtasks]
        n_left_out = len(plain) - len(pooled)
        if n_left_out > 0:
            return POOLED_TASKS_INCOMPLETE(n_tasks=len(pooled), n_left_out=n_left_out)
        return POOLED_TASKS(n_tasks=len(pooled))

    def _paired(self, joint: PairedPosterior) -> Comparison:
        panel = joint.panel
        (a, b), (value_a, value_b) = panel.runs, panel.scores.tolist()
        context = replace(
            self._context(a, b, panel.messages),
            values=(value_a, value_b),
            bounds=panel.bounds,
            panel=panel,
            n_unmatched=(panel.n_unmatched[0], panel.n_unmatched[1]),
            n_trials=panel.n_trials,
            cluster_key=panel.cluster_key,
        )
        if self.options.scope == "benchmark":
            return self._row(lambda: self._of_these_questions(panel), context)
        row = self._row(lambda: joint.contrast(0, 1), context)
        return replace(row, messages=(*row.messages, *self._few_clusters_note(row, panel)))

    def _few_clusters_note(self, row: Comparison, panel: Panel) -> tuple[Message, ...]:
        """A note with the interval of detected clusters that are too few to be used."""
        few = self._clusters(panel.runs[0].log).few
        if few is None or few.codes is None or panel.units is not None or row.difference is None:
            return ()
        value, interval = row.difference.value, row.difference.interval
        with_clusters = replace(panel, units=few.codes[panel.rows[0]], cluster_key=few.key)
        try:
            low, high = paired_contrast(with_clusters, self.options.method).interval(interval.level, value)
        except NotEstimableError:
            return ()
        return (few_clusters_note(few, interval, replace(interval, low=low, high=high)),)

    def _of_these_questions(self, panel: Panel) -> Contrast:
        """Compare on exactly these questions: only trial noise is random, independently for the two systems."""
        rows = [
            marginal(run, self.options.estimation, self.plugins, rows=at)
            for run, at in zip(panel.runs, panel.rows, strict=True)
        ]
        of_rows = name_systems([(*row.notes, *row.warnings) for row in rows], self.names)
        contrast = independent_contrast(rows[0], rows[1])
        return replace(contrast, method=rows[0].method, info=rows[0].info, messages=of_rows)

    def _records(self, a: SelectedRun, b: SelectedRun) -> Comparison:
        paired = pair_records(a, b, self.options.structure, self.plugins, seed=self.options.seed)
        context = replace(
            self._context(a, b, paired.messages),
            values=paired.values,
            bounds=paired.bounds,
            n_matched=paired.n_matched,
            n_unmatched=paired.n_unmatched,
            cluster_key=paired.cluster_key,
            n_clusters=paired.n_clusters,
        )
        return self._row(lambda: paired.difference, context)

    def _independent(self, a: SelectedRun, b: SelectedRun, reason: str) -> Comparison:
        rows = [
            marginal(chosen, self.options.estimation, self.plugins, logs=side.logs)
            for chosen, side in ((a, self.side_a), (b, self.side_b))
        ]
        of_rows = name_systems([(*row.notes, *row.warnings) for row in rows], self.names)
        messages = (INDEPENDENT_COMPARISON(reason=reason), *of_rows)
        context = replace(
            self._context(a, b, messages),
            values=(rows[0].value, rows[1].value),
            bounds=common_bounds(rows[0], rows[1]),
            n_unmatched=(rows[0].n_questions, rows[1].n_questions),
            n_trials=max((row.n_trials or 1 for row in rows), default=1),
            cluster_key=rows[0].cluster_key or rows[1].cluster_key,
        )
        return self._row(lambda: independent_contrast(rows[0], rows[1]), context)

    def _pooled(
        self, key: ScoreKey, members: Sequence[Panel], weights: Sequence[float] | None, note: Message
    ) -> Comparison:
        self.matched[key] = score = MatchedScore(tuple(members), weights, is_pooled=True)
        panel, messages = score.panel, [note]
        if panel.units is not None:
            keys = sorted({member.cluster_key for member in members if member.cluster_key})
            messages.append(POOLED_UNITS(units=keys or ["items that recur across tasks"]))
        (a, b), (value_a, value_b) = members[0].runs, panel.scores.tolist()
        context = replace(
            self._context(a, b, messages),
            key=key,
            values=(value_a, value_b),
            bounds=panel.bounds,
            panel=panel,
            n_unmatched=(panel.n_unmatched[0], panel.n_unmatched[1]),
            n_trials=panel.n_trials,
            cluster_key=None if panel.units is None else "units",
        )
        if self.options.scope == "benchmark":
            return undecided_row(context, self.options, NO_BENCHMARK_SCOPE_POOLING())
        return self._row(lambda: paired_contrast(panel, self.options.method), context)

    def _row(self, find: Callable[[], Contrast], context: ComparisonContext) -> Comparison:
        try:
            contrast = find()
            if contrast.values is not None:  # questions of only one system are used, too
                used = tuple(message for message in context.messages if message.code != UNMATCHED_QUESTIONS.code)
                context = replace(context, values=contrast.values, messages=used)
            return comparison_row(contrast, context, self.options)
        except (DataError, NotEstimableError) as error:
            return undecided_row(context, self.options, refusal_of(error))

    def _context(self, a: SelectedRun, b: SelectedRun, messages: Iterable[Message] = ()) -> ComparisonContext:
        return ComparisonContext(
            key=(a.log.task, a.data.metric, a.data.filter),
            names=self.names,
            values=(None, None),
            higher_is_better=higher_is_better(a.log, a.data.metric),
            messages=distinct((*messages, *messages_of_systems((a, b), self.names, self.options.scope))),
            is_tested_at_margin=self.is_tested_at_margin,
        )
