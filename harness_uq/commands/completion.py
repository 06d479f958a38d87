"""`harness-uq completion`: print a completion script for a shell."""

import argparse
from collections.abc import Iterator

from harness_uq.commands.command_table import COMMANDS
from harness_uq.commands.parser import CommandParser, build_parser
from harness_uq.errors import MissingDependencyError

_FILES = ("LOG", "RUN", "NEW", "OLD", "FILE", "DIR")


USAGE = "(bash | zsh | tcsh)"
EXAMPLES = (
    ("For bash, write the script to a file that ~/.bashrc sources", "harness-uq completion bash > FILE"),
    ("For zsh, write the script to a folder that $fpath contains", "harness-uq completion zsh > DIR/_harness-uq"),
    ("For tcsh, write the script to a file that ~/.tcshrc sources", "harness-uq completion tcsh > FILE"),
)
DETAILS = """\
If the package bash-completion is installed, bash also reads the script from
~/.local/share/bash-completion/completions/harness-uq. After each update of
harness-uq, create the script again.
"""


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    parser.groups["Data"].add_argument(
        "shell",
        choices=["bash", "zsh", "tcsh"],
        metavar="SHELL",
        help="Print the script for bash, zsh or tcsh",
    )


def run(args: argparse.Namespace) -> int:
    """Print the script.

    Raises
    ------
    MissingDependencyError : without shtab
    """
    try:
        import shtab
    except ImportError:
        raise MissingDependencyError(
            "Shell completion requires shtab. Install it with: pip install 'harness-uq[completion]'"
        ) from None
    parser = _all_commands()
    for action in _actions(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, args.shell))
    return 0


def _all_commands() -> argparse.ArgumentParser:
    """A parser with all commands and harnesses as subcommands."""
    from harness_uq.plugins.manager import runners

    parser = argparse.ArgumentParser("harness-uq")
    parser.add_argument("--version", action="store_true", help="Show the version and exit")
    parser.add_argument("--debug", action="store_true", help="Show the traceback of an internal error")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS.values():
        command_parser = build_parser(command)
        subparsers.add_parser(command.name, help=command.summary, parents=[command_parser], add_help=False)
    for name in runners():
        if name not in COMMANDS:
            subparsers.add_parser(name, help=f"Run {name} with intervals in its output")
    return parser


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of the parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
