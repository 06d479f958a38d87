"""The command line: run the command, or the harness, that the first argument names."""

import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands.console import WRONG_ARGUMENTS, ignoring, print_error
from harness_uq.commands.parser import COMMAND_GROUPS, COMMANDS, RUN, arguments_of, build_parser, parse_settings_options
from harness_uq.messages.catalogue.plugins import HARNESS_NOT_RUNNABLE, PLUGIN_WITHOUT_HARNESS
from harness_uq.messages.control_characters import escape_lines
from harness_uq.messages.errors import HarnessUqError, StructureError, UsageError, error_summary, unknown_name
from harness_uq.messages.redaction import redact
from harness_uq.messages.similar_names import did_you_mean
from harness_uq.options import check_conflicts

if TYPE_CHECKING:
    from harness_uq.commands.parser import Command
    from harness_uq.io.plugins.protocols import Runner
    from harness_uq.io.settings_file import Settings

_NAME = "harness-uq"
_MORE = "more"
_BROKEN_PIPE = 141  # as a shell reports a program that SIGPIPE ended

_RUNNERS = ("inspect", "lm-eval")  # harnesses that the main help lists

_EXAMPLES = """
Examples:
  # Scores with intervals, for all runs in a folder
  harness-uq estimate results/
  # Is the first system better than the second?
  harness-uq compare new=runs/b old=runs/a
  # Run a harness, with intervals in its own output
  harness-uq lm-eval run --model hf --tasks gsm8k --uq bayes

Options (each command has its own: harness-uq COMMAND --help):
  -h, --help  Show this help and exit
  --version   Show the version and exit
  --debug     Show the traceback of an internal error

Exit codes: 0 success, 1 failure, 2 wrong arguments, 130 interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    `argv`: arguments without the program's name; None for those of the process. Returns: exit code: 0 success, 1
    failure, 2 wrong arguments, 3 worse (`compare --fail-if-worse`), 130 interrupted, 141 if the output was not read to
    its end; `gate` has codes of its own.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments[:1] == ["--debug"]:
        _show_debug_log()
        arguments = arguments[1:]
    try:
        return _run(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except HarnessUqError as error:
        print_error(f"{_NAME}: error: {error}")
        is_usage_error = isinstance(error, UsageError | StructureError) or error.message.code in WRONG_ARGUMENTS
        return 2 if is_usage_error else 1
    except KeyboardInterrupt as interrupt:
        print_error(": ".join((f"{_NAME}: interrupted", *map(str, interrupt.args))))
        return 130
    except BrokenPipeError:
        _discard_output()
        return _BROKEN_PIPE
    except Exception as error:
        print_error(
            f"{_NAME}: Internal error: {error_summary(error)}. Run again with --debug to see the traceback, and please "
            "report it"
        )
        return 1


class SafeFormatter(logging.Formatter):
    """Formats records and their tracebacks without secrets and control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as lines of text."""
        return escape_lines(redact(super().format(record)))


def _show_debug_log() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(SafeFormatter(logging.BASIC_FORMAT))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("harness_uq").setLevel(logging.DEBUG)


def _run(arguments: Sequence[str]) -> int:
    """Run the command or the harness that the first argument names; print the overview if there is none."""
    if not arguments or arguments[0] in ("-h", "--help", _MORE):
        _print_overview(is_complete=arguments[:1] == [_MORE])
        return 0
    if arguments[0] == "--version":
        from harness_uq._version import __version__

        print(f"{_NAME} {__version__}")
        return 0
    name, *rest = arguments
    if name == "plan" and rest[:1] == ["subset"]:
        name, *rest = rest
    if name in COMMANDS:
        return _run_command(COMMANDS[name], rest)
    if name.startswith("-"):
        raise UsageError(unknown_name("option", name, ["--debug", "--help", "--version"]))
    return _find_runner(name).main(rest)


def _run_command(command: "Command", arguments: Sequence[str]) -> int:
    """Run one of our own commands. An OSError of reading or writing, except BrokenPipeError, becomes a
    HarnessUqError.
    """
    settings = _settings(arguments)
    args = build_parser(command, settings, words=[command.name, *arguments]).parse_args(arguments)
    if args.debug:
        _show_debug_log()
    if settings.path:
        print_error(f"Using settings from {os.path.relpath(settings.path)}")
    try:
        with ignoring([*settings.ignore, *args.ignore]):
            given = {
                one.name: value
                for one in arguments_of(command)
                if (value := getattr(args, one.name)) not in (None, False, [], one.default)
            }
            if "scope" in settings.values:
                given.setdefault("scope", settings.values["scope"])
            check_conflicts(command.name, given, is_command=True)
            code = command.page.run(args)
        print(end="", flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise HarnessUqError(f"{error.filename}: {error.strerror}") from error
        _discard_output()
        raise HarnessUqError(f"The output cannot be written: {error.strerror or error}") from error
    return code


def _settings(arguments: Sequence[str]) -> "Settings":
    """The settings that these arguments of a command choose; by default those of the working folder and its parents.
    Raises SettingsError if a settings file cannot be read, or is invalid.
    """
    from harness_uq.io.settings_file import Settings, find_settings, read_settings

    chosen = parse_settings_options(arguments)
    if chosen is None:  # the parser of the command reports an error
        return Settings()
    if chosen.settings_file is not None:
        return read_settings(Path(chosen.settings_file))
    return Settings() if chosen.isolated else find_settings(Path.cwd())


def _discard_output() -> None:
    """Send the rest of the output nowhere, so that Python does not try to write it when it ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _find_runner(name: str) -> "Runner":
    """The harness with this name. Raises UsageError if no command and no harness has this name, and HarnessUqError if a
    plugin with this name is installed, but cannot run a harness.
    """
    from harness_uq.commands.console import load_and_report_plugins
    from harness_uq.io.plugins.manager import entry_names, runners
    from harness_uq.io.plugins.protocols import Runner

    plugins = load_and_report_plugins()
    harness = plugins.harnesses.get(name)
    if isinstance(harness, Runner):
        return harness
    if harness is not None:
        raise HarnessUqError(HARNESS_NOT_RUNNABLE(harness=name, known=runners() or ["none"]))
    if name in entry_names():
        raise HarnessUqError(PLUGIN_WITHOUT_HARNESS(plugin=name))
    similar = did_you_mean(name, [*COMMANDS, *runners(), _MORE])
    raise UsageError(f"Unknown command: {name!r}.{similar} Run '{_NAME} {_MORE}' to list all commands.")


def _print_overview(*, is_complete: bool) -> None:
    """Print the common commands, or all of them by group, in colour if standard output is a terminal."""
    from rich.console import Console
    from rich.text import Text

    from harness_uq.io.plugins.manager import runners

    commands = [
        (command.group, command.name, command.summary)
        for command in COMMANDS.values()
        if is_complete or command.is_common
    ]
    commands += [
        (RUN, name, f"Run {name} with intervals in its output")
        for name in runners()
        if name not in COMMANDS and (is_complete or name in _RUNNERS)
    ]
    lines = [Text.assemble(("usage:", "dark_orange"), f" {_NAME} COMMAND [options]")]
    lines.append(Text("Compute valid uncertainty estimates for LLM evaluations."))
    for group in COMMAND_GROUPS:
        rows = [(name, summary) for its_group, name, summary in commands if its_group == group]
        for i, (name, summary) in enumerate(rows):
            heading = (f"{'' if i else group:19}", "dark_orange")
            lines.append(Text.assemble(heading, (f"{name:11}", "cyan"), summary))
    if not is_complete:
        lines.append(Text.assemble(" " * 19, (f"{_MORE:11}", "cyan"), "List all commands"))
        lines.append(Text(_EXAMPLES))
    console = Console(highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True)
