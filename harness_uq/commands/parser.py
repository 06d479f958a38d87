"""The commands and the parsers of their arguments: groups of options, and suggestions for mistyped names."""

import argparse
import shutil
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from harness_uq.commands.page import Page
from harness_uq.io.settings_file import OUTPUT_SETTINGS
from harness_uq.messages.control_characters import escape_control
from harness_uq.messages.errors import unknown_name
from harness_uq.messages.message import join_words
from harness_uq.messages.redaction import redact
from harness_uq.messages.similar_names import did_you_mean
from harness_uq.options import COUNT, NAMES, OPTIONS, SEED, SHARE, Option, options_of_command, read_value

if TYPE_CHECKING:
    from harness_uq.io.settings_file import Settings

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
COMMAND_GROUPS = ("Analyze", "Compare and decide", "Plan", "Run a harness", "Maintain")
RUN = "Run a harness"

_MAX_WIDTH = 100
_FIGURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True, slots=True)
class Command:
    """One command; its module is imported only if the command is used.

    `module`: module with the pages of one or several commands; by default one with the name of the command.
    `is_common`: whether the main help lists the command; `harness-uq more` lists all.
    """

    name: str
    group: str
    summary: str
    module: str | None = None
    is_common: bool = False

    @property
    def page(self) -> Page:
        """The page of the command in its module."""
        pages: dict[str, Page] = import_module(f"harness_uq.commands.{self.module or self.name}").PAGES
        return pages[self.name]


_ANALYZE, _COMPARE, _PLAN, _, _MAINTAIN = COMMAND_GROUPS
COMMANDS = {
    command.name: command
    for command in (
        Command("demo", _ANALYZE, "Write example logs and tables to try the commands", "maintain", is_common=True),
        Command("estimate", _ANALYZE, "Estimate scores with intervals", is_common=True),
        Command("structure", _ANALYZE, "Show detected clusters, trials and score types"),
        Command("effects", _ANALYZE, "Measure variance due to seeds, prompts and graders"),
        Command("grader", _ANALYZE, "Compare graders with people and with each other"),
        Command("report", _ANALYZE, "Summarize scores and comparisons on one page", is_common=True),
        Command("history", _ANALYZE, "Detect changes in the scores of repeated runs", is_common=True),
        Command("watch", _ANALYZE, "Monitor a run with anytime-valid intervals"),
        Command("cite", _ANALYZE, "Print BibTeX and a methods paragraph for a paper"),
        Command("compare", _COMPARE, "Test whether one system is better than another", is_common=True),
        Command("gate", _COMPARE, "Check a new system against a baseline", is_common=True),
        Command("rank", _COMPARE, "Rank systems and show how certain the ranks are", is_common=True),
        Command("plan", _PLAN, "Calculate how many questions and trials to run", is_common=True),
        Command("subset", _PLAN, "Select a subset of questions to run"),
        Command("rescore", _MAINTAIN, "Write intervals into logged runs", "maintain", is_common=True),
        Command("explain", _MAINTAIN, "Explain a message by its code, such as UQ157"),
        Command("restore", _MAINTAIN, "Undo rescore --in-place", "maintain"),
        Command("store", _MAINTAIN, "List, verify or clean up a result store", "maintain"),
        Command("plugins", _MAINTAIN, "List installed and skipped plugins", "maintain"),
        Command("completion", _MAINTAIN, "Print a completion script for your shell", "maintain"),
    )
}


def _figure(text: str) -> str:
    """The file of a figure."""
    if not text.lower().endswith(_FIGURES):
        endings = f"{', '.join(_FIGURES[:-1])} or {_FIGURES[-1]}"
        raise ValueError(f"invalid file {text!r}. Give a name that ends in {endings}.")
    return text


