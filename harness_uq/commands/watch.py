"""`harness-uq watch`: monitor runs in progress, with anytime-valid intervals."""

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING

from harness_uq.commands import argument_types as _argument_types
from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.console import print_error
from harness_uq.commands.ignored_messages import marked
from harness_uq.commands.parser import CommandParser

if TYPE_CHECKING:
    from harness_uq.options import Options
    from harness_uq.plugins.manager import Plugins


USAGE = "LOG [LOG ...] [options]"
EXAMPLES = (
    ("Monitor all runs in progress in a folder, every 10 seconds", "harness-uq watch logs/"),
    ("Print the current estimates once, as JSON", "harness-uq watch logs/ --once --format json"),
    ("Estimate the score on all questions of the run", "harness-uq watch logs/ --scope full --every 60"),
)
DETAILS = """\
The command ends when no run is in progress. It can monitor runs of Inspect AI,
but not of lm-eval, which saves no scores until the end of a run. Each interval
uses the questions in the order of the run, up to the first question without a
score. The intervals are valid if the order of the questions is random: start
the run with inspect eval --sample-shuffle.
"""


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_logs(parser)
    _shared_options.add_structure(parser)
    _shared_options.add_options(parser, "--level")
    parser.groups["Method"].add_argument(
        "--scope",
        choices=["population", "full"],
        default="population",
        help="Estimate the score on similar new questions, or on all questions of the run (default: %(default)s)",
    )
    output = parser.groups["Output"]
    output.add_argument(
        "--every",
        type=_argument_types.positive,
        default=10.0,
        metavar="SECONDS",
        help="Update the estimates every SECONDS seconds (default: %(default)g)",
    )
    output.add_argument("--once", action="store_true", help="Print the current estimates and exit")
    _shared_options.add_format(parser, ["text", "json"])


def run(args: argparse.Namespace) -> int:
    """Print estimates until no run is found twice in a row; a single time, a log may just be being written."""
    from harness_uq.options import Options

    plugins = _argument_values.plugins_of_command(args)
    options = Options(level=args.level, scope=args.scope, structure=_argument_values.structure_options(args))
    if not _look(args, options, plugins):
        print("No run is in progress.", file=sys.stderr)
        return 0
    n_empty = 0
    while not args.once and n_empty < 2:
        time.sleep(args.every)
        n_empty = 0 if _look(args, options, plugins) else n_empty + 1
    return 0


def _look(args: argparse.Namespace, options: "Options", plugins: "Plugins") -> bool:
    """Print the current estimates; False if no run is in progress."""
    from harness_uq.monitoring import look
    from harness_uq.output.monitoring import look_text
    from harness_uq.output.sanitize import json_text

    looks, problems = look(args.logs, options, plugins, _argument_values.log_filter(args))
    for seen in looks:
        shown = marked(seen)
        print(json_text(json.dumps(shown.to_dict())) if args.format == "json" else look_text(shown), flush=True)
    for path, message in problems:
        print_error(f"warning: {path}: {message.text} ({message.code})")
    return bool(looks)
