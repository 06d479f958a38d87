import contextlib
import os
import signal
import subprocess
import sys

import joblib
import pytest

from harness_uq.analyses.scan.backends import WorkerFailure
from harness_uq.analyses.scan.engine import Engine, open_backend
from harness_uq.analyses.store.file_batches import FileGroup
from harness_uq.io.listing_cache import Fingerprint
from harness_uq.messages.errors import HarnessUqError

DEADLY = "deadly"


def batches(*names):
    return [tuple(FileGroup((Fingerprint(name, 1, None),)) for name in batch.split()) for batch in names]


def read(batch):
    """What a worker does: its process and the names, unless one of them is deadly."""
    names = [part.files[0].url for part in batch]
    if DEADLY in names:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid(), names


def names_of(results):
    return sorted(name for result in results if not isinstance(result, WorkerFailure) for name in result[1])


def test_one_process_needs_no_other_and_no_joblib_settings():
    with open_backend(Engine()) as backend:
        found = list(backend.each(read, batches("a b", "c")))
    assert [result for _, result in found] == [(os.getpid(), ["a", "b"]), (os.getpid(), ["c"])]


def test_joblibs_own_settings_hold_for_python():
    with joblib.parallel_config("threading", n_jobs=2), open_backend(Engine()) as backend:
        assert backend.n_workers == 2
        assert names_of(result for _, result in backend.each(read, batches("a", "b", "c"))) == ["a", "b", "c"]


@pytest.mark.slow
def test_a_backend_that_cannot_stream_is_given_some_batches_at_a_time():
    with joblib.parallel_config("multiprocessing", n_jobs=2), open_backend(Engine()) as backend:
        assert names_of(result for _, result in backend.each(len_and_names, batches(*"abcdefg"))) == list("abcdefg")


def len_and_names(batch):
    return len(batch), [part.files[0].url for part in batch]


@pytest.mark.slow
def test_a_part_that_kills_its_worker_is_named_and_all_others_are_done_elsewhere():
    given = batches("a b", f"c {DEADLY} d", "e", *(f"x{i}" for i in range(12)))
    with open_backend(Engine(jobs=2)) as backend:
        found = list(backend.each(read, given))
    lost = [(batch, result) for batch, result in found if isinstance(result, WorkerFailure)]
    assert [batch[0].urls for batch, _ in lost] == [(DEADLY,)]
    assert lost[0][1].message.name == "worker-died"
    assert lost[0][1].message.params["logs"] == DEADLY
    assert names_of(result for _, result in found) == sorted(["a", "b", "c", "d", "e", *(f"x{i}" for i in range(12))])
    assert os.getpid() not in [result[0] for _, result in found if not isinstance(result, WorkerFailure)]
    assert len(backend.worker_errors) >= 1


@pytest.mark.slow
def test_a_cluster_gives_the_same_and_names_what_kills_its_workers():
    pytest.importorskip("distributed")
    with open_backend(Engine("dask", jobs=2)) as backend:
        assert backend.n_workers == 2
        found = list(backend.each(read, batches("a b", f"c {DEADLY}", "e")))
    assert [batch[0].urls for batch, result in found if isinstance(result, WorkerFailure)] == [(DEADLY,)]
    assert names_of(result for _, result in found) == ["a", "b", "c", "e"]


def test_a_scheduler_that_is_not_there_is_named():
    pytest.importorskip("distributed")
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}),
        pytest.raises(HarnessUqError, match=r"No Dask scheduler responds at tcp://127\.0\.0\.1:9"),
        open_backend(Engine("dask", scheduler="tcp://127.0.0.1:9")),
    ):
        pass


@pytest.fixture
def scheduler():
    """A cluster in a process group of its own, and its address."""
    pytest.importorskip("distributed")
    cluster = "LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=':0')"
    script = f"""if __name__ == "__main__":
    import time
    from distributed import LocalCluster
    print({cluster}.scheduler_address, flush=True)
    time.sleep(120)"""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "start_new_session": True}
    process = subprocess.Popen([sys.executable, "-c", script], **settings)
    yield process, process.stdout.readline().strip()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
def test_where_the_scheduler_is_lost_the_rest_is_done_here(scheduler):
    process, address = scheduler
    given = batches(*(f"x{i}" for i in range(40)))
    with open_backend(Engine("dask", scheduler=address)) as backend:
        found = []
        for _, result in backend.each(read, given):
            if not found:
                os.killpg(process.pid, signal.SIGKILL)
            found.append(result)
    assert names_of(found) == sorted(f"x{i}" for i in range(40))
    # the workers die with the scheduler, and the end of one may be noticed first
    said = [message.name for message in backend.worker_errors]
    assert [name for name in said if name != "worker-replaced"] == ["scheduler-lost"]
