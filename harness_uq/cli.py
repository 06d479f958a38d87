"""The command line: hand the arguments to a command, or to the harness of that name."""

import argparse
import sys
from collections.abc import Callable, Sequence

from harness_uq.commands import compare, estimate, structure

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
  harness-uq compare new=runs/b old=runs/a              whether the first is better than the second
"""

_COMMANDS = {"estimate": estimate, "structure": structure, "compare": compare}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : arguments without the program's name; None takes the process's own

    Returns
    -------
    exit code: 0 done, 1 something could not be read or done, 2 wrong arguments, 3 worse (`compare --fail-if-worse`)
    """
    from harness_uq.errors import HarnessUqError

    parser = _parser()
    try:
        args = parser.parse_args(argv)
        run: Callable[[argparse.Namespace], int] = _COMMANDS[args.command].run
        return run(args)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except HarnessUqError as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
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
    for command in _COMMANDS.values():
        command.add(commands)
    return parser
