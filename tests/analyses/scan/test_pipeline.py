import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time

import joblib
import pytest

from harness_uq import Options, estimate, read_logs
from harness_uq.analyses.scan.engine import Engine
from harness_uq.analyses.scan.scan_logs import scan
from harness_uq.inference.load_plugins import load_plugins
from tests.adapters.inspect.logs import copy_as_run
from tests.output.rendering import render


def broken_and_whole(shared, folder):
    """Logs of both harnesses, an `.eval` cut off, one without scores, and files that are no logs."""
    shutil.copytree(shared / "data", folder, dirs_exist_ok=True)
    whole = next(folder.rglob("*popularity*.eval"))
    (folder / "inspect" / "cut.eval").write_bytes(whole.read_bytes()[:2000])
    return folder


@pytest.fixture(scope="module")
def logs(shared, tmp_path_factory):
    return broken_and_whole(shared, tmp_path_factory.mktemp("logs"))


def names(log):
    return log.system, log.task, log.source, log.subtasks, [(data.metric, data.filter) for data in log.data]


def test_one_process_gives_what_reading_and_estimating_give(logs):
    found, reading = scan(logs, Options()), read_logs(logs, need_scores=True)
    assert render(found.rows, "json") == render(estimate(reading.logs), "json")
    assert [names(log) for log in found.reading.logs] == [names(log) for log in reading.logs]
    assert not any(len(log.questions) for log in found.reading.logs)
    assert set(found.reading.warnings) == set(reading.warnings)
    said = (found.reading.failures, found.reading.unread, found.reading.n_skipped)
    assert said == (reading.failures, reading.unread, reading.n_skipped)


@pytest.mark.slow
@pytest.mark.parametrize("engine", [Engine(jobs=2), Engine("dask", jobs=2)], ids=["processes", "dask"])
def test_what_comes_back_does_not_depend_on_the_engine(standins, tmp_path, engine):
    pytest.importorskip("distributed")
    logs = broken_and_whole(standins, tmp_path)
    one, other = scan(logs, Options(), full_logs=True), scan(logs, Options(), full_logs=True, engine=engine)
    assert render(other.rows, "json") == render(one.rows, "json")
    assert render(estimate(other.reading.logs), "json") == render(estimate(one.reading.logs), "json")
    assert other.reading.warnings == one.reading.warnings
    assert other.reading.trouble == ()


@pytest.mark.slow
def test_what_joblib_is_configured_to_do_is_done(logs):
    with joblib.parallel_config("threading", n_jobs=2):
        assert render(scan(logs, Options()).rows, "json") == render(
            scan(logs, Options(), engine=Engine(jobs=1)).rows, "json"
        )


def test_a_path_named_by_the_caller_that_gives_nothing_is_a_failure(logs):
    cut = str(logs / "inspect" / "cut.eval")
    reading = scan([cut, logs / "nowhere"]).reading
    assert [path for path, _ in reading.failures] == [cut, str(logs / "nowhere")]


def test_progress_is_told_after_each_batch_and_ends_with_all(logs):
    told = []
    scan(logs, progress=told.append)
    assert (told[-1].logs, told[-1].n_bytes) == (told[-1].n_logs, told[-1].all_bytes)
    assert [at.logs for at in told] == sorted(at.logs for at in told)


def test_an_interrupt_says_how_far_it_was(logs):
    def interrupt(at):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"^\d+ of \d+ logs were done$"):
        scan(logs, progress=interrupt)


def test_readers_can_be_sent_to_other_processes():
    for reader in load_plugins().harnesses.values():
        assert pickle.loads(pickle.dumps(reader)).name == reader.name


def test_rows_are_found_again_for_some_of_the_logs(logs):
    found = scan(logs, Options())
    assert found.rows_of(found.reading.logs) == list(found.rows)
    some = found.reading.logs[3]
    assert [row.metric for row in found.rows_of([some])] == [data.metric for data in some.data]


def test_a_log_that_goes_away_after_it_was_listed_is_named_and_the_others_are_read(shared, tmp_path):
    whole = next((shared / "data" / "inspect").rglob("*popularity*.eval"))
    for i in range(20):
        copy_as_run(whole, tmp_path / f"{i:02}.eval")
    last = tmp_path / "19.eval"
    found = scan(tmp_path, Options(), progress=lambda _: last.unlink(missing_ok=True))
    assert found.reading.unread == {str(last)}
    assert len(found.rows) == 19


@pytest.mark.slow
def test_an_interrupt_ends_the_workers_and_says_how_far_it_was(standins, tmp_path):
    whole = next((standins / "data" / "inspect").rglob("*popularity_100*/*.eval"))
    first = tmp_path / "0.eval"
    shutil.copy(whole, first)
    for i in range(1, 5000):  # several seconds of work for two processes of any machine
        (tmp_path / f"{i}.eval").hardlink_to(first)
    command = [sys.executable, "-m", "harness_uq", "estimate", str(tmp_path), "--jobs", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    # a run in the background, as of CI, would hand down that interrupts are ignored
    process = subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **pipes)
    while len(workers := in_group(process.pid)) < 3:
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, "")
    assert re.fullmatch(r"harness-uq: interrupted: [\d,]+ of 5,000 logs were done\n", err)
    end = time.monotonic() + 120
    while in_group(process.pid) & workers:
        assert time.monotonic() < end, "workers are still running"
        time.sleep(0.05)


def in_group(leader):
    """Processes of a group that run."""
    found = subprocess.run(["ps", "-o", "pid=,stat=", "-g", str(leader)], capture_output=True, text=True, check=False)
    lines = (line.split() for line in found.stdout.splitlines())
    return {int(pid) for pid, state in lines if not state.startswith("Z")}


NO_HARNESS = """
import sys
from harness_uq import Options
from harness_uq.analyses.scan.scan_logs import scan
print(len(scan(sys.argv[1], Options(method="wilson")).rows) > 0, sorted({"lm_eval", "inspect_ai"} & set(sys.modules)))
"""


@pytest.mark.slow
def test_logs_are_read_and_estimated_without_importing_a_harness(shared):
    command = [sys.executable, "-c", NO_HARNESS, str(shared / "data")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True []\n"
