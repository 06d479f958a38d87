"""`harness-uq demo`: write example logs or tables."""

import argparse
import shlex

from harness_uq.commands.parser import CommandParser

USAGE = "[DIR]"
EXAMPLES = (
    ("Write example logs to the folder demo-output", "harness-uq demo"),
    ("Compare the two systems of the example logs", "harness-uq compare demo-output/lm-eval"),
    ("Write example tables to the folder demo-tables", "harness-uq demo --tables"),
)
DETAILS = """\
The example files are part of harness-uq. The logs are from runs of two scripted
systems, scripted-small and scripted-large, in lm-eval and Inspect AI. The
tables contain simulated scores: answers.csv has missing scores, agents.csv and
tokens.csv have costs, grades.csv has the scores of a model grader, labels.csv
has human labels, and the folder nightly has 20 nightly runs. If you run the
command again, it replaces the files with identical files.

Exit codes: 0 success, 1 the folder contains other logs or is not writable,
2 wrong arguments
"""
_LOGS = """\
{folder} contains logs of lm-eval and Inspect AI for two scripted systems.

Scores with intervals:
  harness-uq estimate {path}/lm-eval/scripted-large
Is one system better than the other?
  harness-uq compare {path}/lm-eval
How many questions are needed to find a difference of 5 points?
  harness-uq plan {path}/lm-eval --task demo_passages --difference 0.05
One HTML page with all results:
  harness-uq report {path}/lm-eval --output report.html
Tables for the other examples of the documentation:
  harness-uq demo --tables"""
_TABLES = """\
{folder} contains tables with simulated scores.

Is one system better than the other on easy and on hard questions?
  harness-uq compare {path}/answers.csv --by level
Which system is better, if human labels correct the errors of the grader?
  harness-uq compare {path}/grades.csv --labels {path}/labels.csv
What does a solved question cost?
  harness-uq estimate {path}/agents.csv --resources
When did the score of the nightly runs change?
  harness-uq history nightly={path}/nightly"""


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    parser.groups["Data"].add_argument(
        "folder",
        nargs="?",
        metavar="DIR",
        help="Write the files to this folder (default: demo-output; with --tables: demo-tables)",
    )
    parser.groups["Data"].add_argument("--tables", action="store_true", help="Write tables instead of logs")


def run(args: argparse.Namespace) -> int:
    """Write the files, and print what to try next."""
    from harness_uq.io.example_logs import demo
    from harness_uq.messages.control_characters import escape_lines

    folder = demo(args.folder, tables=args.tables)
    text = _TABLES if args.tables else _LOGS
    print(escape_lines(text.format(folder=folder, path=shlex.quote(str(folder)))))
    return 0
