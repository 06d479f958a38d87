import os
from dataclasses import replace
from pathlib import Path

import pytest

from harness_uq.io.plugins.protocols import Discovery, Run
from harness_uq.io.readers import _all_failures, grouped_by_folder, read_logs
from harness_uq.messages import Message
from harness_uq.messages.catalogue.reading import LOG_UNREADABLE
from harness_uq.messages.errors import LogError
from tests.data.toy import task_log
from tests.message_checks import has, params_of, raises_message

NEVER_SCORED = Message("XX001", "never-scored", "warning", "It was never scored.")


class Toy:
    """Reads `.toy` files; `bad.toy` looks like a log and cannot be found, `worse.toy` cannot be read."""

    name = "toy"

    def find(self, paths):
        mine = [p for p in paths if p.endswith(".toy")]
        runs = tuple(Run(p, (p,), Path(p).read_text()) for p in mine if not p.endswith("bad.toy"))
        problems = tuple((p, "truncated") for p in mine if p.endswith("bad.toy"))
        return Discovery(runs, tuple(p for p in paths if p not in mine), problems)

    def read(self, run):
        if run.name.endswith("worse.toy"):
            raise LogError("line 3 is no JSON")
        log = task_log([1, 0], task=Path(run.name).stem)
        return [replace(log, data=(), messages=(NEVER_SCORED,)) if log.task == "unscored" else log]


@pytest.fixture
def folder(tmp_path):
    for name, time in (("late", "2026-02-01"), ("early", "2026-01-01"), ("bad", ""), ("worse", "2026-03-01")):
        (tmp_path / f"{name}.toy").write_text(time)
    (tmp_path / "notes.txt").write_text("a note")
    return tmp_path


def reasons(found):
    """The reason of each file that is not a log, by its path."""
    return {path: params_of(message, "log-unreadable")["reason"] for path, message in found}


def read(*paths, **options):
    return read_logs(list(paths), harnesses={"toy": Toy()}, **options)


def test_a_folder_is_walked_in_order_of_time_and_strangers_are_counted(folder):
    reading = read(folder)
    assert [log.task for log in reading.logs] == ["early", "late"]
    assert reading.n_skipped == 1
    assert reading.failures == ()


def test_broken_logs_met_on_the_way_are_warnings(folder):
    assert reasons(read(folder).warnings) == {
        str(folder / "bad.toy"): "truncated",
        str(folder / "worse.toy"): "line 3 is no JSON",
    }


def test_a_broken_log_named_by_the_caller_is_a_failure_and_others_are_still_read(folder):
    reading = read(folder / "bad.toy", folder / "worse.toy", folder / "late.toy")
    assert [log.task for log in reading.logs] == ["late"]
    assert reasons(reading.failures) == {
        str(folder / "bad.toy"): "truncated",
        str(folder / "worse.toy"): "line 3 is no JSON",
    }
    assert reading.warnings == ()


def test_a_folder_of_broken_logs_is_not_blamed_itself(folder):
    (folder / "late.toy").unlink()
    (folder / "early.toy").unlink()
    reading = read(folder)
    assert reasons(reading.failures) == {
        str(folder / "bad.toy"): "truncated",
        str(folder / "worse.toy"): "line 3 is no JSON",
    }
    assert reading.warnings == ()


def test_a_run_without_scores_is_named_where_scores_are_needed(folder):
    path = folder / "unscored.toy"
    path.write_text("2026-04-01")
    assert [log.task for log in read(path).logs] == ["unscored"]
    message = dict(read(folder, need_scores=True).warnings)[str(path)]
    assert has(message, "task-left-out", task="unscored", reason=NEVER_SCORED.text)
    alone = read(path, need_scores=True)
    assert (alone.logs, alone.failures, alone.n_skipped) == ((), ((str(path), message),), 0)


def test_what_rescoring_keeps_is_no_stranger(folder):
    (folder / "late.toy.before-harness-uq").touch()
    assert read(folder).n_skipped == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.toy", "path-missing"),
        ("notes.txt", "not-a-log"),
        ("results_1.json", "not-a-log"),
        ("nothing.json", "file-empty"),
        ("cut.json", "invalid-json"),
        ("strangers", "no-log-in-folder"),
        ("strangers/*.txt", "no-log-in-folder"),
        ("no*.toy", "pattern-without-match"),
    ],
)
def test_a_path_that_gives_nothing_says_why(folder, name, message):
    (folder / "nothing.json").touch()
    (folder / "cut.json").write_text("[1,2")
    (folder / "results_1.json").write_text("{}")
    (folder / "strangers").mkdir()
    (folder / "strangers" / "notes.txt").touch()
    assert dict(read(folder / name).failures)[str(folder / name)].name == message


@pytest.mark.parametrize("pattern", ["pipe.toy", "pi*.toy"])
def test_a_fifo_is_never_opened(folder, pattern):
    n_logs = len(read(folder).logs)
    os.mkfifo(folder / "pipe.toy")
    assert len(read(folder).logs) == n_logs
    assert list(dict(read(folder / pattern).failures)) == [str(folder / pattern)]


def test_a_fifo_or_a_device_that_is_named_says_what_it_is(folder):
    os.mkfifo(folder / "pipe.toy")
    for name in (str(folder / "pipe.toy"), "/dev/null"):
        assert dict(read(name).failures)[name].name == "not-a-regular-file"


def test_a_glob_pattern_names_its_matches(folder):
    assert [log.task for log in read(f"{folder}/*a*e.toy").logs] == ["late"]


def test_strict_reading_raises_with_every_message(folder):
    with pytest.raises(LogError, match=r"truncated"):
        read(folder / "bad.toy", strict=True)


def test_only_the_reader_that_finds_a_run_reports_on_its_files(folder):
    class Mistaken(Toy):
        name = "mistaken"

        def find(self, paths):
            return Discovery((), (), tuple((path, "too old") for path in paths))

    reading = read_logs(folder / "late.toy", harnesses={"mistaken": Mistaken(), "toy": Toy()})
    assert (len(reading.logs), reading.failures, reading.warnings) == (1, (), ())


def test_files_of_a_folder_with_the_same_message_are_reported_together():
    unread, truncated = LOG_UNREADABLE(reason="it is empty"), LOG_UNREADABLE(reason="it is truncated")
    errors = [*((f"a/{name}.json", unread) for name in "12345"), ("a/6.json", truncated), ("b/1.json", unread)]
    assert grouped_by_folder([*errors, ("x", truncated), ("y", truncated)]) == [
        ("a: 1.json, 2.json, 3.json and 2 more files", unread),
        *errors[-2:],
        ("x, y", truncated),
    ]
    several = _all_failures([pair for pair in errors if pair[1] == unread])
    assert params_of(several, "paths-unreadable")["reasons"].count("it is empty") == 2


def test_a_file_claimed_twice_is_an_error(folder):
    with raises_message(LogError, "file-claimed-twice"):
        read_logs(folder / "late.toy", harnesses={"toy": Toy(), "other": Toy()})
