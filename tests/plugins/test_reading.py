import os
from dataclasses import replace
from pathlib import Path

import pytest

from harness_uq.errors import LogError
from harness_uq.plugins.protocols import Found, Run
from harness_uq.plugins.reading import read_logs
from tests.logs.toy import task_log


class Toy:
    """Reads `.toy` files; `bad.toy` looks like a log and cannot be found, `worse.toy` cannot be read."""

    name = "toy"

    def find(self, paths):
        mine = [p for p in paths if p.endswith(".toy")]
        runs = tuple(Run(p, (p,), Path(p).read_text()) for p in mine if not p.endswith("bad.toy"))
        problems = tuple((p, "truncated") for p in mine if p.endswith("bad.toy"))
        return Found(runs, tuple(p for p in paths if p not in mine), problems)

    def read(self, run):
        if run.name.endswith("worse.toy"):
            raise LogError("line 3 is no JSON")
        log = task_log([1, 0], task=Path(run.name).stem)
        return [replace(log, data=(), warnings=("never scored",)) if log.task == "unscored" else log]


@pytest.fixture
def folder(tmp_path):
    for name, time in (("late", "2026-02-01"), ("early", "2026-01-01"), ("bad", ""), ("worse", "2026-03-01")):
        (tmp_path / f"{name}.toy").write_text(time)
    (tmp_path / "notes.txt").write_text("a note")
    return tmp_path


def read(*paths, **options):
    return read_logs(list(paths), harnesses={"toy": Toy()}, **options)


def test_a_folder_is_walked_in_order_of_time_and_strangers_are_counted(folder):
    reading = read(folder)
    assert [log.task for log in reading.logs] == ["early", "late"]
    assert reading.n_skipped == 1
    assert reading.failures == ()


def test_broken_logs_met_on_the_way_are_warnings(folder):
    messages = dict(read(folder).warnings)
    assert messages == {
        str(folder / "bad.toy"): "truncated",
        str(folder / "worse.toy"): "line 3 is no JSON",
    }


def test_a_broken_log_named_by_the_caller_is_a_failure_and_others_are_still_read(folder):
    reading = read(folder / "bad.toy", folder / "worse.toy", folder / "late.toy")
    assert [log.task for log in reading.logs] == ["late"]
    assert dict(reading.failures) == {
        str(folder / "bad.toy"): "truncated",
        str(folder / "worse.toy"): "line 3 is no JSON",
    }
    assert reading.warnings == ()


def test_a_folder_of_broken_logs_is_not_blamed_itself(folder):
    (folder / "late.toy").unlink()
    (folder / "early.toy").unlink()
    reading = read(folder)
    assert dict(reading.failures) == {
        str(folder / "bad.toy"): "truncated",
        str(folder / "worse.toy"): "line 3 is no JSON",
    }
    assert reading.warnings == ()


def test_a_run_without_scores_is_named_where_scores_are_needed(folder):
    path = folder / "unscored.toy"
    path.write_text("2026-04-01")
    said = (str(path), "task 'unscored' is left out: never scored")
    assert [log.task for log in read(path).logs] == ["unscored"]
    assert said in read(folder, need_scores=True).warnings
    alone = read(path, need_scores=True)
    assert (alone.logs, alone.failures, alone.n_skipped) == ((), (said,), 0)


def test_what_rescoring_keeps_is_no_stranger(folder):
    (folder / "late.toy.before-harness-uq").touch()
    assert read(folder).n_skipped == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.toy", "no such file"),
        ("notes.txt", "not that of a log of a known harness (toy)"),
        ("results_1.json", "not that of a log of a known harness (toy)"),
        ("nothing.json", "the file is empty"),
        ("cut.json", "cut off or no JSON: Expecting ',' delimiter: line 1 column 5"),
        ("strangers", "none of its files (1) is a log of a known harness (toy)"),
        ("strangers/*.txt", "none of its files (1) is a log of a known harness (toy)"),
        ("no*.toy", "no file matches"),
    ],
)
def test_a_path_that_gives_nothing_says_why(folder, name, message):
    (folder / "nothing.json").touch()
    (folder / "cut.json").write_text("[1,2")
    (folder / "results_1.json").write_text("{}")
    (folder / "strangers").mkdir()
    (folder / "strangers" / "notes.txt").touch()
    assert message in dict(read(folder / name).failures)[str(folder / name)]


@pytest.mark.parametrize("pattern", ["pipe.toy", "pi*.toy"])
def test_a_fifo_is_never_opened(folder, pattern):
    n_logs = len(read(folder).logs)
    os.mkfifo(folder / "pipe.toy")
    assert len(read(folder).logs) == n_logs
    assert list(dict(read(folder / pattern).failures)) == [str(folder / pattern)]


def test_a_fifo_or_a_device_that_is_named_says_what_it_is(folder):
    os.mkfifo(folder / "pipe.toy")
    for name in (str(folder / "pipe.toy"), "/dev/null"):
        assert dict(read(name).failures)[name] == "a FIFO, a socket or a device, which is not opened"


def test_a_glob_pattern_names_its_matches(folder):
    assert [log.task for log in read(f"{folder}/*a*e.toy").logs] == ["late"]


def test_strict_reading_raises_with_every_message(folder):
    with pytest.raises(LogError, match=r"truncated"):
        read(folder / "bad.toy", strict=True)


def test_a_file_claimed_twice_is_an_error(folder):
    with pytest.raises(LogError, match="claimed by the harnesses"):
        read_logs(folder / "late.toy", harnesses={"toy": Toy(), "other": Toy()})
