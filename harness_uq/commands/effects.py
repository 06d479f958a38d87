"""`harness-uq effects`: what else the scores depend on."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import asked as _asked
from harness_uq.commands import options as _options
from harness_uq.commands import output as _output
from harness_uq.commands import reading as _reading
from harness_uq.commands import scale as _scale

if TYPE_CHECKING:
    from harness_uq.results.effects import Effects


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    summary = "how much scores vary with seeds, prompts, judges and other settings that differ between runs"
    parser = _options.add_command(commands, "effects", summary)
    _options.add_logs(parser)
    _options.add_factors(parser, "all that are found")
    _options.add_structure(parser)
    _options.add_level(parser)
    _output.add_plot(parser, "the effects")
    _options.add_format(parser, ["table", "json", "csv", "markdown", "latex"])
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, find what differs, print."""
    from harness_uq.effects.analysis import effects
    from harness_uq.report.effects_text import effects_as

    options = _asked.effect_options(args)
    _output.try_plot(args)
    plugins = _asked.load_plugins(args)
    reading = _scale.read(args, args.logs, plugins)
    failed = _reading.say_reading(reading, plugins)
    logs = _asked.selected(args, [reading])
    _asked.check_names(options.structure, logs)
    found = effects(logs, options, plugins=plugins)
    print(effects_as(found, args.format, errors=_reading.reading_errors(reading)))
    if args.plot:
        _draw(found, args.plot)
    return failed


def _draw(found: "Sequence[Effects]", path: Path) -> None:
    from harness_uq.errors import DataError
    from harness_uq.plots import effect_sizes

    if len(found) != 1:
        names = ", ".join(f"{row.model} on {row.task}, {row.metric}" for row in found)
        raise DataError(f"--plot draws the effects on one score; these are {len(found)}: {names}")
    _output.write_figure(path, effect_sizes(found[0]))
