"""Workers: what they do with batches, and this process as the only one."""

from collections.abc import Callable, Iterable, Iterator
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


def died(batch: Batch, error: BaseException | None) -> str:
    """That the worker which was at these logs died, with the first sentence of what its keeper said."""
    said = told(error) if error is not None else ""
    reason = (said.strip() or type(error).__name__).splitlines()[0].partition(". ")[0]
    logs = batch[0].urls[0] if len(batch) == 1 else f"{len(batch)} logs, first {batch[0].urls[0]}"
    return f"the worker that read {logs} died: {reason}"
