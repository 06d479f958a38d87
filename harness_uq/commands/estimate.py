"""`harness-uq estimate`: scores of logged runs with intervals."""

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness_uq.commands import _shared

if TYPE_CHECKING:
    from harness_uq.results import Estimate


def add(commands: _shared.Commands) -> None:
    """Declare the arguments."""
    parser = _shared.add_command(commands, "estimate", "scores of logged runs with intervals", epilog=_shared.METHODS)
    _shared.add_logs(parser)
    _shared.add_estimation(parser)
    _shared.add_format(parser, ["table", "json", "csv", "markdown", "latex"])


def run(args: argparse.Namespace) -> int:
    """Read, estimate, print."""
    from harness_uq.analysis import estimate
    from harness_uq.errors import HarnessUqError
    from harness_uq.plugins import load_plugins

    try:
        plugins = load_plugins()
        options = _shared.estimation_options(args, plugins)
        reading = _shared.read(args.logs, plugins)
        _shared.check_names(options.structure, reading.logs)
        rows = estimate(reading.logs, options, plugins=plugins)
    except HarnessUqError as error:
        if args.format == "json":
            print(_text("json", [], [{"path": None, "message": str(error)}]))
        raise
    if text := _text(args.format, rows, _shared.reading_errors(reading)):
        print(text)
    return _shared.say_reading(reading, plugins)


def _text(form: str, rows: "Sequence[Estimate]", errors: "Sequence[Mapping[str, str | None]]") -> str:
    from harness_uq.report.latex import estimates_latex
    from harness_uq.report.tabular import estimates_csv, estimates_json, estimates_markdown
    from harness_uq.report.text import estimates_table

    printers = {
        "table": lambda: estimates_table(rows),
        "json": lambda: estimates_json(rows, errors=errors),
        "csv": lambda: estimates_csv(rows),
        "markdown": lambda: estimates_markdown(rows),
        "latex": lambda: estimates_latex(rows),
    }
    return printers[form]().strip("\n")
