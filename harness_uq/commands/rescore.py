"""`harness-uq rescore`: intervals written into the logs themselves."""

import argparse

from harness_uq.commands import shared as _shared


def add(commands: _shared.Commands) -> None:
    """Declare the arguments."""
    parser = _shared.add_command(
        commands, "rescore", "write intervals and standard errors into logged runs", epilog=_shared.METHODS
    )
    _shared.add_logs(parser)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", metavar="DIR", help="folder for copies of the runs; the originals stay untouched")
    where.add_argument("--in-place", action="store_true", help="rewrite the logs; `harness-uq restore` undoes it")
    _shared.add_estimation(parser)


def run(args: argparse.Namespace) -> int:
    """Estimate, write, list what was written."""
    from harness_uq.errors import StructureError
    from harness_uq.rescoring import rescore

    _shared.clear_leftovers(args.logs)
    plugins = _shared.load_plugins(args)
    for warning in plugins.warnings:
        _shared.complain(f"warning: {warning}")
    options = _shared.estimation_options(args, plugins)
    try:
        done = rescore(args.logs, options, output=args.output, plugins=plugins, progress=_shared.progress)
    except StructureError as error:
        raise _shared.UsageError(str(error)) from error
    for rescored in done.runs:
        n = sum(row.interval is not None for row in rescored.estimates)
        print(f"{rescored.files[0]}: {n} of {len(rescored.estimates)} scores have an interval")
    for path, message in done.failures:
        _shared.complain(f"error: {path}: {message}")
    return 1 if done.failures else 0
