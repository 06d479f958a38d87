"""Compute all results of a report: scores, and comparisons or rankings of the systems in the logs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from harness_uq.analyses.breakdown import estimate_groups
from harness_uq.analyses.compare import compare
from harness_uq.analyses.estimate import estimate_rows
from harness_uq.analyses.joint_tasks import comparable_runs, joint_tasks
from harness_uq.analyses.overall.estimate import combine_estimates
from harness_uq.analyses.overall.joint_scores import overall_tasks
from harness_uq.analyses.overall.rank import rank_tasks
from harness_uq.analyses.rank import rankings_of
from harness_uq.analyses.resources import resource_use_of
from harness_uq.data.resources import RESOURCE_METRICS
from harness_uq.data.task_log import TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.human_labels import selection_with_labels
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.plugins.protocols import RenderOptions
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.messages.message import Message
from harness_uq.options import Options, resolve
from harness_uq.options_typed import ReportKeywords
from harness_uq.results.breakdown import Breakdown, DifferenceBreakdown
from harness_uq.results.comparison import Comparison
from harness_uq.results.documents import render_lists
from harness_uq.results.estimate import Estimate
from harness_uq.results.overall import Overall
from harness_uq.results.ranking import Ranking
from harness_uq.results.resources import ResourceUse
from harness_uq.results.result_list import ResultList, ResultLists

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from harness_uq.inference.subset import Probabilities
    from harness_uq.io.human_labels import Label


@dataclass(frozen=True, slots=True)
class Report(ResultLists):
    """The results of a report.

    `estimates`: estimates for every system, task, metric and filter. `comparisons`: comparisons, if there are exactly
    two systems. `rankings`: rankings, if there are three or more systems. `problems`: reasons for a missing comparison
    or ranking. `overall`: overall scores, if there are several tasks. `resource_use`: totals of cost, tokens and time,
    and their ratios to the scores, if the logs were read with resources. `breakdowns`,
    `difference_breakdowns`: scores by groups of questions and, of two systems, their differences; None without the
    option `by`.
    """

    estimates: tuple[Estimate, ...]
    comparisons: tuple[Comparison, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    problems: tuple[Message, ...] = ()
    overall: Overall | None = None
    resource_use: tuple[ResourceUse, ...] = ()
    breakdowns: tuple[Breakdown, ...] | None = None
    difference_breakdowns: tuple[DifferenceBreakdown, ...] | None = None

    @property
    def lists(self) -> dict[str, Sequence[object]]:
        """The results by the names of their lists in documents."""
        return {
            "overall": [self.overall] if self.overall else [],
            "estimates": self.estimates,
            "comparisons": self.comparisons,
            "rankings": self.rankings,
            **({"resource_use": self.resource_use} if self.resource_use else {}),
            **({} if self.breakdowns is None else {"breakdowns": self.breakdowns}),
            **({} if self.difference_breakdowns is None else {"difference_breakdowns": self.difference_breakdowns}),
        }

    def render(self, output_format: str = "html", *, title: str | None = None) -> str | bytes:
        """The report in an output format, as `harness-uq report --format` prints it.

        `output_format`: a built-in format or one of a plugin. Raises DataError if the format does not exist.
        """
        return render_lists(self.lists, output_format, RenderOptions(title=title))

    def to_frame(self, backend: str | None = None) -> Any:
        """Data frame of the estimates, as `ResultList.to_frame`."""
        return ResultList(self.estimates).to_frame(backend)

    def plot(self, **options: Any) -> "Figure":
        """Figure of the estimates, as `ResultList.plot`."""
        return ResultList(self.estimates).plot(**options)


def report(
    runs: Runs,
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    estimates: Sequence[Estimate] | None = None,
    labels: "str | Path | Sequence[Label] | None" = None,
    reference_runs: "Runs | None" = None,
    inclusion_probabilities: "str | Path | Probabilities | None" = None,
    **keywords: "Unpack[ReportKeywords]",
) -> Report:
    """Estimate every score, compare two systems, rank three or more.

    Parameters
    ----------
    runs : runs of one or more systems: paths or results in memory, as for `read_logs`. If there are two systems, the
        first to occur is A
    options : options of the estimates; level, scope, structure and seed also apply to comparisons and rankings
    plugins : plugins to use; by default the installed ones
    estimates : estimates of these runs, if they have already been computed
    labels, reference_runs, inclusion_probabilities : as for `estimate`, in reports of one system
    **keywords : options as for `estimate`; also `margin` and `margins`, as for `compare`. With `by`, the report also
        contains scores of groups of questions

    Raises
    ------
    LogError : if no log can be read from a path
    DataError : if labels or reference runs are given for several systems, an option of the overall result names a task
        or metric that does not exist, or tasks are missing and the options do not allow it
    TypeError : if an option does not exist
    """
    chosen, selected = resolve(
        "report",
        options,
        keywords,
        labels=labels,
        reference_runs=reference_runs,
        inclusion_probabilities=inclusion_probabilities,
    )
    offered = plugins or load_plugins()
    logs = task_logs(runs, offered, selection_with_labels(selected, labels))
    if not (labels is None and reference_runs is None) and len({log.system for log in logs}) > 1:
        raise DataError("A report with labels or reference_runs covers one system. Select one with model=NAME.")
    if estimates is None:
        estimates = estimate_rows(logs, chosen, offered, labels, reference_runs, inclusion_probabilities)
    return with_groups(_results(logs, tuple(estimates), chosen, offered), logs, chosen, offered)


def with_groups(results: Report, logs: Sequence[TaskLog], options: Options, plugins: Plugins) -> Report:
    """The report with scores by groups of questions and, of two systems, their differences; without `by` as it is."""
    if not options.by:
        return results
    systems = list(dict.fromkeys(log.system for log in logs))
    differences: Sequence[DifferenceBreakdown] = ()
    if len(systems) == 2:
        compared = Options(level=options.level, structure=options.structure, seed=options.seed)
        a, b = ([log for log in logs if log.system == system] for system in systems)
        differences = compare(a, b, compared, by=options.by, plugins=plugins)
    groups = tuple(estimate_groups(logs, options.by, options, plugins))
    return replace(results, breakdowns=groups, difference_breakdowns=tuple(differences))


def _results(logs: Sequence[TaskLog], rows: tuple[Estimate, ...], chosen: Options, offered: Plugins) -> Report:
    used: tuple[ResourceUse, ...] = ()
    if any(data.metric in RESOURCE_METRICS for log in logs for data in log.data):
        used = tuple(resource_use_of(logs, chosen, offered))
    results = Report(rows, resource_use=used)
    systems = list(dict.fromkeys(log.system for log in logs))
    scope = "population" if chosen.scope == "full" else chosen.scope
    if len(systems) < 2:
        return replace(results, overall=combine_estimates(rows, logs, chosen))
    how_ranked = replace(chosen.estimation, scope=scope)
    of_tasks = replace(chosen, scope=scope, method="bayes", estimand="mean", interval=None)
    known = comparable_runs(logs, how_ranked, offered)
    selection = overall_tasks(known, of_tasks, offered)
    parts = {part for task in selection.tasks for part in task.parts}
    tasks = joint_tasks(known, how_ranked, offered, None if len(systems) > 2 else parts)
    if len(selection.tasks) > 1:
        results = replace(results, overall=rank_tasks(tasks, selection, of_tasks))
    how_compared = replace(how_ranked, margin=chosen.margin, margins=chosen.margins)
    try:
        if len(systems) > 2:
            return replace(results, rankings=tuple(rankings_of(tasks, how_ranked)))
        a, b = ([log for log in logs if log.system == system] for system in systems)
        return replace(results, comparisons=tuple(compare(a, b, how_compared, plugins=offered)))
    except (DataError, NotEstimableError) as error:
        return replace(results, problems=(error.message,))
