"""Where batches are worked on: this process, others of this machine by joblib, or a dask cluster."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from harness_uq.scaling.here import Here, Workers


@dataclass(frozen=True, slots=True)
class Engine:
    """Who does the work.

    Attributes
    ----------
    name : `joblib` for processes of this machine, or for what `joblib.parallel_config` says; `dask` for a cluster
    jobs : number of processes; None for what `joblib.parallel_config` says, else for this process alone
    scheduler : address of a dask cluster; None starts one on this machine
    """

    name: Literal["joblib", "dask"] = "joblib"
    jobs: int | None = None
    scheduler: str | None = None


@contextmanager
def workers(engine: Engine) -> Iterator[Workers]:
    """The workers of an engine; processes of this machine are ended at once where the block is left by an error.

    Raises
    ------
    MissingDependencyError : if a package that the engine needs is not installed
    HarnessUqError : if the cluster cannot be reached
    """
    if engine.name == "dask":
        from harness_uq.scaling.cluster import cluster

        with cluster(engine.scheduler, engine.jobs) as crew:
            yield crew
    elif engine.jobs == 1 or (engine.jobs is None and "joblib" not in sys.modules):
        yield Here()
    else:
        from harness_uq.scaling.processes import processes

        with processes(engine.jobs) as crew:
            yield crew
