"""The command line: parse, read, analyse, print."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness_uq.analysis import Options
    from harness_uq.hookspecs import Harness, Run
    from harness_uq.reading import Reading
    from harness_uq.structure import StructureOptions

_DESCRIPTION = """\
Honest uncertainty for LLM evaluations.

Reads what lm-evaluation-harness and Inspect AI logged, finds questions that share material and questions tried
several times, and prints each score with an interval that allows for both.
"""

_EXAMPLES = """\
examples:
  harness-uq estimate results/                          every run under a folder
  harness-uq estimate run.eval --uq wilson --level 0.9  another method, another level
  harness-uq estimate results/ --cluster drop=passage   say what groups the questions of a task
  harness-uq structure run.eval                         what was found, and how it is known
"""

_METHODS = """\
methods (--uq):
  bayes     a posterior chosen by the structure of the scores (default)
  wilson    Wilson's score interval; with clusters or trials by Korn and Graubard's effective sample size
  t, clt    mean and standard error; with clusters or trials the cluster-robust ones
  NAME      one estimator by name, such as beta, clopper-pearson, clustered, clustered-gamma or dirichlet-process;
            a wrong name lists them all
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0 done, 1 some path could not be read, 2 wrong arguments."""
    parser = _parser()
    try:
        args = parser.parse_args(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    return _run(parser, args)


def _run(parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    from harness_uq.errors import HarnessUqError

    commands = {"estimate": _estimate, "structure": _structure}
    try:
        return commands[args.command](args)
    except HarnessUqError as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0


def _parser() -> argparse.ArgumentParser:
    from harness_uq import __version__

    parser = argparse.ArgumentParser(
        prog="harness-uq",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    estimate = _command(commands, "estimate", "scores of logged runs with intervals", epilog=_METHODS)
    _add_structure_arguments(estimate)
    estimate.add_argument("--uq", default="bayes", metavar="METHOD", help="method, see below (default: %(default)s)")
    estimate.add_argument("--level", type=_level, default=0.95, help="coverage of the intervals (default: %(default)s)")
    estimate.add_argument(
        "--scope",
        choices=["population", "benchmark", "full"],
        default="population",
        help="score on new questions of the kind (population), on exactly these questions tried again and again "
        "(benchmark), or on the whole benchmark of a run with --limit (full) (default: %(default)s)",
    )
    estimate.add_argument(
        "--estimand",
        default="mean",
        help="mean, pass@K, pass^K, G-pass@K:TAU, mG-pass@K or maj@K over repeated trials (default: %(default)s)",
    )
    estimate.add_argument(
        "--interval",
        choices=["hdi", "quantile"],
        help="credible interval: highest density or equal tails (default: the method's own, hdi for one score)",
    )
    estimate.add_argument("--seed", type=int, default=0, help="of methods that sample (default: %(default)s)")
    _add_format(estimate, ["table", "json", "csv", "markdown"])
    structure = _command(commands, "structure", "clusters, trials and score types that were found, with the evidence")
    _add_structure_arguments(structure)
    return parser


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, summary: str, *, epilog: str = ""
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_structure_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logs", nargs="+", metavar="LOG", help="file, folder or glob pattern of logged runs")
    parser.add_argument(
        "--cluster",
        action="append",
        default=[],
        metavar="[TASK=]FIELD",
        help="field of the questions' documents that groups them, or none; for one task with TASK=; may be repeated",
    )
    parser.add_argument(
        "--range",
        action="append",
        default=[],
        type=_range,
        metavar="METRIC=LO,HI",
        dest="ranges",
        help="smallest and largest possible score of a metric; may be repeated",
    )


def _add_format(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    parser.add_argument("--format", choices=formats, default=formats[0], help="(default: %(default)s)")


def _level(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 1, such as 0.95; got {text}")
    return value


def _range(text: str) -> tuple[str, tuple[float, float]]:
    metric, _, bounds = text.rpartition("=")
    try:
        low, high = (float(part) for part in bounds.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must look like METRIC=LO,HI, such as bleu=0,100; got {text!r}") from None
    if not (metric and low < high):
        raise argparse.ArgumentTypeError(f"must name a metric and a range with LO < HI; got {text!r}")
    return metric, (low, high)


def _structure_options(args: argparse.Namespace) -> "StructureOptions":
    from harness_uq.structure import StructureOptions

    by_task = dict(item.rsplit("=", 1) for item in args.cluster if "=" in item)
    general = [item for item in args.cluster if "=" not in item]
    return StructureOptions(general[-1] if general else None, by_task, dict(args.ranges))


def _options(args: argparse.Namespace) -> "Options":
    from harness_uq.analysis import Options

    return Options(
        method=args.uq,
        level=args.level,
        scope=args.scope,
        estimand=args.estimand,
        interval=args.interval,
        structure=_structure_options(args),
        seed=args.seed,
    )


def _estimate(args: argparse.Namespace) -> int:
    from harness_uq.analysis import estimate
    from harness_uq.plugins import load_plugins
    from harness_uq.report.tabular import estimates_csv, estimates_json, estimates_markdown
    from harness_uq.report.text import estimates_table

    plugins = load_plugins()
    reading = _read(args, plugins.harnesses)
    rows = estimate(reading.logs, _options(args), plugins=plugins)
    errors = [{"path": path, "message": message} for path, message in (*reading.failures, *reading.warnings)]
    printers = {
        "table": lambda: estimates_table(rows),
        "json": lambda: estimates_json(rows, errors=errors),
        "csv": lambda: estimates_csv(rows),
        "markdown": lambda: estimates_markdown(rows),
    }
    print(printers[args.format]().rstrip("\n"))
    _report_reading(reading, plugins.warnings)
    return 1 if reading.failures else 0


def _structure(args: argparse.Namespace) -> int:
    from harness_uq.analysis import structures
    from harness_uq.plugins import load_plugins
    from harness_uq.report.text import structures_text

    plugins = load_plugins()
    reading = _read(args, plugins.harnesses)
    print(structures_text(structures(reading.logs, _structure_options(args), plugins=plugins)))
    _report_reading(reading, plugins.warnings)
    return 1 if reading.failures else 0


def _read(args: argparse.Namespace, harnesses: "dict[str, Harness]") -> "Reading":
    from harness_uq.reading import read_logs

    return read_logs(args.logs, harnesses=harnesses, progress=_progress)


def _progress(runs: "Sequence[tuple[Harness, Run]]") -> "Iterable[tuple[Harness, Run]]":
    """A progress bar on standard error where that is a terminal."""
    if not sys.stderr.isatty():
        return runs
    from rich.console import Console
    from rich.progress import track

    return track(runs, description="Reading", console=Console(stderr=True), transient=True)


def _report_reading(reading: "Reading", plugin_warnings: Sequence[str]) -> None:
    for warning in plugin_warnings:
        print(f"warning: {warning}", file=sys.stderr)
    for path, message in reading.warnings:
        print(f"warning: {path}: {message}", file=sys.stderr)
    for path, message in reading.failures:
        print(f"error: {path}: {message}", file=sys.stderr)
    if reading.n_skipped:
        n = reading.n_skipped
        print(f"{n} file{'s' if n > 1 else ''} skipped: no logs of a known harness", file=sys.stderr)
