"""Joint posteriors of systems: stored intervals, reductions of trials, and pairs of systems."""

import numpy as np
import pytest

from harness_uq import compare, compare_scores, estimate, rank, rank_scores
from harness_uq.data.task_log import AggregateScore, Questions, Scores, Source, StoredInterval, TaskLog
from harness_uq.inference.marginals import posterior_of
from harness_uq.messages.errors import NotEstimableError
from tests.message_checks import params_of


def stored(system: str, value: float, n_questions: int | None) -> TaskLog:
    """A log with the interval of a live run and without samples."""
    interval = StoredInterval("bootstrap", "population", value - 1.96, value + 1.96, 0.95, "confidence", std_error=1.0)
    score = AggregateScore("bleu", "none", value, n_questions, "The samples do not contain its sums", stored=interval)
    return TaskLog(system=system, task="t", source=Source(system, "lm-eval"), questions=Questions(()), data=(score,))


def test_an_interval_of_a_live_run_is_compared_and_ranked() -> None:
    logs = [stored("a", 20.0, 100), stored("b", 25.0, 100), stored("c", 30.0, 100)]
    row, ranking = compare(logs[0], logs[1])[0], rank(logs)[0]
    assert row.difference is not None
    assert row.difference.value == pytest.approx(-5.0)
    # two independent t distributions with 99 degrees of freedom and scale 1
    assert row.difference.interval.high - row.difference.interval.low == pytest.approx(2 * 1.98 * np.sqrt(2), rel=0.01)
    assert [one.system for one in ranking.systems] == ["c", "b", "a"]
    assert [one.interval for one in ranking.systems] == [one.interval for one in reversed(estimate(logs))]


def test_an_interval_of_an_unknown_number_of_questions_is_not_compared() -> None:
    (row,) = estimate(stored("a", 20.0, None))
    with pytest.raises(NotEstimableError, match="unknown"):
        posterior_of(row)
    assert compare(stored("a", 20.0, None), stored("b", 25.0, None))[0].difference is None


def test_a_system_without_a_posterior_does_not_refuse_the_ranking_of_the_others() -> None:
    ranking = rank([stored("a", 20.0, 100), stored("b", 25.0, 100), stored("c", 30.0, None)])[0]
    assert [one.system for one in ranking.systems] == ["b", "a"]
    assert params_of(ranking, "system-not-estimable")["system"] == "c"


def reduced(system: str, rng: np.random.Generator, probability: np.ndarray) -> TaskLog:
    """A log with pass@2 of four trials, and the trials."""
    trials = (rng.random((len(probability), 4)) < probability[:, None]).astype(float)
    right = trials.sum(axis=1)
    pass_2 = 1 - (4 - right) * (3 - right) / 12
    return TaskLog(
        system=system,
        task="t",
        source=Source(system, "inspect"),
        questions=Questions(tuple(map(str, range(len(trials))))),
        data=(
            Scores("acc", "none", trials, logged_trials=4),
            Scores("acc", "pass@2", pass_2[:, None], logged_trials=4, reduction="pass_at_2", event="pass@2"),
        ),
    )


def test_a_reduction_rests_on_its_trials_in_every_command() -> None:
    rng = np.random.default_rng(3)
    logs = [reduced(name, rng, rng.beta(1, 1, 40)) for name in "ab"]
    estimates = {(row.system, row.filter): row.interval for row in estimate(logs)}
    ranking = next(one for one in rank(logs) if one.filter == "pass@2")
    assert {one.system: one.interval for one in ranking.systems} == {name: estimates[name, "pass@2"] for name in "ab"}
    row = next(one for one in compare(*logs, scope="benchmark") if one.filter == "pass@2")
    apart = [one for log in logs for one in estimate(log, scope="benchmark") if one.filter == "pass@2"]
    assert row.difference is not None
    error = np.hypot(*(one.std_error for one in apart))
    assert row.difference.std_error == pytest.approx(error, rel=1e-6)


def clustered(rng: np.random.Generator, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    clusters = np.repeat(np.arange(n_clusters), 6)
    rates = rng.beta(2, 2, (2, n_clusters))[:, clusters]
    return (rng.random(rates.shape) < rates).astype(float), clusters


@pytest.mark.parametrize("n_clusters", [8, 15])
def test_with_two_systems_ranks_follow_their_contrast(n_clusters: int) -> None:
    for seed in range(5):
        (a, b), clusters = clustered(np.random.default_rng(seed), n_clusters)
        row, ranking = compare_scores(a, b, clusters=clusters), rank_scores({"a": a, "b": b}, clusters=clusters)
        best = {one.system: one for one in ranking.systems}
        assert best["a"].prob_best == pytest.approx(row.prob_positive, abs=1e-12)
        is_apart = best["a"].letters != best["b"].letters
        assert is_apart == (row.verdict in ("better", "worse"))
        assert is_apart or best["a"].rank_set == best["b"].rank_set == (1, 2)
        assert not ranking.diagnostics


def test_pairs_of_many_systems_are_those_of_their_contrasts() -> None:
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(12), 5)
    scores = {name: rng.integers(0, 2, 60).astype(float) for name in "abcd"}
    ranking = rank_scores(scores, clusters=clusters)
    order = [one.system for one in ranking.systems]
    assert ranking.prob_better is not None
    for i, first in enumerate(order):
        for j, second in enumerate(order):
            if i != j:
                row = compare_scores(scores[first], scores[second], clusters=clusters)
                assert ranking.prob_better[i][j] == pytest.approx(row.prob_positive, abs=1e-9)
