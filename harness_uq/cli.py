"""The command line: hand the arguments to a command, or to the harness of that name."""

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from harness_uq.commands import calibrate, compare, estimate, plan, rank, report, rescore, restore, structure
from harness_uq.commands._shared import UsageError
from harness_uq.errors import HarnessUqError

if TYPE_CHECKING:
    from harness_uq.hookspecs import Harness

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
  harness-uq rank runs/*                                which of several systems is best
  harness-uq plan pilot.eval --width 0.04               what to run next
  harness-uq report runs/ --html report.html            all of it as one page

exit codes: 0 done, 1 something could not be read, done or written, 2 wrong arguments, 3 worse (compare
--fail-if-worse), 130 interrupted
"""

_COMMANDS = {
    "estimate": estimate,
    "structure": structure,
    "compare": compare,
    "rank": rank,
    "plan": plan,
    "report": report,
    "rescore": rescore,
    "restore": restore,
    "calibrate": calibrate,
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
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        if harness := _harness(arguments):
            return harness.main(arguments[1:])
        return _run_command(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except HarnessUqError as error:
        print(f"{_NAME}: error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        print(f"{_NAME}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _discard_output()
        return 0


def _run_command(arguments: Sequence[str]) -> int:
    """Run one of our own commands.

    Raises
    ------
    HarnessUqError : also for what the system refuses to read or write, but for a reader that went away
    """
    args = _parser().parse_args(arguments)
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


def _harness(arguments: Sequence[str]) -> "Harness | None":
    """The harness that the first argument names; options and commands name none.

    Raises
    ------
    HarnessUqError : if a plugin of that name is installed, but its harness is not to be had
    """
    if not arguments or arguments[0].startswith("-") or arguments[0] in _COMMANDS:
        return None
    from harness_uq.plugins import harness_names, load_plugins

    name, plugins = arguments[0], load_plugins()
    if name in harness_names() and name not in plugins.harnesses:
        raise HarnessUqError("; ".join((f"the plugin {name!r} offers no harness of that name", *plugins.warnings)))
    return plugins.harnesses.get(name)


def _parser() -> argparse.ArgumentParser:
    from harness_uq import __version__
    from harness_uq.plugins import harness_names

    parser = argparse.ArgumentParser(
        prog=_NAME,
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in _COMMANDS.values():
        command.add(commands)
    for name in harness_names():
        if name not in _COMMANDS:
            commands.add_parser(name, help=f"run {name}, with intervals in its own output: add --uq METHOD")
    return parser
