"""Errors on standard error, and the command line and date that outputs mention."""

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness_uq.commands.ignored_messages import marked
from harness_uq.messages.catalogue.estimation import UNKNOWN_METHOD
from harness_uq.messages.catalogue.reading import COLUMN_NOT_FOUND, NO_SUCH_SELECTION, UNKNOWN_SETTING_OF_LOGS
from harness_uq.messages.catalogue.structure import UNKNOWN_NAME

if TYPE_CHECKING:
    from harness_uq.messages import Message
    from harness_uq.plugins.manager import Plugins
    from harness_uq.results.comparison import Comparison
    from harness_uq.results.estimate import Estimate


WRONG_ARGUMENTS = frozenset(
    kind.code for kind in (COLUMN_NOT_FOUND, NO_SUCH_SELECTION, UNKNOWN_METHOD, UNKNOWN_NAME, UNKNOWN_SETTING_OF_LOGS)
)
"""Codes of errors whose cause is a name in the arguments, which end a command with exit code 2."""


def print_error(text: str) -> None:
    """Print the text on standard error, without credentials and control characters; codes are links in a terminal."""
    from harness_uq.messages.control_characters import escape_control
    from harness_uq.redaction import redact

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

    from harness_uq.output.sanitize import file_name
    from harness_uq.redaction import redact

    return redact(shlex.join(["harness-uq", *(file_name(redact(word)) for word in args.words)]))


def now() -> str:
    """The date and time, to the minute."""
    from datetime import UTC, datetime

    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
