"""`harness-uq inspect …`: Inspect's own command line, with `--uq` options turned into environment variables."""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from typing import Final

from harness_uq import DataError, MissingDependencyError
from harness_uq_inspect.live.wanted import OPTIONS, VARIABLE, from_environment, is_wanted, split

_HELP: Final = """\
usage: harness-uq inspect COMMAND … [--uq METHOD] [--uq-level LEVEL] [--uq-scope SCOPE]
                                    [--uq-cluster [TASK=]FIELD] [--uq-compare RUN]

Inspect AI's command line; every other argument goes to `inspect` untouched. Where --uq is given, or HARNESS_UQ is
set, each log of eval, eval-set and eval-retry gets intervals, and a table of them is printed; without either the
other options are an error.

  --uq METHOD                 bayes, wilson, t, clt or the name of an estimator
  --uq-level LEVEL            coverage of the intervals (0.95)
  --uq-scope SCOPE            population, benchmark or full (population)
  --uq-cluster [TASK=]FIELD   metadata field that groups the questions, auto or none; may be repeated
  --uq-compare RUN            also compare with this logged run
  HARNESS_UQ_SWAP=0           leave Inspect's own stderr in its place

The same without this wrapper: inspect eval task.py --env HARNESS_UQ=bayes
"""


def main(argv: Sequence[str]) -> int:
    """Run Inspect; the exit code is Inspect's, or 2 where a `--uq` option cannot be used."""
    if not argv or list(argv) in (["--help"], ["-h"]):
        sys.stdout.write(_HELP)
        return 0
    before, command = dict(os.environ), sys.argv
    try:
        rest, variables = split(argv)
        if variables:
            os.environ.update(variables)
            _check_method(variables)
            from_environment()
        sys.argv = ["inspect", *rest]  # what `--detach` hands to the process that it starts
        return _run_inspect()
    except DataError as error:
        sys.stderr.write(f"harness-uq inspect: error: {error}\n")
        return 2
    finally:
        sys.argv = command
        _restore_environment(before)


def _check_method(variables: Mapping[str, str]) -> None:
    """Raise DataError where options were given and nothing names a method."""
    if VARIABLE not in variables and not is_wanted():
        idle = [option for option, variable in OPTIONS.items() if variable in variables]
        raise DataError(f"{', '.join(sorted(idle))} without --uq: add --uq bayes")


def _run_inspect() -> int:
    found = list(entry_points(group="console_scripts", name="inspect"))
    if not found:
        raise MissingDependencyError("Inspect AI is not installed: pip install 'harness-uq[inspect]'")
    try:
        found[0].load()()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


def _restore_environment(before: Mapping[str, str]) -> None:
    for name in OPTIONS.values():
        os.environ.pop(name, None)
        if name in before:
            os.environ[name] = before[name]
