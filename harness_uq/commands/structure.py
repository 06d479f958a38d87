"""`harness-uq structure`: what is known of clusters, trials and score types."""

import argparse

from harness_uq.commands import asked as _asked
from harness_uq.commands import options as _options
from harness_uq.commands import reading as _reading
from harness_uq.commands import scale as _scale


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    summary = "clusters, trials and score types that were found, with the evidence"
    parser = _options.add_command(commands, "structure", summary)
    _options.add_logs(parser)
    _options.add_structure(parser)
    _options.add_format(parser, ["table", "json", "csv", "markdown", "latex"])
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, detect, print."""
    from harness_uq.estimating.analysis import structures
    from harness_uq.report.structure_text import structures_as

    plugins = _asked.load_plugins(args)
    options = _asked.structure_options(args)
    reading = _scale.read(args, args.logs, plugins, need_scores=False)
    logs = _asked.selected(args, [reading])
    _asked.check_names(options, logs)
    found = structures(logs, options, plugins=plugins)
    print(structures_as(found, args.format, errors=_reading.reading_errors(reading)))
    if args.format == "table" and args.settings.path:
        print(f"\nsettings of {args.settings.path}: {'; '.join(args.settings.told()) or 'none'}")
    return _reading.say_reading(reading, plugins)
