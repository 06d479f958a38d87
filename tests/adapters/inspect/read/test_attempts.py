"""Retries: a log that a later attempt at the same run continues is left out, by every way of reading logs."""

import pytest

from harness_uq import read_logs
from harness_uq.analyses.effects import effects
from harness_uq.analyses.scan.scan_logs import scan
from harness_uq.messages.catalogue.reading import COPIED_LOG, EARLIER_ATTEMPT
from harness_uq.options import Options
from tests.adapters.inspect.logs import grid, header, score_totals, write_eval, write_json

FINISHED = [[1.0], [0.0], [1.0], [1.0], [0.0], [1.0]]


def attempt(folder, name, values, *, task_id="T", eval_id=None, status="success", day=1, **more):
    spec = {"task_id": task_id, "eval_id": eval_id or name, "created": f"2026-01-{day:02}T03:04:05+00:00"}
    log = header(scores=[score_totals("match", 0.5)], total=len(values), status=status, **spec, **more)
    return write_eval(folder / f"{name}.eval", log, grid(values))


@pytest.fixture
def folder(tmp_path):
    """A run whose first attempt stopped after four of six questions, its retry, and another run of the task."""
    attempt(tmp_path, "first", FINISHED[:4], status="error", day=1)
    attempt(tmp_path, "retry", FINISHED, day=2)
    attempt(tmp_path, "other", FINISHED[::-1], task_id="U", day=3)
    return tmp_path


def names(logs):
    return sorted(log.source.path.rsplit("/", 1)[-1] for log in logs)


@pytest.mark.parametrize("full_logs", [True, False])
def test_scan_leaves_out_the_earlier_attempt_and_says_which_log_continues_it(folder, full_logs):
    result = scan(folder, Options(), full_logs=full_logs)
    assert names(result.reading.logs) == ["other.eval", "retry.eval"]
    assert [row.n_questions for row in result.rows] == [6, 6]
    [(path, message)] = result.reading.warnings
    assert (path, message.code) == (str(folder / "first.eval"), EARLIER_ATTEMPT.code)
    assert message.params == {"continued_in": str(folder / "retry.eval"), "n_trials": 4}
    assert not result.reading.failures


def test_read_logs_leaves_out_the_same_log(folder):
    reading = read_logs(folder)
    assert names(reading.logs) == ["other.eval", "retry.eval"]
    assert [message.code for _, message in reading.warnings] == [EARLIER_ATTEMPT.code]


def test_effects_do_not_count_an_attempt_as_a_run(folder):
    [row] = effects(folder)
    assert {part.name: part.n_levels for part in row.components}["run"] == 2


def test_an_attempt_that_is_passed_alone_is_read(folder):
    reading = read_logs(folder / "first.eval")
    assert names(reading.logs) == ["first.eval"]
    assert not reading.warnings


def test_a_cancelled_retry_does_not_replace_a_finished_attempt(tmp_path):
    attempt(tmp_path, "finished", FINISHED, day=1)
    attempt(tmp_path, "cancelled", FINISHED[:2], status="cancelled", day=2)
    assert names(read_logs(tmp_path).logs) == ["finished.eval"]


def test_of_unfinished_attempts_the_newest_counts(tmp_path):
    attempt(tmp_path, "b", FINISHED[:2], status="error", day=1)
    attempt(tmp_path, "a", FINISHED[:4], status="error", day=2)
    assert names(read_logs(tmp_path).logs) == ["a.eval"]


def test_an_unfinished_attempt_with_fewer_trials_does_not_replace_an_earlier_one(tmp_path):
    attempt(tmp_path, "long", FINISHED[:5], status="error", day=1)
    attempt(tmp_path, "short", FINISHED[:2], status="cancelled", day=2)
    assert names(read_logs(tmp_path).logs) == ["long.eval"]


@pytest.fixture
def copied(tmp_path):
    """A log, a copy of it in the other format, and a log of the same samples with the scores of another grader."""
    first = attempt(tmp_path, "a", FINISHED, eval_id="same")
    converted = header(scores=[score_totals("match", 0.5)], total=6, task_id="T", eval_id="same")
    write_json(tmp_path / "b.json", converted, grid(FINISHED))
    attempt(tmp_path, "c", [[0.0], *FINISHED[1:]], eval_id="same")
    return first


def test_a_copy_of_a_log_is_left_out_and_another_scoring_is_not(copied):
    for reading in (read_logs(copied.parent), scan(copied.parent, Options()).reading):
        assert names(reading.logs) == ["a.eval", "c.eval"]
        [(path, message)] = reading.warnings
        assert (path, message.code) == (str(copied.parent / "b.json"), COPIED_LOG.code)
        assert message.params == {"kept": str(copied), "n_trials": 6}


def test_effects_do_not_count_a_copy_as_a_run(copied):
    attempt(copied.parent, "d", [[0.0], *FINISHED[1:]], task_id="U")
    [row] = effects(copied.parent)
    assert {part.name: part.n_levels for part in row.components}["run"] == 3


def test_a_copy_that_is_given_alone_or_as_another_system_is_read(copied):
    copy = copied.parent / "b.json"
    assert names(read_logs(copy).logs) == ["b.json"]
    assert names(read_logs({"one": copied, "two": copy}).logs) == ["a.eval", "b.json"]


def test_attempts_without_identifiers_are_told_apart_by_their_time(tmp_path):
    for name, day in (("a", 1), ("b", 2)):
        log = header(total=6, task_id="T", created=f"2026-01-{day:02}T03:04:05+00:00")
        write_eval(tmp_path / f"{name}.eval", log, grid(FINISHED))
    assert names(read_logs(tmp_path).logs) == ["b.eval"]


def test_stored_results_leave_out_the_same_log(folder, tmp_path_factory):
    pytest.importorskip("pyarrow")
    store = str(tmp_path_factory.mktemp("store"))
    first, second = (scan(folder, Options(), store=store) for _ in range(2))
    assert names(first.reading.logs) == names(second.reading.logs) == ["other.eval", "retry.eval"]
    assert first.reading.warnings == second.reading.warnings != ()
