"""A dask cluster, used through dask's client: joblib's dask backend waits forever for a task whose worker died."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from harness_uq.analyses.scan.backends import (
    Backend,
    Result,
    WorkerFailure,
    ignore_sigint,
    joblib_processes,
    safe_path,
    worker_failure_message,
)
from harness_uq.analyses.store.file_batches import Batch
from harness_uq.messages import Message
from harness_uq.messages.catalogue.result_store import SCHEDULER_LOST, SCHEDULER_UNREACHABLE, WORKER_REPLACED
from harness_uq.messages.errors import HarnessUqError, MissingDependencyError, error_summary

try:
    import dask
    from distributed import Client, Future, LocalCluster, as_completed
except ImportError:
    raise MissingDependencyError("--engine dask needs dask: pip install 'harness-uq[dask]'") from None

_LOCAL_CLUSTER_CONFIG: Final = {
    "distributed.scheduler.allowed-failures": 0,  # return a task at once if its worker dies, to repeat it alone
    "distributed.worker.profile.enabled": False,  # profiling takes a tenth of the workers' time
}


class DaskBackend:
    """Workers of a dask cluster, whose client is connected to the scheduler."""

    is_in_process = False

    def __init__(self, client: Client) -> None:
        self.n_workers = max(1, sum(client.ncores().values()))
        self.worker_errors: list[Message] = []
        self._client = client

    def each(
        self, work: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[tuple[Batch, Result | WorkerFailure]]:
        """Call `work` on each batch; yield batches and results in the order of completion.

        Batches whose worker died are repeated, one group of files at a time. If the connection to the scheduler is
        lost, processes on this machine do the rest.
        """
        pending, suspects = deque(batches), list[Batch]()
        for batch, result in self._results(work, pending, 2 * self.n_workers):
            if isinstance(result, WorkerFailure):
                self.worker_errors.append(WORKER_REPLACED(**result.message.params))
                suspects += [(group,) for group in batch]
            else:
                yield batch, result
        pending.extend(suspects)
        yield from self._results(work, pending, 1)
        if pending:
            self.worker_errors.append(SCHEDULER_LOST())
            with joblib_processes(self.n_workers) as backend:
                yield from backend.each(work, pending)
                self.worker_errors += backend.worker_errors

    def _results(
        self, work: Callable[[Batch], Result], pending: "deque[Batch]", max_submitted: int
    ) -> Iterator[tuple[Batch, Result | WorkerFailure]]:
        """Yield results while the scheduler is connected; then return unfinished batches to `pending`."""
        submitted, completed = dict[Future, Batch](), as_completed(loop=self._client.loop)
        while pending or submitted:
            while pending and len(submitted) < max_submitted and self._is_connected:
                future = self._client.submit(work, pending[0], pure=False)
                submitted[future] = pending.popleft()
                completed.add(future)
            future = next(completed, None) if submitted else None
            if future is None or not self._is_connected:
                pending.extend(submitted.values())
                return
            batch = submitted.pop(future)
            try:
                result = future.result()
            except OSError:  # the connection failed; the work itself raises no OSError
                pending.extend((batch, *submitted.values()))
                return
            except Exception as error:
                result = WorkerFailure(worker_failure_message(batch, error))
            yield batch, result

    @property
    def _is_connected(self) -> bool:
        return bool(self._client.status == "running")


@contextmanager
def dask_cluster(scheduler: str | None, jobs: int | None) -> Iterator[Backend]:
    """Connect to the cluster at the address of a scheduler, or start one with `jobs` workers on this machine. By
    default there is one worker per processor. Raises HarnessUqError if no scheduler answers at the address.
    """
    with ExitStack() as stack:
        stack.enter_context(safe_path())
        logger = logging.getLogger("distributed")
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL)  # `DaskBackend.worker_errors` reports what happens to workers
        if scheduler is None:
            stack.enter_context(dask.config.set(_LOCAL_CLUSTER_CONFIG))
            settings = {"threads_per_worker": 1, "dashboard_address": ":0"}  # None would use port 8787
            with ignore_sigint():
                address = stack.enter_context(LocalCluster(n_workers=jobs, **settings))
        else:
            address = scheduler
        try:
            client = stack.enter_context(Client(address, set_as_default=False))
        except OSError as error:
            reason = error_summary(error)
            raise HarnessUqError(SCHEDULER_UNREACHABLE(address=scheduler, reason=reason)) from error
        yield DaskBackend(client)
