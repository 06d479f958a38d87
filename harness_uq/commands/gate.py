"""`harness-uq gate`: whether a new system may replace a baseline, for pipelines."""

import argparse
from typing import TYPE_CHECKING

from harness_uq.commands import arguments as _arguments
from harness_uq.commands import shared as _shared
from harness_uq.errors import HarnessUqError

if TYPE_CHECKING:
    from harness_uq.gating.analysis import GateOptions
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


def add(commands: _shared.Commands) -> None:
    """Declare the arguments."""
    summary = "pass, fail or undecided: whether a new system is worse than a baseline by more than a margin"
    parser = _shared.add_command(commands, "gate", summary, epilog=_EPILOG)
    parser.add_argument(
        "new",
        metavar="NEW",
        nargs="+",
        help="runs of the new system; NAME=PATH calls it NAME. With --self-test any runs",
    )
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--baseline", metavar="OLD", help="runs of the system that it would replace")
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
        required=True,
        type=_arguments.margin_of,
        metavar="[METRIC=]M",
        help="largest drop that does not matter, on the scale of the score, such as 0.01; of one metric with METRIC=; "
        "may be repeated",
    )
    parser.add_argument(
        "--gates", type=_arguments.count, default=200, metavar="N", help="of --self-test (default: %(default)s)"
    )
    _shared.add_structure(parser)
    parser.add_argument(
        "--scope",
        choices=["population", "benchmark"],
        default="population",
        help="difference on new questions of the kind, or on exactly these, tried again and again (default: "
        "%(default)s)",
    )
    _shared.add_level(parser)
    _shared.add_seed(parser)
    _shared.add_format(parser, ["table", "markdown", "json"])


def run(args: argparse.Namespace) -> int:
    """Read, decide, print."""
    try:
        plugins = _shared.load_plugins(args)
        options = _options(args)
        if args.self_test:
            return _self_test(args, options, plugins)
        return _gate(args, options, plugins)
    except _shared.UsageError:
        raise
    except HarnessUqError as error:
        _shared.complain(f"harness-uq: no decision: {error}")
        return BROKEN


def _options(args: argparse.Namespace) -> "GateOptions":
    from harness_uq.comparing.analysis import CompareOptions
    from harness_uq.gating.analysis import GateOptions

    margins = dict(args.margin)
    with _shared.checking_arguments():
        compared = CompareOptions(
            level=args.level,
            margin=margins.pop(None, 0.0),
            scope=args.scope,
            structure=_shared.structure_options(args),
            seed=args.seed,
        )
        return GateOptions(compared, margins)


def _gate(args: argparse.Namespace, options: "GateOptions", plugins: "Plugins") -> int:
    from harness_uq.gating.analysis import gate
    from harness_uq.report.gate_text import gate_as

    if len(args.new) > 1:
        raise _shared.UsageError(f"one NEW is compared with the baseline; got {len(args.new)}")
    readings = [_shared.read_named(argument, plugins) for argument in (args.new[0], args.baseline)]
    if max(_shared.say_reading(reading, plugins) for reading in readings):
        return BROKEN
    _check(options, readings)
    found = gate(readings[0].logs, readings[1].logs, options, plugins=plugins)
    errors = [error for reading in readings for error in _shared.reading_errors(reading)]
    print(gate_as(found, args.format, errors=errors))
    if _shared.say_failures(row.comparison for row in found.rows):
        return BROKEN
    return {"pass": 0, "fail": FAILED, "undecided": UNDECIDED}[found.decision]


def _self_test(args: argparse.Namespace, options: "GateOptions", plugins: "Plugins") -> int:
    from harness_uq.gating.self_test import self_test
    from harness_uq.report.gate_text import self_test_as

    reading = _shared.read(args.new, plugins)
    if _shared.say_reading(reading, plugins):
        return BROKEN
    _check(options, [reading])
    kind = None if args.self_test == "auto" else args.self_test
    found = self_test(reading.logs, options, kind=kind, n=args.gates, seed=args.seed, plugins=plugins)
    print(self_test_as(found, args.format, errors=_shared.reading_errors(reading)))
    return 0 if found.is_kept else FAILED


def _check(options: "GateOptions", readings: "list[Reading]") -> None:
    """Make sure that the tasks, metrics and margins which the arguments name are in the logs.

    Raises
    ------
    UsageError : if one is not
    """
    logs = [log for reading in readings for log in reading.logs]
    _shared.check_names(options.compare.structure, logs)
    metrics = {data.metric for log in logs for data in log.data}
    if unknown := sorted(set(options.margins) - metrics):
        raise _shared.UsageError(f"--margin {unknown[0]}=…: no such metric; there are {', '.join(sorted(metrics))}")
