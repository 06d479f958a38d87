"""The interface of backends, and those that work on this machine: in this process, and in processes of joblib."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice, tee
from typing import Protocol, TypeVar

from harness_uq.analyses.store.file_batches import Batch
from harness_uq.messages import Message, MessageType
from harness_uq.messages.catalogue.result_store import WORKER_DIED, WORKER_REPLACED
from harness_uq.messages.errors import error_summary

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


class JoblibBackend:
    """Workers of joblib, with arguments of `joblib.parallel_config`; none if the caller has set them already."""

    is_in_process = False

    def __init__(self, n_workers: int, settings: Mapping[str, object]) -> None:
        self.n_workers = n_workers
        self.worker_errors: list[Message] = []
        self._settings = settings

    def each(
        self, work: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[tuple[Batch, Result | WorkerFailure]]:
        """Call `work` on each batch; yield batches and results in the order of completion.

        joblib does not report which batch killed a worker. So all batches that were submitted and not returned are
        repeated, one group of files at a time.
        """
        remaining, suspects = dict(enumerate(batches)), list[Batch]()
        while remaining:
            submitted = set[int]()
            try:
                for index, result in self._results(work, remaining, submitted):
                    yield remaining.pop(index), result
            except Exception as error:
                lost = tuple(group for index in sorted(submitted & remaining.keys()) for group in remaining.pop(index))
                self.worker_errors.append(worker_failure_message(lost, error, kind=WORKER_REPLACED))
                suspects += [(group,) for group in lost]
        for suspect in suspects:
            try:
                ((_, result),) = self._results(work, {0: suspect}, set())
            except Exception as error:
                yield suspect, WorkerFailure(worker_failure_message(suspect, error))
            else:
                yield suspect, result

    def _results(
        self, work: Callable[[Batch], Result], batches: Mapping[int, Batch], submitted: set[int]
    ) -> Iterator[tuple[int, Result]]:
        """Yield the index and result of each batch; add the indices of submitted batches to `submitted`."""
        import joblib  # takes a tenth of a second, which most commands do not need

        def tasks() -> Iterator[object]:
            for index in list(batches):
                submitted.add(index)
                yield joblib.delayed(_with_index)(work, index, batches[index])

        with safe_path(), joblib.parallel_config(**self._settings) if self._settings else nullcontext():
            if joblib.parallel.get_active_backend()[0].supports_return_generator:
                with ignore_sigint():  # workers start immediately, results are awaited below
                    results = joblib.Parallel(return_as="generator_unordered", batch_size=1)(tasks())
                yield from results
                return
            pending = tasks()
            while chunk := list(islice(pending, 2 * self.n_workers)):
                yield from joblib.Parallel(batch_size=1)(chunk)


@contextmanager
def joblib_processes(jobs: int | None) -> Iterator[Backend]:
    """Start processes on this machine; an error inside the block stops them at once. Without a number of jobs, that of
    `joblib.parallel_config` is used, or this process if there is none.
    """
    import joblib

    n_workers = joblib.effective_n_jobs(jobs)
    if jobs is None:
        yield SerialBackend() if n_workers == 1 else JoblibBackend(n_workers, {})
        return
    try:
        yield JoblibBackend(n_workers, {"backend": "loky", "n_jobs": jobs, "inner_max_num_threads": 1})
    except BaseException:
        joblib.externals.loky.get_reusable_executor().shutdown(wait=False, kill_workers=True)
        raise


def _with_index(work: Callable[[Batch], Result], index: int, batch: Batch) -> tuple[int, Result]:
    return index, work(batch)
