"""How commands emit results: in a format, to files that are checked before the work, or as errors without results."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.data.estimands import parse_estimand
from harness_uq.messages.catalogue.command_line import NOTHING_ESTIMABLE
from harness_uq.messages.errors import HarnessUqError, UsageError
from harness_uq.options import OPTIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness_uq.data.task_log import TaskLog
    from harness_uq.io.plugins.manager import Plugins
    from harness_uq.io.plugins.protocols import Format, ReadError, RenderOptions
    from harness_uq.messages import Message
    from harness_uq.options import Options
    from harness_uq.results.comparison import Comparison
    from harness_uq.results.estimate import Estimate
    from harness_uq.results.overall import Overall

_REQUESTED = ("method", "scope", "estimand")
_ONE_TASK = "The logs contain scores of fewer than two tasks"
_DEFAULT = "table"


_WITHOUT_TABLES = ("json", "csv", "html", "eee", "junit", "github")
_TABLES = ("table", "markdown", "latex")


@dataclass(slots=True)
class Emitter:
    """Renders results in the chosen format, to standard output or a file.

    `path`: file or URL to write to; None for standard output. `names`: the result lists that every document of the
    command has.
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

        `errors`: what could not be read. `logs`: the logs of the results, for formats with `needs_logs`. Raises
        UsageError if the format cannot render the results as the options require, and HarnessUqError if the file cannot
        be written.
        """
        from dataclasses import replace

        from harness_uq.results.documents import result_set

        with _console.checking_arguments():
            results = result_set(_console.marked(lists), errors)
            rendered = self.output_format.render(results, replace(self.options, logs=logs))
        self.is_done = True
        if self.path is not None:
            _write(self.path, rendered)
        elif isinstance(rendered, bytes):
            sys.stdout.buffer.write(rendered)
        elif rendered:
            print(rendered)

    def emit_errors(self, errors: "Sequence[ReadError]") -> int:
        """Emit a document without results, which lists what could not be read, and return the exit code 1."""
        self.emit(dict.fromkeys(self.names, ()), errors)
        return 1


@contextmanager
def emitting(args: argparse.Namespace, *names: str) -> Iterator[Emitter]:
    """An emitter of these result lists; if the command fails, its document lists the error. Raises UsageError if the
    format does not exist or cannot render these results, and HarnessUqError if the file of `--output` cannot be
    written.
    """
    emitter = _emitter(args, names)
    try:
        yield emitter
    except HarnessUqError as error:
        if emitter.output_format.has_errors and not emitter.is_done:
            emitter.emit_errors([{"path": None, **error.message.to_dict()}])
        raise


def _emitter(args: argparse.Namespace, names: tuple[str, ...]) -> Emitter:
    from harness_uq.io.plugins.protocols import RenderOptions

    if args.output is not None:
        try_place(args.output)
    output_format = _chosen_format(args, names)
    percent = getattr(args, "percent", False)
    if percent and output_format.name not in _TABLES:
        raise UsageError(f"--percent supports the formats {', '.join(_TABLES)}, not {output_format.name}.")
    columns = getattr(args, "columns", None)
    if columns and output_format.name in _WITHOUT_TABLES:
        raise UsageError(f"--columns supports the formats {', '.join(_TABLES)}, not {output_format.name}.")
    with _console.checking_arguments():
        options = RenderOptions(
            is_terminal=False if args.output else None,
            columns=tuple(name.strip() for name in columns.split(",")) if columns else None,
            digits=getattr(args, "digits", None),
            percent=percent,
            summarize=not (getattr(args, "per_task", False) or getattr(args, "designs", False)),
            detail="quiet" if args.quiet else "notes" if args.notes else "brief",
            layout=getattr(args, "layout", "rows"),
            caption=getattr(args, "caption", None),
            label=getattr(args, "label", None),
            title=getattr(args, "title", None),
            command=_console.command_line(args),
            date=_console.now(),
        )
    return Emitter(output_format, args.output, options, names)


def _chosen_format(args: argparse.Namespace, names: Sequence[str]) -> "Format":
    """The format that `--format` or the suffix of `--output` names. Raises UsageError if there is none, or it cannot
    render the results of this command.
    """
    from harness_uq.output.formats import BUILT_IN, format_named, format_of_file, formats_for

    with _console.checking_arguments():
        if args.format is None and args.output is None:
            return format_named(_DEFAULT)
        if args.format is not None and args.format in BUILT_IN:
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
    write_place(path, content)
    _console.print_error(f"wrote {path}")


@contextmanager
def reporting_write_errors(path: Path | str) -> Iterator[None]:
    """Convert an OSError of the block into an error that names `path`. Raises HarnessUqError instead of OSError."""
    try:
        yield
    except OSError as error:
        raise HarnessUqError(f"Cannot write {path}: {error.strerror or error}") from None


def try_file(path: Path) -> None:
    """Check before long work that the file can be written. Raises HarnessUqError if it cannot."""
    from tempfile import TemporaryFile

    with reporting_write_errors(path):
        if path.is_dir():
            path.open("wb")  # raises the system's error
        if not is_stream(path):
            TemporaryFile(dir=path.parent).close()


def try_place(place: str) -> None:
    """Like `try_file`, for a path or a URL. Raises HarnessUqError if the file cannot be written, or the storage denies
    access.
    """
    from harness_uq.io.paths import is_file, is_remote

    if is_remote(place):
        with reporting_write_errors(place):
            is_file(place)
    else:
        try_file(Path(place))


def write_place(place: str, content: bytes) -> None:
    """Like `write_file`, for a path or a URL. Raises HarnessUqError if it cannot be written."""
    from harness_uq.io.paths import is_remote, write_bytes

    if is_remote(place):
        with reporting_write_errors(place):
            write_bytes(place, content)
    else:
        write_file(Path(place), content)


def write_file(path: Path, content: bytes) -> None:
    """Write the file atomically: on failure, the previous content remains.

    A link at `path` is replaced by the file; what it points to is not changed. A device, a pipe or an open file such as
    ``/dev/stdout`` is written to instead, after what was printed before. Raises HarnessUqError if it cannot be written.
    """
    from harness_uq.io.atomic_write import atomic_replace

    with reporting_write_errors(path):
        if is_stream(path):
            sys.stdout.flush()
            with path.open("ab") as stream:
                stream.write(content)
            return
        with atomic_replace(path) as file:
            file.write(content)


def is_stream(path: Path) -> bool:
    """Whether the path is a terminal, a pipe or similar, or a link to an open file, such as ``/dev/stdout``."""
    is_special = path.exists() and not path.is_file() and not path.is_dir()
    return is_special or (path.is_symlink() and path.readlink().is_relative_to("/proc"))


def write_figure(path: Path, figure: "Figure", *, tight: bool = False) -> None:
    """Write a figure in the format of the file name; equal figures give equal SVG files.

    `tight`: crop to the drawing, at 150 dots per inch. Raises HarnessUqError if it cannot be written.
    """
    from io import BytesIO

    from matplotlib import rc_context

    kind, drawn = path.suffix.lower().removeprefix("."), BytesIO()
    with rc_context({"svg.hashsalt": "harness_uq"}):
        figure.savefig(
            drawn,
            format=kind,
            metadata={"Date": None} if kind == "svg" else None,
            dpi=150 if tight else "figure",
            bbox_inches="tight" if tight else None,
        )
    write_file(path, drawn.getvalue())


def try_plot(args: argparse.Namespace) -> None:
    """Check before the work that the file of `--plot` can be written."""
    if args.plot:
        try_file(Path(args.plot))


def draw_results(args: argparse.Namespace, *lists: "Sequence[object]") -> None:
    """Draw the results of these lists, those over all tasks first, if `--plot` is given.

    Without results, there is no figure; the command then reports why.
    """
    shown = [result for results in lists for result in results]
    if args.plot and shown:
        from harness_uq.plots import figure_of

        write_figure(Path(args.plot), figure_of(shown))


def nothing_estimable(options: "Options", rows: "Sequence[Estimate | Comparison]") -> "Message | None":
    """An error if options request a method, scope or estimand, and no row has such an interval; otherwise None.

    Metrics that are not means of scores, such as f1, have an estimand of their own, whatever the options request.
    """
    requested = {name: getattr(options, name) for name in _REQUESTED}
    given = [f"--{name} {value}" for name, value in requested.items() if value != OPTIONS[name].default]
    label = None if options.estimand == "mean" else parse_estimand(options.estimand, options.scope).label
    is_computed = (_has_interval(row) and label in (None, getattr(row, "estimand", None)) for row in rows)
    if not (given and rows) or any(is_computed):
        return None
    reasons = Counter(row.reason.text for row in rows if row.reason is not None)
    return NOTHING_ESTIMABLE(options=given, reason=reasons.most_common(1)[0][0] if reasons else "unknown")


def new_tasks_not_estimable(overall: "Overall | None") -> "Message | None":
    """An error if there is no overall result for new tasks, although `--generalize-over task` requests one."""
    if overall is not None and overall.systems:
        return None
    reason = overall.messages[0].text if overall is not None and overall.messages else _ONE_TASK
    return NOTHING_ESTIMABLE(options=["--generalize-over task"], reason=reason)


def error_entries(problem: "Message | None") -> "list[ReadError]":
    """The error as an entry of the list `errors` of a document."""
    return [] if problem is None else [{"path": None, **problem.to_dict()}]


def report_problem(problem: "Message | None") -> int:
    """Print the error on standard error; exit code 1 if there is one."""
    if problem is None:
        return 0
    _console.print_message(problem)
    return 1


def _has_interval(row: "Estimate | Comparison") -> bool:
    return (getattr(row, "interval", None) or getattr(row, "difference", None)) is not None
