"""`harness-uq calibrate`: simulated coverage and width of the intervals."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import arguments as _arguments
from harness_uq.commands import asked as _asked
from harness_uq.commands import options as _options
from harness_uq.commands import output as _output

if TYPE_CHECKING:
    from harness_uq.calibration.results import CellResult, Report
    from harness_uq.calibration.runner import Plan

_SETTINGS = (
    "iid",
    "bounded",
    "unbounded",
    "full",
    "clustered",
    "nested",
    "independent",
    "paired",
    "paired_clustered",
    "f1",
    "benchmark",
    "pass_k",
    "groups",
    "judge",
    "subset",
    "crossed",
)

_EPILOG = """\
examples:
  harness-uq calibrate                                         everything, smoke size: about a minute
  harness-uq calibrate --setting iid --sizes 30 100            exact coverage of one proportion
  harness-uq calibrate --size standard --jobs 2 --report docs/calibration
  harness-uq calibrate --from docs/calibration/results.json --report docs/calibration   draw the page again
"""


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(
        commands, "calibrate", "simulated coverage and width of the intervals", epilog=_EPILOG
    )
    parser.add_argument(
        "--setting", nargs="+", choices=_SETTINGS, default=list(_SETTINGS), help="kinds of data (default: all)"
    )
    parser.add_argument(
        "--methods", nargs="+", metavar="NAME", help="besides the default of each setting (default: all)"
    )
    parser.add_argument(
        "--sizes",
        nargs="+",
        type=_arguments.count,
        metavar="N",
        help="numbers of questions, in settings that vary them (default: all)",
    )
    parser.add_argument(
        "--levels", nargs="+", type=_arguments.level, metavar="P", help="nominal levels (default: the papers')"
    )
    parser.add_argument(
        "--size",
        choices=["smoke", "standard"],
        default="smoke",
        help="a minute, or half an hour (default: %(default)s)",
    )
    parser.add_argument("--no-sbc", action="store_true", help="leave simulation-based calibration out")
    parser.add_argument("--jobs", type=_arguments.count, default=1, help="processes (default: %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="JSON lines to resume from and add to")
    parser.add_argument(
        "--from", type=Path, dest="earlier", metavar="FILE", help="take the results of an earlier report"
    )
    parser.add_argument(
        "--beside", type=Path, metavar="FILE", help="put the defaults of an earlier report beside those of this one"
    )
    parser.add_argument("--report", type=Path, metavar="DIR", help="write results.json, figures, and DIR.md beside DIR")
    parser.add_argument("--readme-figure", type=_arguments.figure, metavar="FILE", help="draw the figure of the README")
    _options.add_seed(parser)
    _options.add_format(parser, ["table", "json"])


def run(args: argparse.Namespace) -> int:
    """Simulate, print, and write what was asked for; exit code 1 where a default method raised an alarm."""
    from dataclasses import replace

    from harness_uq.calibration.before import beside
    from harness_uq.calibration.results import read_report
    from harness_uq.calibration.summary import cell_table
    from harness_uq.calibration.verdicts import alarms

    if args.readme_figure:
        from harness_uq.calibration.showcase import showcase

        _output.try_file(args.readme_figure)
        _output.write_figure(args.readme_figure, showcase(args.seed))
        return 0
    if args.report:
        _output.make_folder(args.report)
    earlier = read_report(args.beside).cells if args.beside else ()
    report = _report(args)
    report = replace(report, cells=tuple(beside(report.cells, earlier)))
    if args.report:
        _write(report, args.report)
    print(_json(report) if args.format == "json" else cell_table(report.cells))
    found = alarms(report.cells, report.uniformity, report.reliability)
    for text in found:
        print(f"alarm: {text}", file=sys.stderr)
    return 1 if found else 0


def _report(args: argparse.Namespace) -> "Report":
    import platform
    import time
    from datetime import UTC, datetime
    from importlib.metadata import version

    from harness_uq import __version__
    from harness_uq.calibration.results import Report, read_report
    from harness_uq.calibration.runner import run as simulate_all
    from harness_uq.calibration.sbc import run_reliability, run_sbc

    if args.earlier:
        return read_report(args.earlier)
    start, plan = time.monotonic(), _plan(args)
    if args.keep:
        _output.make_folder(args.keep.parent)
        _output.try_file(args.keep)
    cells = simulate_all(plan, kept=args.keep, progress=_progress)
    whole = not args.no_sbc and set(args.setting) == set(_SETTINGS)
    uniformity = tuple(run_sbc(args.size, args.seed)) if whole else ()
    reliability = tuple(run_reliability(args.size, args.seed)) if whole else ()
    versions = {"harness-uq": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in ("numpy", "scipy")}
    date = datetime.now(UTC).date().isoformat()
    return Report(args.size, args.seed, versions, date, time.monotonic() - start, tuple(cells), uniformity, reliability)


def _plan(args: argparse.Namespace) -> "Plan":
    """What to simulate.

    Raises
    ------
    UsageError : if a method or a number of questions is not among those of the settings
    """
    from dataclasses import replace

    from harness_uq.calibration.runner import Plan
    from harness_uq.calibration.settings import SETTINGS

    everything = Plan(
        settings=tuple(args.setting),
        size=args.size,
        levels=None if args.levels is None else tuple(args.levels),
        seed=args.seed,
        jobs=args.jobs,
    )
    methods = sorted({method for name in args.setting for method in SETTINGS[name].methods})
    numbers = [cell.parameters.get("N", cell.parameters.get("questions")) for cell in everything.cells()]
    sizes = sorted({int(n) for n in numbers if n is not None})
    _check("--methods", args.methods, methods)
    _check("--sizes", args.sizes, sizes)
    return replace(
        everything,
        methods=None if args.methods is None else tuple(args.methods),
        sizes=None if args.sizes is None else tuple(args.sizes),
    )


def _check(option: str, asked: Sequence[str | int] | None, known: Sequence[str | int]) -> None:
    if unknown := [value for value in asked or () if value not in known]:
        there = ", ".join(map(str, known)) or "none to choose from"
        raise _asked.UsageError(f"argument {option}: these settings have no {unknown[0]!r}; there are {there}")


def _progress(results: "Iterable[CellResult]", total: int) -> "Iterable[CellResult]":
    if not sys.stderr.isatty():
        return results
    from rich.console import Console
    from rich.progress import track

    return track(results, description="Simulating", total=total, console=Console(stderr=True), transient=True)


def _json(report: "Report") -> str:
    import msgspec

    return msgspec.json.encode(report).decode()


def _write(report: "Report", folder: Path) -> None:
    from harness_uq.calibration.results import write_report
    from harness_uq.calibration.summary import figures, page

    with _output.writing(folder):
        write_report(folder / "results.json", report)
    for name, figure in figures(report.cells).items():
        _output.write_figure(folder / f"{name}.svg", figure)
    _output.write_file(folder.with_suffix(".md"), page(report).encode())
