"""The command line: hand the arguments to a command, or to the harness of that name."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from harness_uq.commands import calibrate, compare, estimate, plan, rank, report, rescore, restore, structure

if TYPE_CHECKING:
    from harness_uq.hookspecs import Harness

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
    exit code: 0 done, 1 something could not be read or done, 2 wrong arguments, 3 worse (`compare --fail-if-worse`)
    """
    from harness_uq.errors import HarnessUqError

    arguments = sys.argv[1:] if argv is None else list(argv)
    parser = _parser()
    try:
        if harness := _harness(arguments):
            return harness.main(arguments[1:])
        args = parser.parse_args(arguments)
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


def _harness(arguments: Sequence[str]) -> "Harness | None":
    """The harness that the first argument names; options and commands name none."""
    if not arguments or arguments[0].startswith("-") or arguments[0] in _COMMANDS:
        return None
    from harness_uq.plugins import load_plugins

    return load_plugins().harnesses.get(arguments[0])


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
