"""Processes on this machine, or the backend set by `joblib.parallel_config`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from itertools import islice

import joblib

from harness_uq.messages import Message
from harness_uq.messages.catalogue.store import WORKER_REPLACED
from harness_uq.runner.backends.serial import (
    Backend,
    Result,
    SerialBackend,
    WorkerFailure,
    ignore_sigint,
    safe_path,
    worker_failure_message,
)
from harness_uq.store.file_batches import Batch


class JoblibBackend:
    """Workers of joblib.

    Parameters
    ----------
    n_workers : int
        Number of workers.
    settings : mapping
        Arguments of `joblib.parallel_config`; empty if the caller has set them already.
    """

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
    """Start processes on this machine; an error inside the block stops them at once.

    Parameters
    ----------
    jobs : int or None
        Number of processes. None for the setting of `joblib.parallel_config`, or for this process if there is none.
    """
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
