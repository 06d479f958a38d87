"""`harness-uq grader`: assess graders by human labels and by each other."""

import argparse

from harness_uq.commands import console as _console
from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import Page, named_logs

USAGE = "LOG [LOG ...] [options]"
EXAMPLES = (
    ("Measure how well the grader agrees with people", "harness-uq grader logs/ --labels labels.csv"),
    ("Compare the graders whose scores the logs contain", "harness-uq grader logs/ --metric 'grader_*'"),
    (
        "Test whether the grader prefers its own family of models",
        "harness-uq grader logs/ --labels labels.csv --same-family 'openai/*'",
    ),
)
DETAILS = """\
The command treats each metric of the logs as a grader, except for the metric
that contains the labels. If a run was scored several times, its logs contain
several graders of the same answers.
"""
_LISTS = ("agreements", "grader_differences", "self_preferences", "panels")


_ARGUMENTS = (named_logs(),)


def run(args: argparse.Namespace) -> int:
    """Read, assess, print."""
    from harness_uq.analyses.assess_graders import assess_graders

    with _emit.emitting(args, *_LISTS) as emitter:
        found = _load.load(args, labels=args.labels)
        if not found.logs:
            return emitter.emit_errors(found.errors)
        with _console.checking_arguments():
            column = args.inclusion_probabilities
            assessed = assess_graders(
                found.logs, args.labels, found.options, inclusion_probabilities=column, plugins=found.plugins
            )
        emitter.emit(assessed.lists, found.errors)
    return found.failed


PAGES = {"grader": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS, details=DETAILS)}
