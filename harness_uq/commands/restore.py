"""`harness-uq restore`: undo `rescore --in-place`."""

import argparse
import sys

from harness_uq.commands import console as _console
from harness_uq.commands import loading as _loading
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser

USAGE = "LOG [LOG ...]"
EXAMPLES = (
    ("Restore all logs in a folder", "harness-uq restore results/"),
    ("Restore a single log", "harness-uq restore run.eval"),
    ("Restore all Inspect logs in a folder", "harness-uq restore 'logs/*.eval'"),
)
DETAILS = """\
The command undoes the changes of harness-uq rescore --in-place. It keeps the
intervals that a harness wrote into its log during a run with --uq.
"""


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_logs(parser)
    _shared_options.add_options(parser, "--follow-links")


def run(args: argparse.Namespace) -> int:
    """Restore the logs and list the files."""
    from harness_uq.messages.control_characters import escape_control
    from harness_uq.redaction import redact
    from harness_uq.rescoring import restore

    _loading.clear_leftovers(args.logs)
    done = restore(args.logs, plugins=_console.load_and_report_plugins(), follow_links=args.follow_links)
    for path in done.restored:
        print(escape_control(redact(path)))
    for path, message in done.failures:
        _console.print_message(message, path)
    if not (done.restored or done.failures):
        print(
            "Nothing to restore: no log in these paths was changed by harness-uq rescore --in-place.", file=sys.stderr
        )
    return 0 if done.restored and not done.failures else 1
