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
    from harness_uq.io.human_labels import without_labels

    with _emit.emitting(args, *_LISTS) as emitter:
        plugins = _load.plugins_of_command(args)
        readings = [scan.reading for scan in _load.scan_all_named(args, args.logs, plugins)]
        failed = _load.report_read_errors(*readings)
        errors = _load.reading_errors(*readings)
        logs = _load.select_logs(args, readings, _load.label_metrics(args.labels))
        logs = without_labels(logs, args.labels) if args.labels else logs
        if not logs:
            emitter.emit_errors(errors)
            return 1
        options = _load.options_of(args)
        _load.check_names(options.structure, logs)
        with _console.checking_arguments():
            found = assess_graders(
                logs, args.labels, options, inclusion_probabilities=args.inclusion_probabilities, plugins=plugins
            )
        emitter.emit({name: getattr(found, name) for name in _LISTS}, errors)
    return failed


PAGES = {"grader": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS, details=DETAILS)}
