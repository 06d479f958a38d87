"""`harness-uq rank`: rank systems and show how certain the ranks are."""

import argparse

from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import auxiliary_data as _auxiliary_data
from harness_uq.commands import emit_results as _emit_results
from harness_uq.commands import loading as _loading
from harness_uq.commands import output_files as _output_files
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser
from harness_uq.errors import UsageError

USAGE = "LOG [LOG ...] [options]"
_BRIEF = ("table", "markdown")  # formats that show single tasks only on request
EXAMPLES = (
    ("Rank all systems in a folder", "harness-uq rank runs/*"),
    ("Choose the names of the systems", "harness-uq rank large=runs/a small=runs/b tiny=runs/c"),
    ("Print a LaTeX table with one row per system", "harness-uq rank runs/* --format latex --layout grid"),
)


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_named_logs(parser)
    _shared_options.add_structure(parser)
    _shared_options.add_options(parser, "--use-samples", "--missing", "--treat", "--resources", "--prices")
    _auxiliary_data.add_labels_of_systems(parser)
    _shared_options.add_options(parser, "--scope")
    parser.groups["Method"].add_argument(
        "--correction",
        choices=["holm", "bh"],
        default="holm",
        help="Correct p-values of the paired tests by Holm's or the Benjamini-Hochberg method (default: %(default)s)",
    )
    _shared_options.add_options(parser, "--level", "--seed")
    _shared_options.add_overall(parser)
    _shared_options.add_options(parser, "--by")
    parser.groups["Overall result"].add_argument(
        "--generalize-over",
        choices=["task"],
        help="Rank systems by their scores on new tasks (default: on new questions of the same tasks)",
    )
    parser.groups["Output"].add_argument(
        "--per-task", action="store_true", help="Also print the ranking on each task if there is an overall ranking"
    )
    _emit_results.add_output(parser, layout=True)
    _shared_options.add_options(parser, "--percent")
    _output_files.add_plot(parser, "the ranks")
    _loading.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, rank, print."""
    from harness_uq.inference.split_groups import split_by
    from harness_uq.options import Options
    from harness_uq.overall.rank import overall_tasks, rank_tasks
    from harness_uq.plugins.readers import task_logs
    from harness_uq.ranking.rank import comparable_runs, joint_tasks, rankings_of

    _auxiliary_data.check_label_probabilities(args)
    if args.labels and args.by:
        raise UsageError("--labels cannot be combined with --by, which does not correct scores.")
    _output_files.try_plot(args)
    with _emit_results.emitting(args, "overall", "rankings") as emitter:
        plugins = _argument_values.plugins_of_command(args)
        readings = [scan.reading for scan in _loading.scan_all_named(args, args.logs, plugins)]
        failed = _loading.report_read_errors(*readings)
        errors = _loading.reading_errors(*readings)
        options = Options(
            level=args.level,
            scope=args.scope,
            correction=args.correction,
            structure=_argument_values.structure_options(args),
            seed=args.seed,
        )
        logs = _argument_values.select_logs(args, readings, _auxiliary_data.label_metrics(args.labels))
        if not logs:
            emitter.emit_errors(errors)
            return 1
        _argument_values.check_names(options.structure, logs)
        overall_options = _argument_values.overall_options(
            args, generalizes_over_tasks=args.generalize_over is not None
        )
        with _argument_values.checking_arguments():
            runs = comparable_runs(
                task_logs(logs, plugins),
                options,
                plugins,
                labels=args.labels,
                inclusion_probabilities=args.inclusion_probabilities,
            )
            selection = overall_tasks(runs, overall_options)
        has_overall = len(selection.tasks) > 1
        parts = {part for task in selection.tasks for part in task.parts}
        is_brief = has_overall and not (args.per_task or args.plot) and emitter.output_format.name in _BRIEF
        tasks = joint_tasks(runs, options, plugins, parts if is_brief else None)
        with _argument_values.checking_arguments():
            combined = rank_tasks(tasks, selection, overall_options, options) if has_overall else None
        overall = [one] if (one := _argument_values.with_note_unless_requested(args, combined)) else []
        shows_tasks = not (is_brief and overall and overall[0].systems)
        if shows_tasks and is_brief:
            tasks = joint_tasks(runs, options, plugins)
        rankings = [*rankings_of(tasks, options)] if shows_tasks else []
        if args.by:
            parts_of_tasks = split_by(task_logs(logs, plugins), args.by, options.structure, plugins)
            groups = comparable_runs(parts_of_tasks, options, plugins)
            rankings += rankings_of(joint_tasks(groups, options, plugins), options)
        emitter.emit({"overall": overall, **({"rankings": rankings} if rankings else {})}, errors)
    _output_files.draw_results(args, overall, rankings)
    return failed
