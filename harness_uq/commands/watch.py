"""`harness-uq watch`: monitor runs in progress, with anytime-valid intervals."""

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.commands import load as _load
from harness_uq.commands.page import Page, format_argument, logs_argument
from harness_uq.options import POSITIVE, Option

if TYPE_CHECKING:
    from harness_uq.io.plugins.manager import Plugins
    from harness_uq.options import Options


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


_ARGUMENTS = (
    logs_argument(),
    Option(
        name="every",
        group="Output",
        rule=POSITIVE,
        default=10.0,
        metavar="SECONDS",
        help="Update every SECONDS seconds (default: {default})",
    ),
    Option(name="once", group="Output", is_flag=True, help="Print the current estimates and exit"),
    format_argument("text", "json"),
)


def run(args: argparse.Namespace) -> int:
    """Print estimates until no run is found twice in a row; a single time, a log may just be being written."""
    plugins = _load.plugins_of_command(args)
    options = _load.options_of(args)
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
    from harness_uq.analyses.watch import look
    from harness_uq.output.sanitize import json_text
    from harness_uq.results.history import look_text

    looks, problems = look(args.logs, options, plugins, _load.log_filter(args))
    for seen in looks:
        shown = _console.marked(seen)
        print(json_text(json.dumps(shown.to_dict())) if args.format == "json" else look_text(shown), flush=True)
    for path, message in problems:
        _console.print_error(f"warning: {path}: {message.text} ({message.code})")
    return bool(looks)


PAGES = {"watch": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS, details=DETAILS)}
