"""`harness-uq calibrate`: simulate the coverage and width of the intervals."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import argument_types as _argument_types
from harness_uq.commands import output_files as _output_files
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser
from harness_uq.commands.progress import track
from harness_uq.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from harness_uq.calibration.results import CalibrationReport
    from harness_uq.calibration.runner import SimulationPlan

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
    "new_tasks",
    "judge",
    "subset",
    "crossed",
)


USAGE = "[options]"
EXAMPLES = (
    ("Run small simulations of all settings, which takes about a minute", "harness-uq calibrate"),
    (
        "Simulate the coverage for proportions of 30 and 100 questions",
        "harness-uq calibrate --setting iid --sizes 30 100",
    ),
    ("Reproduce the published report", "harness-uq calibrate --size standard --jobs 2 --report docs/calibration"),
)


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    data = parser.groups["Data"]
    data.add_argument(
        "--setting",
        nargs="+",
        choices=_SETTINGS,
        default=list(_SETTINGS),
        metavar="NAME",
        help="Simulate only these settings; an unknown name prints a list of all settings (default: all)",
    )
    data.add_argument(
        "--sizes",
        nargs="+",
        type=_argument_types.count,
        metavar="N",
        help="Simulate only these numbers of questions (default: all numbers of each setting)",
    )
    data.add_argument(
        "--from",
        type=Path,
        dest="earlier",
        metavar="FILE",
        help="Read the results of an earlier run instead of running simulations",
    )
    method = parser.groups["Method"]
    method.add_argument(
        "--methods",
        nargs="+",
        metavar="NAME",
        help="Compare only these methods with the default method (default: all methods)",
    )
    method.add_argument(
        "--levels",
        nargs="+",
        type=_argument_types.level,
        metavar="P",
        help="Evaluate intervals at these nominal levels (default: the levels of published studies)",
    )
    method.add_argument(
        "--size",
        choices=["smoke", "standard"],
        default="smoke",
        help="Run for about a minute (smoke) or for about half an hour (standard) (default: %(default)s)",
    )
    method.add_argument("--no-sbc", action="store_true", help="Skip simulation-based calibration")
    _shared_options.add_options(parser, "--seed")
    output = parser.groups["Output"]
    output.add_argument(
        "--report",
        type=Path,
        metavar="DIR",
        help="Write results.json and figures to DIR, and the report to the page DIR.md",
    )
    output.add_argument(
        "--beside",
        type=Path,
        metavar="FILE",
        help="Compare the results of the default methods with those in an earlier report",
    )
    output.add_argument(
        "--readme-figure",
        type=_argument_types.figure,
        metavar="FILE",
        help="Write the figure of the README to FILE and exit",
    )
    _shared_options.add_format(parser, ["table", "json"])
    scaling = parser.groups["Scaling"]
    scaling.add_argument(
        "--jobs",
        type=_argument_types.count,
        default=1,
        metavar="N",
        help="Run the simulations in N parallel processes (default: %(default)s)",
    )
    scaling.add_argument(
        "--keep", type=Path, metavar="FILE", help="Save each result to FILE, and resume from FILE after an interruption"
    )


def run(args: argparse.Namespace) -> int:
    """Simulate, print the results and write the report; exit code 1 if a default method raises an alarm."""
    from dataclasses import replace

    from harness_uq.calibration.default_changes import beside
    from harness_uq.calibration.results import read_report
    from harness_uq.calibration.summary import cell_table
    from harness_uq.calibration.verdicts import alarms

    if args.readme_figure:
        from harness_uq.calibration.readme_figure import showcase

        _output_files.try_file(args.readme_figure)
        _output_files.write_figure(args.readme_figure, showcase(args.seed))
        return 0
    if args.report:
        _output_files.prepare_folder(args.report)
    earlier = read_report(args.beside).cells if args.beside else ()
    report = _report(args)
    report = replace(report, cells=tuple(beside(report.cells, earlier)))
    if args.report:
        _write(report, args.report)
    print(_json(report) if args.format == "json" else cell_table(report.cells))
    raised = alarms(report.cells, report.uniformity, report.reliability)
    for text in raised:
        print(f"alarm: {text}", file=sys.stderr)
    return 1 if raised else 0


def _report(args: argparse.Namespace) -> "CalibrationReport":
    import platform
    import time
    from datetime import UTC, datetime
    from importlib.metadata import version

    from harness_uq._version import __version__
    from harness_uq.calibration.results import CalibrationReport, read_report
    from harness_uq.calibration.runner import run_simulations as simulate_all
    from harness_uq.calibration.sbc import run_reliability, run_sbc

    if args.earlier:
        return read_report(args.earlier)
    start, plan = time.monotonic(), _plan(args)
    if args.keep:
        _output_files.prepare_folder(args.keep.parent)
        _output_files.try_file(args.keep)
    cells = simulate_all(plan, kept=args.keep, progress=lambda results, n_cells: track(results, "Simulating", n_cells))
    whole = not args.no_sbc and set(args.setting) == set(_SETTINGS)
    uniformity = tuple(run_sbc(args.size, args.seed)) if whole else ()
    reliability = tuple(run_reliability(args.size, args.seed)) if whole else ()
    versions = {"harness-uq": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in ("numpy", "scipy")}
    date = datetime.now(UTC).date().isoformat()
    seconds = time.monotonic() - start
    return CalibrationReport(args.size, args.seed, versions, date, seconds, tuple(cells), uniformity, reliability)


def _plan(args: argparse.Namespace) -> "SimulationPlan":
    """The plan of the simulation.

    Raises
    ------
    UsageError : if no setting has the method or number of questions
    """
    from dataclasses import replace

    from harness_uq.calibration.runner import SimulationPlan
    from harness_uq.calibration.scenarios import SETTINGS

    everything = SimulationPlan(
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
            raise UsageError(unknown_name(f"value of {option}", unknown[0], valid, plural="values"))
    return replace(
        everything,
        methods=None if args.methods is None else tuple(args.methods),
        sizes=None if args.sizes is None else tuple(args.sizes),
    )


def _json(report: "CalibrationReport") -> str:
    import msgspec

    return msgspec.json.encode(report).decode()


def _write(report: "CalibrationReport", folder: Path) -> None:
    from harness_uq.calibration.results import write_report
    from harness_uq.calibration.summary import figures, page

    with _output_files.reporting_write_errors(folder):
        write_report(folder / "results.json", report)
    for name, figure in figures(report.cells).items():
        _output_files.write_figure(folder / f"{name}.svg", figure)
    _output_files.write_file(folder.with_suffix(".md"), page(report).encode())
