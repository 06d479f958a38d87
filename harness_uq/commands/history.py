"""`harness-uq history`: follow the scores of repeated runs over time."""

import argparse
from typing import TYPE_CHECKING

from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import emit_results as _emit_results
from harness_uq.commands import loading as _loading
from harness_uq.commands import output_files as _output_files
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser

if TYPE_CHECKING:
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.readers import Reading

CHANGED = 3

USAGE = "LOG|STORE [LOG|STORE ...] [options]"
EXAMPLES = (
    ("Show the scores of nightly runs, and report changes", "harness-uq history nightly/"),
    (
        "Write a page with plots and tables of one task",
        "harness-uq history nightly/ --task gsm8k --output history.html",
    ),
    ("Fail in a scheduled job if a score changed", "harness-uq history nightly/ --fail-if-changed"),
)
DETAILS = """\
You can run this command after every new run: if the true score of a system
never changes, a false alarm occurs in at most 5 % of all histories (with
--level P, in at most 1 - P). Runs of the same system are ordered by the times
in their logs.

Exit codes: 0 success, 1 a log could not be read, 2 wrong arguments, 3 a score
changed (with --fail-if-changed)
"""


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_named_logs(parser)
    _shared_options.add_scores(parser)
    _shared_options.add_options(parser, "--level")
    parser.groups["Output"].add_argument(
        "--fail-if-changed",
        action="store_true",
        help="Exit with code 3 if the score of any system on any task changed",
    )
    _emit_results.add_output(parser)
    _output_files.add_plot(parser, "the scores over time")
    _loading.add_engine(parser)


def _readings(args: argparse.Namespace, plugins: "Plugins") -> "list[Reading]":
    """Read the stores one by one, and the other paths as for `estimate`."""
    from harness_uq.store.read import is_store

    stores = [path for path in args.logs if is_store(_loading.parse_named_path(path)[1])]
    others = [path for path in args.logs if path not in stores]
    scans = _loading.scan_all_named(args, others, plugins)
    stored = [_loading.read_runs_or_store(args, path, plugins) for path in stores]
    return [*(scan.reading for scan in scans), *stored]


def run(args: argparse.Namespace) -> int:
    """Read, analyze, print."""
    from harness_uq.options import Options
    from harness_uq.trends.history import history

    _output_files.try_plot(args)
    with _emit_results.emitting(args, "histories") as emitter:
        plugins = _argument_values.plugins_of_command(args)
        readings = _readings(args, plugins)
        failed = _loading.report_read_errors(*readings)
        errors = _loading.reading_errors(*readings)
        logs = _argument_values.select_logs(args, readings)
        if not logs:
            emitter.emit_errors(errors)
            return 1
        structure = _argument_values.structure_options(args)
        _argument_values.check_names(structure, logs)
        rows = history(logs, Options(level=args.level, structure=structure), plugins=plugins)
        emitter.emit({"histories": rows}, errors)
    if args.plot:
        from harness_uq.plots.score_history import plot_history

        _output_files.write_figure(args.plot, plot_history([row for row in rows if row.runs]))
    return CHANGED if args.fail_if_changed and any(row.shifts for row in rows) else failed