_TABLES = "estimate compare rank gate effects history plan grader report structure"
_READ = f"{_TABLES} subset"
_MORE_FORMATS = {
    "estimate": ("html", "eee"),
    "gate": ("junit", "github"),
    **dict.fromkeys(("effects", "grader", "structure"), ()),
}
_SYSTEMS = "Correct model grades with human labels; from a table (columns id, system, score) or a metric of the log"
_COLUMN = {
    "metavar": "COLUMN",
    "help": "Weight human labels by 1/COLUMN of their table (default: column 'probability', if it exists)",
}


def _formats(*more: str) -> str:
    *formats, last = ["table", "json", "csv", "markdown", "latex", *more]
    return f"Use {', '.join(formats)} or {last}; the default is that of --output, or table"


SHARED = (
    Option(
        name="labels",
        group="Data",
        metavar="FILE|METRIC",
        commands="estimate report compare rank gate plan grader",
        help="Correct model grades with human labels; from a table (columns id and score) or a metric of the log",
        basic="estimate report grader",
        variants={
            **dict.fromkeys(("compare", "rank", "gate"), _SYSTEMS),
            "plan": "Read human labels of a pilot study; from a table or a metric of the log (with --target labels)",
            "grader": "Compare grades with human labels; from a table (columns id, system, score) or a metric",
        },
    ),
    Option(
        name="reference_runs",
        group="Data",
        nargs="+",
        metavar="RUN",
        commands="estimate report plan subset",
        basic="subset",
        help="Use runs of other systems on all questions to adjust for questions that were not run (with --scope full)",
        variants={
            "plan": "Plan an active evaluation on fewer questions from these runs of earlier systems on all questions",
            "subset": {"is_required": True, "help": "Use runs of others on the whole task (required)"},
        },
    ),
    Option(
        name="inclusion_probabilities",
        group="Data",
        metavar="FILE|COLUMN",
        commands="estimate report compare rank gate plan grader subset",
        help="Read inclusion probabilities from a FILE of `harness-uq subset`, or from a COLUMN of the labels",
        variants={
            **dict.fromkeys(("compare", "rank", "gate", "plan", "grader"), _COLUMN),
            "subset": {
                "metavar": "FILE",
                "help": "Read the inclusion probabilities of the first draw (with --after)",
            },
        },
    ),
    Option(
        name="grader_shift",
        rule=SHARE,
        default=0.1,
        metavar="SHIFT",
        commands="compare gate",
        help="If only one system has labels, allow grader error rates to differ by up to SHIFT (default: {default})",
    ),
    Option(
        name="format",
        group="Output",
        metavar="FORMAT",
        commands=_TABLES,
        basic=_TABLES,
        variants={command: _formats(*_MORE_FORMATS.get(command, ("html",))) for command in _TABLES.split()},
    ),
    Option(
        name="output",
        group="Output",
        metavar="FILE",
        commands=_TABLES,
        help="Write the results to FILE; its suffix sets the format unless you give --format",
        basic=_TABLES,
    ),
    Option(
        name="columns",
        group="Output",
        metavar="NAME[,NAME]",
        commands=_TABLES,
        help="Show these columns of text, Markdown and LaTeX tables, in this order; 'all' shows every column",
    ),
    Option(
        name="digits",
        group="Output",
        metavar="N",
        rule=SEED,
        commands=_TABLES,
        help="Print scores in tables with N decimal places",
    ),
    Option(
        name="percent",
        group="Output",
        is_flag=True,
        commands="estimate compare rank",
        help="Print scores from 0 to 1 as percentages (in the formats table, markdown and latex)",
    ),
    Option(
        name="notes",
        group="Output",
        is_flag=True,
        group_of_one="detail",
        commands=_TABLES,
        help="Print all notes and warnings; below text tables, which are folded into one line by default",
        basic=_TABLES,
    ),
    Option(
        name="quiet",
        flags=("-q", "--quiet"),
        group="Output",
        is_flag=True,
        group_of_one="detail",
        commands=_TABLES,
        help="Print only the headline or decision and the table of text",
    ),
    Option(
        name="per_task",
        group="Output",
        is_flag=True,
        commands="estimate compare rank",
        variants={
            "estimate": "Print the scores of all tasks, which are omitted by default if there are many tasks",
            "compare": "Also print the comparisons on each task if there are three or more systems",
            "rank": "Also print the ranking of the systems on each task",
        },
        basic="rank",
    ),
    Option(
        name="plot",
        group="Output",
        metavar="FILE",
        read=_figure,
        commands="estimate compare rank effects history plan",
        basic="rank effects history",
        variants={
            command: f"Write a plot of {what} to FILE; a PNG, SVG or PDF file (requires matplotlib)"
            for command, what in (
                ("estimate", "the scores"),
                ("compare", "the differences"),
                ("rank", "the ranks"),
                ("effects", "the effects"),
                ("history", "the scores over time"),
                ("plan", "the precision curves"),
            )
        },
    ),
    Option(
        name="caption",
        flags=("--latex-caption",),
        group="LaTeX",
        metavar="TEXT",
        commands=_TABLES,
        settings={"latex_caption": OUTPUT_SETTINGS["latex_caption"]},
        help="Set the caption of the LaTeX table",
    ),
    Option(
        name="label",
        flags=("--latex-label",),
        group="LaTeX",
        metavar="NAME",
        rule=OUTPUT_SETTINGS["latex_label"],
        commands=_TABLES,
        settings={"latex_label": OUTPUT_SETTINGS["latex_label"]},
        help="Set the label of the LaTeX table",
    ),
    Option(
        name="layout",
        group="LaTeX",
        choices=("rows", "grid"),
        default="rows",
        commands="estimate rank",
        help="Print one row per score, or a grid of systems and tasks (default: {default})",
    ),
    Option(
        name="follow_links",
        group="Output",
        is_flag=True,
        commands="rescore restore",
        help="Also change logs outside the given folders if links in these folders point to them",
    ),
    Option(
        name="jobs",
        group="Scaling",
        rule=COUNT,
        metavar="N",
        commands=_READ,
        help="Read logs with N parallel processes (default: 1)",
    ),
    Option(
        name="engine",
        group="Scaling",
        choices=("joblib", "dask"),
        default="joblib",
        commands=_READ,
        settings={"engine": OUTPUT_SETTINGS["engine"]},
        help="Read the logs on this machine (joblib) or on a Dask cluster (dask) (default: {default})",
    ),
    Option(
        name="scheduler",
        group="Scaling",
        metavar="ADDRESS",
        commands=_READ,
        help="Use the Dask scheduler at this address (default: start a local scheduler)",
    ),
    Option(
        name="store",
        group="Scaling",
        metavar="DIR",
        commands=_READ,
        help="Store results in the folder or URL DIR, so that unchanged logs need not be read again",
    ),
)
"""Arguments of several commands that are no options of an analysis."""
_SETTINGS_FILE = (
    Option(
        name="settings_file",
        flags=("--settings",),
        group="General",
        metavar="FILE",
        group_of_one="settings",
        basic="",
        help="Read settings only from FILE, and not from the settings files of the project",
    ),
    Option(
        name="isolated",
        group="General",
        is_flag=True,
        group_of_one="settings",
        basic="",
        help="Ignore the settings in harness-uq.toml and pyproject.toml",
    ),
)
_GENERAL = (
    Option(
        name="ignore",
        group="General",
        is_list=True,
        metavar="CODE[,CODE]",
        basic="",
        help="Hide the notes and warnings with these codes or names, such as UQ104 or few-clusters (repeatable)",
    ),
    *_SETTINGS_FILE,
)


