"""`--format` and `--output`: how every command emits its results."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import console as _console
from harness_uq.commands import ignored_messages as _ignored_messages
from harness_uq.commands import output_files as _output_files
from harness_uq.commands.parser import CommandParser
from harness_uq.errors import HarnessUqError, UsageError

if TYPE_CHECKING:
    from harness_uq.data.task_log import TaskLog
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.protocols import Format
    from harness_uq.results.result_set import ReadError, RenderOptions

_DEFAULT = "table"


_WITHOUT_TABLES = ("json", "csv", "html", "eee", "junit", "github")
_TABLES = ("table", "markdown", "latex")


def add_output(parser: CommandParser, *, layout: bool = False, more_formats: Sequence[str] = ("html",)) -> None:
    """Declare `--format`, `--output` and the options of tables.

    Parameters
    ----------
    layout : also declare `--layout`
    more_formats : built-in formats that support the results of this command but not those of every command
    """
    *formats, last = ["table", "json", "csv", "markdown", "latex", *more_formats]
    output, latex = parser.groups["Output"], parser.groups["LaTeX"]
    output.add_argument(
        "--format",
        metavar="FORMAT",
        help=f"Set the format: {', '.join(formats)} or {last} (default: that of --output, or table)",
    )
    output.add_argument(
        "--output",
        metavar="FILE",
        help="Write the results to FILE; its suffix sets the format unless you give --format",
    )
    columns_help = "Show these columns of text, Markdown and LaTeX tables, in this order; 'all' shows every column"
    output.add_argument("--columns", metavar="NAME[,NAME]", help=columns_help)
    output.add_argument("--digits", type=int, metavar="N", help="Print scores in tables with N decimal places")
    latex.add_argument("--latex-caption", metavar="TEXT", dest="caption", help="Set the caption of the LaTeX table")
    latex.add_argument("--latex-label", metavar="NAME", dest="label", help="Set the label of the LaTeX table")
    if layout:
        latex.add_argument(
            "--layout",
            choices=["rows", "grid"],
            default="rows",
            help="Print one row per score, or a grid of systems and tasks (default: %(default)s)",
        )


@dataclass(slots=True)
class Emitter:
    """Renders results in the chosen format, to standard output or a file.

    Attributes
    ----------
    output_format : the format
    path : file or URL to write to; None for standard output
    options : options of rendering
    names : the result lists that every document of the command has
    """

    output_format: "Format"
    path: str | None
    options: "RenderOptions"
    names: tuple[str, ...]
    is_done: bool = field(default=False, init=False)

    def emit(
        self,
        lists: "Mapping[str, Sequence[object]]",
        errors: "Sequence[ReadError]" = (),
        *,
        logs: "Sequence[TaskLog]" = (),
    ) -> None:
        """Render the results and print or write them.

        Parameters
        ----------
        lists : results by the name of their list
        errors : what could not be read
        logs : the logs of the results, for formats with `needs_logs`

        Raises
        ------
        UsageError : if the format cannot render the results as the options require
        HarnessUqError : if the file cannot be written
        """
        from dataclasses import replace

        from harness_uq.results.result_set import ResultSet

        with _argument_values.checking_arguments():
            results = ResultSet(_ignored_messages.marked(lists), errors)
            rendered = self.output_format.render(results, replace(self.options, logs=logs))
        self.is_done = True
        if self.path is not None:
            _write(self.path, rendered)
        elif isinstance(rendered, bytes):
            sys.stdout.buffer.write(rendered)
        elif rendered:
            print(rendered)

    def emit_errors(self, errors: "Sequence[ReadError]") -> None:
        """Emit a document without results, which lists what could not be read."""
        self.emit(dict.fromkeys(self.names, ()), errors)


@contextmanager
def emitting(args: argparse.Namespace, *names: str) -> Iterator[Emitter]:
    """An emitter of these result lists; if the command fails, its document lists the error.

    Raises
    ------
    UsageError : if the format does not exist or cannot render these results
    HarnessUqError : if the file of `--output` cannot be written
    """
    emitter = _emitter(args, names)
    try:
        yield emitter
    except HarnessUqError as error:
        if emitter.output_format.has_errors and not emitter.is_done:
            emitter.emit_errors([{"path": None, **error.message.to_dict()}])
        raise


def _emitter(args: argparse.Namespace, names: tuple[str, ...]) -> Emitter:
    from harness_uq.results.result_set import RenderOptions

    if args.output is not None:
        _output_files.try_place(args.output)
    output_format = _chosen_format(args, names)
    percent = getattr(args, "percent", False)
    if percent and output_format.name not in _TABLES:
        raise UsageError(f"--percent supports the formats {', '.join(_TABLES)}, not {output_format.name}.")
    columns = getattr(args, "columns", None)
    if columns and output_format.name in _WITHOUT_TABLES:
        raise UsageError(f"--columns supports the formats {', '.join(_TABLES)}, not {output_format.name}.")
    with _argument_values.checking_arguments():
        options = RenderOptions(
            is_terminal=False if args.output else None,
            columns=tuple(name.strip() for name in columns.split(",")) if columns else None,
            digits=getattr(args, "digits", None),
            percent=percent,
            layout=getattr(args, "layout", "rows"),
            caption=getattr(args, "caption", None),
            label=getattr(args, "label", None),
            title=getattr(args, "title", None),
            command=_console.command_line(args),
            date=_console.now(),
        )
    return Emitter(output_format, args.output, options, names)


def _chosen_format(args: argparse.Namespace, names: Sequence[str]) -> "Format":
    """The format that `--format` or the suffix of `--output` names.

    Raises
    ------
    UsageError : if there is none, or it cannot render the results of this command
    """
    from harness_uq.output.formats import format_named, format_of_file, formats_for, is_built_in

    with _argument_values.checking_arguments():
        if args.format is None and args.output is None:
            return format_named(_DEFAULT)
        if args.format is not None and is_built_in(args.format):
            chosen, plugins = format_named(args.format), None
        else:
            plugins = _plugins()
            chosen = format_named(args.format, plugins) if args.format else format_of_file(args.output, plugins)
    if chosen.accepts is not None and not {*names} - {"overall"} <= chosen.accepts:
        offered = ", ".join(sorted(formats_for({*names} - {"overall"}, plugins or _plugins())))
        raise UsageError(
            f"Format {chosen.name!r} does not support these results ({', '.join(names)}). Available formats: {offered}."
        )
    return chosen


def _plugins() -> "Plugins":
    from harness_uq.inference.load_plugins import load_plugins

    return load_plugins()


def _write(path: str, rendered: str | bytes) -> None:
    content = rendered if isinstance(rendered, bytes) else f"{rendered}\n".encode()
    _output_files.write_place(path, content)
    _console.print_error(f"wrote {path}")
