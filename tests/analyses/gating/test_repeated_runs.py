"""Gates of systems with several runs."""

from dataclasses import replace

import numpy as np
import pytest

from harness_uq import DataError, TaskLog, gate
from harness_uq.results.gate import RequirementRow
from harness_uq.stats.pairs.run_variation import pooled_variation, run_variation
from tests.data.toy import task_log

N = 60
PROBABILITIES = np.random.default_rng(5).beta(1, 0.6, N)
IDS = [str(i) for i in range(N)]
LANGUAGES = ["de" if i % 2 else "en" for i in range(N)]


def run(seed: int, system: str = "old", *, task: str = "toy", n_trials: int = 1, **other: object) -> TaskLog:
    right = np.random.default_rng(seed).random((N, n_trials)) < PROBABILITIES[:, None]
    return task_log(right.astype(float), system=system, ids=IDS, task=task, **other)


def scores(*logs: TaskLog) -> np.ndarray:
    return np.stack([np.concatenate([log.data[0].values.mean(axis=1)]) for log in logs])


NEW = run(0, "new")
RUNS = [run(seed) for seed in (1, 2, 3)]


def names(found: object) -> list[str]:
    return [message.name for message in found.messages]


def test_several_runs_separate_questions_from_runs() -> None:
    found = gate(NEW, RUNS, margin=0.1)
    (row,) = found.rows
    variation = run_variation(scores(*RUNS))
    assert row.n_baseline_runs == 3
    assert row.std_error_runs == pytest.approx(np.sqrt(4 / 3 * variation.run_variance))
    assert row.comparison.difference.std_error == pytest.approx(np.hypot(row.std_error_questions, row.std_error_runs))
    assert row.comparison.value_b == pytest.approx(scores(*RUNS).mean())
    assert "one-baseline-run" not in names(found)


def test_a_decision_on_one_run_warns() -> None:
    found = gate(NEW, RUNS[0], margin=0.1)
    assert found.rows[0].n_baseline_runs == 1
    assert found.rows[0].std_error_runs is None
    assert "one-baseline-run" in names(found)


def test_the_runs_of_one_folder_are_one_run_and_the_newest_counts() -> None:
    dated = [replace(log, source=replace(log.source, time=f"2026-01-0{i}")) for i, log in enumerate(RUNS, 1)]
    found = gate(NEW, [dated], margin=0.1)
    assert found.rows[0].n_baseline_runs == 1
    assert found.rows[0].comparison.value_b == pytest.approx(scores(RUNS[-1]).mean())


def test_tasks_in_separate_elements_are_not_several_runs() -> None:
    new = [run(0, "new", task=task) for task in "tu"]
    found = gate(new, [run(1, task=task) for task in "tu"], margin=0.1)
    assert {row.n_baseline_runs for row in found.rows} == {1}


@pytest.mark.slow
def test_more_variation_between_runs_turns_a_failure_into_undecided() -> None:
    new = task_log([0.0] * 40 + [1.0] * 20, system="new", ids=IDS)

    def runs(*n_right: int) -> list[TaskLog]:
        return [task_log([1.0] * n + [0.0] * (N - n), system="old", ids=IDS) for n in n_right]

    assert gate(new, runs(50, 50, 50, 50), margin=0.0).decision == "fail"
    assert gate(new, runs(60, 24, 58, 30), margin=0.0).decision == "undecided"


def test_the_overall_row_has_the_variation_of_whole_runs() -> None:
    runs = [[run(10 * i + j, task=task) for j, task in enumerate("tu")] for i in (1, 2, 3)]
    found = gate([run(j, "new", task=task) for j, task in enumerate("tu")], runs, margin=0.1)
    (row,) = [row for row in found.rows if row.comparison.task == "overall"]
    means = np.array([np.mean([scores(log).mean() for log in logs]) for logs in runs])
    noise = [run_variation(scores(*(logs[j] for logs in runs))).trial_variance for j in range(2)]
    expected = max(0.0, means.var(ddof=1) - sum(noise) / 4)
    assert row.n_baseline_runs == 3
    assert row.std_error_runs == pytest.approx(np.sqrt(4 / 3 * expected))


