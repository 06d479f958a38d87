"""Rankings by a grader's scores that human labels correct."""

import numpy as np
import pytest

from harness_uq import DataError, compare, estimate, rank
from harness_uq.io.human_labels import Label
from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.labels.effective_labels import corrected_correlation
from tests.data.toy import task_log
from tests.message_checks import has, params_of, raises_message

N, N_LABELED = 200, 80
SYSTEMS = ("a", "b", "c")
RNG = np.random.default_rng(12)
TRUTH = {task: RNG.random((3, N)) < np.array([[0.8], [0.6], [0.4]]) for task in ("math", "law")}
# the grader accepts many wrong answers of c
GRADES = {
    task: np.where(truth, RNG.random((3, N)) < 0.9, RNG.random((3, N)) < np.array([[0.05], [0.1], [0.7]]))
    for task, truth in TRUTH.items()
}
IDS = [f"q{i}" for i in range(N)]


def logs(*tasks: str):
    return [
        task_log(GRADES[task][k], task=task, system=system, ids=IDS)
        for task in tasks
        for k, system in enumerate(SYSTEMS)
    ]


def labels_of(*systems: str, tasks=("math", "law")) -> list[Label]:
    return [
        Label(IDS[i], float(TRUTH[task][SYSTEMS.index(system), i]), task, system=system)
        for task in tasks
        for system in systems
        for i in range(N_LABELED)
    ]


def test_labels_reverse_the_order_of_the_grader():
    raw = rank(logs("math"))[0]
    (ranking,) = rank(logs("math"), labels=labels_of(*SYSTEMS))
    assert [row.system for row in raw.systems] == ["c", "a", "b"]
    assert [row.system for row in ranking.systems] == ["a", "b", "c"]
    assert ranking.systems[0].rank_set == (1, 1)
    assert params_of(ranking, "ranked-with-labels") == {"n_systems": 3, "n_labels": N_LABELED}


def test_each_score_is_that_of_estimate():
    (ranking,) = rank(logs("math"), labels=labels_of(*SYSTEMS))
    for row in ranking.systems:
        (own,) = estimate([log for log in logs("math") if log.system == row.system], labels=labels_of(*SYSTEMS))
        assert (row.value, row.interval) == (own.value, own.interval)


def test_the_probability_of_a_pair_is_close_to_that_of_compare():
    (ranking,) = rank(logs("math"), labels=labels_of(*SYSTEMS))
    a, b, _ = logs("math")
    (row,) = compare(a, b, labels=labels_of("a", "b"))
    # the weights of the grader differ: one for each system in `rank`, and one for the difference in `compare`
    assert ranking.prob_better[0][1] == pytest.approx(row.prob_positive, abs=0.02)


def test_systems_without_labels_are_left_out():
    (ranking,) = rank(logs("math"), labels=labels_of("a", "b"))
    assert [row.system for row in ranking.systems] == ["a", "b"]
    assert params_of(ranking, "system-not-estimable")["system"] == "c"
    with pytest.raises(NotEstimableError, match="human labels"):
        rank(logs("math"), labels=labels_of("a"))


def test_a_label_must_name_its_system():
    with raises_message(DataError, "labels-without-system", n_labels=1):
        rank(logs("math"), labels=[*labels_of("a", "b"), Label("q0", 1.0, "math")])
    with pytest.raises(DataError, match="population"):
        rank(logs("math"), labels=labels_of(*SYSTEMS), scope="benchmark")


def test_the_overall_ranking_and_comparison_combine_corrected_scores():
    both, labels = logs("math", "law"), labels_of(*SYSTEMS)
    result = rank(both, labels=labels, overall=True).overall
    tasks = {ranking.task: {row.system: row.value for row in ranking.systems} for ranking in rank(both, labels=labels)}
    for row in result.systems:
        assert row.value == pytest.approx(np.mean([tasks[task][row.system] for task in tasks]))
    assert [row.system for row in result.systems] == ["a", "b", "c"]
    assert has(result, "ranked-with-labels")
    compared = compare(both, baseline="c", labels=labels, overall=True).overall
    assert {one.system: one.verdict for one in compared.differences} == {"a": "better", "b": "better"}


def test_with_all_labels_the_correlation_is_that_of_the_labels():
    human = TRUTH["math"].astype(float)
    found = corrected_correlation(GRADES["math"].astype(float), list(human))
    np.testing.assert_allclose(found, np.corrcoef(human), atol=1e-9)


def test_a_system_with_too_few_labels_is_uncorrelated():
    human = [np.where(np.arange(N) < n, TRUTH["math"][0], np.nan) for n in (50, 50, 2)]
    found = corrected_correlation(np.stack([GRADES["math"][0]] * 3).astype(float), human)
    np.testing.assert_allclose(found, [[1, 1, 0], [1, 1, 0], [0, 0, 1]], atol=1e-9)
