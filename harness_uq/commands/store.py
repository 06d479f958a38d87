"""`harness-uq store`: list, verify or clean up a result store."""

import argparse
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.commands.parser import CommandParser

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness_uq.store.store import Store


USAGE = "(ls | verify | gc) DIR"
EXAMPLES = (
    ("List the stored results, grouped by options", "harness-uq store ls results-store/"),
    ("Read every file and report damage", "harness-uq store verify results-store/"),
    ("Remove results of changed or deleted logs", "harness-uq store gc results-store/"),
)
DETAILS = """\
The option --store of other commands creates a result store and adds results to
it, as in harness-uq estimate results/ --store results-store/.

Exit codes: 0 success, 1 a file of the store is damaged or cannot be read,
2 wrong arguments
"""


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    data = parser.groups["Data"]
    data.add_argument(
        "action",
        choices=["ls", "verify", "gc"],
        metavar="ACTION",
        help="List the results (ls), check all files (verify) or remove outdated results (gc)",
    )
    data.add_argument("store", metavar="DIR", help="Use the result store in this folder or at this URL")


def run(args: argparse.Namespace) -> int:
    """Open the store and run the action."""
    from harness_uq.errors import HarnessUqError, MissingDependencyError
    from harness_uq.io import paths as io_paths

    try:
        from harness_uq.store.store import Store
    except ImportError:
        raise MissingDependencyError(
            "A store requires pyarrow. Install it with: pip install 'harness-uq[store]'"
        ) from None
    if not io_paths.is_remote(args.store) and not io_paths.local_path(args.store).is_dir():
        raise HarnessUqError(f"Folder not found: {args.store}. Give a folder that --store created.")
    return {"ls": _list, "verify": _verify, "gc": _collect}[args.action](Store(args.store))


def _list(store: "Store") -> int:
    from harness_uq.messages.control_characters import escape_control
    from harness_uq.store.maintenance import summarize_store

    for holding in summarize_store(store):
        days = holding.first if holding.first == holding.last else f"{holding.first} to {holding.last}"
        line = f"{holding.kind:9} {holding.n_logs:8,} logs  {days}  {_options_text(holding.options)}"
        print(escape_control(line.rstrip()))
    for place, message in store.unreadable_files:
        _console.print_message(message, place)
    return 1 if store.unreadable_files else 0


def _options_text(options: str | None) -> str:
    """The options that are set, such as `level=0.95, method=bayes`; the text as it is, if it is not a JSON object."""
    import json

    try:
        values = json.loads(options or "{}")
    except ValueError:
        return options or ""
    return ", ".join(_settings(values)) if isinstance(values, dict) else options or ""


def _settings(values: "Mapping[str, object]", prefix: str = "") -> "Iterator[str]":
    """`NAME=VALUE` of each value that is set; the names of nested values are joined by dots."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _settings(value, f"{prefix}{name}.")
        elif value is not None and value is not False and value != "" and name != "origin":
            yield f"{prefix}{name}={value}"


def _verify(store: "Store") -> int:
    from harness_uq.store.maintenance import find_damage

    damaged = dict(find_damage(store, _console.load_and_report_plugins()))
    for place, message in damaged.items():
        _console.print_message(message, place)
    n_files = sum(1 for _ in store.files())
    print(f"{n_files - len(damaged):,} of {n_files:,} files are intact.")
    return 1 if damaged else 0


def _collect(store: "Store") -> int:
    from harness_uq.active.outdated_models import remove_outdated_models
    from harness_uq.store.maintenance import remove_outdated

    removed = remove_outdated(store, _console.load_and_report_plugins())
    removed["outdated models"] = remove_outdated_models(store.folder)
    for what, number in removed.items():
        print(f"{number:8,} {what} removed")
    return 0
