"""`harness-uq completion`: a script by which a shell completes our arguments."""

import argparse
from collections.abc import Iterator

from harness_uq.commands import options as _options
from harness_uq.errors import MissingDependencyError

_EPILOG = """\
bash: harness-uq completion bash > ~/.local/share/bash-completion/completions/harness-uq
zsh:  harness-uq completion zsh > DIR/_harness-uq, where DIR is one of $fpath
tcsh: harness-uq completion tcsh > FILE, and source FILE in ~/.tcshrc
"""

_FILES = ("LOG", "RUN", "FILE", "DIR")


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(
        commands, "completion", "print a script that lets the shell complete our arguments", epilog=_EPILOG
    )
    parser.add_argument("shell", choices=["bash", "zsh", "tcsh"])


def run(args: argparse.Namespace) -> int:
    """Print the script.

    Raises
    ------
    MissingDependencyError : without shtab
    """
    try:
        import shtab
    except ImportError:
        raise MissingDependencyError("completion needs shtab: pip install 'harness-uq[completion]'") from None
    for action in _actions(args.parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(args.parser, args.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of the parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
