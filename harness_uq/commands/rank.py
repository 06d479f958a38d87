"""`harness-uq rank`: which of several systems is best."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_uq.commands import asked as _asked
from harness_uq.commands import options as _options
from harness_uq.commands import output as _output
from harness_uq.commands import reading as _reading
from harness_uq.commands import saying as _saying
from harness_uq.commands import scale as _scale

if TYPE_CHECKING:
    from harness_uq.results.ranking import Ranking


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(commands, "rank", "which of several systems is best, and which cannot be separated")
    parser.add_argument(
        "logs",
        nargs="+",
        metavar="LOG",
        help="file, folder or glob pattern of logged runs; NAME=PATH calls the system in it NAME",
    )
    _options.add_structure(parser)
    parser.add_argument(
        "--scope",
        choices=["population", "benchmark"],
        default="population",
        help="scores on new questions of the kind, or on exactly these, tried again and again (default: %(default)s)",
    )
    parser.add_argument(
        "--correction",
        choices=["holm", "bh"],
        default="holm",
        help="of the paired tests for their number: Holm, or Benjamini-Hochberg (default: %(default)s)",
    )
    _options.add_level(parser)
    _options.add_seed(parser)
    _options.add_format(parser, ["table", "json", "csv", "markdown", "latex", "html"])
    _options.add_paper(parser, grid=True)
    _output.add_plot(parser, "the scores")
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, rank, print."""
    from harness_uq.ranking.analysis import RankOptions, rank
    from harness_uq.report.ranking_text import rankings_as

    _output.try_plot(args)
    plugins = _asked.load_plugins(args)
    readings = [found.reading for found in _scale.scan_all_named(args, args.logs, plugins)]
    failed = max(_reading.say_reading(reading, plugins) for reading in readings)
    options = RankOptions(
        level=args.level,
        scope=args.scope,
        correction=args.correction,
        structure=_asked.structure_options(args),
        seed=args.seed,
    )
    logs = _asked.selected(args, readings)
    _asked.check_names(options.structure, logs)
    rankings = rank(logs, options, plugins=plugins)
    _output.draw_forest(args, rankings)
    if args.format == "html":
        from harness_uq.report.html import report_html

        print(
            report_html([], (), rankings, title="Leaderboard", command=_saying.command_line(args), date=_saying.now())
        )
    elif args.format == "latex":
        print(_latex(args, rankings))
    else:
        print(rankings_as(rankings, args.format, errors=[e for r in readings for e in _reading.reading_errors(r)]))
    return failed


def _latex(args: argparse.Namespace, rankings: "Sequence[Ranking]") -> str:
    from harness_uq.report.latex import results_latex

    with _asked.checking_arguments():
        return results_latex(rankings, _asked.paper_of(args), args.layout).strip("\n")
