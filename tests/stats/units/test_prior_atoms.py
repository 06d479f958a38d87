"""Prior atoms that follow the scores: right-or-wrong scores, continuity, other scales, and what a sample lacks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness_uq.stats.means.bounded import bounded_posterior, clustered_bounded_posterior, rare_loss_of_scores
from harness_uq.stats.units.all_pairs import pair_moments, prob_better
from harness_uq.stats.units.contrasts import (
    PairedDifferences,
    contrast_posteriors,
    paired_difference_posterior,
    rare_loss_of_differences,
)
from harness_uq.stats.units.draws import joint_draws

GRADES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0.0, 1.0).map(lambda x: round(x, 6))
SCORES = st.lists(GRADES, min_size=4, max_size=30).map(np.array)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_single_right_or_wrong_answers_keep_the_dirichlet_prior(answers: list[tuple[bool, bool]]) -> None:
    """Beta(1 + S, 1 + F) of a score and Dirichlet(1/2, 1/2, 1/2, 1/2) of the cells: Altham (1971)."""
    a, b = np.array(answers, float).T
    right = a.sum()
    exact = stats.beta(1 + right, 1 + len(a) - right)
    assert bounded_posterior(a, 0, 1).interval() == pytest.approx(tuple(exact.ppf([0.025, 0.975])), abs=1e-9)
    only_a, only_b = float((a > b).sum()), float((b > a).sum())
    better = stats.beta(only_b + 0.5, only_a + 0.5).cdf(0.5)
    posterior = paired_difference_posterior(a - b, 0, 1)
    assert posterior.prob_positive == pytest.approx(better, abs=1e-9)
    assert prob_better([a, b], 0, 1)[0, 1] == pytest.approx(better, abs=1e-9)
    n = len(a) + 2
    mean = (only_a - only_b) / n
    sd = np.sqrt(((only_a + only_b + 1) / n - mean**2) / (n + 1))
    assert (posterior.mean, posterior.sd) == (pytest.approx(mean, abs=1e-9), pytest.approx(sd, abs=1e-9))
    means, sds = pair_moments([a, b], 0, 1)
    assert (means[0, 1], sds[0, 1]) == (pytest.approx(mean, abs=1e-9), pytest.approx(sd, abs=1e-9))


@given(SCORES, st.data())
@settings(max_examples=60)
def test_a_small_change_of_one_score_moves_no_limit_by_a_hundredth_of_the_width(
    scores: np.ndarray, data: st.DataObject
) -> None:
    changed, place = scores.copy(), data.draw(st.integers(0, len(scores) - 1))
    changed[place] += -1e-4 if changed[place] > 0.5 else 1e-4
    whole, near = (bounded_posterior(x, 0, 1).interval(0.95, "hdi") for x in (scores, changed))
    assert near == pytest.approx(whole, abs=0.01 * (whole[1] - whole[0]))
    other = scores[::-1]
    whole, near = (paired_difference_posterior(x - other, 0, 1).interval() for x in (scores, changed))
    assert near == pytest.approx(whole, abs=0.01 * (whole[1] - whole[0]))


@given(SCORES)
@settings(max_examples=40)
def test_scores_from_0_to_100_give_a_hundred_times_the_numbers(scores: np.ndarray) -> None:
    one, hundred = bounded_posterior(scores, 0, 1), bounded_posterior(100 * scores, 0, 100)
    assert hundred.interval() == pytest.approx(np.multiply(100, one.interval()), rel=1e-9, abs=1e-9)
    gaps = scores - scores[::-1] ** 2
    first, second = paired_difference_posterior(gaps, 0, 1), paired_difference_posterior(100 * gaps, 0, 100)
    assert second.interval() == pytest.approx(np.multiply(100, first.interval()), rel=1e-6, abs=1e-8)
    assert second.prob_positive == pytest.approx(first.prob_positive, abs=1e-9)


@given(SCORES)
@settings(max_examples=40)
def test_swapping_right_and_wrong_mirrors_the_interval(scores: np.ndarray) -> None:
    low, high = bounded_posterior(scores, 0, 1).interval()
    assert bounded_posterior(1 - scores, 0, 1).interval() == pytest.approx((1 - high, 1 - low), abs=1e-9)
    low, high = paired_difference_posterior(scores - scores[::-1] ** 2, 0, 1).interval()
    mirrored = paired_difference_posterior(scores[::-1] ** 2 - scores, 0, 1).interval()
    assert mirrored == pytest.approx((-high, -low), abs=1e-9)


@pytest.mark.parametrize(("sd", "n"), [(0.02, 20), (0.05, 50), (0.2, 100)])
def test_draws_of_graded_scores_have_the_spread_of_student_t(sd: float, n: int) -> None:
    rng = np.random.default_rng([3, n])
    y = np.clip(0.6 + sd * rng.standard_normal((3, n)), 0, 1)
    draws = joint_draws(y, 0, 1, n_draws=20_000)
    gaps = y[0] - y[1]
    t = stats.t(n - 1).ppf(0.975) / stats.norm.ppf(0.975)
    assert np.std(draws[0] - draws[1]) == pytest.approx(t * gaps.std(ddof=1) / np.sqrt(n), rel=0.03)


def test_robust_atoms_are_at_the_ends_of_the_range() -> None:
    """Masses 1/8, 1/4 and 1/8 at -1, 0 and 1, or 1/2, 1 and 1/2 if all differences are there."""
    gaps = np.random.default_rng(4).normal(0.02, 0.05, 30)
    (posterior,) = contrast_posteriors([PairedDifferences(gaps, 0, 1, is_robust=True)])
    total = 30.5
    mean = gaps.sum() / total
    assert posterior.mean == pytest.approx(mean, abs=1e-12)
    assert posterior.sd == pytest.approx(np.sqrt(((gaps @ gaps + 0.25) / total - mean**2) / (total + 1)), abs=1e-12)
    answers = np.array([1.0, 0, 0, -1, 1])
    plain, robust = contrast_posteriors([PairedDifferences(answers, 0, 1, is_robust=k) for k in (False, True)])
    assert robust.interval() == plain.interval()


def test_a_sample_without_losses_of_half_the_range_may_lack_them() -> None:
    gaps = np.random.default_rng(5).normal(0.02, 0.05, 50)
    loss = rare_loss_of_differences(PairedDifferences(gaps, 0, 1))
    assert loss is not None
    assert (loss.n_units, loss.end) == (50, -1.0)
    assert loss.share == pytest.approx(1 - 0.5 ** (1 / 50))
    assert loss.shift == pytest.approx(loss.share * (1 + gaps.mean()))
    assert loss.largest == pytest.approx(gaps.mean() - gaps.min())
    gaps[3] = -0.9
    seen = rare_loss_of_differences(PairedDifferences(gaps, 0, 1))
    assert seen is None or seen.end == 1.0


@pytest.mark.parametrize("scores", [[1.0] * 20, [1.0] * 18 + [0.0] * 2, [0.5] * 10])
def test_a_prior_atom_at_the_end_of_the_range_allows_for_losses(scores: list[float]) -> None:
    assert rare_loss_of_scores(scores, np.ones(len(scores)), 0, 1) is None
    gaps = np.array(scores) - 1.0
    assert rare_loss_of_differences(PairedDifferences(np.where(gaps < -0.9, -1.0, 0.0), 0, 1)) is None


def test_the_rare_losses_of_clusters_count_clusters() -> None:
    totals, sizes = 5 * np.full(12, 0.8) + np.linspace(-0.1, 0.1, 12), np.full(12, 5.0)
    loss = rare_loss_of_scores(totals, sizes, 0, 1)
    assert loss is not None
    assert (loss.n_units, loss.end, loss.mean) == (12, 0.0, pytest.approx(0.8))
    assert loss.largest == pytest.approx(0.02)
    hundred = rare_loss_of_scores(100 * totals, sizes, 0, 100)
    assert hundred is not None
    assert hundred.shift == pytest.approx(100 * loss.shift)


def test_equal_clusters_have_one_degree_of_freedom_less_than_clusters() -> None:
    """Clusters of five equal scores have the residuals of single scores."""
    scores = np.random.default_rng(6).normal(0.6, 0.05, 25)
    single, clustered = bounded_posterior(scores, 0, 1), clustered_bounded_posterior(5 * scores, np.full(25, 5.0))
    assert clustered.interval() == pytest.approx(single.interval(), abs=1e-12)
