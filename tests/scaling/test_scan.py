import pickle
import shutil

import joblib
import pytest

from harness_uq import Options, estimate, load_plugins, read_logs
from harness_uq.report.tabular import estimates_json
from harness_uq.scaling.engine import Engine
from harness_uq.scaling.scan import scan


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
    assert estimates_json(found.rows) == estimates_json(estimate(reading.logs))
    assert [names(log) for log in found.reading.logs] == [names(log) for log in reading.logs]
    assert not any(len(log.questions) for log in found.reading.logs)
    assert set(found.reading.warnings) == set(reading.warnings)
    said = (found.reading.failures, found.reading.unread, found.reading.n_skipped)
    assert said == (reading.failures, reading.unread, reading.n_skipped)


@pytest.mark.slow
@pytest.mark.parametrize("engine", [Engine(jobs=2), Engine("dask", jobs=2)], ids=["processes", "dask"])
def test_what_comes_back_does_not_depend_on_the_engine(logs, engine):
    pytest.importorskip("distributed")
    one, other = scan(logs, Options(), keeps_logs=True), scan(logs, Options(), keeps_logs=True, engine=engine)
    assert estimates_json(other.rows) == estimates_json(one.rows)
    assert estimates_json(estimate(other.reading.logs)) == estimates_json(estimate(one.reading.logs))
    assert other.reading.warnings == one.reading.warnings
    assert other.reading.trouble == ()


@pytest.mark.slow
def test_what_joblib_is_configured_to_do_is_done(logs):
    with joblib.parallel_config("threading", n_jobs=2):
        assert estimates_json(scan(logs, Options()).rows) == estimates_json(
            scan(logs, Options(), engine=Engine(jobs=1)).rows
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
