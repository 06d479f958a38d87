"""Parts of a benchmark: known probabilities, the difference estimator, its limits and its coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy.stats import binomtest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.subsets.adaptive_draw import draw_additional
from harness_uq.stats.subsets.draw import Design, Subset, draw_subset, inclusion_probabilities
from harness_uq.stats.subsets.estimate import subset_estimate
from harness_uq.stats.subsets.question_covariates import covariates, rates

NONE = float("nan")


def bank(n: int, n_systems: int, ahead: float | None, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Earlier systems' scores and a new one's under 2PL; the new one is `ahead` of all of them, or one like them."""
    slope, difficulty = 1.7 * np.exp(rng.normal(0, 0.5, n)), rng.normal(0, 2.5, n)
    ability = rng.normal(0, 1, n_systems)
    new = rng.normal() if ahead is None else ability.max() + ahead
    history = rng.random((n_systems, n)) < special.expit(slope * (ability[:, None] - difficulty))
    return history * 1.0, (rng.random(n) < special.expit(slope * (new - difficulty))) * 1.0


def tried(scores: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return np.where(np.isin(np.arange(len(scores)), indices), scores, NONE)


@pytest.mark.parametrize("design", ["uniform", "stratified", "informative"])
def test_questions_are_drawn_as_often_as_their_probability_says(design: Design) -> None:
    rng = np.random.default_rng(0)
    history, _ = bank(60, 10, None, rng)
    counts = np.zeros(60)
    for _ in range(4000):
        subset = draw_subset(60, 12, history=history, design=design, rng=rng)
        counts[subset.indices] += 1
    p = subset.probabilities
    assert np.sum((counts / 4000 - p) ** 2 / (p * (1 - p) / 4000)) < 110  # chi-squared on 60: .9999 is 110


@settings(deadline=None)
@given(st.integers(1, 80), st.integers(0, 2**32 - 1), st.sampled_from(["uniform", "stratified", "informative"]))
def test_as_many_distinct_questions_are_drawn_as_asked_for(n: int, seed: int, design: Design) -> None:
    rng = np.random.default_rng(seed)
    history, _ = bank(80, 5, None, rng)
    subset = draw_subset(80, n, history=history, design=design, rng=rng)
    assert len(np.unique(subset.indices)) == n
    assert subset.probabilities.sum() == pytest.approx(n)
    assert subset.probabilities.max() <= 1 + 1e-12


def test_the_same_arguments_draw_the_same_questions() -> None:
    assert draw_subset(50, 9).indices.tolist() == draw_subset(50, 9).indices.tolist()


def test_a_stratified_draw_takes_its_share_of_every_range_of_difficulty() -> None:
    history, _ = bank(200, 20, None, np.random.default_rng(1))
    easier = np.argsort(np.argsort(-rates(history), kind="stable")) < 100
    ties_at_the_middle = np.sum(rates(history) == np.median(rates(history)))
    drawn = draw_subset(200, 40, history=history).indices
    assert abs(easier[drawn].sum() - 20) <= 1 + ties_at_the_middle * 40 / 200


def test_questions_that_most_systems_solve_are_the_ones_drawn_seldom() -> None:
    history = np.repeat([[1.0], [0.5], [0.0]], 20, axis=1).reshape(60)[None, :].repeat(8, axis=0)
    p = draw_subset(60, 20, history=history, design="informative").probabilities
    assert p[0] < p[30] == pytest.approx(p[59])


def test_without_history_a_uniform_draw_gives_the_textbook_standard_error() -> None:
    # Cochran (1977), Sampling Techniques, eq. 2.20: s^2 / n (1 - n / N)
    scores = np.array([0.2, 0.9, 0.4, 0.4, 0.7, 0.1])
    estimate = subset_estimate(np.append(scores, np.full(18, NONE)))
    assert estimate.mean == pytest.approx(scores.mean())
    assert estimate.std_error**2 == pytest.approx(scores.var(ddof=1) / 6 * (1 - 6 / 24))
    assert estimate.effective_questions == pytest.approx(6)


def test_when_all_questions_were_tried_the_score_is_known() -> None:
    rng = np.random.default_rng(2)
    history, scores = bank(50, 5, None, rng)
    estimate = subset_estimate(scores, np.ones(50), history=history)
    assert estimate.interval() == (pytest.approx(scores.mean()), pytest.approx(scores.mean()))
    with pytest.raises(NotEstimableError, match="exactly"):
        _ = estimate.posterior


def test_more_questions_close_the_interval_on_the_score() -> None:
    rng = np.random.default_rng(3)
    history, scores = bank(4000, 20, 1.0, rng)
    widths = []
    for n in (100, 1000, 3990):
        subset = draw_subset(4000, n, history=history, rng=rng)
        low, high = subset_estimate(tried(scores, subset.indices), subset.probabilities, history=history).interval()
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2]
    assert low - 0.002 <= scores.mean() <= high + 0.002
    assert widths[2] < 0.005


