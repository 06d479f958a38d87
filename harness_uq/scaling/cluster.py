"""A dask cluster, through its own client: joblib's would wait for ever for a task whose worker died."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from harness_uq.errors import HarnessUqError, MissingDependencyError, told
from harness_uq.scaling.here import Lost, Result, Workers, deaf_to_interrupts, died
from harness_uq.scaling.parts import Batch
from harness_uq.scaling.processes import processes

try:
    import dask
    from distributed import Client, Future, LocalCluster, as_completed
except ImportError:
    raise MissingDependencyError("--engine dask needs dask: pip install 'harness-uq[dask]'") from None

_OWN: Final = {
    "distributed.scheduler.allowed-failures": 0,  # a task whose worker died comes back at once, to be tried again alone
    "distributed.worker.profile.enabled": False,  # a tenth of the workers' time, for a page that nobody sees
}


class Cluster:
    """Workers of a dask cluster.

    Parameters
    ----------
    client : connected to the scheduler
    """

    is_here = False

    def __init__(self, client: Client) -> None:
        self.count = max(1, sum(client.ncores().values()))
        self.trouble: list[str] = []
        self._client = client

    def each(self, work: Callable[[Batch], Result], batches: Iterable[Batch]) -> Iterator[tuple[Batch, Result | Lost]]:
        """Batches with what `work` gave, in the order in which they get ready.

        Batches whose worker died are done again part by part and one at a time. Where the scheduler is lost, processes
        of this machine do the rest.
        """
        waiting, suspects = deque(batches), list[Batch]()
        for batch, result in self._returned(work, waiting, 2 * self.count):
            if isinstance(result, Lost):
                self.trouble.append(f"{result.message}; it was done again")
                suspects += [(part,) for part in batch]
            else:
                yield batch, result
        waiting.extend(suspects)
        yield from self._returned(work, waiting, 1)
        if waiting:
            self.trouble.append("the dask scheduler was lost; processes of this machine did the rest")
            with processes(self.count) as others:
                yield from others.each(work, waiting)
                self.trouble += others.trouble

    def _returned(
        self, work: Callable[[Batch], Result], waiting: "deque[Batch]", most: int
    ) -> Iterator[tuple[Batch, Result | Lost]]:
        """What comes back while the scheduler is there, of `most` at a time; what does not goes on waiting."""
        out, ready = dict[Future, Batch](), as_completed(loop=self._client.loop)
        while waiting or out:
            while waiting and len(out) < most and self._is_connected():
                future = self._client.submit(work, waiting[0], pure=False)
                out[future] = waiting.popleft()
                ready.add(future)
            future = next(ready, None) if out else None
            if future is None or not self._is_connected():
                waiting.extend(out.values())
                return
            batch = out.pop(future)
            try:
                result = future.result()
            except OSError:  # of the connection: the work itself raises none
                waiting.extend((batch, *out.values()))
                return
            except Exception as error:
                result = Lost(died(batch, error))
            yield batch, result

    def _is_connected(self) -> bool:
        return bool(self._client.status == "running")


@contextmanager
def cluster(scheduler: str | None, jobs: int | None) -> Iterator[Workers]:
    """Workers of the cluster at this address; where there is none, of one on this machine.

    Parameters
    ----------
    jobs : number of workers of a cluster on this machine; None for one a processor

    Raises
    ------
    HarnessUqError : if there is no scheduler at the address
    """
    with ExitStack() as stack:
        logger = logging.getLogger("distributed")
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL)  # what happens to workers is said here in a line
        if scheduler is None:
            stack.enter_context(dask.config.set(_OWN))
            settings = {"threads_per_worker": 1, "dashboard_address": ":0"}  # None would take port 8787
            with deaf_to_interrupts():
                address = stack.enter_context(LocalCluster(n_workers=jobs, **settings))
        else:
            address = scheduler
        try:
            client = stack.enter_context(Client(address, set_as_default=False))
        except OSError as error:
            raise HarnessUqError(f"no dask scheduler at {scheduler}: {told(error)}") from error
        yield Cluster(client)
