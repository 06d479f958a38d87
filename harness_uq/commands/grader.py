"""`harness-uq grader`: assess graders by human labels and by each other."""

import argparse

from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import auxiliary_data as _auxiliary_data
from harness_uq.commands import emit_results as _emit_results
from harness_uq.commands import loading as _loading
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser

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


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_named_logs(parser)
    _shared_options.add_structure(parser)
    data = parser.groups["Data"]
    data.add_argument(
        "--labels",
        metavar="FILE|METRIC",
        help="Compare grades with human labels from a table (columns id, system, score) or a metric of the log",
    )
    _auxiliary_data.add_label_probabilities(parser)
    data.add_argument(
        "--same-family",
        action="append",
        default=[],
        metavar="PATTERN",
        help="Test whether the grader prefers the systems whose names match PATTERN (with --labels, repeatable)",
    )
    _shared_options.add_options(parser, "--by", "--level")
    _emit_results.add_output(parser, more_formats=())
    _loading.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, assess, print."""
    from harness_uq.estimation.auxiliary_data import without_labels
    from harness_uq.graders.assess import assess_graders
    from harness_uq.options import Options

    _auxiliary_data.check_label_probabilities(args)
    with _emit_results.emitting(args, *_LISTS) as emitter:
        plugins = _argument_values.plugins_of_command(args)
        readings = [scan.reading for scan in _loading.scan_all_named(args, args.logs, plugins)]
        failed = _loading.report_read_errors(*readings)
        errors = _loading.reading_errors(*readings)
        logs = _argument_values.select_logs(args, readings, _auxiliary_data.label_metrics(args.labels))
        logs = without_labels(logs, args.labels) if args.labels else logs
        if not logs:
            emitter.emit_errors(errors)
            return 1
        structure = _argument_values.structure_options(args)
        _argument_values.check_names(structure, logs)
        with _argument_values.checking_arguments():
            options = Options(
                by=tuple(args.by), same_family=tuple(args.same_family), level=args.level, structure=structure
            )
            found = assess_graders(
                logs, args.labels, options, inclusion_probabilities=args.inclusion_probabilities, plugins=plugins
            )
        emitter.emit({name: getattr(found, name) for name in _LISTS}, errors)
    return failed
