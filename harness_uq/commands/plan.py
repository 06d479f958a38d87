"""`harness-uq plan`: what to run next."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import arguments as _arguments
from harness_uq.commands import asked as _asked
from harness_uq.commands import options as _options
from harness_uq.commands import output as _output
from harness_uq.commands import reading as _reading
from harness_uq.commands import scale as _scale

if TYPE_CHECKING:
    from harness_uq.logs.data import TaskLog
    from harness_uq.planning.components import Components
    from harness_uq.plugins.manager import Plugins
    from harness_uq.results.plan import Plan
    from harness_uq.structure.facts import StructureOptions

_EPILOG = """\
examples:
  harness-uq plan pilot.eval --width 0.04                 questions for an interval 4 points wide
  harness-uq plan new=runs/b old=runs/a --difference 0.03 questions to find 3 points between two systems
  harness-uq plan runs/a --difference 0.03 --questions 200   trials instead of questions
  harness-uq plan runs/a runs/b --cost-question 8 --cost-trial 1 --budget 5000   more questions or more trials?
  harness-uq plan runs/seed-* --new question,seed --price seed=20 --budget 5000   more seeds or more questions?
  harness-uq plan --difference-variance 0.111 --difference 0.03   from numbers alone
"""


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(
        commands, "plan", "what to run next: questions and trials for a target", epilog=_EPILOG
    )
    parser.add_argument(
        "logs", nargs="*", metavar="LOG", help="pilot runs of one system, or of two to plan a comparison; NAME=PATH too"
    )
    _options.add_structure(parser)
    _add_target(parser)
    _options.add_factors(parser, "questions alone")
    parser.add_argument(
        "--price",
        type=_arguments.price,
        action="append",
        default=[],
        dest="prices",
        metavar="NAME=PRICE",
        help="price of one more level of a new factor, such as prompt=50; may be repeated",
    )
    _add_numbers(parser)
    _options.add_level(parser)
    parser.add_argument("--power", type=_arguments.level, default=0.8, help="chance to find it (default: %(default)s)")
    _output.add_plot(parser, "the curves")
    _options.add_format(parser, ["table", "json", "csv", "markdown", "latex"])
    _scale.add_engine(parser)


def _add_target(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("target and design")
    target = group.add_mutually_exclusive_group()
    target.add_argument(
        "--difference", type=_arguments.positive, metavar="D", help="smallest difference of two systems to be found"
    )
    target.add_argument("--width", type=_arguments.positive, metavar="W", help="width of one score's interval")
    group.add_argument("--questions", type=_arguments.count, metavar="N", help="fixed number of questions")
    group.add_argument("--trials", type=_arguments.count, metavar="K", help="fixed number of trials a question")
    group.add_argument(
        "--cost-question", type=_arguments.not_negative, metavar="C", help="price of a question, however often tried"
    )
    group.add_argument("--cost-trial", type=_arguments.positive, metavar="C", help="price of one trial")
    group.add_argument("--budget", type=_arguments.positive, metavar="B", help="what a system's run may cost")


def _add_numbers(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("from numbers, without a pilot")
    group.add_argument("--score", type=_arguments.score, metavar="P", help="expected score of a right-or-wrong task")
    for name, text in (
        ("--variance-between", "of expected scores over questions"),
        ("--variance-within", "of one trial around its question's score"),
        ("--difference-variance", "over questions, of the difference"),
    ):
        group.add_argument(name, type=_arguments.not_negative, metavar="V", help=text)
    group.add_argument(
        "--correlation",
        type=_arguments.correlation,
        metavar="R",
        help="of two systems' expected scores over questions",
    )
    group.add_argument(
        "--design-effect", type=_arguments.positive, default=1.0, metavar="F", help="of clusters (default: 1)"
    )


def run(args: argparse.Namespace) -> int:
    """Read the pilot, plan, print."""
    from harness_uq.planning.analysis import PlanOptions, plan
    from harness_uq.report.plan_text import plans_as

    if args.new:
        return _split(args)
    with _asked.checking_arguments():
        options = PlanOptions(
            difference=args.difference,
            width=args.width,
            n_questions=args.questions,
            n_trials=args.trials,
            level=args.level,
            power=args.power,
            cost_question=args.cost_question,
            cost_trial=args.cost_trial,
            budget=args.budget,
            structure=_asked.structure_options(args),
        )
    _output.try_plot(args)
    pilot = _pilot(args, options.structure) if args.logs else None
    if pilot is not None:
        plans = plan(pilot.logs, options, plugins=pilot.plugins)
    else:
        with _asked.checking_arguments():
            components = _components(args)
        plans = plan(options=options, components=components)
    print(plans_as(plans, args.format, errors=pilot.errors if pilot else ()))
    if args.plot:
        _draw([plan for plan in plans if plan.rows], args.plot)
    return pilot.failed if pilot else 0


@dataclass(frozen=True)
class _Pilot:
    """The runs that were read, and what could not be."""

    logs: "list[TaskLog]"
    plugins: "Plugins"
    failed: int
    errors: list[Mapping[str, str]]


def _pilot(args: argparse.Namespace, structure: "StructureOptions") -> _Pilot:
    plugins = _asked.load_plugins(args)
    readings = [found.reading for found in _scale.scan_all_named(args, args.logs, plugins)]
    failed = max(_reading.say_reading(reading, plugins) for reading in readings)
    errors = [error for reading in readings for error in _reading.reading_errors(reading)]
    logs = _asked.selected(args, readings)
    _asked.check_names(structure, logs)
    return _Pilot(logs, plugins, failed, errors)


def _split(args: argparse.Namespace) -> int:
    """Split a budget over questions and levels of the factors that `--new` names."""
    from harness_uq.effects.split import SplitOptions, splits
    from harness_uq.report.split_text import splits_as

    if args.plot or args.difference is not None or not args.logs:
        raise _asked.UsageError("--new needs logs, and plans for a --budget or a --width; it has no --plot")
    with _asked.checking_arguments():
        asked = SplitOptions(
            effects=_asked.effect_options(args),
            budget=args.budget,
            width=args.width,
            cost_question=args.cost_question or 0.0,
            cost_trial=args.cost_trial or 1.0,
            prices=dict(args.prices),
            n_questions=args.questions,
            n_trials=args.trials,
        )
    pilot = _pilot(args, asked.effects.structure)
    print(splits_as(splits(pilot.logs, asked, plugins=pilot.plugins), args.format, errors=pilot.errors))
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
        raise DataError("give the logs of a pilot run, or --score, --variance-between or --difference-variance")
    return Components(
        between=between,
        within=args.variance_within,
        difference=difference,
        design_effect=args.design_effect,
        design_effect_difference=args.design_effect,
    )


def _draw(plans: "list[Plan]", path: Path) -> None:
    from harness_uq.errors import DataError
    from harness_uq.plots import precision_curve

    if len(plans) != 1:
        names = ", ".join(dict.fromkeys(f"{plan.task} {plan.metric}" for plan in plans))
        raise DataError(f"--plot draws one plan; these are {len(plans)}: {names}. Name a log of one task")
    _output.write_figure(path, precision_curve(plans[0]), tight=True)