def help_formatter(prog: str) -> argparse.HelpFormatter:
    """Layout of the help: as wide as the terminal up to 100 columns, coloured if standard output is a terminal."""
    from rich_argparse import RawDescriptionRichHelpFormatter

    class Formatter(RawDescriptionRichHelpFormatter):
        group_name_formatter = str
        help_markup = False
        text_markup = False

    return Formatter(prog, max_help_position=26, width=_width())


def _width() -> int:
    return min(shutil.get_terminal_size().columns, _MAX_WIDTH)


class CommandParser(argparse.ArgumentParser):
    """A parser that sorts options into `GROUPS`, and suggests the nearest valid name for a mistyped one."""

    def __init__(
        self,
        prog: str,
        *,
        usage: str | None = None,
        description: str = "",
        epilog: str = "",
        brief: "Callable[[], CommandParser] | None" = None,
    ) -> None:
        super().__init__(
            prog,
            usage=usage,
            description=description,
            epilog=epilog,
            formatter_class=help_formatter,
            add_help=False,
            allow_abbrev=False,
        )
        self.brief = brief
        self.typed: set[str] = set()
        if brief is None:
            self.groups = dict.fromkeys(GROUPS, self.add_argument_group("Options"))
        else:
            self.groups = {title: self.add_argument_group(title) for title in GROUPS}

    def add_general(self) -> None:
        """Add the arguments of every command, of which the brief help shows two."""
        general = self.groups["General"]
        general.add_argument("-h", "--help", action=_BriefHelp, help="Show this help and exit")
        general.add_argument("--help-all", action="help", help="Show all options and exit")
        if self.brief is not None:
            general.add_argument("--debug", action="store_true", help="Show the traceback of an internal error")

    def add_options(self, options: Sequence[Option], settings: "Settings | None" = None) -> None:
        """Add the arguments of the options, with the values of the settings file as the defaults in their help."""
        exclusive: dict[str, argparse._MutuallyExclusiveGroup] = {}
        for one in options:
            group: argparse._ActionsContainer = self.groups[one.group]
            if one.group_of_one is not None:
                if one.group_of_one not in exclusive:
                    exclusive[one.group_of_one] = group.add_mutually_exclusive_group(required=one.is_required)
                group = exclusive[one.group_of_one]
            group.add_argument(*one.arguments, **_keywords(one, settings))

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse the arguments; an unknown option is reported before anything that is missing."""
        self.typed = {argument.partition("=")[0] for argument in args or ()}
        for argument in args or ():
            if argument == "--":
                break
            option = argument.partition("=")[0]
            if option.startswith("--") and " " not in option and option not in self._option_string_actions:
                self.error(f"Unknown option: {option!r}.{self._similar(option)}")
        return super().parse_known_args(args, namespace)

    def _similar(self, option: str) -> str:
        """The most similar option, or else the commands that have this option."""
        known = [name for name in self._option_string_actions if name.startswith("--")]
        others = [one.commands.split() for one in (*OPTIONS.values(), *SHARED) if option in one.arguments]
        if others and others[0]:
            return f" It is an option of {join_words(others[0])}.{_ELSEWHERE.get(option, '')}"
        formats = self._option_string_actions["--format"].help or "" if "--format" in known else ""
        if (name := option.removeprefix("--")) in formats.partition(";")[0].replace(",", "").split():
            return f" Use --format {name} --output FILE."
        return did_you_mean(option, known)

    def error(self, message: str) -> NoReturn:
        """Print the error, with each option as it was typed, and where to find help, and exit with code 2."""
        for action in self._actions:
            typed = [name for name in action.option_strings if name in self.typed]
            if typed:
                message = message.replace("/".join(action.option_strings), typed[0])
        text = escape_control(redact(message[0].upper() + message[1:]))
        self.exit(2, f"{self.prog}: error: {text}\nRun '{self.prog} --help' for the common options, or --help-all.\n")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            name = "/".join(action.option_strings) or str(action.metavar or action.dest)
            self.error(unknown_name(f"value of {name}", value, action.choices, plural="values"))


_ELSEWHERE = {"--estimand": " This command supports only means."}
"""What else to say about options that only other commands have."""


class _BriefHelp(argparse.Action):
    """Prints the help with the basic options."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:  # noqa: A002 -- as of argparse
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the help and exit."""
        if isinstance(parser, CommandParser) and parser.brief is not None:
            parser.brief().print_help()
        parser.exit()


def _keywords(one: Option, settings: "Settings | None") -> dict[str, Any]:
    """The keywords of `add_argument` for an option; an argument that is not given is None, False or an empty list."""
    values = () if settings is None else [settings.values[key] for key in one.settings if key in settings.values]
    default = values[0] if values else one.default
    shown = f"{default:g}" if isinstance(default, float) else str(default)
    found: dict[str, Any] = {"help": one.help.replace("%", "%%").replace("{default}", shown)}
    if one.arguments[0].startswith("-"):
        found["dest"] = one.name
        if one.is_required and one.group_of_one is None:
            found["required"] = True
    if one.is_flag:
        return {**found, "action": "store_true"}
    if one.is_list:
        found |= {"action": "append", "default": []}
    elif one.name not in OPTIONS:
        found["default"] = default
    for name in ("metavar", "nargs", "const"):
        if (value := getattr(one, name)) is not None:
            found[name] = value
    if one.choices:
        found["choices"] = one.choices
    read = one.read
    if read is None and one.rule is not None and one.rule is not NAMES:
        read = partial(read_value, one.rule)
    return found if read is None else {**found, "type": _reader(read)}


def _page(name: str) -> str:
    """Where a page of the documentation is."""
    from harness_uq.output.message_links import documentation_url

    url = documentation_url()
    return f"harness-uq explain {name.rpartition('/')[2]}" if url is None else f"{url}/{name}.html"


def _settings_of(options: Sequence[Option]) -> str:
    """Which of the options a settings file can set."""
    keys = [key for one in options for key in one.settings]
    text = f"Keys of harness-uq.toml: {', '.join(keys)}; see {_page('reference/settings')}."
    return textwrap.fill(text, _width(), break_long_words=False, break_on_hyphens=False) + "\n" if keys else ""


def _reader(read: Callable[[str], object]) -> Callable[[str], object]:
    def convert(text: str) -> object:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def arguments_of(command: Command) -> tuple[Option, ...]:
    """All arguments of a command, in the order of its help."""
    shared = (one.of(command.name) for one in SHARED if one.is_of(command.name))
    return (*command.page.arguments, *options_of_command(command.name), *shared, *_GENERAL)


def build_parser(
    command: Command, settings: "Settings | None" = None, *, is_brief: bool = False, **defaults: object
) -> CommandParser:
    """The parser of one command, with its summary, examples and options; the brief one only prints the help."""
    page, prog = command.page, f"harness-uq {command.name}"
    # command lines, each below a comment that explains it; a continued line is indented
    examples = "\n".join(f"  # {about}\n  {line}" for about, line in page.examples).replace("\\\n", "\\\n      ")
    details = " for details, and --help-all for all options" if is_brief else ""
    reference = f"Exit codes: {page.exit_codes}\nSee {_page('reference/exit-codes')}{details}."
    options = arguments_of(command)
    more = () if is_brief else (page.more, _settings_of(options))
    parser = CommandParser(
        prog,
        usage=f"{prog} {page.usage}",
        description=f"{command.summary}.\n\nExamples:\n{examples}",
        epilog="\n".join(filter(None, (page.details, *more, reference))),
        brief=None if is_brief else partial(build_parser, command, settings, is_brief=True),
    )
    if is_brief:
        options = tuple(one.brief() for one in options if one.is_basic_of(command.name))
    parser.add_options(options, settings)
    parser.add_general()
    parser.set_defaults(settings=settings, command=command, parsers=_all_parsers, **defaults)
    return parser


def _all_parsers() -> dict[str, tuple[str, CommandParser]]:
    """Summary and parser of each command by its name, for shell completion."""
    return {name: (command.summary, build_parser(command)) for name, command in COMMANDS.items()}


def parse_settings_options(arguments: Sequence[str]) -> argparse.Namespace | None:
    """Which settings file the arguments of a command choose; None if the parser of the command reports an error."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    group = parser.add_mutually_exclusive_group()
    for one in _SETTINGS_FILE:
        group.add_argument(*one.arguments, **_keywords(one, None))
    try:
        return parser.parse_known_args(arguments)[0]
    except argparse.ArgumentError:
        return None
