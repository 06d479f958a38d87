"""`harness-uq plan`: calculate how many questions and trials to run."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from harness_uq.commands import console as _console
from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import Page, named_logs
from harness_uq.messages.errors import UsageError
from harness_uq.options import CORRELATION, NOT_NEGATIVE, POSITIVE, SCORE, Option

if TYPE_CHECKING:
    from harness_uq.analyses.pilot_variances import Components
    from harness_uq.results.plan import GraderPlan, LabelPlan, Plan

_Plan = TypeVar("_Plan")

USAGE = "[LOG ...] (--difference D | --width W | ...) [options]"
EXAMPLES = (
    ("Calculate how many questions give an interval that is 4 points wide", "harness-uq plan pilot.eval --width 0.04"),
    (
        "Calculate how many questions are needed to detect a difference of 3 points",
        "harness-uq plan new=runs/b old=runs/a --difference 0.03",
    ),
    (
        "Find the best numbers of questions and seeds for a budget",
        "harness-uq plan runs/* --generalize-over seed --budget 5000 \\\n--cost-per-level seed=20",
    ),
)
DETAILS = """\
Other plans:
  plan LOG --labels FILE --target labels      which answers people should label
  plan LOG --budget B --target graders        which grader scores which answer
  plan subset TASK --reference-runs RUN ...   draw a subset of questions
