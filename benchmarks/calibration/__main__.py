"""Simulate the coverage and width of the intervals: `python -m benchmarks.calibration`, from a checkout."""

import argparse
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import msgspec

from benchmarks.calibration import readme_figure, runner
from benchmarks.calibration.default_changes import beside
from benchmarks.calibration.results import CalibrationReport, read_report, write_report
from benchmarks.calibration.sbc import run_reliability, run_sbc
from benchmarks.calibration.scenarios import SETTINGS
from benchmarks.calibration.summary import cell_table, figures, page
from benchmarks.calibration.verdicts import alarms
from harness_uq import __version__
from harness_uq.messages.errors import HarnessUqError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EXAMPLES = """examples:
  # Run small simulations of all settings, which takes about a minute
  python -m benchmarks.calibration
  # Simulate the coverage for proportions of 30 and 100 questions
  python -m benchmarks.calibration --setting iid --sizes 30 100
  # Reproduce the published report
  python -m benchmarks.calibration --size standard --jobs 2 --report docs/calibration"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate, print the results and write the report; exit code 1 if a default method raises an alarm."""
    parser = _parser()
    args = parser.parse_args(arguments)
    try:
        return _run(args, parser)
    except HarnessUqError as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        print(f"error: Cannot write {error.filename}: {error.strerror}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.calibration",
        description="Simulate the coverage and width of the intervals.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--setting",
        nargs="+",
        choices=list(SETTINGS),
        default=list(SETTINGS),
        metavar="NAME",
        help="Simulate only these settings; an unknown name prints a list of all settings (default: all)",
    )
    add(
        "--sizes",
        nargs="+",
        type=_count,
        metavar="N",
        help="Simulate only these numbers of questions (default: all numbers of each setting)",
    )
    add(
        "--from",
        type=Path,
        dest="earlier",
        metavar="FILE",
        help="Read the results of an earlier run instead of running simulations",
    )
    add(
        "--methods",
        nargs="+",
        metavar="NAME",
        help="Compare only these methods with the default method (default: all methods)",
    )
    add(
        "--levels",
        nargs="+",
        type=_level,
        metavar="P",
        help="Evaluate intervals at these nominal levels (default: the levels of published studies)",
    )
    add(
        "--size",
        choices=["smoke", "standard"],
        default="smoke",
        help="Run for about a minute (smoke) or for about half an hour (standard) (default: %(default)s)",
    )
    add("--no-sbc", action="store_true", help="Skip simulation-based calibration")
    add("--seed", type=int, default=0, metavar="N", help="Set the random seed (default: %(default)s)")
    add("--report", type=Path, metavar="DIR", help="Write results.json and figures to DIR, and the report to DIR.md")
    add(
        "--beside",
        type=Path,
        metavar="FILE",
        help="Compare the results of the default methods with those in an earlier report",
    )
    add("--readme-figure", type=Path, metavar="FILE", help="Write the figure of the README to an SVG file and exit")
    add("--format", choices=["table", "json"], default="table", help="Set the output format (default: %(default)s)")
    add(
        "--jobs",
        type=_count,
        default=1,
        metavar="N",
        help="Run the simulations in N parallel processes (default: %(default)s)",
    )
    add("--keep", type=Path, metavar="FILE", help="Save each result to FILE, and resume from FILE if it exists")
    return parser


def _count(text: str) -> int:
    if (n := int(text)) < 1:
        raise ValueError
    return n


def _level(text: str) -> float:
    if not 0 < (level := float(text)) < 1:
        raise ValueError
    return level


def _run(args: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    for path in (args.report and args.report / "results.json", args.keep, args.readme_figure):
        if path:
            _try_file(path)
    if args.readme_figure:
        _write_figure(args.readme_figure, readme_figure.showcase(args.seed))
        return 0
    former = read_report(args.beside).cells if args.beside else ()
    report = read_report(args.earlier) if args.earlier else _simulated(args, _plan(args, parser))
    report = replace(report, cells=tuple(beside(report.cells, former)))
    if args.report:
        write_report(args.report / "results.json", report)
        for name, figure in figures(report.cells).items():
            _write_figure(args.report / f"{name}.svg", figure)
        args.report.with_suffix(".md").write_text(page(report), encoding="utf-8")
    print(msgspec.json.encode(report).decode() if args.format == "json" else cell_table(report.cells))
    raised = alarms(report.cells, report.uniformity, report.reliability)
    for text in raised:
        print(f"alarm: {text}", file=sys.stderr)
    return 1 if raised else 0


def _plan(args: argparse.Namespace, parser: argparse.ArgumentParser) -> runner.SimulationPlan:
    """The plan of the simulation; a method or number of questions that no setting has is an error of the arguments."""
    everything = runner.SimulationPlan(
        settings=tuple(args.setting),
        size=args.size,
        levels=None if args.levels is None else tuple(args.levels),
        seed=args.seed,
        jobs=args.jobs,
    )
    methods = sorted({method for name in args.setting for method in SETTINGS[name].methods})
    numbers = [cell.parameters.get("N", cell.parameters.get("questions")) for cell in everything.cells()]
    sizes = sorted({int(n) for n in numbers if n is not None})
    for option, values, valid in (("--methods", args.methods, methods), ("--sizes", args.sizes, sizes)):
        if unknown := [value for value in values or () if value not in valid]:
            available = ", ".join(map(str, valid)) or "none"
            parser.error(f"argument {option}: unknown value {unknown[0]!r} (available values: {available})")
    return replace(
        everything,
        methods=None if args.methods is None else tuple(args.methods),
        sizes=None if args.sizes is None else tuple(args.sizes),
    )


def _simulated(args: argparse.Namespace, plan: runner.SimulationPlan) -> CalibrationReport:
    start = time.monotonic()
    cells = runner.run_simulations(plan, kept=args.keep)
    is_whole = not args.no_sbc and set(args.setting) == set(SETTINGS)
    uniformity = tuple(run_sbc(args.size, args.seed)) if is_whole else ()
    reliability = tuple(run_reliability(args.size, args.seed)) if is_whole else ()
    versions = {"harness-uq": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in ("numpy", "scipy")}
    date = datetime.now(UTC).date().isoformat()
    seconds = time.monotonic() - start
    return CalibrationReport(args.size, args.seed, versions, date, seconds, tuple(cells), uniformity, reliability)


def _try_file(path: Path) -> None:
    """Check before the work that a file can be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    TemporaryFile(dir=path.parent).close()


def _write_figure(path: Path, figure: "Figure") -> None:
    """Write an SVG file; equal figures give equal files."""
    from matplotlib import rc_context

    drawn = BytesIO()
    with rc_context({"svg.hashsalt": "harness_uq"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    path.write_bytes(drawn.getvalue())


if __name__ == "__main__":
    sys.exit(main())
