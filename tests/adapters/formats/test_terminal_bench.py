"""Runs of Terminal-Bench 1."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness_uq import compare, estimate
from harness_uq.data.trial_endings import ENDINGS
from tests.adapters.formats.files import READERS, read, resolved, terminal_trial, write_terminal_run
from tests.conftest import originals
from tests.message_checks import has, params_of


def names_of(log) -> set[str]:
    return {message.name for message in log.messages}


def test_runs_of_one_agent_in_a_folder_are_trials(tmp_path: Path) -> None:
    for at, outcomes in enumerate([{"a": True, "b": False}, {"b": True, "a": True}, {"a": False, "b": None}]):
        folder = tmp_path / f"run{at}"
        write_terminal_run(folder, resolved(folder.name, outcomes), start_time=f"2026-01-0{at + 1}T00:00:00+00:00")
    (log,) = read(tmp_path).logs
    assert (log.system, log.task) == ("agent (model=lab/model)", "toy-core@0.1")
    assert log.questions.ids == ("a", "b")
    np.testing.assert_array_equal(log.data[0].values, [[1, 1, 0], [0, 1, 0]])
    assert log.reported["resolved", "none"].value == pytest.approx(0.5)
    assert log.facts.is_finished
    assert names_of(log) == {"runs-as-trials", "missing-count-as-zero"}
    assert params_of(log.messages[1], "missing-count-as-zero")["n_missing"] == 1
    assert log.source.time == "2026-01-01T00:00:00+00:00"


def test_attempts_of_one_run_are_ordered_by_their_number(tmp_path: Path) -> None:
    trials = [terminal_trial("a", k == 10, run="r", k=k, n=10) for k in (10, 2, 1)]
    write_terminal_run(tmp_path / "r", trials, n_attempts=10)
    (log,) = read(tmp_path).logs
    np.testing.assert_array_equal(log.data[0].values, [[0, 0, 1]])
    assert not log.facts.is_finished


@pytest.mark.parametrize("change", [{"agent_name": "other"}, {"model_name": None}, {"dataset_version": "0.2"}])
def test_runs_of_another_system_or_dataset_are_other_logs(tmp_path: Path, change: dict[str, object]) -> None:
    write_terminal_run(tmp_path / "r1", resolved("r1", {"a": True}))
    write_terminal_run(tmp_path / "r2", resolved("r2", {"a": True}), **change)
    assert len(read(tmp_path).logs) == 2


def test_a_resolved_trial_that_ended_by_timeout_counts(tmp_path: Path) -> None:
    write_terminal_run(tmp_path / "r", [terminal_trial("a", True, run="r", failure_mode="agent_timeout")])
    (log,) = read(tmp_path).logs
    np.testing.assert_array_equal(log.data[0].values, [[1]])
    assert names_of(log) == set()


@pytest.mark.parametrize(
    ("is_resolved", "failure_mode", "ending"),
    [
        (False, "unset", "completed"),
        (True, "none", "completed"),
        (True, "agent_timeout", "time limit"),
        (False, "context_length_exceeded", "context limit"),
        (False, "output_length_exceeded", "token limit"),
        (False, "fatal_llm_parse_error", "unparsed"),
        (None, "parse_error", "error"),
        (None, "test_timeout", "error"),
        (None, "unset", "unknown"),
        (False, "a new one", "unknown"),
        (False, None, "unknown"),
    ],
)
def test_the_failure_mode_is_the_ending(tmp_path: Path, is_resolved: object, failure_mode: object, ending: str) -> None:
    trials = [terminal_trial("a", is_resolved, run="r", failure_mode=failure_mode)]
    (log,) = read(write_terminal_run(tmp_path / "r", trials)).logs
    assert log.ended_by.counts() == {ending: 1}


def test_endings_are_in_the_order_of_questions_and_runs(tmp_path: Path) -> None:
    for run, modes in (("r1", ("unset", "agent_timeout")), ("r2", ("parse_error", "unset"))):
        trials = [
            terminal_trial(task, True, run=run, failure_mode=mode) for task, mode in zip("ab", modes, strict=True)
        ]
        write_terminal_run(tmp_path / run, trials, start_time=run)
    write_terminal_run(tmp_path / "r3", [terminal_trial("a", True, run="r3")], start_time="r3")
    (log,) = read(tmp_path).logs
    names = [[ENDINGS[code] if code >= 0 else None for code in row] for row in log.ended_by.codes]
    assert names == [["completed", "error", "completed"], ["time limit", "completed", None]]


def test_copies_of_a_run_are_left_out(tmp_path: Path) -> None:
    run = write_terminal_run(tmp_path / "runs" / "r", resolved("r", {"a": True, "b": False}))
    shutil.copytree(run, run / "r")
    shutil.copytree(run, tmp_path / "elsewhere" / "r")
    reading = read(tmp_path)
    (log,) = reading.logs
    np.testing.assert_array_equal(log.data[0].values, [[1], [0]])
    (grouped,) = READERS["terminal-bench"].parts(list(map(str, run.rglob("*.json"))))
    assert len(grouped) == 8
    assert {row.n_questions for row in estimate(tmp_path)} == {2}


def test_without_the_file_of_the_run_the_files_of_the_trials_are_read(tmp_path: Path) -> None:
    run = write_terminal_run(tmp_path / "r", resolved("r", {"a": True, "b": False, "c": True}), size=4)
    (run / "results.json").write_text('{"id": "x", "results": [{')
    (log,) = read(tmp_path).logs
    assert sorted(log.questions.ids) == ["a", "b", "c"]
    assert float(np.mean(log.data[0].values)) == pytest.approx(2 / 3)
    assert not log.facts.is_finished
    assert names_of(log) == set()
    (run / "b" / "b.1-of-1.r" / "results.json").write_text("{")
    (log,) = read(tmp_path).logs
    assert sorted(log.questions.ids) == ["a", "c"]
    (message,) = log.messages
    assert params_of(message, "part-unreadable")["n_parts"] == 1


def test_a_run_without_any_readable_file_is_named(tmp_path: Path) -> None:
    run = write_terminal_run(tmp_path / "r", resolved("r", {"a": True}))
    for path in run.rglob("results.json"):
        path.write_text("{")
    write_terminal_run(tmp_path / "other" / "s", resolved("s", {"a": True}))
    reading = read(tmp_path)
    assert len(reading.logs) == 1
    ((path, _),) = reading.warnings
    assert path == str(run / "run_metadata.json")


def test_results_that_contradict_the_accuracy_and_repeated_trials_are_warned_of(tmp_path: Path) -> None:
    run = write_terminal_run(tmp_path / "r", resolved("r", {"a": True, "b": False}))
    content = json.loads((run / "results.json").read_text())
    content["results"][1]["is_resolved"] = True
    (run / "results.json").write_text(json.dumps(content))
    (log,) = read(tmp_path).logs
    assert has(log.messages, "tool-value-differs", value=1.0, reported=0.5)
    content["results"].append(content["results"][0])
    (run / "results.json").write_text(json.dumps(content))
    (log,) = read(tmp_path).logs
    assert has(log.messages, "repeated-records", n_repeated=1)
    assert log.data[0].values.shape == (2, 1)


def test_tokens_that_were_not_counted_are_unknown(tmp_path: Path) -> None:
    trials = [
        terminal_trial("a", True, run="r", total_input_tokens=120, total_output_tokens=7),
        terminal_trial("b", True, run="r"),
        terminal_trial("c", True, run="r", total_input_tokens=None, trial_ended_at=None),
    ]
    write_terminal_run(tmp_path / "r", trials)
    (log,) = read(tmp_path, with_resources=True).logs
    (usage,) = log.resources.usage
    assert usage.model == "lab/model"
    np.testing.assert_array_equal(usage.input_tokens, [[120], [np.nan], [np.nan]])
    np.testing.assert_array_equal(usage.output_tokens, [[7], [np.nan], [np.nan]])
    np.testing.assert_array_equal(log.resources.total_time, [[90], [90], [np.nan]])
    assert read(tmp_path).logs[0].resources is None


def test_secrets_in_the_settings_of_an_agent_are_not_shown(tmp_path: Path) -> None:
    write_terminal_run(tmp_path / "r", resolved("r", {"a": True}), agent_kwargs={"api_key": "sk-hidden", "version": 2})
    (log,) = read(tmp_path).logs
    assert log.system == "agent (model=lab/model, api_key=***, version=2)"


@pytest.mark.parametrize(
    ("agent", "mean", "n_missing", "per_run", "endings"),
    [
        # errors: 16 parse_error, 1 test_timeout, 4 agent_installation_failed
        ("20250711_openhands_claude-4-sonnet", 165 / 400, 17, [32, 33, 35, 32, 33], (270, 21, 109)),
        # errors: 1 parse_error, 10 test_timeout
        ("20250923_droid_claude-4-sonnet", 202 / 400, 11, [43, 41, 42, 37, 39], (303, 11, 86)),
    ],
)
def test_the_trials_of_the_leaderboard(
    agent: str, mean: float, n_missing: int, per_run: list[int], endings: tuple[int, int, int]
) -> None:
    """The numbers of results with each `failure_mode` were counted in the files of the trials."""
    (log,) = read(originals() / "data/formats/terminal_bench" / agent).logs
    (scores,) = log.data
    assert scores.values.shape == (80, 5)
    assert scores.values.sum(axis=0).tolist() == per_run
    assert float(scores.values.mean()) == mean == log.reported["resolved", "none"].value
    assert has(log.messages, "missing-count-as-zero", n_missing=n_missing, n_trials=400)
    assert log.ended_by.counts() == dict(zip(("completed", "error", "time limit"), endings, strict=True))


def test_errors_of_the_leaderboard_can_be_left_out() -> None:
    """Of the 21 errors, none was resolved; 165 of the 400 trials were."""
    folder = originals() / "data/formats/terminal_bench/20250711_openhands_claude-4-sonnet"
    (row,) = estimate(folder, treat={"error": "drop"})
    assert row.endings == {"completed": 270, "error": 21, "time limit": 109}
    assert row.n_missing == 21
    assert row.value > 0.4125


def test_the_agents_of_the_leaderboard_are_compared_question_by_question() -> None:
    folder = originals() / "data/formats/terminal_bench"
    (row,) = compare(folder / "20250711_openhands_claude-4-sonnet", folder / "20250923_droid_claude-4-sonnet")
    assert (row.value_a, row.value_b) == (pytest.approx(0.4125, abs=1e-12), pytest.approx(0.5050, abs=1e-12))
    assert (row.n_matched, row.n_unmatched_a, row.n_unmatched_b, row.n_trials) == (80, 0, 0, 5)
