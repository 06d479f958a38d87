"""Workers: what they do with batches, and this process as the only one."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from harness_uq.errors import told
from harness_uq.scaling.parts import Batch

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Lost:
    """Why a batch gave nothing."""

    message: str


class Workers(Protocol):
    """Those who do the work."""

    @property
    def count(self) -> int:
        """How many they are, at least 1."""

    @property
    def is_here(self) -> bool:
        """Whether this process does the work itself."""

    @property
    def trouble(self) -> list[str]:
        """What went wrong with workers so far, in words."""

    def each(self, work: Callable[[Batch], Result], batches: Iterable[Batch]) -> Iterator[tuple[Batch, Result | Lost]]:
        """Batches with what `work` gave, in the order in which they get ready.

        A part that kills its worker comes alone, with what is known of it; those that shared its batch are done again.
        """


class Here:
    """The process itself as its only worker."""

    count = 1
    is_here = True

    def __init__(self) -> None:
        self.trouble: list[str] = []

    def each(self, work: Callable[[Batch], Result], batches: Iterable[Batch]) -> Iterator[tuple[Batch, Result | Lost]]:
        """Batches with what `work` gave, in their order."""
        yield from ((batch, work(batch)) for batch in batches)


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Processes started within never hear of Ctrl-C, which a terminal tells all; this one hears of it again afterwards.

    A mask would do without a moment of deafness, but loky's resource tracker lifts it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def died(batch: Batch, error: BaseException | None) -> str:
    """That the worker which was at these logs died, with the first sentence of what its keeper said."""
    said = told(error) if error is not None else ""
    reason = (said.strip() or type(error).__name__).splitlines()[0].partition(". ")[0]
    logs = batch[0].urls[0] if len(batch) == 1 else f"{len(batch)} logs, first {batch[0].urls[0]}"
    return f"the worker that read {logs} died: {reason}"
