"""Models that must agree where one contains the other, for any counts.

The limits that stand beside a model's own tests are not repeated here: one cluster level and the two-level model in
test_nested.py, binary bounded scores and Beta(1, 1) in test_bounded.py, merged levels in test_bayes_at_n.py, and mirror
images in every module.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_uq.stats import (
    BetaPosterior,
    bayes_at_n,
    beta_posterior,
    clustered_bounded_posterior,
    clustered_posterior,
    paired_difference_posterior,
    paired_posterior,
    pass_at_k,
    pass_k_posterior,
)
from harness_uq.stats.pairs.independent import IndependentPosterior, difference_posterior

P = np.array([0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995])
counts = st.integers(0, 40)
tables = st.lists(counts, min_size=4, max_size=4).filter(any)
questions = st.lists(st.integers(0, 4), min_size=1, max_size=20)


@settings(max_examples=30)
@given(counts, counts, st.sampled_from(["icc", "gamma"]))
def test_one_trial_a_cluster_gives_the_beta_posterior(right: int, wrong: int, prior: str) -> None:
    outcomes = np.repeat([1, 0], [right, wrong + (right + wrong == 0)])
    found, expected = clustered_posterior(outcomes, np.ones_like(outcomes), prior), beta_posterior(right, len(outcomes))
    np.testing.assert_allclose(found.quantile(P), expected.quantile(P), atol=1e-6)
    np.testing.assert_allclose(found.interval(0.95, "hdi"), expected.interval(0.95, "hdi"), atol=1e-5)


@given(counts, counts)
def test_0_1_scores_in_clusters_of_one_give_the_beta_posterior_as_a_ratio(right: int, wrong: int) -> None:
    outcomes = np.repeat([1, 0], [right, wrong + (right + wrong == 0)])
    found = clustered_bounded_posterior(outcomes, np.ones_like(outcomes), 0, 1)
    np.testing.assert_allclose(found.quantile(P), beta_posterior(right, len(outcomes)).quantile(P), atol=1e-9)


@settings(max_examples=30)
@given(tables)
def test_three_atoms_on_binary_differences_are_the_conjugate_posterior(table: list[int]) -> None:
    both, only_a, only_b, neither = table
    differences = np.repeat([1.0, -1.0, 0.0], [only_a, only_b, both + neither])
    found, expected = paired_difference_posterior(differences, 0, 1), paired_posterior(table, "dirichlet")
    np.testing.assert_allclose(found.quantile(P), expected.quantile(P), atol=1e-9)
    assert found.prob_positive == pytest.approx(expected.prob_positive, abs=1e-9)


@given(questions)
def test_two_categories_of_bayes_at_n_are_a_beta_a_question(right: list[int]) -> None:
    # mean and variance of the average of independent Beta(1 + s, 1 + 4 - s)
    parts = [BetaPosterior(1 + s, 5 - s) for s in right]
    outcomes = [[1] * s + [0] * (4 - s) for s in right]
    mean, sd = bayes_at_n(outcomes)
    assert mean == pytest.approx(np.mean([part.mean for part in parts]), abs=1e-12)
    assert sd == pytest.approx(np.sqrt(sum(part.sd**2 for part in parts)) / len(parts), abs=1e-12)


@settings(max_examples=20)
@given(questions)
def test_one_trial_of_pass_at_k_is_the_mean(right: list[int]) -> None:
    outcomes = [[1] * s + [0] * (4 - s) for s in right]
    assert pass_at_k(outcomes, 1) == pytest.approx(np.mean(outcomes), abs=1e-12)
    found, expected = pass_k_posterior(right, 4, 1), clustered_posterior(right, [4] * len(right))
    np.testing.assert_allclose(found.quantile(P), expected.quantile(P), atol=1e-5)


@settings(max_examples=20)
@given(counts, counts, counts, counts)
def test_two_betas_differ_as_two_independent_systems_do(a: int, b: int, c: int, d: int) -> None:
    found = difference_posterior(BetaPosterior(1 + a, 1 + b), BetaPosterior(1 + c, 1 + d))
    expected = IndependentPosterior((1 + a, 1 + b), (1 + c, 1 + d))
    np.testing.assert_allclose(found.quantile(P), expected.quantile(P), atol=1e-4)
    assert found.prob_positive == pytest.approx(expected.prob_positive, abs=1e-4)
