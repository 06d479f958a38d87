"""Where batches are processed: in this process, in processes of joblib, or on a dask cluster."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from harness_uq.analyses.scan.backends import Backend, SerialBackend, joblib_processes


@dataclass(frozen=True, slots=True)
class Engine:
    """Choice of a backend."""

    name: Literal["joblib", "dask"] = "joblib"  # `joblib` for this machine or as `joblib.parallel_config` says
    jobs: int | None = None  # processes; None for the setting of `joblib.parallel_config`, or else this process alone
    scheduler: str | None = None  # address of a dask cluster; None starts one on this machine


@contextmanager
def open_backend(engine: Engine) -> Iterator[Backend]:
    """Start the workers of an engine; an error inside the block stops processes on this machine at once.

    Raises MissingDependencyError if a package that the engine needs is not installed, and HarnessUqError if the cluster
    cannot be reached.
    """
    if engine.name == "dask":
        from harness_uq.analyses.scan.dask_backend import dask_cluster

        with dask_cluster(engine.scheduler, engine.jobs) as backend:
            yield backend
    elif engine.jobs == 1 or (engine.jobs is None and "joblib" not in sys.modules):
        yield SerialBackend()
    else:
        with joblib_processes(engine.jobs) as backend:
            yield backend
