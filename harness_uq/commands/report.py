"""`harness-uq report`: everything about some logs, as one page or in another form."""

import argparse
import sys

from harness_uq.commands import output as _output
from harness_uq.commands import scale as _scale
from harness_uq.commands import shared as _shared


def add(commands: _shared.Commands) -> None:
    """Declare the arguments."""
    parser = _shared.add_command(
        commands,
        "report",
        "scores, comparisons and what they rest on, as one HTML page",
        epilog=_shared.METHODS,
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
    _shared.add_margin(parser)
    _shared.add_estimation(parser)
    _shared.add_format(parser, ["table", "json", "csv", "markdown", "latex"])
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, analyse, write."""
    from harness_uq.overview import overview
    from harness_uq.report.overview_text import overview_as

    plugins = _shared.load_plugins(args)
    options = _shared.estimation_options(args, plugins)
    if args.html not in (None, "-"):
        _output.try_place(args.html)
    scans = _scale.scan_all_named(args, args.logs, plugins, options)
    readings = [found.reading for found in scans]
    failed = max(_shared.say_reading(reading, plugins) for reading in readings)
    logs = _shared.selected(args, readings)
    if not logs:
        return 1
    _shared.check_names(options.structure, logs)
    _shared.check_margins(args, logs)
    margin, margins = _shared.margins_of(args)
    rows = [row for found in scans for row in found.rows_of(logs)]
    found = overview(logs, options, margin=margin, margins=margins, plugins=plugins, estimates=rows)
    for problem in found.problems:
        print(f"warning: {problem}", file=sys.stderr)
    if args.html is None:
        print(overview_as(found, args.format, errors=[e for r in readings for e in _shared.reading_errors(r)]))
        return failed
    from harness_uq.report.html import report_html

    page = report_html(
        found.estimates,
        found.comparisons,
        found.rankings,
        title=args.title,
        command=_shared.command_line(args),
        date=_shared.now(),
    )
    _write(args.html, page)
    return failed


def _write(path: str, page: str) -> None:
    if path == "-":
        print(page)
        return
    _output.write_place(path, page.encode())
    print(f"wrote {path}", file=sys.stderr)
