"""Shards of logs: which files are one run, and which ones Inspect's own viewer hides."""

import os
import shutil

import pytest

from harness_uq import LogError, estimate, read_logs
from harness_uq.plugin_api import Run
from harness_uq_inspect.harness import InspectHarness
from tests.adapters.inspect.logs import entry, header, sample, score_totals, write_eval
from tests.message_checks import has

NAME = "2026-01-02T03-04-05_toy_abc"
RIGHT = [True, False, True, True, False, True]


def head(questions, *, status="success", **more):
    totals = score_totals("match", 0.5, n=len(questions))
    dataset = {"name": "toy", "sample_ids": list(questions)}
    return header(scores=[totals], total=len(questions), status=status, dataset=dataset, **more)


def samples(questions):
    return [sample(i, match="C" if RIGHT[i] else "I") for i in questions]


def shard(folder, number, questions, *, at, **more):
    path = folder / f"{NAME}.shards" / str(number) / f"{NAME}.eval"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_eval(path, head(questions, **more), samples(questions))
    os.utime(path, (at, at))
    return path


def merged(folder, questions, *, at, **more):
    path = write_eval(folder / f"{NAME}.eval", head(questions, **more), samples(questions))
    os.utime(path, (at, at))
    return path


def listed_by_inspect(inspect_log, folder):
    """The logs that Inspect's viewer lists; a private function, missing before 0.3.285."""
    file = pytest.importorskip("inspect_ai.log._file")
    if not hasattr(file, "without_merged_shards"):
        pytest.skip("this inspect-ai writes no shards")
    shown = file.without_merged_shards(inspect_log.list_eval_logs(str(folder)))
    return sorted(info.name.removeprefix("file://") for info in shown)


def read_files(folder):
    found = InspectHarness().find([str(path) for path in folder.rglob("*.eval")])
    assert found.problems == ()
    return [sorted(run.files) for run in found.runs]


def test_shards_that_no_log_covers_are_one_run(tmp_path):
    shard(tmp_path, 0, range(3), at=100)
    shard(tmp_path, 1, range(3, 6), at=200)
    (log,) = read_logs(tmp_path).logs
    assert log.questions.ids == tuple(map(str, range(6)))
    assert entry(log, "match").values.ravel().tolist() == [float(right) for right in RIGHT]
    assert has(log, "shards-unmerged", n_shards=2)
    assert not has(log, "contradictory-trials")
    (row,) = estimate(log)
    assert row.value == pytest.approx(4 / 6)


def test_shards_that_a_finished_log_covers_are_hidden(tmp_path, inspect_log):
    for number in (0, 1):
        shard(tmp_path, number, range(3 * number, 3 * number + 3), at=100)
    whole = merged(tmp_path, range(6), at=200)
    assert read_files(tmp_path) == [[str(whole)]] == [listed_by_inspect(inspect_log, tmp_path)]
    reading = read_logs(tmp_path)
    assert (len(reading.logs), reading.failures, reading.warnings) == (1, (), ())


@pytest.mark.parametrize(("at", "status"), [(200, "success"), (300, "success"), (100, "started"), (100, "error")])
def test_shards_written_since_or_not_finished_count_with_the_log_as_one_run(tmp_path, inspect_log, at, status):
    parts = [shard(tmp_path, number, range(2 * number, 2 * number + 2), at=at) for number in (1, 2)]
    whole = merged(tmp_path, range(4), at=200, status=status)
    (files,) = read_files(tmp_path)
    assert files == sorted(map(str, [whole, *parts])) == listed_by_inspect(inspect_log, tmp_path)
    (log,) = read_logs(tmp_path).logs
    assert log.questions.ids == tuple(map(str, range(6)))
    assert not has(log, "repeated-trials")


def test_a_recovered_log_covers_shards_together_with_the_original(tmp_path, inspect_log):
    part = shard(tmp_path, 0, range(3), at=150)
    whole = merged(tmp_path, range(3), at=100)
    recovered = shutil.copy2(whole, tmp_path / f"{NAME}-recovered.eval")
    os.utime(recovered, (200, 200))
    assert str(part) in listed_by_inspect(inspect_log, tmp_path)
    assert sorted(read_files(tmp_path)[0]) == sorted(map(str, [whole, recovered, part]))


def test_a_folder_of_shards_can_be_read_by_name(tmp_path):
    shard(tmp_path, 0, range(3), at=100)
    merged(tmp_path, range(3), at=200)
    (log,) = read_logs(tmp_path / f"{NAME}.shards").logs
    assert log.questions.ids == ("0", "1", "2")


def test_an_unreadable_shard_does_not_affect_the_others(tmp_path):
    shard(tmp_path, 0, range(3), at=100)
    broken = shard(tmp_path, 1, range(3, 6), at=100)
    files = tuple(str(path) for path in sorted(tmp_path.rglob("*.eval")))
    broken.write_bytes(broken.read_bytes()[:-50])
    (log,) = InspectHarness().read(Run(files[0], files))
    assert log.questions.ids == ("0", "1", "2")
    assert has(log, "shard-unreadable")


def test_the_log_of_a_run_in_progress_is_not_written_to(tmp_path):
    files = tuple(str(shard(tmp_path, number, [number], at=100)) for number in (0, 1))
    with pytest.raises(LogError, match="Inspect has not merged its buffer files yet"):
        InspectHarness().write(Run(files[0], files), [], None, settings={})
