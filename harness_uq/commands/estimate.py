"""`harness-uq estimate`: estimate scores of logged runs with intervals."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import METHODS, Page, logs_argument
from harness_uq.messages.errors import UsageError
from harness_uq.options import Option

if TYPE_CHECKING:
    from harness_uq.io.plugins.manager import Plugins
    from harness_uq.io.readers import Reading
    from harness_uq.options import Options
    from harness_uq.results.estimate import Estimate


USAGE = "LOG [LOG ...] [options]"
EXAMPLES = (
    ("Estimate the scores of all runs in a folder", "harness-uq estimate results/"),
    ("Compute 90 % Wilson intervals", "harness-uq estimate run.eval --method wilson --level 0.9"),
    (
        "Cluster the questions of the task 'drop' by the passage that they share",
        "harness-uq estimate results/ --cluster drop=section_id",
    ),
)
_MANY = 45
_ORDERS: "Mapping[str, Callable[[Estimate], tuple[object, ...]]]" = {
    "score": lambda row: (row.value is None, -(row.value or 0.0)),
    "name": lambda row: (row.system,),
    "task": lambda row: row.key,
    "width": lambda row: (row.interval is None, row.interval.width if row.interval else 0.0),
}


_ARGUMENTS = (
    logs_argument(),
    Option(
        name="structure",
        group="Output",
        is_flag=True,
        help="Show clusters, trials and score types instead; like harness-uq structure",
    ),
    Option(
        name="sort",
        group="Output",
        choices=tuple(_ORDERS),
        help="Sort the rows by score, name of the system, task, or width of the interval (default: order of the logs)",
        basic="",
    ),
)


def run(args: argparse.Namespace) -> int:
    """Read, estimate, print; with `--structure`, what `harness-uq structure` prints for these logs."""
    if args.structure:
        from harness_uq.commands import structure

        return structure.show(args)
    from harness_uq.analyses.overall.estimate import combine_estimates
    from harness_uq.io.readers import task_logs

    _load.clear_leftovers(args.logs)
    _emit.try_plot(args)
    uses_resources = _load.has_resources(args)
    extra = (*(["breakdowns"] if args.by else []), *(["resource_use"] if uses_resources else []))
    with _emit.emitting(args, "overall", "estimates", *extra) as emitter:
        plugins = _load.plugins_of_command(args)
        options = _load.options_of(args)
        _load.check_method(options, plugins)
        auxiliary = _load.AuxiliaryPaths.from_arguments(args)
        over_tasks = options.generalizes_over_tasks
        needs_logs = emitter.output_format.needs_logs
        full_logs = needs_logs or bool(extra)
        generalizes = _generalizes(args, options)
        reading, rows = _estimated(args, options, auxiliary, plugins, generalizes=generalizes, full_logs=full_logs)
        logs = tuple(task_logs(reading.logs, plugins, need_scores=False))
        with _console.checking_arguments():
            combined = combine_estimates(rows, logs, _load.of_logged_tasks(args, options, logs))
        overall = _load.with_note_unless_requested(args, combined)
        if args.sort is not None:
            rows = sorted(rows, key=_ORDERS[args.sort])
        lists: dict[str, Sequence[object]] = {"overall": [overall] if overall else [], "estimates": rows}
        if args.by:
            from harness_uq.analyses.breakdown import estimate_groups

            lists["breakdowns"] = list(estimate_groups(task_logs(reading.logs, plugins), args.by, options, plugins))
        is_brief = emitter.output_format.name == "table" and not args.per_task
        if is_brief and len(rows) > _MANY and overall is not None and overall.systems:
            del lists["estimates"]
            _console.print_error(f"{len(rows)} scores of single tasks are not shown. Use --per-task to print them.")
        if uses_resources:
            from harness_uq.analyses.resources import resource_use_of

            lists["resource_use"] = resource_use_of(logs, options, plugins)
        problem = _emit.nothing_estimable(options, rows)
        if problem is None and over_tasks and not generalizes:
            problem = _emit.new_tasks_not_estimable(overall)
        errors = [*_load.reading_errors(reading), *_emit.error_entries(problem)]
        emitter.emit(lists, errors, logs=logs if needs_logs else ())
    _emit.draw_results(args, lists["overall"], rows)
    problem_code = _emit.report_problem(problem)
    return max(_load.report_read_errors(reading), _console.report_failures(rows), problem_code)


def _estimated(
    args: argparse.Namespace,
    options: "Options",
    auxiliary: _load.AuxiliaryPaths,
    plugins: "Plugins",
    *,
    generalizes: bool,
    full_logs: bool,
) -> "tuple[Reading, Sequence[Estimate]]":
    """What was read, with the selected logs only, and their estimates."""
    is_plain = not (generalizes or auxiliary)
    plain_options = options if is_plain else None
    scan = _load.scan_paths(args, args.logs, plugins, plain_options, full_logs=full_logs or not is_plain)
    logs = tuple(_load.select_logs(args, [scan.reading], auxiliary.label_metrics))
    reading = replace(scan.reading, logs=logs)
    _load.check_names(options.structure, logs)
    if auxiliary:
        read = partial(_load.read, args, plugins=plugins)
        return reading, auxiliary.estimate(auxiliary.select_logs(logs), options, plugins, read)
    if generalizes:
        from harness_uq.analyses.effects import estimates_over

        return reading, estimates_over(logs, options, plugins=plugins)
    return reading, scan.rows_of(logs)


def _generalizes(args: argparse.Namespace, options: "Options") -> bool:
    """Whether to generalize to new levels of factors other than tasks. Raises UsageError if another method, scope,
    estimand or kind of interval is given.
    """
    if not (options.generalized_factors or args.factor):
        return False
    supported = (("method", "bayes"), ("scope", "population"), ("estimand", "mean"), ("interval", "quantile"))
    for option, value in supported:
        if getattr(args, option) not in (value, None):
            raise UsageError(f"--generalize-over supports only --{option} {value}. Remove --{option}.")
    return True


PAGES = {"estimate": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS, more=METHODS)}
