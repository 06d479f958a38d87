"""`harness-uq report`: summarize scores and comparisons on one page."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import METHODS, Page, named_logs
from harness_uq.messages.errors import UsageError
from harness_uq.options import Option

if TYPE_CHECKING:
    from harness_uq.data.task_log import TaskLog


USAGE = "LOG [LOG ...] [options]"
EXAMPLES = (
    ("Write an HTML page about all runs in a folder", "harness-uq report runs/ --output report.html"),
    ("Report on two systems and choose their names", "harness-uq report new=runs/b old=runs/a --output report.html"),
    ("Print the results as JSON", "harness-uq report runs/ --format json"),
)


_ARGUMENTS = (
    named_logs(),
    Option(name="title", group="Output", help="Set the title of an HTML page; default: Evaluation report"),
)


def run(args: argparse.Namespace) -> int:
    """Read, analyse, write."""
    names = ["overall", "estimates", "comparisons", "rankings"]
    names += ["breakdowns", "difference_breakdowns"] if args.by else []
    with _emit.emitting(args, *names) as emitter:
        return _report(args, emitter)


def _report(args: argparse.Namespace, emitter: _emit.Emitter) -> int:
    from harness_uq.analyses.report import report, with_groups
    from harness_uq.io.readers import task_logs

    plugins = _load.plugins_of_command(args)
    options = _load.options_of(args)
    _load.check_method(options, plugins)
    auxiliary = _load.AuxiliaryPaths.from_arguments(args)
    scans = _load.scan_all_named(args, args.logs, plugins, None if auxiliary else options)
    readings = [scan.reading for scan in scans]
    failed = _load.report_read_errors(*readings)
    errors = _load.reading_errors(*readings)
    logs = _load.select_logs(args, readings, auxiliary.label_metrics)
    if not logs:
        return emitter.emit_errors(errors)
    options = _load.of_logged_tasks(args, options, logs)
    _load.check_names(options.structure, logs)
    _load.check_margin_tasks(args, logs)
    if auxiliary:
        logs = auxiliary.select_logs(logs)
        _check_one_system(logs)
        rows = auxiliary.estimate(logs, options, plugins, partial(_load.read, args, plugins=plugins))
    else:
        rows = [row for scan in scans for row in scan.rows_of(logs)]
    with _console.checking_arguments():
        results = report(logs, replace(options, by=()), plugins=plugins, estimates=rows)
    results = replace(results, overall=_load.with_note_unless_requested(args, results.overall))
    for failure in results.problems:
        _console.print_error(f"warning: {failure}")
    problem = _emit.nothing_estimable(options, results.estimates)
    errors += _emit.error_entries(problem)
    emitter.emit(with_groups(results, task_logs(logs, plugins), options, plugins).lists, errors)
    return max(failed, _emit.report_problem(problem))


def _check_one_system(logs: "Sequence[TaskLog]") -> None:
    """Check that a report with labels or reference runs is about one system, because comparisons do not use them.
    Raises UsageError if there are several systems.
    """
    systems = sorted({log.system for log in logs})
    if len(systems) > 1:
        raise UsageError(
            "A report with --labels or --reference-runs covers one system. Select one with --model; found: "
            f"{', '.join(systems)}."
        )


PAGES = {"report": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS, more=METHODS)}
