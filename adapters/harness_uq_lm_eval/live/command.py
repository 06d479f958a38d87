"""Our arguments on lm-eval's command `run`, which then runs within our context."""

import argparse
import logging
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from harness_uq import HarnessUqError
from harness_uq_lm_eval.live.seams import CONFIGURATION, gone
from harness_uq_lm_eval.live.settings import Asked, add_arguments

if TYPE_CHECKING:
    from harness_uq_lm_eval.live.runtime import Session

_logger = logging.getLogger("harness_uq")


class CommandLine(Protocol):
    """lm-eval's `HarnessCLI`."""

    _subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]"

    def parse_args(self) -> argparse.Namespace:
        """Parse `sys.argv`."""

    def execute(self, args: argparse.Namespace) -> None:
        """Run what was parsed."""


def extend(command_line: CommandLine) -> None:
    """Give the command `run` our arguments, and run it within our context.

    Where lm-eval has changed so that this cannot be done, the run is lm-eval's own: our arguments are taken off the
    line, and what is missing is said.
    """
    try:
        run = command_line._subparsers.choices["run"]
        execute: Callable[[argparse.Namespace], None] = run.get_default("func")
        if not callable(execute):
            raise TypeError("the command `run` has no function")
    except (AttributeError, KeyError, TypeError) as error:
        _go_without(error)
        return
    if any("--uq" in action.option_strings for action in run._actions):
        return
    add_arguments(run)

    def execute_live(args: argparse.Namespace) -> None:
        asked = Asked()
        others = argparse.Namespace(**asked.take(vars(args)))
        content = _config_of(others)
        is_ours = len(asked.take(content)) < len(content)
        try:
            asked.check()
        except HarnessUqError as error:
            run.error(str(error))
        if asked.settings() is None and not is_ours:
            execute(others)
            return
        _name_aggregations()
        from harness_uq_lm_eval.live.runtime import live

        try:
            with live(asked) as session:
                execute(others)
        except HarnessUqError as error:
            run.error(str(error))
        _say_the_rest(session)

    run.set_defaults(func=execute_live)


def _go_without(error: Exception) -> None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_arguments(parser)
    ours, sys.argv[1:] = parser.parse_known_args(sys.argv[1:])
    asked = Asked()
    asked.take(vars(ours))
    if asked.values or asked.settings() is not None:
        sys.stderr.write(gone([f"command run of HarnessCLI ({error})"], "the run is lm-eval's own") + "\n")


def _config_of(args: argparse.Namespace) -> Mapping[str, object]:
    """What the config file holds, whose method and settings are to be checked before the run, too."""
    if not getattr(args, "config", None) or not CONFIGURATION.is_there():
        return {}
    from lm_eval.config.evaluate_config import EvaluatorConfig

    content: Mapping[str, object] = EvaluatorConfig.load_yaml_config(args.config)
    return content


def _name_aggregations() -> None:
    """Let task files name our aggregations."""
    try:
        import harness_uq_lm_eval.named  # noqa: F401
    except Exception as error:
        _logger.warning(gone([f"registry of aggregations ({error})"], "task files cannot name those of harness-uq"))


def _say_the_rest(session: "Session") -> None:
    """Print what stands below lm-eval's tables."""
    from harness_uq_lm_eval.live.below_the_table import below_the_table

    try:
        sys.stdout.write(below_the_table(session))
    except Exception as error:
        _logger.warning("warnings and comparison cannot be printed: %s", error)