"""


_NUMBERS = ("score", "variance_between", "variance_within", "difference_variance")
_ARGUMENTS = (
    named_logs(nargs="*", details=". Pass runs of one or two systems"),
    Option(
        name="target",
        group="Target",
        choices=("questions", "labels", "graders"),
        default="questions",
        help="Plan questions, labels or graders; see the list of other plans below (default: {default})",
    ),
    Option(
        name="score",
        group="Without a pilot run",
        rule=SCORE,
        metavar="P",
        help="Set the expected score; of a task that is graded right or wrong",
    ),
    *(
        Option(name=name, group="Without a pilot run", rule=NOT_NEGATIVE, metavar="V", help=text, basic="")
        for name, text in (
            ("variance_between", "Set the variance of the expected score across questions"),
            ("variance_within", "Set the variance between repeated trials of the same question"),
            ("difference_variance", "Set the variance of the per-question difference between two systems"),
        )
    ),
    Option(
        name="correlation",
        group="Without a pilot run",
        rule=CORRELATION,
        metavar="R",
        help="Set the correlation between the scores of two systems on the same questions (default with one pilot: 0)",
        basic="",
    ),
    Option(
        name="design_effect",
        group="Without a pilot run",
        rule=POSITIVE,
        default=1.0,
        metavar="F",
        help="Set the design effect of clustering (default: {default})",
        basic="",
    ),
    Option(
        name="designs",
        group="Output",
        is_flag=True,
        help="Also print other designs; the table shows the precision of other numbers of questions and trials",
    ),
    Option(
        name="ids",
        group="Output",
        read=Path,
        metavar="FILE",
        help="Write a CSV table of the answers to label or to grade (with --target labels or --target graders)",
        basic="",
    ),
)


def run(args: argparse.Namespace) -> int:
    """Read the pilot, plan, print."""
    if args.reference_runs:
        return _plan_active(args)
    if args.target == "labels":
        return _label(args)
    if args.target == "graders":
        return _plan_graders(args)
    if args.labels or args.ids:
        raise UsageError("--labels requires --target labels, and --ids requires --target labels or --target graders.")
    with _emit.emitting(args, "allocations" if args.generalize_over else "plans") as emitter:
        return _allocate(args, emitter) if args.generalize_over else _plan(args, emitter)


def _plan(args: argparse.Namespace, emitter: _emit.Emitter) -> int:
    from harness_uq.analyses.plan import plan

    options = _load.options_of(args)
    has_target = any(getattr(options, name) is not None for name in ("difference", "width", "budget", "questions"))
    if not (has_target or args.logs or args.designs or args.plot):
        raise UsageError("No target given. Add --difference D, --width W, --budget B or --questions N.")
    _emit.try_plot(args)
    pilot = _load.load(args) if args.logs else None
    if pilot is not None and not pilot.logs:
        return emitter.emit_errors(pilot.errors)
    if pilot is not None:
        given = [name for name in _NUMBERS if getattr(args, name) is not None]
        if given:
            raise UsageError(
                f"--{given[0].replace('_', '-')} cannot be combined with logs, which determine the variances."
            )
        with _console.checking_arguments():
            plans = plan(pilot.logs, options, correlation=args.correlation, plugins=pilot.plugins)
    else:
        with _console.checking_arguments():
            components = _components(args)
        if options.difference is not None and components.difference is None:
            raise UsageError("--difference requires --correlation, --difference-variance or the logs of a pilot run.")
        if options.width is not None and components.between is None:
            raise UsageError("--width requires --score, --variance-between or the logs of a pilot run.")
        plans = plan(options=options, components=components)
    emitter.emit({"plans": plans}, pilot.errors if pilot else ())
    if args.plot:
        _draw([plan for plan in plans if plan.rows], Path(args.plot))
    return pilot.failed if pilot else 0


def _plan_active(args: argparse.Namespace) -> int:
    """Plan an evaluation on actively chosen questions."""
    from harness_uq.analyses.active.plan import plan_active

    unsupported = (
        *(args.logs, args.labels, args.ids, args.difference, args.trials, args.budget, args.generalize_over, args.plot),
        args.target != "questions",
    )
    if any(unsupported):
        raise UsageError("--reference-runs supports --width, --questions, --level and --seed, and no other logs.")
    with _emit.emitting(args, "active_plans") as emitter:
        args.logs = args.reference_runs
        reference = _load.load(args)
        if not reference.logs:
            return emitter.emit_errors(reference.errors)
        with _console.checking_arguments():
            plans = plan_active(reference.logs, reference.options, plugins=reference.plugins)
        emitter.emit({"active_plans": plans}, reference.errors)
    return max(reference.failed, 0 if all(plan.rows for plan in plans) else 1)


def _label(args: argparse.Namespace) -> int:
    """Plan which answers people should label."""
    from harness_uq.analyses.plan_labels import plan_labels

    if missing := [name for name, given in (("logs", args.logs), ("--labels", args.labels)) if not given]:
        raise UsageError(f"--target labels requires {missing[0]}.")
    if args.generalize_over or args.plot:
        raise UsageError("--target labels supports neither --generalize-over nor --plot.")

    def plans_of(pilot: _load.Loaded) -> "Sequence[LabelPlan]":
        column = args.inclusion_probabilities
        plans = plan_labels(
            pilot.logs, args.labels, pilot.options, inclusion_probabilities=column, plugins=pilot.plugins
        )
        if args.ids and len({plan.task for plan in plans}) < len(plans):
            scores = ", ".join(f"{plan.metric} of {plan.task}" for plan in plans)
            raise UsageError(
                f"--ids requires one score per task, because an answer has only one probability of a label, but there "
                f"are several: {scores}. Select one with --metric or --filter."
            )
        return plans

    plans, failed = _emit_plans(args, "label_plans", plans_of)
    columns = ("id", "task", "system", "score", "probability")
    _write_ids(args.ids, columns, [row for plan in plans for row in plan.template], n_names=3)
    return max(failed, 0 if all(plan.strata for plan in plans) else 1)


def _plan_graders(args: argparse.Namespace) -> int:
    """Plan which of several graders scores which answer."""
    from harness_uq.analyses.plan_graders import plan_graders

    unsupported = (
        args.labels,
        args.difference,
        args.width,
        args.questions,
        args.trials,
        args.generalize_over,
        args.plot,
    )
    if missing := [name for name, given in (("logs", args.logs), ("--budget", args.budget)) if not given]:
        raise UsageError(f"--target graders requires {missing[0]}.")
    if any(unsupported):
        raise UsageError("--target graders supports only --budget, --seed and --ids.")

    def plans_of(pilot: _load.Loaded) -> "Sequence[GraderPlan]":
        return plan_graders(pilot.logs, pilot.options, plugins=pilot.plugins)

    plans, failed = _emit_plans(args, "grader_plans", plans_of)
    columns = ("question", "task", "system", "grader", "score")
    _write_ids(args.ids, columns, [row for plan in plans for row in plan.template], n_names=4)
    return max(failed, 0 if all(plan.designs for plan in plans) else 1)


def _emit_plans(
    args: argparse.Namespace, kind: str, plans_of: "Callable[[_load.Loaded], Sequence[_Plan]]"
) -> "tuple[Sequence[_Plan], int]":
    """Read the pilot, print its plans, and return them with the exit code of reading; no plans without a pilot."""
    if args.ids:
        _emit.try_file(args.ids)
    with _emit.emitting(args, kind) as emitter:
        pilot = _load.load(args)
        if not pilot.logs:
            return (), emitter.emit_errors(pilot.errors)
        with _console.checking_arguments():
            plans = plans_of(pilot)
        emitter.emit({kind: plans}, pilot.errors)
    return plans, pilot.failed


def _write_ids(path: Path | None, columns: "Sequence[str]", rows: "Sequence[tuple[str, ...]]", *, n_names: int) -> None:
    """Write the answers to label or to grade, if a file is wanted and there are any."""
    if path and rows:
        _emit.write_file(path, _table(columns, rows, n_names=n_names))


def _table(columns: "Sequence[str]", rows: "Sequence[tuple[str, ...]]", *, n_names: int) -> bytes:
    """A CSV table with empty scores where they have to be entered; the first `n_names` columns are names."""
    import csv
    from io import StringIO

    from harness_uq.output.sanitize import csv_field

    table = StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([*map(csv_field, row[:n_names]), *row[n_names:]] for row in dict.fromkeys(rows))
    return table.getvalue().encode()


def _allocate(args: argparse.Namespace, emitter: _emit.Emitter) -> int:
    """Allocate a budget to questions and levels of the factors that `--generalize-over` names."""
    from harness_uq.analyses.budget_allocation import splits

    if not args.logs:
        raise UsageError("--generalize-over requires logs.")
    if args.plot or args.difference is not None:
        raise UsageError("--generalize-over supports neither --difference nor --plot.")
    options = _load.options_of(args)
    if options.budget is options.width is None:
        raise UsageError("--generalize-over requires --budget or --width.")
    if options.budget is not None and options.width is not None:
        raise UsageError("--budget cannot be combined with --width.")
    pilot = _load.load(args)
    if not pilot.logs:
        return emitter.emit_errors(pilot.errors)
    emitter.emit({"allocations": splits(pilot.logs, options, plugins=pilot.plugins)}, pilot.errors)
    return pilot.failed


def _components(args: argparse.Namespace) -> "Components":
    from harness_uq.analyses.pilot_variances import Components
    from harness_uq.messages.errors import DataError

    between = args.variance_between
    if between is None and args.score is not None:
        between = args.score * (1 - args.score) - (args.variance_within or 0.0)
    difference = args.difference_variance
    if difference is None and args.correlation is not None and between is not None:
        difference = 2 * between * (1 - args.correlation)
    if between is None and difference is None:
        raise DataError("No pilot run given. Give its logs, or --score, --variance-between or --difference-variance.")
    return Components(
        between=between,
        within=args.variance_within,
        difference=difference,
        design_effect=args.design_effect,
        design_effect_difference=args.design_effect,
    )


def _draw(plans: "list[Plan]", path: Path) -> None:
    from harness_uq.messages.errors import DataError
    from harness_uq.results.plan import precision_curve

    if len(plans) != 1:
        names = ", ".join(dict.fromkeys(f"{plan.task} {plan.metric}" for plan in plans))
        raise DataError(
            f"--plot draws one plan, but there are {len(plans)}: {names}. Select one, for example with --task."
        )
    _emit.write_figure(path, precision_curve(plans[0]), tight=True)


PAGES = {"plan": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS, details=DETAILS)}
