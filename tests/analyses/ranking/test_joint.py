"""One joint posterior: what its figures owe each other, and whose intervals stand beside it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness_uq import Estimate, NotEstimableError, Options, Ranking, TaskLog, compare, estimate, rank
from harness_uq.stats.units.contrasts import paired_difference_posterior
from tests.data.toy import task_log
from tests.message_checks import find


def systems_of(tables: dict[str, object], **other: object) -> list[TaskLog]:
    return [task_log(values, system=name, **other) for name, values in tables.items()]


def assert_coherent(ranking: Ranking) -> None:
    """What holds of every distribution over orders, to the last digit.

    Ranks are those of the hierarchical prior; with two systems they are those of the flat prior, as P(A > B) is.
    """
    pairs = np.array(ranking.prob_better)
    shares = np.array(ranking.prob_rank)
    for i, system in enumerate(ranking.systems):
        assert system.prob_best == shares[i, 0]
        assert system.expected_rank == pytest.approx(shares[i] @ np.arange(1, len(shares) + 1), abs=1e-9)
        if len(pairs) == 2:
            assert system.prob_best == np.delete(pairs[i], i)[0]
    assert pairs + pairs.T == pytest.approx(np.ones_like(pairs), abs=1e-12)
    assert shares.sum(axis=0) == pytest.approx(np.ones(len(shares)), abs=1e-9)
    # i before k needs i before j or j before k
    assert (pairs[:, None, :] <= pairs[:, :, None] + pairs[None, :, :] + 1e-12).all()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(
        float,
        st.tuples(st.integers(2, 5), st.integers(1, 12), st.integers(1, 3)),
        elements=st.sampled_from([0.0, 1.0, 1.0, 0.5]),
    ),
    st.integers(0, 3),
    st.sampled_from(["acc", "loss"]),
)
def test_nothing_is_best_more_surely_than_better_than_each(values: np.ndarray, n_single: int, metric: str) -> None:
    tables = {f"s{k}": table[:, :1] if k < n_single else table for k, table in enumerate(values)}
    try:
        ranking = rank(systems_of(tables, metric=metric), Options(n_draws=1000))[0]
    except NotEstimableError:
        return  # a loss without a range, of which nothing varies
    assert_coherent(ranking)


DESIGNS = {
    "right or wrong": lambda rng: systems_of({name: rng.binomial(1, p, 60) for name, p in (("a", 0.9), ("b", 0.8))}),
    "trials": lambda rng: systems_of({name: rng.binomial(1, p, (40, 4)) for name, p in (("a", 0.9), ("b", 0.8))}),
    "one trial and several": lambda rng: systems_of(
        {"a": rng.binomial(1, 0.9, 40), "b": rng.binomial(1, 0.8, (40, 3)), "c": rng.binomial(1, 0.7, (40, 1))}
    ),
    "clusters": lambda rng: systems_of(
        {name: np.repeat(rng.binomial(1, 0.8, 20), 4) for name in "abc"},
        fields={"passage": np.repeat(np.arange(20), 4).tolist()},
        text_fields=["passage"],
    ),
    "graded": lambda rng: systems_of({name: rng.integers(0, 5, 40) / 4 for name in "ab"}),
    "without a range": lambda rng: systems_of({name: rng.normal(3, 1, 30) for name in "ab"}, metric="loss"),
    "all right": lambda rng: systems_of({"a": np.ones(40), "b": np.ones(40)}),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_a_scores_interval_is_that_of_estimate(design: str) -> None:
    logs = DESIGNS[design](np.random.default_rng(3))
    alone: dict[str, Estimate] = {row.system: row for row in estimate(logs)}
    ranking = rank(logs, Options(n_draws=1000))[0]
    for system in ranking.systems:
        interval = alone[system.system].interval
        assert (system.interval.low, system.interval.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
        assert (system.interval.kind, system.value) == (interval.kind, pytest.approx(alone[system.system].value))
    assert_coherent(ranking)


def test_forty_of_forty_right_is_beta_41_1() -> None:
    """Its highest-density interval ends at 1 and starts at .05^(1/41)."""
    interval = rank(DESIGNS["all right"](np.random.default_rng(0)))[0].systems[0].interval
    assert (interval.low, interval.high) == pytest.approx((0.05 ** (1 / 41), 1.0), abs=1e-6)


def test_intervals_are_of_the_questions_that_all_answered_in_the_clusters_that_hold_for_all() -> None:
    """The labels of one log count for both systems, and questions that one lacks for none."""
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(30), 2)
    right = np.repeat(rng.binomial(1, 0.6, (2, 30)), 2, axis=1)
    ids = [f"q{i}" for i in range(60)]
    whole, part = task_log(right[0], system="a", ids=ids), task_log(right[1, :50], system="b", ids=ids[:50])
    labelled = replace(whole, data=(replace(whole.data[0], clusters=labels),))
    shown = {system.system: system.interval for system in rank([labelled, part])[0].systems}
    for name, row in (("a", right[0]), ("b", right[1])):
        log = task_log(row[:50], system=name)
        alone = estimate([replace(log, data=(replace(log.data[0], clusters=labels[:50]),))])[0].interval
        assert (shown[name].low, shown[name].high) == pytest.approx((alone.low, alone.high), abs=1e-9)


@pytest.mark.parametrize("design", ["right or wrong", "trials", "clusters", "graded"])
def test_pairs_are_those_of_compare(design: str) -> None:
    """Where all systems are of one kind the joint posterior of two of them is that of their comparison."""
    logs = DESIGNS[design](np.random.default_rng(5))
    ranking = rank(logs, Options(n_draws=40_000))[0]
    place = {system.system: k for k, system in enumerate(ranking.systems)}
    for i, a in enumerate(logs):
        for b in logs[i + 1 :]:
            alone = compare(a, b)[0].prob_positive
            assert ranking.prob_better[place[a.system]][place[b.system]] == pytest.approx(alone, abs=5 * 0.0025)


def test_right_or_wrong_pairs_keep_their_posterior_beside_graded_systems() -> None:
    logs = DESIGNS["one trial and several"](np.random.default_rng(6))
    ranking = rank(logs, Options(n_draws=40_000))[0]
    place = {system.system: k for k, system in enumerate(ranking.systems)}
    single = np.stack([log.data[0].values[:, 0] for log in logs if log.system in "ac"])
    exact = paired_difference_posterior(single[0] - single[1], 0, 1).prob_positive
    assert ranking.prob_better[place["a"]][place["c"]] == pytest.approx(exact, abs=5 * 0.0025)


def test_monte_carlo_error_is_told_and_the_seed_moves_within_it() -> None:
    rng = np.random.default_rng(7)
    logs = systems_of({name: rng.integers(0, 2, 60).astype(float) for name in "abcd"})
    first, second = (rank(logs, Options(seed=seed))[0] for seed in (1, 2))
    error = first.diagnostics["mc_error"]
    assert 0 < error <= 0.005
    assert first.prob_better == second.prob_better  # which comes from the contrasts
    assert first.systems[0].prob_best != second.systems[0].prob_best
    assert first.systems[0].prob_best == pytest.approx(second.systems[0].prob_best, abs=5 * np.sqrt(2) * error)
    assert first == rank(logs, Options(seed=1))[0]


def test_scores_far_from_the_others_without_a_range_are_warned_of_once() -> None:
    rng = np.random.default_rng(5)
    short = {name: rng.normal(1.6, 2, 100) for name in "abcd"}
    long = short | {name: rng.lognormal(0, 1, 100) for name in "efgh"}
    for systems, times in ((long, 1), (short, 0)):
        said = find(rank(systems_of(systems, metric="loss"))[0], "rank-long-tail")
        assert len(said) == times
        assert all(message.params["metric"] == "loss" for message in said)
