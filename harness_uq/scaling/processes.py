"""Processes of this machine, or whatever `joblib.parallel_config` says."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from itertools import islice

import joblib

from harness_uq.scaling.here import Here, Lost, Result, Workers, deaf_to_interrupts, died
from harness_uq.scaling.parts import Batch


class Processes:
    """Workers of joblib.

    Parameters
    ----------
    count : how many
    settings : for `joblib.parallel_config`; empty where the caller has set it
    """

    is_here = False

    def __init__(self, count: int, settings: Mapping[str, object]) -> None:
        self.count = count
        self.trouble: list[str] = []
        self._settings = settings

    def each(self, work: Callable[[Batch], Result], batches: Iterable[Batch]) -> Iterator[tuple[Batch, Result | Lost]]:
        """Batches with what `work` gave, in the order in which they get ready.

        joblib does not say whose worker died. So what was given away and did not come back is done again, part by part
        and one at a time.
        """
        left, suspects = dict(enumerate(batches)), list[Batch]()
        while left:
            handed = set[int]()
            try:
                for at, result in self._unordered(work, left, handed):
                    yield left.pop(at), result
            except Exception as error:
                lost = tuple(part for at in sorted(handed & left.keys()) for part in left.pop(at))
                self.trouble.append(f"{died(lost, error)}; it was done again")
                suspects += [(part,) for part in lost]
        for suspect in suspects:
            yield suspect, self._alone(work, suspect)

    def _unordered(
        self, work: Callable[[Batch], Result], batches: Mapping[int, Batch], handed: set[int]
    ) -> Iterator[tuple[int, Result]]:
        """Results with the place of their batch; `handed` takes the places of the batches that were given away."""

        def tasks() -> Iterator[object]:
            for at in list(batches):
                handed.add(at)
                yield joblib.delayed(_placed)(work, at, batches[at])

        with joblib.parallel_config(**self._settings) if self._settings else nullcontext():
            if joblib.parallel.get_active_backend()[0].supports_return_generator:
                with deaf_to_interrupts():  # workers are started at once, results come later
                    results = joblib.Parallel(return_as="generator_unordered", batch_size=1)(tasks())
                yield from results
                return
            waiting = tasks()
            while some := list(islice(waiting, 2 * self.count)):
                yield from joblib.Parallel(batch_size=1)(some)

    def _alone(self, work: Callable[[Batch], Result], batch: Batch) -> Result | Lost:
        try:
            ((_, result),) = self._unordered(work, {0: batch}, set())
        except Exception as error:
            return Lost(died(batch, error))
        return result


@contextmanager
def processes(jobs: int | None) -> Iterator[Workers]:
    """Processes of this machine, which are ended at once where the block is left by an error.

    Parameters
    ----------
    jobs : how many; None for what `joblib.parallel_config` says, which is this process where it was not called
    """
    count = joblib.effective_n_jobs(jobs)
    if jobs is None:
        yield Here() if count == 1 else Processes(count, {})
        return
    try:
        yield Processes(count, {"backend": "loky", "n_jobs": jobs, "inner_max_num_threads": 1})
    except BaseException:
        joblib.externals.loky.get_reusable_executor().shutdown(wait=False, kill_workers=True)
        raise


def _placed(work: Callable[[Batch], Result], at: int, batch: Batch) -> tuple[int, Result]:
    return at, work(batch)
