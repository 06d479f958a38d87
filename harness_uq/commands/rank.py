"""`harness-uq rank`: rank systems and show how certain the ranks are."""

import argparse

from harness_uq.commands import console as _console
from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import Page, named_logs

USAGE = "LOG [LOG ...] [options]"
_BRIEF = ("table", "markdown")  # formats that show single tasks only on request
EXAMPLES = (
    ("Rank all systems in a folder", "harness-uq rank runs/*"),
    ("Choose the names of the systems", "harness-uq rank large=runs/a small=runs/b tiny=runs/c"),
    ("Print a LaTeX table with one row per system", "harness-uq rank runs/* --format latex --layout grid"),
)


_ARGUMENTS = (named_logs(),)


def run(args: argparse.Namespace) -> int:
    """Read, rank, print."""
    from harness_uq.analyses.joint_tasks import comparable_runs, joint_tasks
    from harness_uq.analyses.overall.joint_scores import overall_tasks
    from harness_uq.analyses.overall.rank import rank_tasks
    from harness_uq.analyses.rank import rankings_of
    from harness_uq.inference.compared_runs import tables_named_alike
    from harness_uq.inference.split_groups import split_by
    from harness_uq.io.readers import task_logs

    _emit.try_plot(args)
    with _emit.emitting(args, "overall", "rankings") as emitter:
        found = _load.load(args, labels=args.labels)
        if not found.logs:
            return emitter.emit_errors(found.errors)
        logs, plugins = tables_named_alike(found.logs), found.plugins
        options = _load.of_logged_tasks(args, found.options, logs)
        with _console.checking_arguments():
            runs = comparable_runs(
                task_logs(logs, plugins),
                options,
                plugins,
                labels=args.labels,
                inclusion_probabilities=args.inclusion_probabilities,
            )
            selection = overall_tasks(runs, options, plugins)
        has_overall = len(selection.tasks) > 1
        parts = {part for task in selection.tasks for part in task.parts}
        is_brief = has_overall and not (args.per_task or args.plot) and emitter.output_format.name in _BRIEF
        tasks = joint_tasks(runs, options, plugins, parts if is_brief else None)
        with _console.checking_arguments():
            combined = rank_tasks(tasks, selection, options) if has_overall else None
        overall = [one] if (one := _load.with_note_unless_requested(args, combined)) else []
        shows_tasks = not (is_brief and overall and overall[0].systems)
        if shows_tasks and is_brief:
            tasks = joint_tasks(runs, options, plugins)
        rankings = [*rankings_of(tasks, options)] if shows_tasks else []
        if args.by:
            parts_of_tasks = split_by(task_logs(logs, plugins), args.by, options.structure, plugins)
            groups = comparable_runs(parts_of_tasks, options, plugins)
            rankings += rankings_of(joint_tasks(groups, options, plugins), options)
        emitter.emit({"overall": overall, **({"rankings": rankings} if rankings else {})}, found.errors)
    _emit.draw_results(args, overall, rankings)
    return found.failed


PAGES = {"rank": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS)}
