"""`harness-uq lm-eval …`: lm-eval's own command line, whose `run` also takes `--uq` and its companions."""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol
from unittest import mock

from harness_uq import HarnessUqError, MissingDependencyError
from harness_uq_lm_eval.settings import Asked, add_arguments

if TYPE_CHECKING:
    from harness_uq_lm_eval.runtime import Session

_logger = logging.getLogger("harness_uq")


class CommandLine(Protocol):
    """lm-eval's `HarnessCLI`."""

    _subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]"

    def parse_args(self) -> argparse.Namespace:
        """Parse `sys.argv`."""

    def execute(self, args: argparse.Namespace) -> None:
        """Run what was parsed."""


def main(argv: Sequence[str]) -> int:
    """Run lm-eval with these arguments.

    Parameters
    ----------
    argv : `run --model … --uq bayes`, or any other of lm-eval's commands; `install-hook` and `remove-hook` are ours

    Returns
    -------
    exit code, that of lm-eval
    """
    if list(argv[:1]) in (["install-hook"], ["remove-hook"]):
        from harness_uq_lm_eval import hook

        sys.stdout.write((hook.install() if argv[0] == "install-hook" else hook.remove()) + "\n")
        return 0
    try:
        from lm_eval._cli import HarnessCLI
        from lm_eval.utils import setup_logging
    except ImportError as error:
        raise MissingDependencyError(f"lm-eval 0.4.11 or later is needed to run it ({error})") from None
    setup_logging()
    with mock.patch.object(sys, "argv", ["lm-eval", *argv]):
        command_line: CommandLine = HarnessCLI()
        extend(command_line)
        return _exit_code(lambda: command_line.execute(command_line.parse_args()))


def extend(command_line: CommandLine) -> None:
    """Give the command `run` our arguments, and run it within our context."""
    run = command_line._subparsers.choices["run"]
    if any("--uq" in action.option_strings for action in run._actions):
        return
    add_arguments(run)
    execute: Callable[[argparse.Namespace], None] = run.get_default("func")

    def execute_live(args: argparse.Namespace) -> None:
        asked = Asked()
        others = argparse.Namespace(**asked.take(vars(args)))
        try:
            asked.check()
        except HarnessUqError as error:
            run.error(str(error))
        import harness_uq_lm_eval.named  # noqa: F401 -- lets task files name our aggregations
        from harness_uq_lm_eval.runtime import live

        with live(asked) as session:
            execute(others)
        _say_comparison(session)

    run.set_defaults(func=execute_live)


def _say_comparison(session: "Session") -> None:
    """Print the comparison with a logged run, below lm-eval's tables, where one was asked for."""
    from harness_uq_lm_eval.comparison_table import comparison_table

    try:
        if session.no_comparison is not None:
            sys.stdout.write(f"no comparison with {session.asked.values.get('compare')}: {session.no_comparison}\n")
        if session.comparisons:
            sys.stdout.write(comparison_table(session.comparisons))
    except Exception as error:
        _logger.warning("the comparison cannot be printed: %s", error)


def _exit_code(call: Callable[[], None]) -> int:
    try:
        call()
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        sys.stderr.write(f"{stop.code}\n")
        return 1
    return 0
