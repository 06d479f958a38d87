"""`harness-uq rescore`: intervals written into the logs themselves."""

import argparse
from typing import TYPE_CHECKING

from harness_uq.commands import asked as _asked
from harness_uq.commands import options as _options
from harness_uq.commands import output as _output
from harness_uq.commands import reading as _reading
from harness_uq.commands import saying as _saying

if TYPE_CHECKING:
    from harness_uq.estimating.analysis import Options
    from harness_uq.plugins.manager import Plugins


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(
        commands, "rescore", "write intervals and standard errors into logged runs", epilog=_options.METHODS
    )
    _options.add_logs(parser)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", metavar="DIR", help="folder for copies of the runs; the originals stay untouched")
    where.add_argument("--in-place", action="store_true", help="rewrite the logs; `harness-uq restore` undoes it")
    _options.add_estimation(parser)
    parser.add_argument(
        "--format",
        choices=["log", "eee"],
        default="log",
        help="with --output: copies of the logs, or records of Every Eval Ever, which any log gives (default: "
        "%(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Estimate, write, list what was written."""
    from harness_uq.rescoring import rescore

    _reading.clear_leftovers(args.logs)
    plugins = _asked.load_plugins(args)
    for warning in plugins.warnings:
        _saying.complain(f"warning: {warning}")
    options = _asked.estimation_options(args, plugins)
    if args.format == "eee":
        return _write_records(args, options, plugins)
    done = rescore(
        args.logs,
        options,
        output=args.output,
        plugins=plugins,
        progress=_reading.progress,
        selection=_asked.selection_of(args),
    )
    for rescored in done.runs:
        n = sum(row.interval is not None for row in rescored.estimates)
        print(f"{rescored.files[0]}: {n} of {len(rescored.estimates)} scores have an interval")
    for path, message in done.failures:
        _saying.complain(f"error: {path}: {message}")
    return 1 if done.failures else 0


def _write_records(args: argparse.Namespace, options: "Options", plugins: "Plugins") -> int:
    """Estimate, write a file for each record of Every Eval Ever, list them.

    Raises
    ------
    UsageError : if the records are to be written in place
    """
    import time

    from harness_uq.estimating.analysis import estimate
    from harness_uq.logs.places import folder_of, join, make_folder, write_whole
    from harness_uq.plugins.reading import task_logs
    from harness_uq.report.every_eval_ever import eee_lines, eee_place, eee_records

    if args.in_place:
        raise _asked.UsageError("records of Every Eval Ever are files of their own: give --output DIR")
    reading = _reading.read(args.logs, plugins)
    logs = _asked.selected(args, [reading])
    _asked.check_names(options.structure, logs)
    rows = estimate(logs, options, plugins=plugins)
    for record in eee_records(rows, task_logs(logs, plugins), when=time.time()):
        place = join(args.output, *eee_place(record).parts)
        with _output.writing(place):
            make_folder(folder_of(place))
            write_whole(place, eee_lines([record]).encode() + b"\n")
        print(place)
    return max(_reading.say_reading(reading, plugins), _saying.say_failures(rows))
