"""`harness-uq report`: summarize scores and comparisons on one page."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import auxiliary_data as _auxiliary_data
from harness_uq.commands import console as _console
from harness_uq.commands import emit_results as _emit_results
from harness_uq.commands import loading as _loading
from harness_uq.commands import nothing_estimable as _nothing_estimable
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser
from harness_uq.errors import UsageError

if TYPE_CHECKING:
    from harness_uq.data.task_log import TaskLog
    from harness_uq.options import Options
    from harness_uq.plugins.manager import Plugins


USAGE = "LOG [LOG ...] [options]"
EXAMPLES = (
    ("Write an HTML page about all runs in a folder", "harness-uq report runs/ --output report.html"),
    ("Report on two systems and choose their names", "harness-uq report new=runs/b old=runs/a --output report.html"),
    ("Print the results as JSON", "harness-uq report runs/ --format json"),
)
DETAILS = _shared_options.METHODS


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_named_logs(parser)
    _shared_options.add_estimation(parser)
    _shared_options.add_options(parser, "--missing", "--treat", "--resources", "--prices", "--margin")
    _shared_options.add_overall(parser)
    _shared_options.add_options(parser, "--by")
    _auxiliary_data.add_auxiliary_data(parser)
    output = parser.groups["Output"]
    output.add_argument("--title", help="Set the title of an HTML page (default: Evaluation report)")
    _emit_results.add_output(parser)
    _loading.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, analyse, write."""
    names = ["overall", "estimates", "comparisons", "rankings"]
    names += ["breakdowns", "difference_breakdowns"] if args.by else []
    with _emit_results.emitting(args, *names) as emitter:
        return _report(args, emitter)


def _report(args: argparse.Namespace, emitter: _emit_results.Emitter) -> int:
    from harness_uq.overview import report

    plugins = _argument_values.plugins_of_command(args)
    options = _argument_values.estimation_options(args, plugins)
    auxiliary = _auxiliary_data.AuxiliaryPaths.from_arguments(args)
    scans = _loading.scan_all_named(args, args.logs, plugins, None if auxiliary else options)
    readings = [scan.reading for scan in scans]
    failed = _loading.report_read_errors(*readings)
    errors = _loading.reading_errors(*readings)
    logs = _argument_values.select_logs(args, readings, auxiliary.label_metrics)
    if not logs:
        emitter.emit_errors(errors)
        return 1
    _argument_values.check_names(options.structure, logs)
    _argument_values.check_margin_tasks(args, logs)
    margin, margins = _argument_values.margins(args)
    if auxiliary:
        logs = auxiliary.select_logs(logs)
        _check_one_system(logs)
        rows = auxiliary.estimate(logs, options, plugins, partial(_loading.read, args, plugins=plugins))
    else:
        rows = [row for scan in scans for row in scan.rows_of(logs)]
    overall = _argument_values.overall_options(args)
    names = ("method", "level", "scope", "estimand", "interval", "seed", "structure")
    of_scores = {name: getattr(options, name) for name in names}
    with _argument_values.checking_arguments():
        results = report(
            logs, replace(overall, **of_scores, margin=margin, margins=margins), plugins=plugins, estimates=rows
        )
    results = replace(results, overall=_argument_values.with_note_unless_requested(args, results.overall))
    for failure in results.problems:
        _console.print_error(f"warning: {failure}")
    problem = _nothing_estimable.nothing_estimable(args, results.estimates)
    errors += _nothing_estimable.error_entries(problem)
    emitter.emit({**results.lists, **_groups(args, logs, options, plugins)}, errors)
    return max(failed, _nothing_estimable.report_problem(problem))


def _groups(
    args: argparse.Namespace, logs: "Sequence[TaskLog]", options: "Options", plugins: "Plugins"
) -> "dict[str, Sequence[object]]":
    """Scores by groups of questions and, of two systems, their differences."""
    from harness_uq.breakdown.compare import compare_by
    from harness_uq.breakdown.estimate import estimate_by
    from harness_uq.options import Options

    if not args.by:
        return {}
    scores = estimate_by(logs, args.by, options, plugins=plugins)
    systems = list(dict.fromkeys(log.system for log in logs))
    differences: Sequence[object] = ()
    if len(systems) == 2:
        a, b = ([log for log in logs if log.system == system] for system in systems)
        compared = Options(level=args.level, structure=options.structure, seed=args.seed)
        differences = compare_by(a, b, args.by, compared, plugins=plugins)
    return {"breakdowns": scores, "difference_breakdowns": differences}


def _check_one_system(logs: "Sequence[TaskLog]") -> None:
    """Check that a report with labels or reference runs is about one system, because comparisons do not use them.

    Raises
    ------
    UsageError : if there are several systems
    """
    systems = sorted({log.system for log in logs})
    if len(systems) > 1:
        raise UsageError(
            "A report with --labels or --reference-runs covers one system. Select one with --model; found: "
            f"{', '.join(systems)}."
        )
