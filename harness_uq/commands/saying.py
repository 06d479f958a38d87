"""What a command says on standard error, and of itself in what it writes."""

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness_uq.results.comparison import Comparison
    from harness_uq.results.estimate import Estimate


def complain(text: str) -> None:
    """Say it on standard error, in one line that cannot move the cursor."""
    from harness_uq.logs.refusals import shown
    from harness_uq.report.clean import plain

    print(plain(shown(text)), file=sys.stderr)


def say_failures(rows: "Iterable[Estimate | Comparison]") -> int:
    """Say on standard error what failed of these results; exit code 1 where something did."""
    failed = [row for row in rows if row.failure]
    for row in failed:
        complain(f"error: {row.task} {row.metric}: {row.failure}")
    return 1 if failed else 0


def command_line(args: argparse.Namespace) -> str:
    """The command as it was given, without the folders of absolute paths."""
    import shlex

    from harness_uq.report.clean import file_name

    return shlex.join(["harness-uq", *map(file_name, args.words)])


def now() -> str:
    """Date and time, to the minute."""
    from datetime import UTC, datetime

    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
