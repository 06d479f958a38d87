"""Estimates of runs in which some trials have no score."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness_uq import compare, estimate, estimate_scores
from harness_uq.data.task_log import Scores, TaskLog, log_of_array
from harness_uq.data.trial_endings import TrialEndings, ending_code
from harness_uq.inference.diagnostics import messages_of_log
from harness_uq.messages.catalogue import estimation as messages
from harness_uq.messages.errors import DataError
from harness_uq.stats.trials.partial_identification import imbens_manski_level
from harness_uq_inspect.messages import TRIALS_WITHOUT_SCORE
from tests.adapters.inspect import logs as inspect


def codes(row) -> tuple[str, ...]:
    return tuple(message.code for message in row.messages)


def log_with(values: np.ndarray, ended: list[str] | None = None, **others: object) -> TaskLog:
    """A log of one trial per question; `ended` is how the trials ended."""
    log = log_of_array(values, "a", clusters=None, metric="score")
    if ended is not None:
        log = replace(log, ended_by=TrialEndings(np.array([[ending_code(name)] for name in ended])))
    return replace(log, **others)


@pytest.fixture
def values() -> np.ndarray:
    """70 right, 20 wrong and 10 missing answers."""
    return np.r_[np.ones(70), np.zeros(20), np.full(10, np.nan)]


def test_drop_is_the_default(values: np.ndarray) -> None:
    default, dropped = estimate(log_with(values))[0], estimate(log_with(values), missing="drop")[0]
    assert default.value == dropped.value == 70 / 90
    assert default.interval == dropped.interval == estimate_scores(values[:90]).interval
    assert default.n_missing == 10


def test_zero_counts_missing_answers_as_wrong(values: np.ndarray) -> None:
    row = estimate(log_with(values), missing="zero")[0]
    plain = estimate_scores(np.nan_to_num(values))
    assert (row.value, row.interval) == (0.7, plain.interval)
    assert row.n_missing == 10
    assert messages.MISSING_SCORES_COUNTED.code in codes(row)


def test_bounds_join_the_outer_limits_of_both_extremes(values: np.ndarray) -> None:
    row = estimate(log_with(values), missing="bounds")[0]
    worst, best = (estimate_scores(np.nan_to_num(values, nan=x), interval="quantile") for x in (0.0, 1.0))
    level = imbens_manski_level(0.1, max(worst.std_error, best.std_error))
    ends = [estimate_scores(np.nan_to_num(values, nan=x), interval="quantile", level=level) for x in (0.0, 1.0)]
    assert row.interval.low == pytest.approx(ends[0].interval.low, abs=1e-12)
    assert row.interval.high == pytest.approx(ends[1].interval.high, abs=1e-12)
    assert row.identified_range == pytest.approx((0.7, 0.8))
    assert row.value == 70 / 90
    assert row.interval.level == 0.95
    assert row.std_error is None
    assert messages.IDENTIFIED_RANGE.code in codes(row)


def test_bounds_contain_the_score_if_all_answers_may_be_right() -> None:
    row = estimate(log_with(np.r_[1.0, np.full(5, np.nan)]), missing="bounds", range={"score": (0, 1)})[0]
    assert row.identified_range == pytest.approx((1 / 6, 1.0))
    assert row.interval is not None
    assert row.interval.high == row.value == 1.0


def test_without_missing_scores_bounds_change_nothing() -> None:
    values = np.r_[np.ones(70), np.zeros(30)]
    assert estimate(log_with(values), missing="bounds")[0].interval == estimate_scores(values).interval


def test_policies_by_cause(values: np.ndarray) -> None:
    ended = ["completed"] * 90 + ["error"] * 4 + ["token limit"] * 6
    row = estimate(log_with(values, ended), missing={"error": "zero", "limit": "drop"})[0]
    assert row.value == 70 / 94
    assert row.endings == {"completed": 90, "error": 4, "token limit": 6}
    (note,) = (message for message in row.messages if message.code == messages.MISSING_SCORES_COUNTED.code)
    assert note.params["n_missing"] == 10
    assert len(note.params["treatments"]) == 2


def test_treat_ignores_given_scores(values: np.ndarray) -> None:
    ended = ["time limit"] * 10 + ["completed"] * 80 + ["error"] * 10
    log = log_with(values, ended)
    assert estimate(log, treat={"limit": "zero"})[0].value == 60 / 90
    assert estimate(log, treat={"limit": "drop"})[0].value == 60 / 80
    assert estimate(log, treat={"limit": "bounds"})[0].identified_range == pytest.approx((60 / 90, 70 / 90))
    assert estimate(log, missing="zero", treat={"error": "zero"})[0].value == 0.7


def test_error_refuses(values: np.ndarray) -> None:
    with pytest.raises(DataError) as refusal:
        estimate(log_with(values), missing="error")
    assert refusal.value.message.code == messages.MISSING_SCORES_REFUSED.code
    assert refusal.value.message.params["n_missing"] == 10
    assert estimate(log_with(values[:90]), missing="error")[0].value == 70 / 90


def test_the_worst_score_of_a_metric_that_should_be_low(values: np.ndarray) -> None:
    log = log_with(values, higher_is_better={"score": False})
    assert estimate(log, missing="zero")[0].value == 0.8
    assert estimate(log, missing="bounds")[0].identified_range == pytest.approx((0.7, 0.8))


def test_an_unknown_range_allows_no_replacement() -> None:
    values = np.array([3.2, 17.5, np.nan, 8.1])
    row = estimate(log_with(values), missing="zero")[0]
    assert (row.value, row.interval) == (None, None)
    known = estimate(log_with(values), missing="zero", range={"score": (0, 20)})[0]
    assert known.value == pytest.approx((3.2 + 17.5 + 8.1) / 4)


def test_padding_is_not_missing() -> None:
    values = np.array([[1.0, 0.0], [1.0, np.nan], [0.0, 1.0]])
    log = log_with(values)
    (data,) = log.data
    assert isinstance(data, Scores)
    complete = replace(log, data=(replace(data, is_complete=True),))
    assert estimate(complete, missing="zero")[0].value == estimate(complete)[0].value
    assert estimate(complete)[0].n_missing == 0


def test_trials_are_replaced_one_by_one() -> None:
    values = np.array([[1.0, np.nan], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    assert estimate(log_with(values), missing="zero")[0].value == pytest.approx((0.5 + 1 + 0.5 + 0) / 4)


def test_methods_without_a_posterior(values: np.ndarray) -> None:
    row = estimate(log_with(values), missing="bounds", method="wilson")[0]
    assert row.interval.kind == "confidence"
    assert row.interval.low < 0.7
    assert row.interval.high > 0.8


def test_a_notable_dependence_is_reported(values: np.ndarray) -> None:
    row = estimate(log_with(values))[0]
    (warning,) = (message for message in row.messages if message.code == messages.MISSING_SCORES_MATTER.code)
    zero, bounds = (estimate(log_with(values), missing=policy)[0] for policy in ("zero", "bounds"))
    shown = warning.params
    assert (shown["worst"], shown["lowest"], shown["highest"]) == (0.7, bounds.interval.low, bounds.interval.high)
    assert shown["worst_low"] == pytest.approx(zero.interval.low, abs=0.02)


@pytest.mark.parametrize("n_missing", [1, 2])
def test_few_missing_scores_are_not_reported(n_missing: int) -> None:
    values = np.r_[np.ones(70), np.zeros(30)]
    values[:n_missing] = np.nan
    assert messages.MISSING_SCORES_MATTER.code not in codes(estimate(log_with(values))[0])


def test_a_chosen_policy_is_not_questioned(values: np.ndarray) -> None:
    assert messages.MISSING_SCORES_MATTER.code not in codes(estimate(log_with(values), missing="drop")[0])


def test_clusters_and_bounds() -> None:
    rng = np.random.default_rng(0)
    values = (rng.random((40, 5)) < 0.6).astype(float).ravel()
    values[::9] = np.nan
    log = log_of_array(values, "a", clusters=np.repeat(np.arange(40), 5), metric="score")
    row = estimate(log, missing="bounds")[0]
    assert row.n_clusters == 40
    assert row.interval.low < row.identified_range[0] < row.identified_range[1] < row.interval.high


# ---------------------------------------------------------------- one message for one fact


def _failed_run(folder: Path, name: str, failed: set[int]) -> Path:
    """A log of Inspect AI in which some of the 40 samples ended in an error."""
    samples = inspect.grid([["C" if row % 3 else "I"] for row in range(40)])
    for row in failed:
        samples[row] |= {"scores": {}, "error": {"message": "boom", "traceback": "", "traceback_ansi": ""}}
    dataset = {"name": "toy", "samples": 40, "sample_ids": [sample["id"] for sample in samples]}
    head = inspect.header(total=40, dataset=dataset, model=name)
    folder.mkdir(exist_ok=True)
    inspect.write_eval(folder / f"{name}.eval", head, samples)
    return folder / f"{name}.eval"


def test_questions_that_failed_are_covered_by_the_run(tmp_path: Path) -> None:
    (row,) = estimate(_failed_run(tmp_path, "a", {2}))
    assert messages.MISSING_SCORES_BOUNDS.code in codes(row)
    assert messages.FULL_SCOPE_AVAILABLE.code not in codes(row)  # all 40 questions were run


def test_a_warning_about_missing_scores_replaces_the_note(tmp_path: Path) -> None:
    (row,) = estimate(_failed_run(tmp_path, "a", set(range(15))))
    assert messages.MISSING_SCORES_MATTER.code in codes(row)
    assert messages.MISSING_SCORES_BOUNDS.code not in codes(row)
    assert row.warnings[0].text.startswith("The score depends on the 15 of 40 trials without a score (15 errors): ")


def test_a_note_of_the_reader_is_replaced_for_the_scorer_whose_missing_scores_are_counted(tmp_path: Path) -> None:
    (row,) = estimate(_failed_run(tmp_path, "a", {2}))
    notes = [
        TRIALS_WITHOUT_SCORE(scorer=name, n_missing=1, n_trials=2, reasons="1 error") for name in (row.metric, "other")
    ]
    assert messages_of_log(notes, [row]) == (notes[1],)


def test_a_comparison_states_missing_scores_once(tmp_path: Path) -> None:
    a, b = _failed_run(tmp_path, "a", {2, 5, 7}), _failed_run(tmp_path, "b", {5, 9})
    (row,) = compare(a, b)
    assert [message.name for message in row.messages if "score" in message.text] == ["failed-for-one-system"]


def test_two_runs_of_one_system_are_told_apart(tmp_path: Path) -> None:
    a, b = (_failed_run(tmp_path / name, "same", failed) for name, failed in (("1", {2}), ("2", {9})))
    (row,) = compare(a, b)
    (note,) = (message for message in row.messages if message.name == "failed-for-one-system")
    assert (note.params["system_a"], note.params["system_b"]) == ("same (A)", "same (B)")
