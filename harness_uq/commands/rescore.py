"""`harness-uq rescore`: write intervals into logged runs."""

import argparse
from typing import TYPE_CHECKING

from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import console as _console
from harness_uq.commands import loading as _loading
from harness_uq.commands import nothing_estimable as _nothing_estimable
from harness_uq.commands import output_files as _output_files
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser
from harness_uq.commands.progress import track
from harness_uq.errors import LogError, UsageError
from harness_uq.messages.catalogue.reading import OUTPUT_LINK_LEADS_OUTSIDE

if TYPE_CHECKING:
    from harness_uq.options import Options
    from harness_uq.plugins.manager import Plugins


USAGE = "LOG [LOG ...] --output-dir DIR | --in-place [options]"
EXAMPLES = (
    ("Write copies of the logs, with intervals", "harness-uq rescore results/ --output-dir rescored/"),
    ("Change the logs themselves, which harness-uq restore can undo", "harness-uq rescore results/ --in-place"),
    (
        "Write the scores in the format of Every Eval Ever",
        "harness-uq rescore results/ --output-dir records/ --format eee",
    ),
)
DETAILS = _shared_options.METHODS


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_logs(parser)
    _shared_options.add_estimation(parser)
    output = parser.groups["Output"]
    where = output.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--output-dir",
        metavar="DIR",
        help="Write copies of the logs to this folder, without changing the original logs",
    )
    where.add_argument(
        "--in-place", action="store_true", help="Change the original logs; use harness-uq restore to undo the change"
    )
    _shared_options.add_options(parser, "--follow-links")
    output.add_argument(
        "--format",
        choices=["log", "eee"],
        default="log",
        help="Write copies of the logs (log), or files in the Every Eval Ever format (eee) (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Estimate, write the logs, and list the files."""
    from harness_uq.messages.control_characters import escape_control
    from harness_uq.redaction import redact
    from harness_uq.rescoring import rescore

    _loading.clear_leftovers(args.logs)
    plugins = _argument_values.plugins_of_command(args)
    options = _argument_values.estimation_options(args, plugins)
    if args.format == "eee":
        return _write_records(args, options, plugins)
    done = rescore(
        args.logs,
        options,
        output=args.output_dir,
        plugins=plugins,
        progress=lambda runs: track(runs, "Reading", len(runs)),
        selection=_argument_values.log_filter(args),
        follow_links=args.follow_links,
    )
    for rescored in done.runs:
        n = sum(row.interval is not None for row in rescored.estimates)
        print(f"{escape_control(redact(rescored.files[0]))}: {n} of {len(rescored.estimates)} scores have an interval")
    for path, message in done.failures:
        _console.print_message(message, path)
    problem = _nothing_estimable.nothing_estimable(args, [row for run in done.runs for row in run.estimates])
    return max(_nothing_estimable.report_problem(problem), 1 if done.failures else 0)


def _write_records(args: argparse.Namespace, options: "Options", plugins: "Plugins") -> int:
    """Estimate, write the records of Every Eval Ever with the scores of their samples, and list the files.

    Raises
    ------
    UsageError : with `--in-place`
    LogError : if a link leads out of the output folder
    """
    import time

    from harness_uq.estimation.estimate import estimate
    from harness_uq.io.paths import folder_of, is_inside, join, local_path, make_folder, write_bytes
    from harness_uq.messages.control_characters import escape_control
    from harness_uq.output.every_eval_ever import eee_files
    from harness_uq.plugins.readers import read_logs, task_logs
    from harness_uq.redaction import redact

    if args.in_place:
        raise UsageError("--format eee writes new files. Give --output-dir DIR instead of --in-place.")
    reading = read_logs(
        args.logs,
        harnesses=plugins.harnesses,
        progress=lambda runs: track(runs, "Reading", len(runs)),
        need_scores=True,
    )
    logs = _argument_values.select_logs(args, [reading])
    _argument_values.check_names(options.structure, logs)
    rows = estimate(logs, options, plugins=plugins)
    for file, content in eee_files(rows, task_logs(logs, plugins), when=time.time()):
        place = join(args.output_dir, *file.parts)
        if not is_inside(folder_of(place), args.output_dir):
            target = str(local_path(folder_of(place)).resolve())
            raise LogError(OUTPUT_LINK_LEADS_OUTSIDE(folder=args.output_dir, target=target))
        with _output_files.reporting_write_errors(place):
            make_folder(folder_of(place))
            write_bytes(place, content.encode())
        print(escape_control(redact(place)))
    problem_code = _nothing_estimable.report_problem(_nothing_estimable.nothing_estimable(args, rows))
    return max(_loading.report_read_errors(reading), _console.report_failures(rows), problem_code)
