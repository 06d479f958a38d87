"""`harness-uq lm-eval …`: lm-eval's own command line, whose `run` also takes `--uq` and its companions."""

import argparse
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol
from unittest import mock

from harness_uq import HarnessUqError, MissingDependencyError
from harness_uq_lm_eval.settings import Asked, add_arguments

if TYPE_CHECKING:
    from harness_uq_lm_eval.runtime import Session

_HELP: Final = """\
usage: harness-uq lm-eval run … [--uq METHOD] [--uq_level LEVEL] [--uq_scope SCOPE] [--uq_cluster [TASK=]FIELD]
                                [--uq_compare RUN] [--uq_keep_bootstrap]
       harness-uq lm-eval ls … | validate …
       harness-uq lm-eval install-hook | remove-hook

lm-eval's command line. Where --uq is given, or HARNESS_UQ is set, `run` prints intervals in its tables and writes them
into its results; without either the other options are an error.

  --uq METHOD                 bayes, wilson, t, clt or the name of an estimator
  --uq_level LEVEL            coverage of the intervals (0.95)
  --uq_scope SCOPE            population, benchmark or full (population)
  --uq_cluster [TASK=]FIELD   field of the documents that groups the questions, auto or none; may be repeated
  --uq_compare RUN            also compare with this logged run
  --uq_keep_bootstrap         run lm-eval's own bootstrap, too, which may take minutes

  install-hook                let the stock command `lm-eval run` take these options in this environment
  remove-hook                 end that

lm-eval's own options: harness-uq lm-eval run --help
"""

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
    argv : `run --model … --uq bayes`, or any other of lm-eval's commands; ours are `install-hook`, `remove-hook` and
        `--help`

    Returns
    -------
    exit code, that of lm-eval
    """
    if not argv or list(argv) in (["--help"], ["-h"]):
        sys.stdout.write(_HELP)
        return 0
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
        asked.take(_config_of(others))
        try:
            asked.check()
        except HarnessUqError as error:
            run.error(str(error))
        import harness_uq_lm_eval.named  # noqa: F401 -- lets task files name our aggregations
        from harness_uq_lm_eval.runtime import live

        with live(asked) as session:
            execute(others)
        _say_the_rest(session)

    run.set_defaults(func=execute_live)


def _config_of(args: argparse.Namespace) -> Mapping[str, object]:
    """What the config file holds, whose method and settings are to be checked before the run, too."""
    from lm_eval.config.evaluate_config import EvaluatorConfig

    content: Mapping[str, object] = EvaluatorConfig.load_yaml_config(args.config) if args.config else {}
    return content


def _say_the_rest(session: "Session") -> None:
    """Print what stands below lm-eval's tables."""
    from harness_uq_lm_eval.below_the_table import below_the_table

    try:
        sys.stdout.write(below_the_table(session))
    except Exception as error:
        _logger.warning("warnings and comparison cannot be printed: %s", error)


def _exit_code(call: Callable[[], None]) -> int:
    try:
        call()
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        sys.stderr.write(f"{stop.code}\n")
        return 1
    return 0
