"""Scores assisted by what no log holds: a person's labels, or earlier systems on the whole benchmark."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import asked as _asked
from harness_uq.commands import reading as _reading
from harness_uq.commands import scale as _scale

if TYPE_CHECKING:
    from harness_uq.estimating.analysis import Options
    from harness_uq.logs.data import TaskLog
    from harness_uq.logs.labels import Label
    from harness_uq.plugins.manager import Plugins
    from harness_uq.results.estimate import Estimate


def add_assistance(parser: argparse.ArgumentParser) -> None:
    """Declare `--human`, `--history` and `--drawn`."""
    parser.add_argument(
        "--human",
        metavar="LABELS.csv|METRIC",
        help="correct the scores, taken as a judge's, by a person's of some questions: a table with the columns id and "
        "score (and task, probability), or a metric of the log",
    )
    parser.add_argument(
        "--history",
        nargs="+",
        metavar="RUN",
        help="with --scope full: runs of other systems on the whole benchmark, which say how the questions tried "
        "differ from the rest",
    )
    parser.add_argument(
        "--drawn",
        metavar="FILE",
        help="with --history: the probabilities with which harness-uq subset drew the questions",
    )


def check_assistance(args: argparse.Namespace) -> None:
    """Make sure that options which need or exclude one another are so given; a person's metric is read with the others.

    Raises
    ------
    UsageError : if not
    """
    if args.history and args.scope != "full":
        raise _asked.UsageError("--history helps to estimate the whole benchmark: add --scope full")
    if args.history and args.human:
        raise _asked.UsageError("--human and --history answer different questions: give one of them")
    if args.drawn and not args.history:
        raise _asked.UsageError("--drawn goes with --history")
    if args.metrics and args.human and not _is_file(args.human):
        args.metrics.append(args.human)  # the person's scores are read, not shown


def is_assisted(args: argparse.Namespace) -> bool:
    """Whether labels or a history were given."""
    return bool(args.human or args.history)


def runs_alone(args: argparse.Namespace, logs: "Sequence[TaskLog]") -> "list[TaskLog]":
    """The logs without tables of labels or of the history that lie among them."""
    given = {Path(path).absolute() for path in (args.human, *(args.history or ())) if path}
    return [log for log in logs if Path(log.source.path).absolute() not in given]


def assisted(
    args: argparse.Namespace, logs: "Sequence[TaskLog]", options: "Options", plugins: "Plugins"
) -> "list[Estimate]":
    """Scores corrected by the labels, or on the whole benchmark by the help of the history."""
    return _judged(args.human, logs, options, plugins) if args.human else _whole(args, logs, options, plugins)


def _whole(
    args: argparse.Namespace, logs: "Sequence[TaskLog]", options: "Options", plugins: "Plugins"
) -> "list[Estimate]":
    from harness_uq.estimating.parts import estimate_whole, read_probabilities

    drawn = read_probabilities(args.drawn) if args.drawn else None
    earlier = _scale.read(args, args.history, plugins)
    _reading.say_reading(earlier, plugins)
    with _asked.checking_arguments():
        return estimate_whole(logs, earlier.logs, options, drawn=drawn, plugins=plugins)


def _judged(human: str, logs: "Sequence[TaskLog]", options: "Options", plugins: "Plugins") -> "list[Estimate]":
    """Scores corrected by the labels of a file, or of a metric.

    Raises
    ------
    UsageError : if there is neither a file nor a metric of that name, or what is asked for is no mean on new questions
    """
    from harness_uq.estimating.judged import correct
    from harness_uq.logs.labels import read_labels

    metrics = sorted({data.metric for log in logs for data in log.data})
    if _is_file(human):
        given: str | tuple[Label, ...] = read_labels(human)
    elif human in metrics or not logs:
        given = human
    else:
        raise _asked.UsageError(f"--human {human}: no such file, and no such metric; there are {', '.join(metrics)}")
    with _asked.checking_arguments():
        return correct(logs, given, options, plugins=plugins)


def _is_file(human: str) -> bool:
    """Whether labels are in a file of this name, rather than in a metric; a store is asked when it is read."""
    from harness_uq.logs.places import is_file, is_remote

    return is_remote(human) or is_file(human)
