"""`harness-uq plan`: calculate how many questions and trials to run."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from harness_uq.commands import argument_types as _argument_types
from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import auxiliary_data as _auxiliary_data
from harness_uq.commands import emit_results as _emit_results
from harness_uq.commands import loading as _loading
from harness_uq.commands import output_files as _output_files
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser
from harness_uq.errors import UsageError

if TYPE_CHECKING:
    from harness_uq.data.task_log import TaskLog
    from harness_uq.planning.components import Components
    from harness_uq.plugins.manager import Plugins
    from harness_uq.results.grader_plan import GraderPlan
    from harness_uq.results.label_plan import LabelPlan
    from harness_uq.results.plan import Plan
    from harness_uq.structure.structure import StructureOptions

_Plan = TypeVar("_Plan")

USAGE = "[LOG ...] (--difference D | --width W) [options]"
EXAMPLES = (
    ("Calculate how many questions give an interval that is 4 points wide", "harness-uq plan pilot.eval --width 0.04"),
    (
        "Calculate how many questions are needed to detect a difference of 3 points",
        "harness-uq plan new=runs/b old=runs/a --difference 0.03",
    ),
    (
        "Find the best numbers of questions and seeds for a budget",
        "harness-uq plan runs/* --generalize-over seed --price seed=20 --budget 5000",
    ),
)


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_named_logs(parser, nargs="*", details=". Pass runs of one or two systems")
    _shared_options.add_structure(parser)
    _shared_options.add_options(parser, "--use-samples", "--missing", "--treat")
    parser.groups["Data"].add_argument(
        "--labels",
        metavar="FILE|METRIC",
        help="Read human labels of a pilot study from a table or a metric of the log (with --target labels)",
    )
    _auxiliary_data.add_label_probabilities(parser)
    parser.groups["Data"].add_argument(
        "--reference-runs",
        nargs="+",
        metavar="RUN",
        help="Plan an active evaluation on fewer questions from these runs of earlier systems on all questions",
    )
    _add_target(parser)
    _add_costs(parser)
    _add_assumptions(parser)
    _shared_options.add_factors(parser, "question")
    _shared_options.add_options(parser, "--level")
    parser.groups["Method"].add_argument(
        "--power",
        type=_argument_types.level,
        default=0.8,
        metavar="P",
        help="Set the probability of detecting a true difference of D (default: %(default)s)",
    )
    _shared_options.add_options(parser, "--seed")
    _emit_results.add_output(parser)
    parser.groups["Output"].add_argument(
        "--ids",
        type=Path,
        metavar="FILE",
        help="Write a CSV table of the answers to label or to grade (with --target labels or --target graders)",
    )
    _output_files.add_plot(parser, "the precision curves")
    _loading.add_engine(parser)


def _add_target(parser: CommandParser) -> None:
    target = parser.groups["Target"]
    goal = target.add_mutually_exclusive_group()
    goal.add_argument(
        "--difference",
        type=_argument_types.positive,
        metavar="D",
        help="Plan to detect a difference of D between two systems",
    )
    goal.add_argument(
        "--width",
        type=_argument_types.positive,
        metavar="W",
        help="Plan for an interval of width W of a score, or of a difference if --target labels has two systems",
    )
    target.add_argument(
        "--target",
        choices=["questions", "labels", "graders"],
        default="questions",
        help="Plan how many questions to run or to label, or which grader scores which answer (default: %(default)s)",
    )
    target.add_argument("--questions", type=_argument_types.count, metavar="N", help="Plan with exactly N questions")
    target.add_argument(
        "--trials", type=_argument_types.count, metavar="K", help="Plan with exactly K trials per question"
    )


def _add_costs(parser: CommandParser) -> None:
    costs = parser.groups["Costs"]
    costs.add_argument(
        "--budget",
        type=_argument_types.positive,
        metavar="B",
        help="Limit the cost of a run of one system, or the number of its grades (with --target graders), to B",
    )
    costs.add_argument(
        "--cost-question",
        type=_argument_types.not_negative,
        metavar="C",
        help="Set the fixed cost of a question, to which the cost of each trial is added (default: 0)",
    )
    costs.add_argument(
        "--cost-trial", type=_argument_types.positive, metavar="C", help="Set the cost of one trial (default: 1)"
    )
    costs.add_argument(
        "--price",
        type=_argument_types.price,
        action="append",
        default=[],
        dest="prices",
        metavar="NAME=PRICE",
        help="Set the cost of each additional level of the factor NAME, such as prompt=50 (repeatable)",
    )


def _add_assumptions(parser: CommandParser) -> None:
    assumptions = parser.groups["Without a pilot run"]
    assumptions.add_argument(
        "--score",
        type=_argument_types.score,
        metavar="P",
        help="Set the expected score of a task that is graded right or wrong",
    )
    for name, text in (
        ("--variance-between", "Set the variance of the expected score across questions"),
        ("--variance-within", "Set the variance between repeated trials of the same question"),
        ("--difference-variance", "Set the variance of the per-question difference between two systems"),
    ):
        assumptions.add_argument(name, type=_argument_types.not_negative, metavar="V", help=text)
    assumptions.add_argument(
        "--correlation",
        type=_argument_types.correlation,
        metavar="R",
        help="Set the correlation between the expected scores of two systems on the same questions",
    )
    assumptions.add_argument(
        "--design-effect",
        type=_argument_types.positive,
        default=1.0,
        metavar="F",
        help="Set the design effect of clustering (default: %(default)g)",
    )


def run(args: argparse.Namespace) -> int:
    """Read the pilot, plan, print."""
    _auxiliary_data.check_label_probabilities(args)
    if args.reference_runs:
        return _plan_active(args)
    if args.target == "labels":
        return _label(args)
    if args.target == "graders":
        return _plan_graders(args)
    if args.labels or args.ids:
        raise UsageError("--labels requires --target labels, and --ids requires --target labels or --target graders.")
    with _emit_results.emitting(args, "allocations" if args.generalize_over else "plans") as emitter:
        return _allocate(args, emitter) if args.generalize_over else _plan(args, emitter)


def _plan(args: argparse.Namespace, emitter: _emit_results.Emitter) -> int:
    from harness_uq.options import Options
    from harness_uq.planning.plan import plan

    with _argument_values.checking_arguments():
        options = Options(
            difference=args.difference,
            width=args.width,
            questions=args.questions,
            trials=args.trials,
            level=args.level,
            power=args.power,
            cost_question=args.cost_question,
            cost_trial=args.cost_trial,
            budget=args.budget,
            structure=_argument_values.structure_options(args),
        )
    _output_files.try_plot(args)
    pilot = _pilot(args, args.logs, options.structure) if args.logs else None
    if pilot is not None and not pilot.logs:
        emitter.emit_errors(pilot.errors)
        return 1
    if pilot is not None:
        plans = plan(pilot.logs, options, plugins=pilot.plugins)
    else:
        with _argument_values.checking_arguments():
            components = _components(args)
        plans = plan(options=options, components=components)
    emitter.emit({"plans": plans}, pilot.errors if pilot else ())
    if args.plot:
        _draw([plan for plan in plans if plan.rows], args.plot)
    return pilot.failed if pilot else 0


def _plan_active(args: argparse.Namespace) -> int:
    """Plan an evaluation on actively chosen questions."""
    from harness_uq.active.plan import plan_active
    from harness_uq.options import Options

    unsupported = (
        *(args.logs, args.labels, args.ids, args.difference, args.trials, args.budget, args.generalize_over, args.plot),
        args.target != "questions",
    )
    if any(unsupported):
        raise UsageError("--reference-runs supports --width, --questions, --level and --seed, and no other logs.")
    with _emit_results.emitting(args, "active_plans") as emitter:
        structure = _argument_values.structure_options(args)
        reference = _pilot(args, args.reference_runs, structure)
        if not reference.logs:
            emitter.emit_errors(reference.errors)
            return 1
        with _argument_values.checking_arguments():
            options = Options(
                width=args.width, questions=args.questions, level=args.level, seed=args.seed, structure=structure
            )
            plans = plan_active(reference.logs, options, plugins=reference.plugins)
        emitter.emit({"active_plans": plans}, reference.errors)
    return max(reference.failed, 0 if all(plan.rows for plan in plans) else 1)


def _label(args: argparse.Namespace) -> int:
    """Plan which answers people should label."""
    from harness_uq.options import Options
    from harness_uq.planning.labels import plan_labels

    if not (args.logs and args.labels) or args.generalize_over or args.plot:
        raise UsageError(
            "--target labels requires logs and a pilot of labels (--labels), and supports neither --generalize-over "
            "nor --plot."
        )

    def plans_of(pilot: _Pilot, structure: "StructureOptions") -> "Sequence[LabelPlan]":
        options = Options(
            width=args.width,
            difference=args.difference,
            level=args.level,
            power=args.power,
            seed=args.seed,
            structure=structure,
        )
        column = args.inclusion_probabilities
        plans = plan_labels(pilot.logs, args.labels, options, inclusion_probabilities=column, plugins=pilot.plugins)
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
    from harness_uq.graders.plan import plan_graders
    from harness_uq.options import Options

    unsupported = (
        args.labels,
        args.difference,
        args.width,
        args.questions,
        args.trials,
        args.generalize_over,
        args.plot,
    )
    if not (args.logs and args.budget) or any(unsupported):
        raise UsageError(
            "--target graders requires logs and the number of grades (--budget), and supports --seed and --ids."
        )

    def plans_of(pilot: _Pilot, structure: "StructureOptions") -> "Sequence[GraderPlan]":
        options = Options(budget=int(args.budget), seed=args.seed, structure=structure)
        return plan_graders(pilot.logs, options, plugins=pilot.plugins)

    plans, failed = _emit_plans(args, "grader_plans", plans_of)
    columns = ("question", "task", "system", "grader", "score")
    _write_ids(args.ids, columns, [row for plan in plans for row in plan.template], n_names=4)
    return max(failed, 0 if all(plan.designs for plan in plans) else 1)


def _emit_plans(
    args: argparse.Namespace, kind: str, plans_of: "Callable[[_Pilot, StructureOptions], Sequence[_Plan]]"
) -> "tuple[Sequence[_Plan], int]":
    """Read the pilot, print its plans, and return them with the exit code of reading; no plans without a pilot."""
    if args.ids:
        _output_files.try_file(args.ids)
    with _emit_results.emitting(args, kind) as emitter:
        structure = _argument_values.structure_options(args)
        pilot = _pilot(args, args.logs, structure)
        if not pilot.logs:
            emitter.emit_errors(pilot.errors)
            return (), 1
        with _argument_values.checking_arguments():
            plans = plans_of(pilot, structure)
        emitter.emit({kind: plans}, pilot.errors)
    return plans, pilot.failed


def _write_ids(path: Path | None, columns: "Sequence[str]", rows: "Sequence[tuple[str, ...]]", *, n_names: int) -> None:
    """Write the answers to label or to grade, if a file is wanted and there are any."""
    if path and rows:
        _output_files.write_file(path, _table(columns, rows, n_names=n_names))


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


@dataclass(frozen=True)
class _Pilot:
    """The runs that were read, and what could not be."""

    logs: "list[TaskLog]"
    plugins: "Plugins"
    failed: int
    errors: list[Mapping[str, object]]


def _pilot(args: argparse.Namespace, paths: Sequence[str], structure: "StructureOptions") -> _Pilot:
    plugins = _argument_values.plugins_of_command(args)
    readings = [scan.reading for scan in _loading.scan_all_named(args, paths, plugins)]
    failed = _loading.report_read_errors(*readings)
    errors = _loading.reading_errors(*readings)
    logs = _argument_values.select_logs(args, readings)
    _argument_values.check_names(structure, logs)
    return _Pilot(logs, plugins, failed, errors)


def _allocate(args: argparse.Namespace, emitter: _emit_results.Emitter) -> int:
    """Allocate a budget to questions and levels of the factors that `--generalize-over` names."""
    from harness_uq.variance_components.budget_allocation import splits

    if args.plot or args.difference is not None or not args.logs:
        raise UsageError(
            "--generalize-over requires logs and --budget or --width, and supports neither --difference nor --plot."
        )
    with _argument_values.checking_arguments():
        options = replace(
            _argument_values.effect_options(args),
            budget=args.budget,
            width=args.width,
            cost_question=args.cost_question,
            cost_trial=args.cost_trial,
            price=dict(args.prices),
            questions=args.questions,
            trials=args.trials,
        )
    pilot = _pilot(args, args.logs, options.structure)
    if not pilot.logs:
        emitter.emit_errors(pilot.errors)
        return 1
    emitter.emit({"allocations": splits(pilot.logs, options, plugins=pilot.plugins)}, pilot.errors)
    return pilot.failed


def _components(args: argparse.Namespace) -> "Components":
    from harness_uq.errors import DataError
    from harness_uq.planning.components import Components

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
    from harness_uq.errors import DataError
    from harness_uq.plots.planning import precision_curve

    if len(plans) != 1:
        names = ", ".join(dict.fromkeys(f"{plan.task} {plan.metric}" for plan in plans))
        raise DataError(
            f"--plot draws one plan, but there are {len(plans)}: {names}. Select one, for example with --task."
        )
    _output_files.write_figure(path, precision_curve(plans[0]), tight=True)
