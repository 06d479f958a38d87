"""Ranks: joint draws against exact posteriors, published ties, calibration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import special
from scipy.stats import binomtest

from harness_uq.messages.errors import DataError
from harness_uq.stats.pairs.ranks import (
    rank_posterior,
    tied_ranks,
)
from harness_uq.stats.units.contrasts import paired_difference_posterior
from harness_uq.stats.units.draws import joint_draws

P = np.array([0.025, 0.5, 0.975])


Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def binary() -> Floats:
    rng = np.random.default_rng(1)
    scores = (rng.random((4, 20)) < np.array([[1.0], [0.9], [0.8], [0.3]])).astype(float)
    scores[0] = 1
    return scores


def test_each_systems_draws_have_its_beta_posterior(binary: Floats) -> None:
    draws = joint_draws(binary, 0, 1, n_draws=100_000)
    right = binary.sum(axis=1)
    for system in range(4):
        below = special.betainc(1 + right[system], 21 - right[system], np.quantile(draws[system], P))
        assert below == pytest.approx(P, abs=0.006)


def test_each_pair_of_draws_has_the_paired_posterior(binary: Floats) -> None:
    draws = joint_draws(binary, 0, 1, n_draws=100_000)
    expected = np.ones(4)
    for i, j in zip(*np.triu_indices(4, 1), strict=True):
        pair = paired_difference_posterior(binary[i] - binary[j], 0, 1)
        assert np.mean(draws[i] > draws[j]) == pytest.approx(pair.prob_positive, abs=0.006)
        ends = np.quantile(draws[i] - draws[j], [0.025, 0.975])
        assert ends == pytest.approx(pair.interval(), abs=0.006)
        expected += [pair.prob_positive * (k == j) + (1 - pair.prob_positive) * (k == i) for k in range(4)]
    assert rank_posterior(draws).expected == pytest.approx(expected, abs=0.02)


def test_a_system_that_is_always_right_is_not_certain_to_be_best() -> None:
    scores = np.ones((3, 10))
    scores[1, 0], scores[2, :5] = 0, 0
    ranks = rank_posterior(joint_draws(scores, 0, 1))
    assert 0.6 < ranks.prob_best[0] < 0.95
    assert ranks.prob_best[1] > 0.05


def test_draws_of_graded_scores_have_the_moments_and_nearly_the_tails_of_the_differences() -> None:
    rng = np.random.default_rng(2)
    scores, clusters = rng.uniform(20, 80, (3, 24)), np.repeat(np.arange(12), 2)
    plain = joint_draws(scores, 0, 100, n_draws=100_000)
    clustered = joint_draws(scores, 0, 100, clusters=clusters, n_draws=100_000)
    for i, j in ((0, 1), (1, 2)):
        d = scores[i] - scores[j]
        for draws, codes in ((plain, None), (clustered, clusters)):
            exact = paired_difference_posterior(d, 0, 100, clusters=codes)
            gaps = draws[i] - draws[j]
            assert gaps.std() == pytest.approx(exact.sd, rel=0.06)
            assert exact.cdf(np.quantile(gaps, P)) == pytest.approx(P, abs=0.02)


def test_draws_of_systems_whose_scores_are_graded_in_part_are_between_both_priors(binary: Floats) -> None:
    graded = np.random.default_rng(7).binomial(4, 0.5, (1, 20)) / 4
    draws = joint_draws(np.vstack([binary, graded]), 0, 1, n_draws=100_000)
    for system, row in enumerate(np.vstack([binary, graded])):
        assert draws[system].mean() == pytest.approx((row.sum() + 1) / 22, abs=0.03)


def test_same_data_give_the_same_draws_and_a_generator_gives_others() -> None:
    scores = np.random.default_rng(3).integers(0, 2, (3, 15)).astype(float)
    assert (joint_draws(scores, 0, 1) == joint_draws(scores, 0, 1)).all()
    assert (joint_draws(scores, 0, 1) != joint_draws(scores, 0, 1, rng=np.random.default_rng(4))).any()


def test_rank_probabilities_of_exchangeable_systems_are_even() -> None:
    ranks = rank_posterior(np.random.default_rng(5).normal(size=(4, 40_000)))
    assert ranks.probability == pytest.approx(np.full((4, 4), 0.25), abs=0.01)
    assert ranks.expected == pytest.approx(np.full(4, 2.5), abs=0.03)
    assert ranks.low.tolist() == [1] * 4
    assert ranks.high.tolist() == [4] * 4
    assert ranks.mc_error == pytest.approx(np.sqrt(0.25 * 0.75 / 40_000), rel=0.02)


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 30)), elements=st.sampled_from([0.0, 0.5, 1.0])))
def test_nothing_is_best_more_often_than_before_each_other(draws: Floats) -> None:
    """Ties within a draw are broken once, for ranks and pairs alike."""
    ranks = rank_posterior(draws)
    rest = ranks.prob_better + np.eye(len(draws))
    assert (ranks.prob_best <= rest.min(axis=1)).all()
    assert ranks.prob_better + ranks.prob_better.T == pytest.approx(np.ones_like(rest))
    assert ranks.expected == pytest.approx(1 + np.sum(ranks.prob_better * (1 - np.eye(len(draws))), axis=0))


def test_ties_within_a_draw_are_shared() -> None:
    ranks = rank_posterior(np.ones((3, 30_000)))
    assert ranks.probability == pytest.approx(np.full((3, 3), 1 / 3), abs=0.01)


def test_rank_intervals_hold_the_stated_probability() -> None:
    draws = np.random.default_rng(6).normal(np.arange(12)[:, None] / 3, 1, (12, 4000))
    ranks = rank_posterior(draws, level=0.9)
    for i in range(12):
        assert ranks.probability[i, ranks.low[i] - 1 : ranks.high[i]].sum() >= 0.9
        assert ranks.probability[i, : ranks.low[i] - 1].sum() <= 0.05
        assert ranks.probability[i, ranks.high[i] :].sum() <= 0.05


def test_published_z_scores() -> None:
    # Bayes@N of systems A, B, C: .6458 ± .0640, .6042 ± .0655, .3750 ± .0651; z_AB .455, z_AC 2.965
    means, sds, others = [0.6458], [0.0640], [(0.6042, 0.0655, 0.455), (0.3750, 0.0651, 2.965)]
    for mean, sd, z in others:
        assert tied_ranks([*means, mean], [*sds, sd], z=z - 2e-3).tolist() == [1, 2]
        assert tied_ranks([*means, mean], [*sds, sd], z=z + 2e-3).tolist() == [1, 1]


def test_ties_chain_through_neighbours_and_ranks_are_dense() -> None:
    # as in table 1 of Hariri et al. (2025): neighbours tie, the ends of a chain differ, the next rank follows on
    assert tied_ranks([0.70, 0.62, 0.60, 0.58, 0.20], [0.02] * 5).tolist() == [1, 2, 2, 2, 3]
    assert tied_ranks([0.50, 0.54, 0.58, 0.62], [0.02] * 4).tolist() == [1, 1, 1, 1]
    assert tied_ranks([0.20, 0.90, 0.50], [0.01] * 3).tolist() == [3, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 0.0], "shape"),
        ([[1.0, 2.0]], r"lie in \[0, 1\]; got 1 to 2"),
        ([[1.0, 0.0], [np.nan, 1.0]], "finite"),
    ],
)
def test_says_which_scores_it_cannot_use(scores: list[list[float]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        joint_draws(scores, 0, 1)


def test_says_what_else_it_cannot_use() -> None:
    with pytest.raises(DataError, match=r"standard deviations .* must be positive"):
        tied_ranks([0.1, 0.2], [0.0, 0.0])


@pytest.mark.slow
def test_probability_of_being_best_is_calibrated_where_scores_come_from_the_prior() -> None:
    # three systems, cells of the 2^3 outcomes ~ Dirichlet(1/4 each), the finite form of the prior: sum P(best) of the
    # truly best against the runs, and 95 % rank intervals of a single system
    rng = np.random.default_rng(20260109)
    outcomes = np.array([[c >> s & 1 for c in range(8)] for s in range(3)], float)
    n, claimed, hits, covered = 600, 0.0, 0, 0
    for _ in range(n):
        p = rng.dirichlet(np.full(8, 0.25))
        scores = outcomes[:, rng.choice(8, 12, p=p)]
        ranks = rank_posterior(joint_draws(scores, 0, 1, n_draws=400, rng=rng), rng=rng)
        truth = outcomes @ p
        claimed += ranks.prob_best[0]
        hits += truth[0] == truth.max()
        covered += ranks.low[0] <= 1 + np.sum(truth > truth[0]) <= ranks.high[0]
    assert abs(claimed - hits) < 3.3 * np.sqrt(n * 0.25)
    assert binomtest(covered, n, 0.95, alternative="less").pvalue > 1e-3
