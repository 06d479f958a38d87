"""The interface of backends, and the backend that works in this process."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import tee
from typing import Protocol, TypeVar

from harness_uq.errors import error_summary
from harness_uq.messages import Message, MessageType
from harness_uq.messages.catalogue.store import WORKER_DIED
from harness_uq.store.file_batches import Batch

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class WorkerFailure:
    """The reason why a batch has no result."""

    message: Message


class Backend(Protocol):
    """Workers that process batches of files."""

    @property
    def n_workers(self) -> int:
        """Number of workers, at least 1."""

    @property
    def is_in_process(self) -> bool:
        """Whether this process does the work itself."""

    @property
    def worker_errors(self) -> list[Message]:
        """Messages about workers that died, and whose batches were repeated."""

    def each(
        self, work: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[tuple[Batch, Result | WorkerFailure]]:
        """Call `work` on each batch; yield batches and results in the order of completion.

        If a worker dies, its batch is repeated group by group. A group that kills its worker again gives a
        `WorkerFailure`.
        """


class SerialBackend:
    """A backend whose only worker is this process."""

    n_workers = 1
    is_in_process = True

    def __init__(self) -> None:
        self.worker_errors: list[Message] = []

    def each(
        self, work: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[tuple[Batch, Result | WorkerFailure]]:
        """Call `work` on each batch, in order."""
        results, remaining = tee(batches)
        return zip(remaining, map(work, results), strict=True)


@contextmanager
def ignore_sigint() -> Iterator[None]:
    """Start processes inside the block that ignore Ctrl-C, which a terminal sends to all processes of a job.

    This process ignores Ctrl-C only during the block. Blocking the signal instead would avoid that, but loky's resource
    tracker unblocks it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def safe_path() -> Iterator[None]:
    """Start Python processes inside the block without the current folder on their `sys.path`.

    loky and multiprocessing start processes with ``-m`` and ``-c``, which would import modules of the current folder
    in place of installed ones. A folder of logs from someone else may contain such modules.
    """
    previous = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if previous is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = previous


def worker_failure_message(batch: Batch, error: BaseException | None, *, kind: MessageType = WORKER_DIED) -> Message:
    """Name the logs whose worker died, with the first sentence of the backend's error."""
    text = error_summary(error) if error is not None else ""
    reason = (text.strip() or type(error).__name__).splitlines()[0].partition(". ")[0]
    logs = batch[0].urls[0] if len(batch) == 1 else f"{len(batch)} logs, first {batch[0].urls[0]}"
    return kind(logs=logs, reason=reason)
