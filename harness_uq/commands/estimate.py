"""`harness-uq estimate`: scores of logged runs with intervals."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness_uq.commands import asked as _asked
from harness_uq.commands import assisted as _assisted
from harness_uq.commands import options as _options
from harness_uq.commands import output as _output
from harness_uq.commands import reading as _reading
from harness_uq.commands import saying as _saying
from harness_uq.commands import scale as _scale

if TYPE_CHECKING:
    from harness_uq.effects.analysis import EffectOptions
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.reading import Reading
    from harness_uq.results.estimate import Estimate


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(commands, "estimate", "scores of logged runs with intervals", epilog=_options.METHODS)
    _options.add_logs(parser)
    _options.add_estimation(parser)
    _options.add_factors(parser, "none, each log by itself")
    _options.add_format(parser, ["table", "json", "csv", "markdown", "latex", "eee"])
    _options.add_paper(parser, grid=True)
    _output.add_plot(parser, "the scores")
    _assisted.add_assistance(parser)
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, estimate, print."""
    from harness_uq.effects.analysis import estimates_over
    from harness_uq.errors import HarnessUqError

    _reading.clear_leftovers(args.logs)
    _output.try_plot(args)
    try:
        plugins = _asked.load_plugins(args)
        options = _asked.estimation_options(args, plugins)
        _assisted.check_assistance(args)
        is_over_new = _is_over_new(args)
        is_plain = not (is_over_new or _assisted.is_assisted(args))
        keeps_logs = not is_plain or args.format == "eee"
        found = _scale.scan(args, args.logs, plugins, options if is_plain else None, keeps_logs=keeps_logs)
        reading = replace(found.reading, logs=tuple(_asked.selected(args, [found.reading])))
        _asked.check_names(options.structure, reading.logs)
        if _assisted.is_assisted(args):
            rows = _assisted.assisted(args, _assisted.runs_alone(args, reading.logs), options, plugins)
        elif is_over_new:
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


def _is_over_new(args: argparse.Namespace) -> bool:
    """Whether scores on new levels of something are asked for.

    Raises
    ------
    UsageError : if labels or a history were given, too
    """
    asked = bool(args.new or args.factors)
    if asked and _assisted.is_assisted(args):
        raise _asked.UsageError("--new goes neither with --human nor with --history: give one of them")
    return asked


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
