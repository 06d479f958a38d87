"""Add the `--uq` options to lm-eval's command `run`, which then runs within a live session."""

import argparse
import logging
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from harness_uq.plugin_api import HarnessUqError
from harness_uq_lm_eval.live.lm_eval_internals import CONFIGURATION, missing_message
from harness_uq_lm_eval.live.settings import RequestedSettings, add_arguments

if TYPE_CHECKING:
    from harness_uq_lm_eval.live.runtime import Session

_logger = logging.getLogger("harness_uq")


class CommandLine(Protocol):
    """The part of lm-eval's `HarnessCLI` that is used here."""

    _subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]"

    def parse_args(self) -> argparse.Namespace:
        """Parse `sys.argv`."""

    def execute(self, args: argparse.Namespace) -> None:
        """Run the parsed command."""


def add_uq_options(command_line: CommandLine, default: str | None = None) -> None:
    """Add the `--uq` options to the command `run`, and run it within a live session.

    `default`: method of a run for which neither an option nor a setting names one; None for a run without uncertainty.

    If the installed version of lm-eval does not allow this, lm-eval runs without uncertainty: the `--uq` options are
    removed from the command line, and a message names what is missing.
    """
    try:
        run = command_line._subparsers.choices["run"]
        execute: Callable[[argparse.Namespace], None] = run.get_default("func")
        if not callable(execute):
            raise TypeError("the command `run` has no function")
    except (AttributeError, KeyError, TypeError) as error:
        _remove_uq_options(error)
        return
    if any("--uq" in action.option_strings for action in run._actions):
        return
    add_arguments(run)

    def execute_live(args: argparse.Namespace) -> None:
        requested = RequestedSettings(default=default)
        others = argparse.Namespace(**requested.extract(vars(args)))
        config = _config_of(others)
        has_uq_config = len(requested.extract(config)) < len(config)
        try:
            requested.check()
        except HarnessUqError as error:
            run.error(str(error))
        _register_names()
        if requested.settings() is None and not has_uq_config:
            execute(others)
            return
        from harness_uq_lm_eval.live.runtime import live_session

        try:
            with live_session(requested) as session:
                execute(others)
        except HarnessUqError as error:
            run.error(str(error))
        _print_report(session, is_saved=bool(getattr(others, "output_path", None) or config.get("output_path")))
        if session.save_errors:  # printed when they occurred
            raise SystemExit(1)

    run.set_defaults(func=execute_live)


def _remove_uq_options(error: Exception) -> None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_arguments(parser)
    uq_arguments, sys.argv[1:] = parser.parse_known_args(sys.argv[1:])
    requested = RequestedSettings()
    requested.extract(vars(uq_arguments))
    if requested.values or requested.settings() is not None:
        sys.stderr.write(missing_message([f"command run of HarnessCLI ({error})"], "the run is lm-eval's own") + "\n")


def _config_of(args: argparse.Namespace) -> Mapping[str, object]:
    """Content of the config file, whose settings are checked before the run as well."""
    if not getattr(args, "config", None) or not CONFIGURATION.is_available():
        return {}
    from lm_eval.config.evaluate_config import EvaluatorConfig

    content: Mapping[str, object] = EvaluatorConfig.load_yaml_config(args.config)
    return content


def _register_names() -> None:
    """Let task files name the aggregations of harness_uq, and the command line its model."""
    try:
        import harness_uq_lm_eval.recorded_model
        import harness_uq_lm_eval.yaml_aggregations  # noqa: F401
    except Exception as error:
        _logger.warning(missing_message([f"registry ({error})"], "it lacks the aggregations of harness-uq"))


def _print_report(session: "Session", *, is_saved: bool) -> None:
    """Print the report below lm-eval's tables; `is_saved`: whether the results are in a file."""
    from harness_uq_lm_eval.live.console_report import report_text

    try:
        sys.stdout.write(report_text(session, is_saved=is_saved))
    except Exception as error:
        _logger.warning("warnings and comparison cannot be printed: %s", error)
