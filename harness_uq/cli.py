"""The command line: hand the arguments to a command, or to the harness of that name."""

import argparse
import contextlib
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import (
    calibrate,
    compare,
    completion,
    effects,
    estimate,
    gate,
    plan,
    rank,
    report,
    rescore,
    restore,
    store,
    structure,
    subset,
    watch,
)
from harness_uq.commands.asked import UsageError
from harness_uq.commands.settings import SettingsError, find_settings
from harness_uq.errors import HarnessUqError, StructureError, told

if TYPE_CHECKING:
    from harness_uq.plugins.protocols import Runner

_NAME = "harness-uq"

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
  harness-uq lm-eval run --model hf ... --uq bayes      run a harness, with intervals in its own output
  harness-uq structure run.eval                         what was found, and how it is known
  harness-uq compare new=runs/b old=runs/a              whether the first is better than the second
  harness-uq compare results/ --task 'mmlu*'            two systems under a folder, some of their tasks
  harness-uq gate runs/b --baseline runs/a --margin 0.01   whether a pipeline may go on
  harness-uq rank runs/*                                which of several systems is best
  harness-uq effects runs/seed-*                        how much is questions, how much seeds
  harness-uq plan pilot.eval --width 0.04               what to run next
  harness-uq watch logs/                                runs in the making, as often as one likes
  harness-uq subset mmlu --history runs/* --n 200 --output ids.json
                                                        which questions to run instead of all
  harness-uq report runs/ --html report.html            all of it as one page

exit codes: 0 done, 1 something could not be read, done or written, 2 wrong arguments, 3 worse (compare
--fail-if-worse), 130 interrupted; gate has codes of its own
"""

_COMMANDS = {
    "estimate": estimate,
    "structure": structure,
    "compare": compare,
    "gate": gate,
    "rank": rank,
    "effects": effects,
    "plan": plan,
    "subset": subset,
    "report": report,
    "rescore": rescore,
    "restore": restore,
    "watch": watch,
    "store": store,
    "calibrate": calibrate,
    "completion": completion,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : arguments without the program's name; None takes the process's own

    Returns
    -------
    exit code: 0 done, 1 something could not be read, done or written, 2 wrong arguments, 3 worse
    (`compare --fail-if-worse`), 130 interrupted
    """
    arguments = _without_debug(sys.argv[1:] if argv is None else list(argv))
    try:
        if runner := _runner(arguments):
            return runner.main(arguments[1:])
        return _run_command(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except HarnessUqError as error:
        print(f"{_NAME}: error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError | SettingsError | StructureError) else 1
    except KeyboardInterrupt as interrupt:
        print(": ".join((f"{_NAME}: interrupted", *map(str, interrupt.args))), file=sys.stderr)
        return 130
    except BrokenPipeError:
        _discard_output()
        return 0
    except Exception as error:
        print(f"{_NAME}: error that should not happen: {told(error)}; {_NAME} --debug shows where", file=sys.stderr)
        return 1


def _without_debug(arguments: list[str]) -> list[str]:
    """The arguments without a leading `--debug`, which shows the traceback of what nobody foresaw."""
    if arguments[:1] != ["--debug"]:
        return arguments
    logging.basicConfig(level=logging.WARNING)
    logging.getLogger("harness_uq").setLevel(logging.DEBUG)
    return arguments[1:]


def _run_command(arguments: Sequence[str]) -> int:
    """Run one of our own commands.

    Raises
    ------
    HarnessUqError : also for what the system refuses to read or write, but for a reader that went away
    """
    parser = _parser(arguments)
    if not arguments:
        parser.print_help()
        return 0
    args = parser.parse_args(arguments, argparse.Namespace(words=arguments))
    if path := args.settings.path:
        print(f"settings of {os.path.relpath(path)}", file=sys.stderr)
    run: Callable[[argparse.Namespace], int] = _COMMANDS[args.command].run
    try:
        code = run(args)
        print(end="", flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise HarnessUqError(f"{error.filename}: {error.strerror}") from error
        _discard_output()
        raise HarnessUqError(f"the output cannot be written: {error.strerror or error}") from error
    return code


def _discard_output() -> None:
    """Send the rest of the output nowhere, so that Python does not try to write it when it ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _runner(arguments: Sequence[str]) -> "Runner | None":
    """The harness that the first argument names; options and commands name none.

    Raises
    ------
    HarnessUqError : if a plugin of that name is installed, but its harness is not to be had
    """
    if not arguments or arguments[0].startswith("-") or arguments[0] in _COMMANDS:
        return None
    from harness_uq.plugins.manager import entry_names, load_plugins, runners
    from harness_uq.plugins.protocols import Runner

    name, plugins = arguments[0], load_plugins()
    if name in entry_names() and name not in plugins.harnesses:
        raise HarnessUqError("; ".join((f"the plugin {name!r} offers no harness of that name", *plugins.warnings)))
    harness = plugins.harnesses.get(name)
    if harness is not None and not isinstance(harness, Runner):
        raise HarnessUqError(
            f"{name} logs can be read, but harness-uq cannot run {name}; it runs {', '.join(runners())}"
        )
    return harness


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser, with the defaults that the project's settings file gives the command."""
    from harness_uq import __version__
    from harness_uq.plugins.manager import runners

    parser = argparse.ArgumentParser(
        prog=_NAME,
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("--debug", action="store_true", help="first of all: show the traceback of unexpected errors")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in _COMMANDS.values():
        command.add(commands)
    if arguments and arguments[0] in _COMMANDS:
        _set_defaults(arguments[0], commands.choices[arguments[0]])
    parser.set_defaults(parser=parser)
    for name in runners():
        if name not in _COMMANDS:
            commands.add_parser(name, help=f"run {name}, with intervals in its own output: add --uq METHOD")
    return parser


def _set_defaults(command: str, parser: argparse.ArgumentParser) -> None:
    """Let the settings file speak where the command line does not.

    Raises
    ------
    SettingsError : if it cannot be used
    """
    settings = find_settings(Path.cwd())
    parser.set_defaults(settings=settings)
    if settings.level is not None and parser.get_default("level") is not None:
        parser.set_defaults(level=settings.level)
    if settings.scope is not None and parser.get_default("scope") is not None and command != "watch":
        parser.set_defaults(scope=settings.scope)