def test_a_useless_history_does_not_move_the_estimate_far() -> None:
    rng = np.random.default_rng(4)
    _, scores = bank(500, 1, None, rng)
    noise = (rng.random((20, 500)) < 0.5) * 1.0
    shown = tried(scores, draw_subset(500, 100, rng=rng).indices)
    with_noise, plain = subset_estimate(shown, history=noise), subset_estimate(shown)
    assert abs(with_noise.mean - plain.mean) < plain.std_error / 2
    assert with_noise.std_error == pytest.approx(plain.std_error, rel=0.1)


@settings(max_examples=20, deadline=None)
@given(st.floats(-5, 5), st.floats(0.1, 50))
def test_the_scale_of_the_scores_does_not_matter(low: float, width: float) -> None:
    rng = np.random.default_rng(5)
    history, scores = bank(60, 5, None, rng)
    shown = tried(scores, np.arange(0, 60, 3))
    unit = subset_estimate(shown, history=history)
    moved = subset_estimate(
        np.clip(low + width * shown, low, low + width),
        history=np.clip(low + width * history, low, low + width),
        low=low,
        high=low + width,
    )
    assert (moved.mean - low) / width == pytest.approx(unit.mean, abs=1e-8)
    assert moved.std_error / width == pytest.approx(unit.std_error, abs=1e-8)


def test_all_right_on_the_part_leaves_room_below_one() -> None:
    estimate = subset_estimate(np.append(np.ones(50), np.full(450, NONE)))
    low, high = estimate.interval()
    assert estimate.mean == 1.0
    assert 0.9 < low < 0.99
    assert high <= 1.0
    assert estimate.effective_questions is None


def test_a_system_that_lacks_a_question_counts_on_the_others() -> None:
    history = np.array([[1.0, NONE, 0.0], [1.0, 1.0, NONE]])
    assert rates(history).tolist() == pytest.approx([3 / 4, 2 / 3, 1 / 3])
    assert np.isfinite(covariates(history)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw_subset(10, 11), "n must be a whole number, 1 to 10; got"),
        (lambda: draw_subset(10, 2, design="informative"), "requires a history"),
        (lambda: draw_subset(10, 2, design="best"), "design must be"),  # type: ignore[arg-type]
        (lambda: draw_subset(10, 2, history=np.ones((2, 9))), "history must have shape"),
        (lambda: draw_subset(10, 2, history=np.full((2, 10), 3.0)), "history must have"),
        (lambda: draw_additional([1.0, NONE], 2, history=np.ones((1, 2))), "n must be a whole number, 1 to 1; got"),
        (lambda: draw_additional([1.0, NONE], 1, history=np.ones((1, 3))), "history must have shape"),
        (lambda: subset_estimate([[1.0, 0.0]]), "n_all"),
        (lambda: subset_estimate([1.0, 2.0, NONE]), "scores must lie"),
        (lambda: subset_estimate([1.0, 0.0, NONE], [0.5, 0.5, 0.0]), "question 2"),
        (lambda: subset_estimate([1.0, 0.0, NONE], [0.5]), "one value per question"),
        (lambda: subset_estimate([1.0, 0.0, NONE], low=1, high=0), "bounds"),
    ],
)
def test_what_cannot_be_used_is_refused(call: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        call()  # type: ignore[operator]


def test_one_question_tells_no_spread() -> None:
    with pytest.raises(NotEstimableError, match="1 of 3 questions"):
        subset_estimate([1.0, NONE, NONE])


def in_parts(scores: np.ndarray, history: np.ndarray, sizes: list[int], rng: np.random.Generator) -> Subset:
    """As many parts as sizes, one after the other: all indices, and their probabilities together."""
    drawn = draw_subset(len(scores), sizes[0], history=history, rng=rng)
    for n in sizes[1:]:
        shown = tried(scores, drawn.indices)
        further = draw_additional(shown, n, history=history, probabilities=drawn.probabilities, rng=rng)
        drawn = Subset(np.union1d(drawn.indices, further.indices), further.probabilities)
    return drawn


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[10, 20], [10, 10, 10]])
def test_a_score_from_parts_is_right_on_average_whatever_the_first_showed(sizes: list[int]) -> None:
    rng = np.random.default_rng(8)
    history, scores = bank(60, 10, None, rng)
    totals = []
    for _ in range(3000):
        drawn = in_parts(scores, history, sizes, rng)
        assert len(drawn.indices) == 30
        totals.append((scores[drawn.indices] / drawn.probabilities[drawn.indices]).sum() / 60)
    assert abs(np.mean(totals) - scores.mean()) < 4 * np.std(totals) / np.sqrt(3000)


