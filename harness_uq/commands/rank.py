"""`harness-uq rank`: rank systems and show which cannot be separated."""

import argparse

from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import emit_results as _emit_results
from harness_uq.commands import loading as _loading
from harness_uq.commands import output_files as _output_files
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser

USAGE = "LOG [LOG ...] [options]"
EXAMPLES = (
    ("All systems in a folder", "harness-uq rank runs/*"),
    ("Names of your choice", "harness-uq rank large=runs/a small=runs/b tiny=runs/c"),
    ("A LaTeX table with one row per system", "harness-uq rank runs/* --format latex --layout grid"),
)


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_named_logs(parser)
    _shared_options.add_structure(parser)
    _shared_options.add_use_samples(parser)
    _shared_options.add_scope(parser)
    parser.groups["Method"].add_argument(
        "--correction",
        choices=["holm", "bh"],
        default="holm",
        help="Correct p-values of the paired tests by Holm's or the Benjamini-Hochberg method (default: %(default)s)",
    )
    _shared_options.add_level(parser)
    _shared_options.add_seed(parser)
    _emit_results.add_output(parser, layout=True)
    _output_files.add_plot(parser, "the scores")
    _loading.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, rank, print."""
    from harness_uq.ranking.rank import RankOptions, rank

    _output_files.try_plot(args)
    with _emit_results.emitting(args, "rankings") as emitter:
        plugins = _argument_values.plugins_of_command(args)
        readings = [scan.reading for scan in _loading.scan_all_named(args, args.logs, plugins)]
        failed = max(_loading.report_read_errors(reading) for reading in readings)
        errors = [error for reading in readings for error in _loading.reading_errors(reading)]
        options = RankOptions(
            level=args.level,
            scope=args.scope,
            correction=args.correction,
            structure=_argument_values.structure_options(args),
            seed=args.seed,
        )
        logs = _argument_values.select_logs(args, readings)
        if not logs:
            emitter.emit({"rankings": ()}, errors)
            return 1
        _argument_values.check_names(options.structure, logs)
        rankings = rank(logs, options, plugins=plugins)
        emitter.emit({"rankings": rankings}, errors)
    _output_files.draw_forest(args, rankings)
    return failed
