"""`harness-uq structure`: show clusters, trials and score types with their evidence."""

import argparse

from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import emit_results as _emit_results
from harness_uq.commands import loading as _loading
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser

USAGE = "LOG [LOG ...] [options]"
EXAMPLES = (
    ("Show everything that was detected in a run", "harness-uq structure run.eval"),
    ("Show one task of all runs in a folder", "harness-uq structure results/ --task gsm8k"),
    ("Show the clusters that a field defines", "harness-uq structure results/ --cluster drop=section_id"),
)


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_logs(parser)
    _shared_options.add_structure(parser)
    _emit_results.add_output(parser)
    _loading.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, detect, print."""
    from harness_uq.estimation.estimate import detect_structure
    from harness_uq.messages.control_characters import escape_control

    with _emit_results.emitting(args, "structures") as emitter:
        plugins = _argument_values.plugins_of_command(args)
        options = _argument_values.structure_options(args)
        reading = _loading.read(args, args.logs, plugins, need_scores=False)
        logs = _argument_values.select_logs(args, [reading])
        _argument_values.check_names(options, logs)
        structures = detect_structure(logs, options, plugins=plugins)
        emitter.emit({"structures": structures}, _loading.reading_errors(reading))
    if emitter.output_format.name == "table" and args.settings.path:
        settings = "; ".join(args.settings.descriptions()) or "none"
        print("\n" + escape_control(f"Settings from {args.settings.path}: {settings}"))
    return _loading.report_read_errors(reading)