def test_where_all_questions_are_alike_two_parts_weigh_as_one_draw() -> None:
    shown = tried(np.ones(50), np.arange(10))
    further = draw_additional(shown, 15, history=np.ones((4, 50)))
    assert further.probabilities == pytest.approx(np.full(50, 25 / 50))
    assert further.indices.min() >= 10


def test_drawing_all_the_rest_makes_every_question_certain() -> None:
    history, scores = bank(50, 5, None, np.random.default_rng(9))
    further = draw_additional(tried(scores, np.arange(10)), 40, history=history)
    assert further.indices.tolist() == list(range(10, 50))
    assert further.probabilities == pytest.approx(np.ones(50))


def test_further_questions_are_those_whose_score_is_open() -> None:
    ease = np.repeat([0.0, 0.5, 1.0], 100)
    history = (np.arange(10)[:, None] < 10 * ease) * 1.0
    scores = np.concatenate([np.zeros(100), np.arange(100) % 2, np.ones(100)])
    p = draw_additional(tried(scores, np.arange(0, 300, 5)), 60, history=history).probabilities
    assert p[101] > 1.5 * max(p[1], p[201])


@given(st.lists(st.floats(0.01, 10), min_size=3, max_size=40), st.floats(0.3, 1), st.integers(1, 12))
def test_no_probability_is_above_what_is_allowed(sizes: list[float], most: float, n: int) -> None:
    n = min(n, int(most * len(sizes)))
    p = inclusion_probabilities(np.array(sizes), n, largest=most)
    assert p.sum() == pytest.approx(n)
    assert p.max(initial=0.0) <= most


def test_a_second_part_needs_a_first() -> None:
    with pytest.raises(NotEstimableError, match="Use draw_subset"):
        draw_additional([NONE] * 4, 2, history=np.ones((1, 4)))


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [None, 1.0])
def test_two_parts_tell_more_than_one_and_cover(ahead: float | None) -> None:
    rng, held, n = np.random.default_rng(10), 0, 400
    squared = {"one": 0.0, "two": 0.0}
    for _ in range(n):
        history, scores = bank(600, 20, ahead, rng)
        for name, sizes in (("one", [120]), ("two", [30, 90])):
            drawn = in_parts(scores, history, sizes, rng)
            estimate = subset_estimate(tried(scores, drawn.indices), drawn.probabilities, history=history)
            squared[name] += (estimate.mean - scores.mean()) ** 2
        low, high = estimate.interval()
        held += low <= scores.mean() <= high
    assert binomtest(held, n, 0.95, alternative="less").pvalue > 1e-3
    assert squared["one"] / squared["two"] > 1.1


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [None, 1.0])
def test_the_interval_covers_also_a_system_stronger_than_all_history(ahead: float | None) -> None:
    rng, held, squared, plain, n = np.random.default_rng(6), 0, 0.0, 0.0, 400
    for _ in range(n):
        history, scores = bank(600, 20, ahead, rng)
        subset = draw_subset(600, 120, history=history, rng=rng)
        estimate = subset_estimate(tried(scores, subset.indices), subset.probabilities, history=history)
        low, high = estimate.interval()
        held += low <= scores.mean() <= high
        squared += (estimate.mean - scores.mean()) ** 2
        plain += scores.var(ddof=1) * (1 / 120 - 1 / 600)
    assert binomtest(held, n, 0.95, alternative="less").pvalue > 1e-3
    assert plain / squared > 1.2
