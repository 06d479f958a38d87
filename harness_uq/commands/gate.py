"""`harness-uq gate`: whether a new system may replace a baseline, for pipelines."""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness_uq.commands import arguments as _arguments
from harness_uq.commands import asked as _asked
from harness_uq.commands import options as _options
from harness_uq.commands import reading as _reading
from harness_uq.commands import saying as _saying
from harness_uq.commands import scale as _scale
from harness_uq.errors import HarnessUqError, StructureError

if TYPE_CHECKING:
    from harness_uq.gating.analysis import GateOptions
    from harness_uq.logs.data import TaskLog
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.reading import Reading

FAILED, UNDECIDED, BROKEN = 1, 3, 4

_EPILOG = """\
decisions:
  fail       NEW is worse than OLD by more than the margin on some score, allowing for how many there are (Holm)
  pass       NEW is not worse by more than the margin: over all tasks, or on each task of a metric that no other has
  undecided  neither is shown, or NEW lacks a task that OLD has

exit codes: 0 pass, 1 fail, 3 undecided, 4 no decision (a log cannot be read, nothing to compare), 2 wrong arguments;
with --self-test 0, or 1 where false failures are shown to be more frequent than promised
"""


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    summary = "pass, fail or undecided: whether a new system is worse than a baseline by more than a margin"
    parser = _options.add_command(commands, "gate", summary, epilog=_EPILOG)
    parser.add_argument(
        "new",
        metavar="NEW",
        nargs="+",
        help="runs of the new system; NAME=PATH calls it NAME. With --self-test any runs, or a store",
    )
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument(
        "--baseline",
        metavar="OLD",
        help="runs of the system that it would replace, or a store of them, as --store makes it",
    )
    mode.add_argument(
        "--self-test",
        nargs="?",
        const="auto",
        choices=["auto", "runs", "epochs", "halves"],
        help="compare each system with itself and print how often the gate fails: pairs of its runs, trials of each "
        "question on two sides, or halves of the questions (default: the first that the logs allow)",
    )
    parser.add_argument(
        "--margin",
        action="append",
        default=[],
        type=_arguments.task_margin,
        dest="margins",
        metavar="[NAME=]D",
        help="largest drop that does not matter, on the scale of the score, such as 0.01; for one task or one metric "
        "with its name; may be repeated",
    )
    parser.add_argument(
        "--gates", type=_arguments.count, default=200, metavar="N", help="of --self-test (default: %(default)s)"
    )
    _options.add_structure(parser)
    _options.add_scope_of_difference(parser)
    _options.add_level(parser)
    _options.add_seed(parser)
    _options.add_format(parser, ["table", "markdown", "json"])
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, decide, print."""
    try:
        plugins = _asked.load_plugins(args)
        return _self_test(args, plugins) if args.self_test else _gate(args, plugins)
    except StructureError as error:
        raise _asked.UsageError(str(error)) from error
    except _asked.UsageError:
        raise
    except HarnessUqError as error:
        _saying.complain(f"harness-uq: no decision: {error}")
        return BROKEN


def _gate(args: argparse.Namespace, plugins: "Plugins") -> int:
    from harness_uq.gating.analysis import gate
    from harness_uq.logs.selection import Selection
    from harness_uq.report.gate_text import gate_as

    if len(args.new) > 1:
        raise _asked.UsageError(f"one NEW is compared with the baseline; got {len(args.new)}")
    read = _scale.scan_named(args, args.new[0], plugins).reading
    readings = [read, _baseline(args, read, plugins)]
    if max(_reading.say_reading(reading, plugins) for reading in readings):
        return BROKEN
    names = (None, _scale.named(args.baseline)[0])
    new, baseline = (_side(args, *side) for side in zip(("the new runs", "the baseline"), readings, names, strict=True))
    with _asked.checking_arguments():
        Selection(models=tuple(args.models)).check([log for reading in readings for log in reading.logs])
    found = gate(new, baseline, _gate_options(args, [*new, *baseline]), plugins=plugins)
    errors = [error for reading in readings for error in _reading.reading_errors(reading)]
    print(gate_as(found, args.format, errors=errors))
    if _saying.say_failures(row.comparison for row in found.rows):
        return BROKEN
    return {"pass": 0, "fail": FAILED, "undecided": UNDECIDED}[found.decision]


def _baseline(args: argparse.Namespace, new: "Reading", plugins: "Plugins") -> "Reading":
    """What the runs of the baseline gave; of a store what it holds, but for the new runs themselves.

    Raises
    ------
    HarnessUqError : if a store cannot be read, or holds nothing else
    """
    from harness_uq.plugins.reading import Reading
    from harness_uq.scaling.held import held_logs, is_store

    store = _scale.named(args.baseline)[1]
    if not is_store(store):
        return _scale.scan_named(args, args.baseline, plugins).reading
    own = {log.source for log in new.logs}
    older = tuple(log for log in held_logs(store) if log.source not in own)
    if not older:
        raise HarnessUqError(f"the store {store} holds the new runs and no others, so there is no baseline")
    return Reading(older)


def _side(args: argparse.Namespace, whose: str, reading: "Reading", name: str | None) -> "list[TaskLog]":
    """What is asked for of one side, called `name` if it has one; of several systems the one that --model names.

    Raises
    ------
    UsageError : if several systems are left, or a pattern matches nothing
    """
    from harness_uq.logs.selection import matches

    systems = sorted({log.system for log in reading.logs})
    asked = replace(_asked.selection_of(args), models=())
    with _asked.checking_arguments():
        asked.check(reading.logs)
    chosen = [system for system in systems if len(systems) == 1 or matches(system, args.models)]
    if len(chosen) != 1:
        raise _asked.UsageError(
            f"{whose} must be of one system, and there are {', '.join(systems)}: name one with "
            f"--model {shlex.quote(systems[0])}"
        )
    kept = replace(asked, models=tuple(chosen)).of(reading.logs)
    return [log if name is None else replace(log, system=name) for log in kept]


def _self_test(args: argparse.Namespace, plugins: "Plugins") -> int:
    from harness_uq.gating.self_test import self_test
    from harness_uq.plugins.reading import Reading
    from harness_uq.report.gate_text import self_test_as
    from harness_uq.scaling.held import held_logs, is_store

    is_kept = len(args.new) == 1 and is_store(args.new[0])
    reading = Reading(held_logs(args.new[0])) if is_kept else _scale.read(args, args.new, plugins)
    if _reading.say_reading(reading, plugins):
        return BROKEN
    logs = _asked.selected(args, [reading])
    kind = None if args.self_test == "auto" else args.self_test
    found = self_test(logs, _gate_options(args, logs), kind=kind, n=args.gates, seed=args.seed, plugins=plugins)
    print(self_test_as(found, args.format, errors=_reading.reading_errors(reading)))
    return 0 if found.is_kept else FAILED


def _gate_options(args: argparse.Namespace, logs: "Sequence[TaskLog]") -> "GateOptions":
    """How to decide; a margin's name is a task's, or else a metric's.

    Raises
    ------
    UsageError : if a task, a metric or a field that the arguments name is not in the logs
    """
    from harness_uq.comparing.analysis import OVERALL, CompareOptions
    from harness_uq.gating.analysis import GateOptions

    margin, named = _asked.margins_of(args)
    structure = _asked.structure_options(args)
    _asked.check_names(structure, logs)
    tasks = {OVERALL, *(log.task for log in logs)}
    metrics = {data.metric for log in logs for data in log.data}
    if not (args.margins or margin or named):
        raise _asked.UsageError("name the largest drop that does not matter: --margin 0.01, or in the settings file")
    if unknown := sorted({name for name, _ in args.margins if name} - tasks - metrics):
        there = ", ".join(sorted(tasks | metrics))
        raise _asked.UsageError(f"--margin {unknown[0]}=…: neither a task nor a metric; there are {there}")
    with _asked.checking_arguments():
        compared = CompareOptions(
            level=args.level,
            margin=margin,
            margins={name: drop for name, drop in named.items() if name in tasks},
            scope=args.scope,
            structure=structure,
            seed=args.seed,
        )
        return GateOptions(compared, {name: drop for name, drop in named.items() if name in metrics - tasks})
