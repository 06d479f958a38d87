"""`harness-uq estimate`: estimate scores of logged runs with intervals."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import auxiliary_data as _auxiliary_data
from harness_uq.commands import console as _console
from harness_uq.commands import emit_results as _emit_results
from harness_uq.commands import loading as _loading
from harness_uq.commands import nothing_estimable as _nothing_estimable
from harness_uq.commands import output_files as _output_files
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser
from harness_uq.errors import UsageError

if TYPE_CHECKING:
    from harness_uq.options import Options
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.readers import Reading
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
DETAILS = _shared_options.METHODS


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_logs(parser)
    _shared_options.add_estimation(parser)
    _shared_options.add_options(parser, "--missing", "--treat", "--resources", "--prices")
    _shared_options.add_factors(parser, "none")
    _shared_options.add_overall(parser)
    _shared_options.add_options(parser, "--by")
    _auxiliary_data.add_auxiliary_data(parser)
    _emit_results.add_output(parser, layout=True, more_formats=("html", "eee"))
    _shared_options.add_options(parser, "--percent")
    parser.groups["Output"].add_argument(
        "--per-task",
        action="store_true",
        help="Print the scores of all tasks, which are omitted by default if there are many tasks",
    )
    parser.groups["Output"].add_argument(
        "--sort",
        choices=_ORDERS,
        help="Sort the rows by score, name of the system, task, or width of the interval (default: order of the logs)",
    )
    _output_files.add_plot(parser, "the scores")
    _loading.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, estimate, print."""
    from harness_uq.overall.estimate import combine_estimates
    from harness_uq.plugins.readers import task_logs

    _loading.clear_leftovers(args.logs)
    _output_files.try_plot(args)
    uses_resources = _argument_values.has_resources(args)
    extra = (*(["breakdowns"] if args.by else []), *(["resource_use"] if uses_resources else []))
    with _emit_results.emitting(args, "overall", "estimates", *extra) as emitter:
        plugins = _argument_values.plugins_of_command(args)
        options = _argument_values.estimation_options(args, plugins)
        auxiliary = _auxiliary_data.AuxiliaryPaths.from_arguments(args)
        over_tasks = _takes_tasks_from_factors(args)
        overall_options = _argument_values.overall_options(args, generalizes_over_tasks=over_tasks)
        needs_logs = emitter.output_format.needs_logs
        full_logs = needs_logs or bool(extra)
        generalizes = _generalizes(args, auxiliary)
        reading, rows = _estimated(args, options, auxiliary, plugins, generalizes=generalizes, full_logs=full_logs)
        logs = tuple(task_logs(reading.logs, plugins, need_scores=False))
        with _argument_values.checking_arguments():
            combined = combine_estimates(rows, logs, overall_options)
        overall = _argument_values.with_note_unless_requested(args, combined)
        if args.sort is not None:
            rows = sorted(rows, key=_ORDERS[args.sort])
        lists: dict[str, Sequence[object]] = {"overall": [overall] if overall else [], "estimates": rows}
        if args.by:
            from harness_uq.breakdown.estimate import estimate_by

            lists["breakdowns"] = estimate_by(reading.logs, args.by, options, plugins=plugins)
        is_brief = emitter.output_format.name == "table" and not args.per_task
        if is_brief and len(rows) > _MANY and overall is not None and overall.systems:
            del lists["estimates"]
            _console.print_error(f"{len(rows)} scores of single tasks are not shown. Use --per-task to print them.")
        if uses_resources:
            from harness_uq.comparison.dominance import with_dominance
            from harness_uq.estimation.resource_use import resource_use_of

            lists["resource_use"] = with_dominance(resource_use_of(logs, options, plugins), logs, options, plugins)
        problem = _nothing_estimable.nothing_estimable(args, rows)
        if problem is None and over_tasks and not generalizes:
            problem = _nothing_estimable.new_tasks_not_estimable(overall)
        errors = [*_loading.reading_errors(reading), *_nothing_estimable.error_entries(problem)]
        emitter.emit(lists, errors, logs=logs if needs_logs else ())
    _output_files.draw_results(args, lists["overall"], rows)
    problem_code = _nothing_estimable.report_problem(problem)
    return max(_loading.report_read_errors(reading), _console.report_failures(rows), problem_code)


def _estimated(
    args: argparse.Namespace,
    options: "Options",
    auxiliary: _auxiliary_data.AuxiliaryPaths,
    plugins: "Plugins",
    *,
    generalizes: bool,
    full_logs: bool,
) -> "tuple[Reading, Sequence[Estimate]]":
    """What was read, with the selected logs only, and their estimates."""
    is_plain = not (generalizes or auxiliary)
    plain_options = options if is_plain else None
    scan = _loading.scan_paths(args, args.logs, plugins, plain_options, full_logs=full_logs or not is_plain)
    logs = tuple(_argument_values.select_logs(args, [scan.reading], auxiliary.label_metrics))
    reading = replace(scan.reading, logs=logs)
    _argument_values.check_names(options.structure, logs)
    if auxiliary:
        read = partial(_loading.read, args, plugins=plugins)
        return reading, auxiliary.estimate(auxiliary.select_logs(logs), options, plugins, read)
    if generalizes:
        from harness_uq.variance_components.effects import estimates_over

        return reading, estimates_over(logs, _effect_options(args), plugins=plugins)
    return reading, scan.rows_of(logs)


def _takes_tasks_from_factors(args: argparse.Namespace) -> bool:
    """Whether `--generalize-over` names `task`, which is then removed, unless `--factor` defines it."""
    names = [name.strip() for name in (args.generalize_over or "").split(",")]
    if "task" not in names or any(text.startswith("task=") for text in args.factors):
        return False
    args.generalize_over = ",".join(name for name in names if name != "task") or None
    return True


def _generalizes(args: argparse.Namespace, auxiliary: _auxiliary_data.AuxiliaryPaths) -> bool:
    """Whether to generalize to new levels of factors.

    Raises
    ------
    UsageError : if labels or reference runs are given, too, or the scores of groups would be those of another estimand
    """
    generalizes = bool(args.generalize_over or args.factors)
    if generalizes and auxiliary:
        raise UsageError("--generalize-over cannot be combined with --labels or --reference-runs.")
    if args.by and (generalizes or auxiliary):
        raise UsageError(
            "--by cannot be combined with --labels, --reference-runs, --generalize-over or --factor, which do not "
            "apply to the scores of groups."
        )
    return generalizes


def _effect_options(args: argparse.Namespace) -> "Options":
    """The options of `--generalize-over` and `--factor`, which estimate a mean over new levels.

    Raises
    ------
    UsageError : if another method, scope, estimand or kind of interval is given
    """
    supported = (("method", "bayes"), ("scope", "population"), ("estimand", "mean"), ("interval", "quantile"))
    for option, value in supported:
        if getattr(args, "uq" if option == "method" else option) not in (value, None):
            raise UsageError(f"--generalize-over supports only --{option} {value}. Remove --{option}.")
    return _argument_values.effect_options(args)
