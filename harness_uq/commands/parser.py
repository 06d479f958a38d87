"""The argument parser of one command: named groups of options, examples first, suggestions for mistyped names."""

import argparse
import shutil
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from harness_uq.errors import unknown_name
from harness_uq.messages.control_characters import escape_control
from harness_uq.redaction import redact

if TYPE_CHECKING:
    from harness_uq.commands.command_table import Command

GROUPS = (
    "Data",
    "Target",
    "Costs",
    "Without a pilot run",
    "Method",
    "Overall result",
    "Output",
    "LaTeX",
    "Scaling",
    "General",
)
"""Groups of options in the order of the help; a group without options is not shown."""

_MAX_WIDTH = 100


def help_formatter(prog: str) -> argparse.HelpFormatter:
    """Layout of the help: as wide as the terminal up to 100 columns, coloured if standard output is a terminal."""
    from rich_argparse import RawDescriptionRichHelpFormatter

    class Formatter(RawDescriptionRichHelpFormatter):
        group_name_formatter = str
        help_markup = False
        text_markup = False

    width = min(shutil.get_terminal_size().columns, _MAX_WIDTH)
    return Formatter(prog, max_help_position=26, width=width)


class CommandParser(argparse.ArgumentParser):
    """A parser that sorts options into `GROUPS`, and suggests the nearest valid name for a mistyped one.

    Attributes
    ----------
    groups : the groups of options, by title
    """

    def __init__(self, prog: str, *, usage: str | None = None, description: str = "", epilog: str = "") -> None:
        super().__init__(
            prog,
            usage=usage,
            description=description,
            epilog=epilog,
            formatter_class=help_formatter,
            add_help=False,
            allow_abbrev=False,
        )
        self.groups = {title: self.add_argument_group(title) for title in GROUPS}
        general = self.groups["General"]
        general.add_argument("-h", "--help", action="help", help="Show this help and exit")
        general.add_argument("--debug", action="store_true", help="Show the traceback of an internal error")

    def replace_help(self, option: str, text: str) -> None:
        """Replace the help of an option that has another meaning in this command, too."""
        self._option_string_actions[option].help = text

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse the arguments; an unknown option is reported before anything that is missing."""
        for argument in args or ():
            if argument == "--":
                break
            option = argument.partition("=")[0]
            if option.startswith("--") and " " not in option and option not in self._option_string_actions:
                known = [name for name in self._option_string_actions if name.startswith("--")]
                self.error(unknown_name("option", option, known))
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the error and where to find help, and exit with code 2."""
        text = escape_control(redact(message[0].upper() + message[1:]))
        self.exit(2, f"{self.prog}: error: {text}\nRun '{self.prog} --help' for usage.\n")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            name = "/".join(action.option_strings) or str(action.metavar or action.dest)
            self.error(unknown_name(f"value of {name}", value, action.choices, plural="values"))


def build_parser(command: "Command", **defaults: object) -> CommandParser:
    """The parser of one command, with its summary, examples and options."""
    module = command.module
    prog = f"harness-uq {command.name}"
    # command lines, each below a comment that explains it; a continued line is indented
    examples = "\n".join(f"  # {about}\n  {line}" for about, line in module.EXAMPLES).replace("\\\n", "\\\n      ")
    parser = CommandParser(
        prog,
        usage=f"{prog} {module.USAGE}",
        description=f"{command.summary}.\n\nExamples:\n{examples}",
        epilog=getattr(module, "DETAILS", ""),
    )
    add_arguments: Callable[[CommandParser], None] = module.add_arguments
    add_arguments(parser)
    parser.groups["General"].add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="CODE[,CODE]",
        help="Hide the notes and warnings with these codes or names, such as UQ104 or few-clusters (repeatable)",
    )
    add_settings_options(parser.groups["General"])
    parser.set_defaults(**defaults)
    return parser


def add_settings_options(parser: "argparse._ActionsContainer") -> None:
    """`--settings` and `--isolated`: which settings file a command reads."""
    options = parser.add_mutually_exclusive_group()
    options.add_argument(
        "--settings",
        metavar="FILE",
        dest="settings_file",
        help="Read settings only from FILE, and not from the settings files of the project",
    )
    options.add_argument(
        "--isolated", action="store_true", help="Ignore the settings in harness-uq.toml and pyproject.toml"
    )
