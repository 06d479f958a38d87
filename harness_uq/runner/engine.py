"""Where batches are processed: in this process, in processes of joblib, or on a dask cluster."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from harness_uq.runner.backends import Backend, SerialBackend, joblib_processes


@dataclass(frozen=True, slots=True)
class Engine:
    """Choice of a backend.

    Attributes
    ----------
    name : `joblib` for this machine, or for the backend set by `joblib.parallel_config`; `dask` for a cluster
    jobs : number of processes; by default the setting of `joblib.parallel_config`, or else this process alone
    scheduler : address of a dask cluster; by default a cluster is started on this machine
    """

    name: Literal["joblib", "dask"] = "joblib"
    jobs: int | None = None
    scheduler: str | None = None


@contextmanager
def open_backend(engine: Engine) -> Iterator[Backend]:
    """Start the workers of an engine; an error inside the block stops processes on this machine at once.

    Raises
    ------
    MissingDependencyError : if a package that the engine needs is not installed
    HarnessUqError : if the cluster cannot be reached
    """
    if engine.name == "dask":
        from harness_uq.runner.dask_backend import dask_cluster

        with dask_cluster(engine.scheduler, engine.jobs) as backend:
            yield backend
    elif engine.jobs == 1 or (engine.jobs is None and "joblib" not in sys.modules):
        yield SerialBackend()
    else:
        with joblib_processes(engine.jobs) as backend:
            yield backend
