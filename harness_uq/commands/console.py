"""What commands print on standard error: errors, messages that `--ignore` does not hide, and progress.

With `--ignore`, values, verdicts and exit codes are the same as without it: messages are marked when a command prints
its results. JSON documents contain marked messages with `ignored: true`.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from harness_uq.messages import MESSAGE_REGISTRY, Message, MessageType, mark_ignored
from harness_uq.messages.catalogue.command_line import NOT_IGNORABLE, UNKNOWN_MESSAGE
from harness_uq.messages.catalogue.estimation import UNKNOWN_METHOD
from harness_uq.messages.catalogue.reading import COLUMN_NOT_FOUND, NO_SUCH_SELECTION, UNKNOWN_SETTING_OF_LOGS
from harness_uq.messages.catalogue.score_structure import UNKNOWN_NAME
from harness_uq.messages.errors import HarnessUqError, UsageError
from harness_uq.messages.similar_names import did_you_mean

if TYPE_CHECKING:
    from harness_uq.io.plugins.manager import Plugins
    from harness_uq.results.comparison import Comparison
    from harness_uq.results.estimate import Estimate


T = TypeVar("T")
_CODES: ContextVar[frozenset[str]] = ContextVar("ignored messages", default=frozenset())
WRONG_ARGUMENTS = frozenset(
    kind.code for kind in (COLUMN_NOT_FOUND, NO_SUCH_SELECTION, UNKNOWN_METHOD, UNKNOWN_NAME, UNKNOWN_SETTING_OF_LOGS)
)
"""Codes of errors whose cause is a name in the arguments, which end a command with exit code 2."""


def print_error(text: str) -> None:
    """Print the text on standard error, without credentials and control characters; codes are links in a terminal."""
    from harness_uq.messages.control_characters import escape_control
    from harness_uq.messages.redaction import redact

    text = escape_control(redact(text))
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.text import Text

        from harness_uq.output.message_links import with_links

        Console(stderr=True, highlight=False).print(with_links(Text(text)), soft_wrap=True)
    else:
        print(text, file=sys.stderr)


def print_message(message: "Message", subject: str = "") -> None:
    """Print a message with its severity, subject and code on standard error, unless `--ignore` names it."""
    if marked(message).is_ignored:
        return
    severity = "error" if message.severity in ("refusal", "error") else message.severity
    print_error(f"{severity}: {f'{subject}: ' if subject else ''}{message.text} ({message.code})")


def load_and_report_plugins() -> "Plugins":
    """The installed plugins; each one that was skipped is named on standard error."""
    from harness_uq.inference import load_plugins

    plugins = load_plugins.load_plugins()
    for warning in plugins.warnings:
        print_message(warning)
    return plugins


def report_failures(rows: "Iterable[Estimate | Comparison]") -> int:
    """Print the failures among the results on standard error; exit code 1 if there are any."""
    failures = [(row, error) for row in rows for error in row.errors]
    for row, error in failures:
        print_message(error, f"{row.task} {row.metric}")
    return 1 if failures else 0


def command_line(args: argparse.Namespace) -> str:
    """The command line, without secrets and the folders of absolute paths."""
    import shlex

    from harness_uq.messages.redaction import redact
    from harness_uq.output.sanitize import file_name

    return redact(shlex.join(["harness-uq", *(file_name(redact(word)) for word in args.words)]))


def now() -> str:
    """The date and time, to the minute."""
    from datetime import UTC, datetime

    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


@contextmanager
def ignoring(labels: Iterable[str]) -> Iterator[None]:
    """Ignore the messages with these codes or names in the context; a label may be several, separated by commas. Raises
    UsageError if there is no such message, or it is a refusal or an error.
    """
    names = [name.strip() for label in labels for name in label.split(",")]
    token = _CODES.set(frozenset(_ignorable(name).code for name in names if name))
    try:
        yield
    finally:
        _CODES.reset(token)


def marked(value: T) -> T:
    """The value with the ignored messages in it marked, in results, sequences and mappings too."""
    codes = _CODES.get()
    return _marked(value, codes) if codes else value


def _marked(value: Any, codes: frozenset[str]) -> Any:
    if isinstance(value, Message):
        return mark_ignored((value,), codes)[0]
    if isinstance(value, list | tuple):
        items = [_marked(item, codes) for item in value]
        is_same = all(new is old for new, old in zip(items, value, strict=True))
        return value if is_same else type(value)(items)
    if isinstance(value, Mapping):
        changed = {name: _marked(item, codes) for name, item in value.items()}
        return value if all(changed[name] is item for name, item in value.items()) else changed
    if is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        changes = {name: new for name, item in old.items() if (new := _marked(item, codes)) is not item}
        return replace(value, **changes) if changes else value
    return value


def message_type(label: str) -> MessageType:
    """The type of messages with this code or name. Raises UsageError if there is none."""
    kind = MESSAGE_REGISTRY.find(label)
    if kind is None:
        from harness_uq.io.plugins.manager import import_messages_of_plugins

        import_messages_of_plugins()
        kind = MESSAGE_REGISTRY.find(label)
    if kind is None:
        raise UsageError(UNKNOWN_MESSAGE(label=label, suggestion=did_you_mean(label, MESSAGE_REGISTRY.labels)))
    return kind


def _ignorable(label: str) -> MessageType:
    kind = message_type(label)
    if kind.severity not in ("note", "warning"):
        raise UsageError(NOT_IGNORABLE(code=kind.code, name=kind.name, severity=kind.severity))
    return kind


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[float, float, str], None]]:
    """A function `update(completed, total, description)`, which draws a bar with the remaining time."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich import progress
    from rich.console import Console

    columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), progress.TimeRemainingColumn())
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=None)
        yield lambda completed, total, text: bar.update(task, completed=completed, total=total, description=text)


def track(items: Iterable[T], description: str, total: int) -> Iterator[T]:
    """The items, with a progress bar."""
    with progress_bar(description) as update:
        for n_completed, item in enumerate(items):
            update(n_completed, total, description)
            yield item


@contextmanager
def checking_arguments() -> Iterator[None]:
    """Report errors of the block as wrong arguments (exit code 2). Raises UsageError instead of any other
    HarnessUqError.
    """
    try:
        yield
    except HarnessUqError as error:
        raise UsageError(str(error)) from error
