"""`harness-uq effects`: what else the scores depend on."""

import argparse

from harness_uq.commands import shared as _shared


def add(commands: _shared.Commands) -> None:
    """Declare the arguments."""
    summary = "how much scores vary with seeds, prompts, judges and other settings that differ between runs"
    parser = _shared.add_command(commands, "effects", summary)
    _shared.add_logs(parser)
    _shared.add_factors(parser, "all that are found")
    _shared.add_structure(parser)
    _shared.add_level(parser)
    _shared.add_format(parser, ["table", "json", "csv", "markdown", "latex"])


def run(args: argparse.Namespace) -> int:
    """Read, find what differs, print."""
    from harness_uq.effects.analysis import effects
    from harness_uq.report.effects_text import effects_as

    options = _shared.effect_options(args)
    plugins = _shared.load_plugins(args)
    reading = _shared.read(args.logs, plugins)
    failed = _shared.say_reading(reading, plugins)
    logs = _shared.selected(args, [reading])
    _shared.check_names(options.structure, logs)
    found = effects(logs, options, plugins=plugins)
    print(effects_as(found, args.format, errors=_shared.reading_errors(reading)))
    return failed
