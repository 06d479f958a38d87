"""`harness-uq report`: everything about some logs, as one page or in another form."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_uq.commands import asked as _asked
from harness_uq.commands import assisted as _assisted
from harness_uq.commands import options as _options
from harness_uq.commands import output as _output
from harness_uq.commands import reading as _reading
from harness_uq.commands import saying as _saying
from harness_uq.commands import scale as _scale

if TYPE_CHECKING:
    from harness_uq.logs.data import TaskLog


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(
        commands,
        "report",
        "scores, comparisons and what they rest on, as one HTML page",
        epilog=_options.METHODS,
    )
    parser.add_argument(
        "logs",
        nargs="+",
        metavar="LOG",
        help="file, folder or glob pattern of logged runs; NAME=PATH calls the system in it NAME. Of two systems the "
        "first is compared with the second, three or more are ranked",
    )
    parser.add_argument("--html", metavar="FILE", help="write one self-contained page to FILE; - for standard output")
    parser.add_argument("--title", default="Evaluation report", help="of the page (default: %(default)s)")
    _options.add_margin(parser)
    _options.add_estimation(parser)
    _assisted.add_assistance(parser)
    _options.add_format(parser, ["table", "json", "csv", "markdown", "latex"])
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, analyse, write."""
    from harness_uq.overview import overview
    from harness_uq.report.overview_text import overview_as

    plugins = _asked.load_plugins(args)
    options = _asked.estimation_options(args, plugins)
    if args.html not in (None, "-"):
        _output.try_place(args.html)
    _assisted.check_assistance(args)
    is_assisted = _assisted.is_assisted(args)
    scans = _scale.scan_all_named(args, args.logs, plugins, None if is_assisted else options)
    readings = [found.reading for found in scans]
    failed = max(_reading.say_reading(reading, plugins) for reading in readings)
    logs = _asked.selected(args, readings)
    if not logs:
        return 1
    _asked.check_names(options.structure, logs)
    _asked.check_margins(args, logs)
    margin, margins = _asked.margins_of(args)
    if is_assisted:
        logs = _assisted.runs_alone(args, logs)
        _check_alone(logs)
        rows = _assisted.assisted(args, logs, options, plugins)
    else:
        rows = [row for found in scans for row in found.rows_of(logs)]
    found = overview(logs, options, margin=margin, margins=margins, plugins=plugins, estimates=rows)
    for problem in found.problems:
        print(f"warning: {problem}", file=sys.stderr)
    if args.html is None:
        print(overview_as(found, args.format, errors=[e for r in readings for e in _reading.reading_errors(r)]))
        return failed
    from harness_uq.report.html import report_html

    page = report_html(
        found.estimates,
        found.comparisons,
        found.rankings,
        title=args.title,
        command=_saying.command_line(args),
        date=_saying.now(),
    )
    _write(args.html, page)
    return failed


def _check_alone(logs: "Sequence[TaskLog]") -> None:
    """Make sure that a page with labels or a history is about one system.

    Raises
    ------
    UsageError : if there are several, whose comparison would be of the scores as they were logged
    """
    systems = sorted({log.system for log in logs})
    if len(systems) > 1:
        raise _asked.UsageError(
            f"with --human or --history a report is about one system; there are {', '.join(systems)}: --model names one"
        )


def _write(path: str, page: str) -> None:
    if path == "-":
        print(page)
        return
    _output.write_place(path, page.encode())
    print(f"wrote {path}", file=sys.stderr)
