"""The progress bar of long commands, on standard error if it is a terminal."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")


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


def track(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    """The items, with a progress bar."""
    with progress_bar(description) as update:
        for n_completed, item in enumerate(items):
            update(n_completed, total, description)
            yield item
