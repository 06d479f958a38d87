"""A judge's scores corrected by a person's labels: limits, references, invariances and calibration."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.labels.effective_labels import assess_judge
from harness_uq.stats.labels.judge import judge_corrected_difference, judge_corrected_posterior, tightness
from harness_uq.stats.means.bounded import bounded_posterior
from harness_uq.stats.proportion.binomial import beta_posterior
from tests.conftest import ROOT

NONE = float("nan")
HUMAN = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0] + [NONE] * 90
JUDGE = [1, 1, 0, 1, 0, 0, 1, 1, 1, 1] + [1] * 60 + [0] * 30


def simulated(
    theta: float, sensitivity: float, specificity: float, n_labels: int, rng: np.random.Generator, n: int = 500
) -> tuple[np.ndarray, np.ndarray]:
    human = (rng.random(n) < theta).astype(float)
    agrees = rng.random(n) < np.where(human == 1, sensitivity, specificity)
    judge = np.where(agrees, human, 1 - human)
    return judge, np.where(np.arange(n) < n_labels, human, NONE)


def product_of_betas(judge: np.ndarray, human: np.ndarray) -> tuple[float, float]:
    """Mean and variance of p q1 + (1 - p) q0 from the moments of three independent Betas."""

    def moments(right: float, wrong: float, prior: float) -> tuple[float, float]:
        a, b = right + prior, wrong + prior
        return a / (a + b), a * (a + 1) / ((a + b) * (a + b + 1))

    def cell(j: int, h: int) -> float:
        return float(np.sum((judge == j) & (human == h)))

    p, p_squared = moments(float(judge.sum()), float((1 - judge).sum()), 1.0)
    (q1, q1_squared), (q0, q0_squared) = (moments(cell(j, 1), cell(j, 0), 0.5) for j in (1, 0))
    mean = p * q1 + (1 - p) * q0
    second = p_squared * q1_squared + (1 - 2 * p + p_squared) * q0_squared + 2 * (p - p_squared) * q1 * q0
    return mean, second - mean**2


@pytest.mark.parametrize("n_labels", [20, 100])
def test_right_or_wrong_grades_give_the_product_of_three_betas(n_labels: int) -> None:
    judge, human = simulated(0.8, 0.9, 0.7, n_labels, np.random.default_rng(n_labels))
    posterior = judge_corrected_posterior(judge, human, n_draws=200_000)
    mean, variance = product_of_betas(judge, human)
    assert posterior.mean == pytest.approx(mean, abs=4 * np.sqrt(variance / 200_000))
    assert posterior.sd == pytest.approx(np.sqrt(variance * n_labels / (n_labels - 1)), rel=0.01)


def test_the_estimate_is_that_of_ppi_python_with_the_same_weight() -> None:
    # ppi-python 0.2.3: ppi_mean_pointestimate(Y, F, U, lam=0.11 / 0.21 * 0.9); it shifts by the unlabelled mean alone,
    # so that its weight is ours times the unlabelled share
    worth = assess_judge(JUDGE, HUMAN)
    assert worth.estimate == pytest.approx(0.68428571, abs=1e-8)
    assert worth.weight == pytest.approx(0.11 / 0.21)


def test_with_many_labels_the_interval_is_that_of_ppi_python() -> None:
    rng = np.random.default_rng(0)
    human = (rng.random(20_000) < 0.7) * 1.0
    judge = np.where(rng.random(20_000) < 0.8, human, 1 - human)
    labels = np.where(np.arange(20_000) < 4000, human, NONE)
    # ppi-python 0.2.3: ppi_mean_ci(human[:4000], judge[:4000], judge[4000:], alpha=0.05)
    expected = (0.69038082, 0.71455191)
    ends = judge_corrected_posterior(judge, labels, n_draws=40_000).interval()
    assert ends == pytest.approx(expected, abs=0.02 * (expected[1] - expected[0]))


def test_a_judge_that_never_varies_leaves_the_labels_alone() -> None:
    posterior = judge_corrected_posterior(np.ones(100), HUMAN, n_draws=200_000)
    alone = beta_posterior(7, 10)
    assert (posterior.mean, posterior.sd) == pytest.approx((alone.mean, alone.sd), rel=0.005)


def test_a_judge_that_never_varies_leaves_bounded_labels_their_posterior() -> None:
    labels = np.random.default_rng(8).beta(4, 2, 30)
    posterior = judge_corrected_posterior(np.full(60, 3.0), np.append(labels, np.full(30, NONE)), n_draws=200_000)
    alone = bounded_posterior(labels, 0, 1, atom_mass=0.75)
    assert (posterior.mean, posterior.sd) == pytest.approx((alone.mean, alone.sd), rel=0.01)


def test_twenty_tight_labels_have_the_posterior_of_bounded_scores_with_heavier_atoms() -> None:
    labels = np.random.default_rng(8).beta(90, 10, 20)
    posterior = judge_corrected_posterior(np.full(60, 3.0), np.append(labels, np.full(40, NONE)), n_draws=200_000)
    alone = bounded_posterior(labels, 0, 1, atom_mass=(3 + tightness(labels, 0, 1)) / 4)
    assert (posterior.mean, posterior.sd) == pytest.approx((alone.mean, alone.sd), rel=0.01)


def test_beyond_twenty_tight_labels_copies_of_them_dilute_the_corners() -> None:
    rng = np.random.default_rng(9)
    labels = rng.beta(9, 1, 100)
    found = judge_corrected_posterior(np.full(200, 3.0), np.append(labels, np.full(100, NONE)), n_draws=200_000)
    tight = tightness(labels, 0, 1)
    size = 100 / (100 + tight * 80 / 2)
    g = rng.standard_gamma(np.append(np.ones(100), [(3 + tight) / 4] * 2), (200_000, 102))
    draws = (g[:, :100] @ labels + size * g[:, 101]) / (g[:, :100].sum(axis=1) + size * g[:, 100:].sum(axis=1))
    assert tight > 0.5
    assert (found.mean, found.sd) == pytest.approx((draws.mean(), draws.std()), rel=0.01)


def test_a_judge_that_says_what_the_labels_are_makes_them_tight() -> None:
    rng = np.random.default_rng(9)
    human = rng.beta(4, 2, 2000)
    labels = np.where(np.arange(2000) < 100, human, NONE)
    close = judge_corrected_posterior(human + rng.normal(0, 0.02, 2000), labels, n_draws=2000)
    pairs = np.arange(2000) // 2  # pairs of questions have no copies
    assert (
        close.sd
        < 0.9 * judge_corrected_posterior(human + rng.normal(0, 0.02, 2000), labels, clusters=pairs, n_draws=2000).sd
    )


def test_labels_everywhere_give_the_posterior_without_a_judge() -> None:
    rng = np.random.default_rng(3)
    human = (rng.random(400) < 0.6) * 1.0
    posterior = judge_corrected_posterior(rng.random(400), human, n_draws=100_000)
    alone = bounded_posterior(human, 0, 1)
    assert posterior.interval() == pytest.approx(alone.interval(), abs=0.03 * 4 * alone.sd)


@settings(max_examples=20, deadline=None)
@given(st.floats(-50, 50), st.floats(0.01, 100))
def test_the_scale_of_the_judge_does_not_matter(shift: float, unit: float) -> None:
    plain = judge_corrected_posterior(JUDGE, HUMAN, n_draws=500)
    moved = judge_corrected_posterior(shift + unit * np.array(JUDGE), HUMAN, n_draws=500)
    assert moved.mean == pytest.approx(plain.mean, rel=1e-6)
    assert moved.sd == pytest.approx(plain.sd, rel=1e-5)


def test_swapping_right_and_wrong_mirrors_the_interval() -> None:
    low, high = judge_corrected_posterior(JUDGE, HUMAN, n_draws=100_000).interval()
    mirrored = judge_corrected_posterior(1 - np.array(JUDGE), 1 - np.array(HUMAN), n_draws=100_000).interval()
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=0.005)


def test_clusters_of_one_question_are_independent_questions() -> None:
    alone = judge_corrected_posterior(JUDGE, HUMAN, n_draws=2000)
    labelled = judge_corrected_posterior(JUDGE, HUMAN, clusters=np.arange(100), n_draws=2000)
    assert labelled.interval() == alone.interval()


def test_clusters_of_one_question_are_independent_ones_with_bounded_labels_too() -> None:
    labels = np.append(np.random.default_rng(8).beta(9, 1, 60), np.full(40, NONE))
    alone = judge_corrected_posterior(JUDGE, labels, n_draws=2000)
    labelled = judge_corrected_posterior(JUDGE, labels, clusters=np.arange(100), n_draws=2000)
    assert labelled.interval() == alone.interval()


def test_a_cluster_copied_ten_times_tells_no_more_than_one() -> None:
    judge, human = simulated(0.7, 0.8, 0.8, 40, np.random.default_rng(5), n=200)
    once = judge_corrected_posterior(judge, human, n_draws=20_000)
    copies = judge_corrected_posterior(
        np.repeat(judge, 10), np.repeat(human, 10), clusters=np.repeat(np.arange(200), 10), n_draws=20_000
    )
    assert copies.sd == pytest.approx(once.sd, rel=0.03)


def test_labels_drawn_more_often_where_the_judge_says_wrong_are_weighed_back() -> None:
    rng = np.random.default_rng(2)
    judge, everyone = simulated(0.8, 0.9, 0.8, 20_000, rng, n=20_000)
    chance = np.where(judge == 1, 0.05, 0.5)
    human = np.where(rng.random(20_000) < chance, everyone, NONE)
    weighed = assess_judge(judge, human, probabilities=chance)
    assert weighed.human_mean == pytest.approx(everyone.mean(), abs=0.02)
    assert assess_judge(judge, human).human_mean < everyone.mean() - 0.1
    assert weighed.estimate == pytest.approx(everyone.mean(), abs=0.02)


def test_trials_of_a_question_share_it() -> None:
    judge = np.array([[1.0, 1.0], [0.0, NONE], [1.0, 0.0], [1.0, 1.0]])
    human = np.array([[1.0, NONE], [0.0, NONE], [1.0, 0.0], [NONE, NONE]])
    worth = assess_judge(judge, human)
    assert worth.judge_mean == pytest.approx((1 + 0 + 0.5 + 1) / 4)
    # question 2's only trial counts a whole question, the other labels half a one
    assert worth.human_mean == pytest.approx((0.5 + 0 + 0.5 + 0) / (0.5 + 1 + 0.5 + 0.5))
    assert worth.n_labels == 4


def test_repeated_grades_by_the_judge_are_averaged_beside_one_label_a_question() -> None:
    judge = np.column_stack([JUDGE, JUDGE])
    assert judge_corrected_posterior(judge, HUMAN, n_draws=500).mean == pytest.approx(
        judge_corrected_posterior(JUDGE, HUMAN, n_draws=500).mean, abs=1e-12
    )


@given(st.lists(st.integers(1, 40), min_size=4, max_size=4))
def test_a_judge_no_better_than_the_judged_at_most_doubles_the_labels(cells: list[int]) -> None:
    both, only_human, _, neither = cells
    total, agreement = sum(cells), both + neither
    if not total / 2 <= agreement <= both + only_human:
        return
    f = np.repeat([1.0, 0.0, 1.0, 0.0], cells)
    h = np.repeat([1.0, 1.0, 0.0, 0.0], cells)
    assert np.corrcoef(f, h)[0, 1] ** 2 <= 0.5 + 1e-12


def test_effective_labels_follow_the_correlation() -> None:
    judge, human = simulated(0.7, 0.9, 0.9, 1000, np.random.default_rng(1), n=10_000)
    r = np.corrcoef(judge[:1000], human[:1000])[0, 1]
    expected = 1000 / (1 - r**2 * (1 - 0.1))
    assert assess_judge(judge, human).effective_labels == pytest.approx(expected, rel=0.03)


def test_labels_that_all_agree_are_worth_an_unknown_number() -> None:
    worth = assess_judge([1, 0, 1, 1, 1, 1], [1, 1, 1, NONE, NONE, NONE])
    assert worth.effective_labels is None


def test_paired_differences_are_antisymmetric() -> None:
    rng = np.random.default_rng(4)
    (judge_a, human_a), (judge_b, human_b) = (simulated(p, 0.9, 0.8, 60, rng) for p in (0.8, 0.7))
    forward = judge_corrected_difference(judge_a, judge_b, human_a, human_b, n_draws=50_000)
    backward = judge_corrected_difference(judge_b, judge_a, human_b, human_a, n_draws=50_000)
    assert forward.mean == pytest.approx(-backward.mean, abs=0.002)
    assert forward.prob_positive == pytest.approx(1 - backward.prob_positive, abs=0.01)


def test_a_label_of_one_system_alone_does_not_count_in_a_difference() -> None:
    rng = np.random.default_rng(4)
    (judge_a, human_a), (judge_b, human_b) = (simulated(p, 0.9, 0.8, 60, rng) for p in (0.8, 0.7))
    fewer = np.where(np.arange(500) < 30, human_b, NONE)
    also = np.where(np.arange(500) < 30, human_a, NONE)
    ends = judge_corrected_difference(judge_a, judge_b, human_a, fewer).interval()
    assert ends == judge_corrected_difference(judge_a, judge_b, also, fewer).interval()


@pytest.mark.parametrize(
    ("judge", "human", "options", "message"),
    [
        (JUDGE, HUMAN[:5], {}, "shape of judge"),
        (JUDGE, [2] * 10 + HUMAN[10:], {}, "must lie in"),
        ([NONE, *JUDGE[1:]], HUMAN, {}, "question 0 has no judge"),
        ([[1, NONE]] * 4, [[1, 1]] * 4, {}, "without a judge"),
        (JUDGE, HUMAN, {"probabilities": np.zeros(100)}, "probabilities of being labelled"),
        (JUDGE, HUMAN, {"probabilities": np.ones(7)}, "one value per question"),
        (JUDGE, HUMAN, {"low": 1.0, "high": 0.0}, "bounds"),
        (JUDGE, HUMAN, {"n_draws": 0}, "n_draws"),
        ([np.inf, *JUDGE[1:]], HUMAN, {}, "finite"),
    ],
)
def test_what_cannot_be_used_is_refused(judge: object, human: object, options: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        judge_corrected_posterior(judge, human, **options)


def test_fewer_than_three_units_with_labels_are_refused() -> None:
    with pytest.raises(NotEstimableError, match="2 independent"):
        judge_corrected_posterior([1, 0, 1, 1], [1, 0, 1, NONE], clusters=["a", "a", "b", "c"])


@pytest.mark.slow
def test_rare_zeros_that_the_judge_does_not_see_are_covered_by_bounded_labels() -> None:
    rng, held, n = np.random.default_rng(12), 0, 300
    for _ in range(n):
        seen = rng.beta(9, 1, 500)
        human = np.where((rng.random(500) < 0.03) | (np.arange(500) >= 50), 0.0, seen)
        labels = np.where(np.arange(500) < 50, human, NONE)
        judge = np.clip(seen + rng.normal(0, 0.1, 500), 0, 1)
        low, high = judge_corrected_posterior(judge, labels, n_draws=300, rng=rng).interval(0.95, "hdi")
        held += low <= 0.97 * 0.9 <= high
    assert binomtest(held, n, 0.93, alternative="less").pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.6, 0.6), (0.95, 0.95), (0.95, 0.6), (0.6, 0.95)])
def test_twenty_labels_cover_where_the_normal_interval_does_not(sensitivity: float, specificity: float) -> None:
    rng, held, normal, n = np.random.default_rng(11), 0, 0, 400
    for _ in range(n):
        judge, human = simulated(0.95, sensitivity, specificity, 20, rng)
        low, high = judge_corrected_posterior(judge, human, n_draws=1000, rng=rng).interval(0.95, "hdi")
        held += low <= 0.95 <= high
        residual = human[:20] - assess_judge(judge, human).weight * judge[:20]
        normal += abs(assess_judge(judge, human).estimate - 0.95) <= 1.96 * residual.std() / np.sqrt(20)
    assert binomtest(held, n, 0.93, alternative="less").pvalue > 1e-3
    assert binomtest(normal, n, 0.93, alternative="less").pvalue < 1e-3


def test_coverage_with_unequal_probabilities_is_that_of_the_documentation():
    cells = json.loads((ROOT / "benchmarks/results/label_probabilities.json").read_text())["cells"]
    assert len(cells) == 36
    assert min(cell["weighted"]["coverage"] for cell in cells) >= 0.93
    assert max(abs(cell["weighted"]["bias"]) for cell in cells) <= 0.015
    scores = [cell["unweighted"] for cell in cells if cell["quantity"] == "score"]
    assert max(cell["coverage"] for cell in scores) < 0.91
    assert max(cell["bias"] for cell in scores) < -0.02
