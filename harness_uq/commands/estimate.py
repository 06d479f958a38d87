"""`harness-uq estimate`: scores of logged runs with intervals."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import asked as _asked
from harness_uq.commands import options as _options
from harness_uq.commands import output as _output
from harness_uq.commands import reading as _reading
from harness_uq.commands import saying as _saying
from harness_uq.commands import scale as _scale

if TYPE_CHECKING:
    from harness_uq.effects.analysis import EffectOptions
    from harness_uq.estimating.analysis import Options
    from harness_uq.logs.labels import Label
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.reading import Reading
    from harness_uq.results.estimate import Estimate


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(commands, "estimate", "scores of logged runs with intervals", epilog=_options.METHODS)
    _options.add_logs(parser)
    _options.add_estimation(parser)
    parser.add_argument(
        "--human",
        metavar="LABELS.csv|METRIC",
        help="correct the scores, taken as a judge's, by a person's of some questions: a table with the columns id and "
        "score (and task, probability), or a metric of the log",
    )
    _options.add_factors(parser, "none, each log by itself")
    _options.add_format(parser, ["table", "json", "csv", "markdown", "latex", "eee"])
    _options.add_paper(parser, grid=True)
    _output.add_plot(parser, "the scores")
    parser.add_argument(
        "--history",
        nargs="+",
        metavar="RUN",
        help="with --scope full: runs of other systems on the whole benchmark, which say how the questions tried "
        "differ from the rest",
    )
    parser.add_argument(
        "--drawn",
        type=Path,
        metavar="FILE",
        help="with --history: the probabilities with which harness-uq subset drew the questions",
    )
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, estimate, print."""
    from harness_uq.effects.analysis import estimates_over
    from harness_uq.errors import HarnessUqError

    _reading.clear_leftovers(args.logs)
    _output.try_plot(args)
    if args.metrics and args.human and not Path(args.human).is_file():
        args.metrics.append(args.human)  # the person's scores are read, not shown
    try:
        plugins = _asked.load_plugins(args)
        options = _asked.estimation_options(args, plugins)
        _check_together(args)
        is_plain = not (args.human or args.history or args.new or args.factors)
        keeps_logs = not is_plain or args.format == "eee"
        found = _scale.scan(args, args.logs, plugins, options if is_plain else None, keeps_logs=keeps_logs)
        reading = replace(found.reading, logs=tuple(_asked.selected(args, [found.reading])))
        _asked.check_names(options.structure, reading.logs)
        if args.human:
            rows = _judged(args.human, reading, options, plugins)
        elif args.history:
            rows = _whole(args, reading, options, plugins)
        elif args.new or args.factors:
            rows = estimates_over(reading.logs, _over_new(args), plugins=plugins)
        else:
            rows = found.rows_of(reading.logs)
    except HarnessUqError as error:
        if args.format == "json":
            print(_text("json", [], [{"path": None, "message": str(error)}]))
        raise
    if args.format == "eee":
        print(_records(rows, reading, plugins))
    elif args.format == "latex":
        print(_latex(args, rows))
    elif text := _text(args.format, rows, _reading.reading_errors(reading)):
        print(text)
    _output.draw_forest(args, rows)
    return max(_reading.say_reading(found.reading, plugins), _saying.say_failures(rows))


def _check_together(args: argparse.Namespace) -> None:
    """Make sure that options which need or exclude one another are so given.

    Raises
    ------
    UsageError : if not
    """
    if args.history and args.scope != "full":
        raise _asked.UsageError("--history helps to estimate the whole benchmark: add --scope full")
    if args.history and args.human:
        raise _asked.UsageError("--human and --history answer different questions: give one of them")
    if (args.new or args.factors) and (args.human or args.history):
        raise _asked.UsageError("--new goes neither with --human nor with --history: give one of them")
    if args.drawn and not args.history:
        raise _asked.UsageError("--drawn goes with --history")


def _whole(args: argparse.Namespace, reading: "Reading", options: "Options", plugins: "Plugins") -> "list[Estimate]":
    """Scores on the whole benchmark, assisted by the history."""
    from harness_uq.estimating.parts import estimate_whole, read_probabilities

    drawn = read_probabilities(args.drawn) if args.drawn else None
    earlier = _scale.read(args, args.history, plugins)
    _reading.say_reading(earlier, plugins)
    with _asked.checking_arguments():
        return estimate_whole(reading.logs, earlier.logs, options, drawn=drawn, plugins=plugins)


def _judged(human: str, reading: "Reading", options: "Options", plugins: "Plugins") -> "list[Estimate]":
    """Scores corrected by the labels of a file, or of a metric.

    Raises
    ------
    UsageError : if there is neither a file nor a metric of that name, or what is asked for is no mean on new questions
    """
    from harness_uq.estimating.judged import correct
    from harness_uq.logs.labels import read_labels

    metrics = sorted({data.metric for log in reading.logs for data in log.data})
    if Path(human).is_file():
        given: str | tuple[Label, ...] = read_labels(Path(human))
    elif human in metrics or not reading.logs:
        given = human
    else:
        raise _asked.UsageError(f"--human {human}: no such file, and no such metric; there are {', '.join(metrics)}")
    with _asked.checking_arguments():
        return correct(reading.logs, given, options, plugins=plugins)


def _over_new(args: argparse.Namespace) -> "EffectOptions":
    """What `--new` and `--factor` ask for, which is the mean over new levels and nothing else.

    Raises
    ------
    UsageError : beside another method, scope, estimand or kind of interval
    """
    asked = (("uq", "bayes"), ("scope", "population"), ("estimand", "mean"), ("interval", "quantile"))
    for name, only in asked:
        if getattr(args, name) not in (only, None):
            raise _asked.UsageError(f"--new is about the mean over new levels, --{name} {only}; leave --{name} out")
    return _asked.effect_options(args)


def _records(rows: "Sequence[Estimate]", reading: "Reading", plugins: "Plugins") -> str:
    """Records of Every Eval Ever, one a line."""
    import time

    from harness_uq.plugins.reading import task_logs
    from harness_uq.report.every_eval_ever import eee_lines, eee_records

    return eee_lines(eee_records(rows, task_logs(reading.logs, plugins), when=time.time()))


def _latex(args: argparse.Namespace, rows: "Sequence[Estimate]") -> str:
    from harness_uq.report.latex import results_latex

    with _asked.checking_arguments():
        return results_latex(rows, _asked.paper_of(args), args.layout).strip("\n")


def _text(form: str, rows: "Sequence[Estimate]", errors: "Sequence[Mapping[str, str | None]]") -> str:
    from harness_uq.report.tabular import estimates_csv, estimates_json, estimates_markdown
    from harness_uq.report.text import estimates_table

    printers = {
        "table": lambda: estimates_table(rows),
        "json": lambda: estimates_json(rows, errors=errors),
        "csv": lambda: estimates_csv(rows),
        "markdown": lambda: estimates_markdown(rows),
    }
    return printers[form]().strip("\n")
