"""All pairs of many systems: each is the posterior of the pair alone."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from harness_uq.messages.errors import DataError
from harness_uq.stats.units.all_pairs import prob_better
from harness_uq.stats.units.contrasts import paired_difference_posterior

Floats = NDArray[np.float64]
CLUSTERS = np.repeat(np.arange(8), [1, 1, 2, 3, 3, 4, 6, 10])


def scores(kind: str, n: int = 30) -> Floats:
    rng = np.random.default_rng(1)
    right = (rng.random((4, n)) < 0.8).astype(float)
    if kind == "right or wrong":
        return right
    if kind == "alike within clusters":
        return (rng.random((4, len(CLUSTERS))) < 0.7).astype(float)[:, CLUSTERS]
    trials = rng.binomial(3, 0.7, (3, n)) / 3
    return np.vstack([right, trials]) if kind == "trials of some" else np.vstack([trials, rng.random((2, n))])


def alone(y: Floats, i: int, j: int, clusters: NDArray[np.int64] | None) -> float:
    if clusters is None:
        posterior = paired_difference_posterior(y[i] - y[j], 0, 1)
    else:
        posterior = paired_difference_posterior(y[i] - y[j], 0, 1, clusters=clusters)
    return posterior.prob_positive


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
@pytest.mark.parametrize("kind", ["right or wrong", "alike within clusters", "trials of some", "any"])
def test_each_pair_has_the_posterior_of_the_pair_alone(kind: str, clusters: NDArray[np.int64] | None) -> None:
    y = scores(kind)
    table = prob_better(y, 0, 1, clusters=clusters)
    for i, j in itertools.permutations(range(len(y)), 2):
        assert table[i, j] == pytest.approx(alone(y, i, j, clusters), abs=1e-9)
    assert (np.diag(table) == 0.5).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.sampled_from([1, 2, 5, 1000]))
def test_another_system_changes_no_pair(seed: int, n: int, n_trials: int) -> None:
    rng = np.random.default_rng(seed)
    pair, other = rng.integers(0, 2, (2, n)), rng.binomial(n_trials, 0.5, (1, n)) / n_trials
    both = prob_better(np.vstack([pair, other]), 0, 1)
    assert both[:2, :2] == pytest.approx(prob_better(pair, 0, 1), abs=1e-9)


def test_scale_does_not_matter() -> None:
    y = scores("any")
    assert prob_better(20 + 60 * y, 20, 80) == pytest.approx(prob_better(y, 0, 1), abs=1e-9)


def test_rounding_of_means_over_trials_leaves_no_score_out_of_bounds() -> None:
    """The mean of three trials of .1 is .10000000000000002."""
    y = np.array([[0.1, 0.1, 0.0], [0.1, 0.0, 0.0], [0.05, 0.1, 0.0]])
    y[:, :2] *= np.mean([0.1] * 3) / 0.1
    assert prob_better(y, 0, 0.1) == pytest.approx(prob_better(10 * np.round(y, 3), 0, 1), abs=1e-9)


def test_beyond_the_budget_only_pairs_at_the_bounds_are_computed() -> None:
    y = np.vstack([scores("right or wrong"), scores("any")])
    table, whole = prob_better(y, 0, 1, most_cells=10), prob_better(y, 0, 1)
    known = ~np.isnan(table)
    assert known[:4, :4].all()
    assert not known[4:, :4].any()
    assert table[known] == pytest.approx(whole[known], abs=1e-12)


def test_a_missing_score_is_refused() -> None:
    with pytest.raises(DataError, match="scores"):
        prob_better([[1.0, np.nan], [0.0, 1.0]], 0, 1)
