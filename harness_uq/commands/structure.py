"""`harness-uq structure`: what is known of clusters, trials and score types."""

import argparse

from harness_uq.commands import scale as _scale
from harness_uq.commands import shared as _shared


def add(commands: _shared.Commands) -> None:
    """Declare the arguments."""
    summary = "clusters, trials and score types that were found, with the evidence"
    parser = _shared.add_command(commands, "structure", summary)
    _shared.add_logs(parser)
    _shared.add_structure(parser)
    _shared.add_format(parser, ["table", "json", "csv", "markdown", "latex"])
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, detect, print."""
    from harness_uq.estimating.analysis import structures
    from harness_uq.report.structure_text import structures_as

    plugins = _shared.load_plugins(args)
    options = _shared.structure_options(args)
    reading = _scale.read(args, args.logs, plugins, need_scores=False)
    logs = _shared.selected(args, [reading])
    _shared.check_names(options, logs)
    found = structures(logs, options, plugins=plugins)
    print(structures_as(found, args.format, errors=_shared.reading_errors(reading)))
    if args.format == "table" and args.settings.path:
        print(f"\nsettings of {args.settings.path}: {'; '.join(args.settings.told()) or 'none'}")
    return _shared.say_reading(reading, plugins)
