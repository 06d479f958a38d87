"""`harness-uq watch`: runs in the making, with intervals that hold whenever one looks."""

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING

from harness_uq.commands import arguments as _arguments
from harness_uq.commands import asked as _asked
from harness_uq.commands import options as _options

if TYPE_CHECKING:
    from harness_uq.estimating.analysis import Options
    from harness_uq.plugins.manager import Plugins


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    summary = "follow runs in the making, with intervals that hold whenever one looks"
    parser = _options.add_command(commands, "watch", summary, epilog=_EPILOG)
    _options.add_logs(parser)
    _options.add_structure(parser)
    _options.add_level(parser)
    parser.add_argument(
        "--scope",
        choices=["population", "full"],
        default="population",
        help="score on new questions of the kind, or on all questions of the run (default: %(default)s)",
    )
    parser.add_argument(
        "--every",
        type=_arguments.positive,
        default=10.0,
        metavar="SECONDS",
        help="between looks (default: %(default)g)",
    )
    parser.add_argument("--once", action="store_true", help="look once")
    _options.add_format(parser, ["text", "json"])


_EPILOG = """\
Ends when no run under the paths is in the making. Questions count in the order of the line, up to the first without a
score; start the run with its questions in random order (inspect eval --sample-shuffle). Reads Inspect AI's logs and the
buffers beside them. lm-eval keeps no scores until the end and answers the longest questions first.
"""


def run(args: argparse.Namespace) -> int:
    """Look, print, wait; end when two looks in a row find no run, since a log may be read while it is written."""
    from harness_uq.estimating.analysis import Options

    plugins = _asked.load_plugins(args)
    options = Options(level=args.level, scope=args.scope, structure=_asked.structure_options(args))
    if not _look(args, options, plugins):
        print("no run is in the making", file=sys.stderr)
        return 0
    n_empty = 0
    while not args.once and n_empty < 2:
        time.sleep(args.every)
        n_empty = 0 if _look(args, options, plugins) else n_empty + 1
    return 0


def _look(args: argparse.Namespace, options: "Options", plugins: "Plugins") -> bool:
    """Whether there was anything to see."""
    from harness_uq.report.watch_text import look_text
    from harness_uq.watching import look

    looks, problems = look(args.logs, options, plugins, _asked.selection_of(args))
    for seen in looks:
        print(json.dumps(seen.to_dict()) if args.format == "json" else look_text(seen), flush=True)
    for path, message in problems:
        print(f"warning: {path}: {message}", file=sys.stderr)
    return bool(looks)
