"""`harness-uq explain`: print what a message means, with an example."""

import argparse
import shutil
from textwrap import fill

from harness_uq.commands.console import message_type
from harness_uq.commands.page import Page, logs_argument

USAGE = "CODE [CODE ...]"
EXAMPLES = (
    ("Explain a message by its code", "harness-uq explain UQ157"),
    ("Explain a message by its name", "harness-uq explain few-clusters"),
    ("Explain several messages", "harness-uq explain UQ104 UQ114"),
)


_ARGUMENTS = (logs_argument("codes", "CODE", help="Code or name of a message"),)


def run(args: argparse.Namespace) -> int:
    """Print each message with its example, its meaning and what to do."""
    from harness_uq.messages.control_characters import escape_lines
    from harness_uq.messages.examples import example
    from harness_uq.output.message_links import message_url

    width = min(shutil.get_terminal_size().columns, 100)
    for number, kind in enumerate(map(message_type, args.codes)):
        message = example(kind)
        parts = [
            f"{kind.code} {kind.name} ({kind.severity})",
            "" if message is None else fill(f"Example: {message.text}", width, subsequent_indent="  "),
            fill(kind.meaning, width),
            fill(f"What to do: {kind.action}", width),
            message_url(kind) or "",
        ]
        print(escape_lines("\n" * (number > 0) + "\n".join(filter(None, parts))))
    return 0


PAGES = {"explain": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS)}
