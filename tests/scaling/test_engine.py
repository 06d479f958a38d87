import contextlib
import os
import signal
import subprocess
import sys

import joblib
import pytest

from harness_uq.errors import HarnessUqError
from harness_uq.logs.places import Fingerprint
from harness_uq.scaling.engine import Engine, workers
from harness_uq.scaling.here import Lost
from harness_uq.scaling.parts import Part

DEADLY = "deadly"


def batches(*names):
    return [tuple(Part((Fingerprint(name, 1, None),)) for name in batch.split()) for batch in names]


def read(batch):
    """What a worker does: its process and the names, unless one of them is deadly."""
    names = [part.files[0].url for part in batch]
    if DEADLY in names:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid(), names


def names_of(results):
    return sorted(name for result in results if not isinstance(result, Lost) for name in result[1])


def test_one_process_needs_no_other_and_no_joblib_settings():
    with workers(Engine()) as crew:
        found = list(crew.each(read, batches("a b", "c")))
    assert [result for _, result in found] == [(os.getpid(), ["a", "b"]), (os.getpid(), ["c"])]


def test_joblibs_own_settings_hold_for_python():
    with joblib.parallel_config("threading", n_jobs=2), workers(Engine()) as crew:
        assert crew.count == 2
        assert names_of(result for _, result in crew.each(read, batches("a", "b", "c"))) == ["a", "b", "c"]


@pytest.mark.slow
def test_a_backend_that_cannot_stream_is_given_some_batches_at_a_time():
    with joblib.parallel_config("multiprocessing", n_jobs=2), workers(Engine()) as crew:
        assert names_of(result for _, result in crew.each(len_and_names, batches(*"abcdefg"))) == list("abcdefg")


def len_and_names(batch):
    return len(batch), [part.files[0].url for part in batch]


@pytest.mark.slow
def test_a_part_that_kills_its_worker_is_named_and_all_others_are_done_elsewhere():
    given = batches("a b", f"c {DEADLY} d", "e", *(f"x{i}" for i in range(12)))
    with workers(Engine(jobs=2)) as crew:
        found = list(crew.each(read, given))
    lost = [(batch, result) for batch, result in found if isinstance(result, Lost)]
    assert [batch[0].urls for batch, _ in lost] == [(DEADLY,)]
    assert lost[0][1].message.startswith(f"the worker that read {DEADLY} died: ")
    assert names_of(result for _, result in found) == sorted(["a", "b", "c", "d", "e", *(f"x{i}" for i in range(12))])
    assert os.getpid() not in [result[0] for _, result in found if not isinstance(result, Lost)]
    assert len(crew.trouble) >= 1


@pytest.mark.slow
def test_a_cluster_gives_the_same_and_names_what_kills_its_workers():
    pytest.importorskip("distributed")
    with workers(Engine("dask", jobs=2)) as crew:
        assert crew.count == 2
        found = list(crew.each(read, batches("a b", f"c {DEADLY}", "e")))
    assert [batch[0].urls for batch, result in found if isinstance(result, Lost)] == [(DEADLY,)]
    assert names_of(result for _, result in found) == ["a", "b", "c", "e"]


def test_a_scheduler_that_is_not_there_is_named():
    pytest.importorskip("distributed")
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}),
        pytest.raises(HarnessUqError, match=r"no dask scheduler at tcp://127\.0\.0\.1:9"),
        workers(Engine("dask", scheduler="tcp://127.0.0.1:9")),
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
    with workers(Engine("dask", scheduler=address)) as crew:
        found = []
        for _, result in crew.each(read, given):
            if not found:
                os.killpg(process.pid, signal.SIGKILL)
            found.append(result)
    assert names_of(found) == sorted(f"x{i}" for i in range(40))
    assert crew.trouble == ["the dask scheduler was lost; processes of this machine did the rest"]