def test_groups_of_questions_have_the_variation_of_their_own_scores() -> None:
    fields = {"language": LANGUAGES}
    runs = [run(seed, fields=fields) for seed in (1, 2, 3)]
    found = gate(run(0, "new", fields=fields), runs, margin=0.2, by="language")
    by_task = {row.comparison.task: row for row in found.rows}
    german = [i for i, language in enumerate(LANGUAGES) if language == "de"]
    variation = run_variation(scores(*runs)[:, german])
    row = by_task["toy, language: de"]
    assert (row.n_baseline_runs, row.is_needed) == (3, False)
    assert row.std_error_runs == pytest.approx(np.sqrt(4 / 3 * variation.run_variance))
    assert by_task["toy"].is_needed


@pytest.mark.slow
def test_runs_with_different_numbers_of_trials_are_averaged_by_run() -> None:
    runs = [run(1), run(2, n_trials=4)]
    (row,) = gate(NEW, runs, margin=0.1).rows
    assert row.comparison.value_b == pytest.approx(scores(*runs).mean())


def test_runs_of_the_new_system_enter_like_those_of_the_baseline() -> None:
    news = [run(seed, "new") for seed in (4, 5)]
    (row,) = gate(news, RUNS, margin=0.1).rows
    variation = pooled_variation([run_variation(scores(*runs)) for runs in (news, RUNS)])
    assert (row.n_new_runs, row.n_baseline_runs, variation.df) == (2, 3, 3)
    assert row.comparison.value_a == pytest.approx(scores(*news).mean())
    assert row.std_error_runs == pytest.approx(np.sqrt((1 / 2 + 1 / 3) * variation.run_variance))


def test_several_new_runs_suffice_for_the_variation_between_runs() -> None:
    news = [run(seed, "new") for seed in (4, 5, 6)]
    found = gate(news, RUNS[0], margin=0.1)
    (row,) = found.rows
    assert (row.n_new_runs, row.n_baseline_runs) == (3, 1)
    assert row.std_error_runs == pytest.approx(np.sqrt(4 / 3 * run_variation(scores(*news)).run_variance))
    assert "one-baseline-run" not in names(found)


def test_exchanged_systems_have_the_exchanged_difference() -> None:
    first, second = [run(seed, "new") for seed in (4, 5)], RUNS
    (there,), (back,) = (gate(*sides, margin=0.1).rows for sides in ((first, second), (second, first)))
    interval, other = there.comparison.difference.interval, back.comparison.difference.interval
    assert (interval.low, interval.high) == pytest.approx((-other.high, -other.low), abs=1e-3)


def test_a_bound_accounts_for_the_variation_between_new_runs() -> None:
    def bounded(*n_right: int) -> RequirementRow:
        logs = [task_log([1.0] * n + [0.0] * (N - n), system="new", ids=IDS) for n in n_right]
        return gate(logs, at_least=0.6).requirements[0]

    similar, different = bounded(45, 45, 45), bounded(60, 27, 48)
    assert similar.estimate.value == pytest.approx(different.estimate.value)
    assert different.p_met > similar.p_met
    assert different.estimate.interval.low < similar.estimate.interval.low
    assert different.estimate.interval.high <= 1.0
    assert (different.decision, different.n_to_decide) == ("undecided", None)


def test_selected_tasks_may_be_in_one_of_several_elements() -> None:
    logs = [run(0, "new", task=task) for task in "tu"]
    found = gate(logs, [run(1, task=task) for task in "tu"], margin=0.1, task="t")
    assert [row.comparison.task for row in found.rows] == ["t"]


def test_runs_of_different_systems_are_refused() -> None:
    with pytest.raises(DataError, match="old, other"):
        gate(NEW, [run(1), run(2, "other")], margin=0.1)
    with pytest.raises(DataError, match="one run of each system"):
        gate(NEW, RUNS, margin=0.1, labels=[])
    with pytest.raises(DataError, match="one run of each system"):
        gate(NEW, RUNS, margin=0.1, overall=True)
