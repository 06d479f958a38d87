"""`harness-uq effects`: measure the variance due to seeds, prompts, graders and other factors."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import emit_results as _emit_results
from harness_uq.commands import loading as _loading
from harness_uq.commands import output_files as _output_files
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser

if TYPE_CHECKING:
    from harness_uq.results.effects import Effects


USAGE = "LOG [LOG ...] [options]"
EXAMPLES = (
    ("Estimate the variance due to questions, seeds and prompts", "harness-uq effects runs/seed-*"),
    ("Use the logged description as the factor 'prompt'", "harness-uq effects runs/ --factor prompt=description"),
    ("Plot the variance components", "harness-uq effects runs/ --task gsm8k --plot effects.svg"),
)


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_logs(parser)
    _shared_options.add_structure(parser)
    _shared_options.add_options(parser, "--use-samples", "--missing", "--treat")
    _shared_options.add_factors(parser, "all factors found")
    _shared_options.add_options(parser, "--level")
    _emit_results.add_output(parser, more_formats=())
    _output_files.add_plot(parser, "the effects")
    _loading.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, estimate the variance components, print."""
    from harness_uq.variance_components.effects import effects

    _output_files.try_plot(args)
    with _emit_results.emitting(args, "effects") as emitter:
        options = _argument_values.effect_options(args)
        plugins = _argument_values.plugins_of_command(args)
        reading = _loading.read(args, args.logs, plugins)
        failed = _loading.report_read_errors(reading)
        errors = _loading.reading_errors(reading)
        logs = _argument_values.select_logs(args, [reading])
        if not logs:
            emitter.emit_errors(errors)
            return 1
        _argument_values.check_names(options.structure, logs)
        rows = effects(logs, options, plugins=plugins)
        emitter.emit({"effects": rows}, errors)
    if args.plot:
        _draw(rows, args.plot)
    return failed


def _draw(rows: "Sequence[Effects]", path: Path) -> None:
    from harness_uq.errors import DataError
    from harness_uq.plots import effect_sizes

    if len(rows) != 1:
        names = ", ".join(f"{row.model} on {row.task}, {row.metric}" for row in rows)
        raise DataError(
            f"--plot draws one result, but there are {len(rows)}: {names}. Select one, for example with --task."
        )
    _output_files.write_figure(path, effect_sizes(rows[0]))
