"""`harness-uq history`: follow the scores of repeated runs over time."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import Page, named_logs
from harness_uq.options import Option

if TYPE_CHECKING:
    from harness_uq.io.plugins.manager import Plugins
    from harness_uq.io.readers import Reading

CHANGED = 3

USAGE = "LOG|STORE [LOG|STORE ...] [options]"
EXAMPLES = (
    ("Show the scores of nightly runs, and report changes", "harness-uq history nightly/"),
    (
        "Write a page with plots and tables of one task",
        "harness-uq history nightly/ --task gsm8k --output history.html",
    ),
    ("Fail in a scheduled job if a score changed", "harness-uq history nightly/ --fail-if-changed"),
)
DETAILS = """\
You can run this command after every new run: if the true score of a system
never changes, a false alarm occurs in at most 5 % of all histories (with
--level P, in at most 1 - P). Runs of the same system are ordered by the times
in their logs.
"""
EXIT_CODES = "0 success, 1 failure, 2 wrong arguments, 3 changed (on request)"


_ARGUMENTS = (
    named_logs(),
    Option(
        name="fail_if_changed",
        group="Output",
        is_flag=True,
        help="Exit with code 3 if any score changed; of any system on any task",
    ),
)


def _readings(args: argparse.Namespace, plugins: "Plugins") -> "list[Reading]":
    """Read the stores one by one, and the other paths as for `estimate`."""
    from harness_uq.analyses.store.read import is_store

    stores = [path for path in args.logs if is_store(_load.parse_named_path(path)[1])]
    others = [path for path in args.logs if path not in stores]
    scans = _load.scan_all_named(args, others, plugins)
    stored = [_load.read_runs_or_store(args, path, plugins) for path in stores]
    return [*(scan.reading for scan in scans), *stored]


def run(args: argparse.Namespace) -> int:
    """Read, analyze, print."""
    from harness_uq.analyses.history import history

    _emit.try_plot(args)
    with _emit.emitting(args, "histories") as emitter:
        found = _load.load(args, _readings)
        if not found.logs:
            return emitter.emit_errors(found.errors)
        rows = history(found.logs, found.options, plugins=found.plugins)
        emitter.emit({"histories": rows}, found.errors)
    if args.plot:
        from harness_uq.results.history import plot_history

        _emit.write_figure(Path(args.plot), plot_history([row for row in rows if row.runs]))
    return CHANGED if args.fail_if_changed and any(row.shifts for row in rows) else found.failed


PAGES = {
    "history": Page(
        usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS, details=DETAILS, exit_codes=EXIT_CODES
    )
}
