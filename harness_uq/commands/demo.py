"""`harness-uq demo`: write example logs."""

import argparse
import shlex

from harness_uq.commands.parser import CommandParser

USAGE = "[DIR]"
EXAMPLES = (
    ("Write example logs to the folder demo-output", "harness-uq demo"),
    ("Write them to another folder", "harness-uq demo logs/"),
    ("Compare the two systems of the example logs", "harness-uq compare demo-output/lm-eval"),
)
DETAILS = """\
The logs ship with harness-uq. lm-eval and Inspect AI wrote them for two
scripted systems, scripted-small and scripted-large. A second run of the command
writes the same files again.

Exit codes: 0 success, 1 the folder contains other logs or is not writable,
2 wrong arguments
"""
_NEXT = """\
{folder} contains logs of lm-eval and Inspect AI for two scripted systems.

Scores with intervals:
  harness-uq estimate {logs}/scripted-large
Is one system better than the other?
  harness-uq compare {logs}
How many questions are needed to find a difference of 5 points?
  harness-uq plan {logs} --task demo_passages --difference 0.05
One HTML page with all results:
  harness-uq report {logs} --output report.html"""


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    parser.groups["Data"].add_argument(
        "folder",
        nargs="?",
        default="demo-output",
        metavar="DIR",
        help="Write the logs to this folder (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the logs, and print what to try next."""
    from harness_uq.io.example_logs import demo
    from harness_uq.messages.control_characters import escape_lines

    folder = demo(args.folder)
    print(escape_lines(_NEXT.format(folder=folder, logs=shlex.quote(str(folder / "lm-eval")))))
    return 0
