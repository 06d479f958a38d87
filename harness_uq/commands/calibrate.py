"""`harness-uq calibrate`: simulated coverage and width of the intervals."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import _shared

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness_uq.calibration.results import CellResult, Report

_SETTINGS = (
    "iid",
    "bounded",
    "clustered",
    "nested",
    "independent",
    "paired",
    "paired_clustered",
    "f1",
    "benchmark",
    "pass_k",
    "groups",
)

_EPILOG = """\
examples:
  harness-uq calibrate                                         everything, smoke size: about a minute
  harness-uq calibrate --setting iid --sizes 30 100            exact coverage of one proportion
  harness-uq calibrate --size standard --jobs 2 --report docs/calibration
  harness-uq calibrate --from docs/calibration/results.json --report docs/calibration   draw the page again
"""


def add(commands: _shared.Commands) -> None:
    """Declare the arguments."""
    parser = _shared.add_command(commands, "calibrate", "simulated coverage and width of the intervals", epilog=_EPILOG)
    parser.add_argument(
        "--setting", nargs="+", choices=_SETTINGS, default=list(_SETTINGS), help="kinds of data (default: all)"
    )
    parser.add_argument(
        "--methods", nargs="+", metavar="NAME", help="besides the default of each setting (default: all)"
    )
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="numbers of questions (default: all)")
    parser.add_argument("--levels", nargs="+", type=float, metavar="P", help="nominal levels (default: the papers')")
    parser.add_argument(
        "--size",
        choices=["smoke", "standard"],
        default="smoke",
        help="a minute, or half an hour (default: %(default)s)",
    )
    parser.add_argument("--no-sbc", action="store_true", help="leave simulation-based calibration out")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="JSON lines to resume from and add to")
    parser.add_argument(
        "--from", type=Path, dest="earlier", metavar="FILE", help="take the results of an earlier report"
    )
    parser.add_argument("--report", type=Path, metavar="DIR", help="write results.json, figures, and DIR.md beside DIR")
    parser.add_argument("--readme-figure", type=Path, metavar="FILE", help="draw the figure of the README")
    _shared.add_seed(parser)
    _shared.add_format(parser, ["table", "json"])


def run(args: argparse.Namespace) -> int:
    """Simulate, print, and write what was asked for; exit code 1 where a default method raised an alarm."""
    from harness_uq.calibration.summary import cell_table
    from harness_uq.calibration.verdicts import alarms

    if args.readme_figure:
        from harness_uq.calibration.showcase import showcase

        _save(showcase(args.seed), args.readme_figure)
        return 0
    report = _report(args)
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
    from harness_uq.calibration.runner import Plan
    from harness_uq.calibration.runner import run as simulate_all
    from harness_uq.calibration.sbc import run_reliability, run_sbc

    if args.earlier:
        return read_report(args.earlier)
    start = time.monotonic()
    plan = Plan(
        settings=tuple(args.setting),
        size=args.size,
        methods=None if args.methods is None else tuple(args.methods),
        levels=None if args.levels is None else tuple(args.levels),
        sizes=None if args.sizes is None else tuple(args.sizes),
        seed=args.seed,
        jobs=args.jobs,
    )
    cells = simulate_all(plan, kept=args.keep, progress=_progress)
    whole = not args.no_sbc and set(args.setting) == set(_SETTINGS)
    uniformity = tuple(run_sbc(args.size, args.seed)) if whole else ()
    reliability = tuple(run_reliability(args.size, args.seed)) if whole else ()
    versions = {"harness-uq": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in ("numpy", "scipy")}
    date = datetime.now(UTC).date().isoformat()
    return Report(args.size, args.seed, versions, date, time.monotonic() - start, tuple(cells), uniformity, reliability)


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

    folder.mkdir(parents=True, exist_ok=True)
    write_report(folder / "results.json", report)
    for name, figure in figures(report.cells).items():
        _save(figure, folder / f"{name}.svg")
    folder.with_suffix(".md").write_text(page(report), encoding="utf-8")


def _save(figure: "Figure", path: Path) -> None:
    """Write a figure; equal figures give equal SVG files."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "harness_uq"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
