"""`harness-uq structure`: show clusters, trials and score types with their evidence, and what the data support."""

import argparse

from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import emit_results as _emit_results
from harness_uq.commands import loading as _loading
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser

USAGE = "LOG [LOG ...] [options]"
EXAMPLES = (
    ("Show everything that was detected in a folder, and the next commands", "harness-uq structure results/"),
    ("Check in a script that questions and trials are identified", "harness-uq structure results/ --check"),
    ("Show the clusters that a field defines", "harness-uq structure results/ --cluster drop=section_id"),
)


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_logs(parser)
    _shared_options.add_structure(parser)
    parser.groups["Data"].add_argument(
        "--check",
        action="store_true",
        help="Exit with code 1 if the questions or trials of a task cannot be identified",
    )
    parser.groups["Data"].add_argument(
        "--suggest-mapping",
        action="store_true",
        help="Infer a mapping for harness-uq.toml from the first records of each file, print it and exit",
    )
    _emit_results.add_output(parser, more_formats=())
    _loading.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, detect, print, or print a mapping; with `--check`, code 1 if questions or trials are not identified."""
    if args.suggest_mapping:
        from harness_uq.tabular.suggest_mapping import suggest_mapping

        print("\n".join(map(suggest_mapping, args.logs)), end="")
        return 0
    from harness_uq.estimation.detect_structure import detect_structure
    from harness_uq.estimation.summarize_data import summarize_data
    from harness_uq.messages.control_characters import escape_control
    from harness_uq.options import Options
    from harness_uq.plugins.readers import explain_unread

    with _emit_results.emitting(args, "structures", "summary") as emitter:
        plugins = _argument_values.plugins_of_command(args)
        options = _argument_values.structure_options(args)
        reading = _loading.read(args, args.logs, plugins, need_scores=False)
        logs = _argument_values.select_logs(args, [reading])
        _argument_values.check_names(options, logs)
        structures = detect_structure(logs, Options(structure=options), plugins=plugins)
        unread = explain_unread(reading, plugins.harnesses)
        summary = summarize_data(structures, _data_arguments(args), unread=unread)
        emitter.emit({"structures": structures, "summary": [summary]}, _loading.reading_errors(reading))
    if emitter.output_format.name == "table" and args.settings.path:
        settings = "; ".join(args.settings.descriptions()) or "none"
        print("\n" + escape_control(f"Settings from {args.settings.path}: {settings}"))
    return _loading.report_read_errors(reading) or int(args.check and not summary.is_identified)


def _data_arguments(args: argparse.Namespace) -> list[str]:
    """The paths and options that determine which data are read, for the commands that use the same data."""
    words = list(args.logs)
    for name, values in (("--task", args.tasks), ("--metric", args.metrics), ("--filter", args.filters)):
        words += [word for value in values for word in (name, value)]
    words += [word for value in args.models for word in ("--model", value)]
    words += [word for value in args.cluster for word in ("--cluster", value)]
    words += [word for metric, (low, high) in args.ranges for word in ("--range", f"{metric}={low:g},{high:g}")]
    words += [word for role, names in args.table_columns for word in ("--column", f"{role}={','.join(names)}")]
    if args.settings_file is not None:
        words += ["--settings", args.settings_file]
    return [*words, "--isolated"] if args.isolated else words
