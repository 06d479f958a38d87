"""The best split of a budget: its formula, its optimum against all designs, its limits, what it refuses."""

import itertools

import numpy as np
import pytest
from scipy import stats as scipy_stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.design.budget_allocation import CrossedDesign, best_allocation

VARIANCES = {("question",): 0.05, ("seed",): 0.002, ("question", "seed"): 0.02, (): 0.15}


def test_variance_is_that_of_a_simulated_mean() -> None:
    """400 crossed tables of normal effects; the sd of their means within 4 standard errors of the formula's."""
    rng = np.random.default_rng(3)
    n, k, means = 12, 3, []
    for _ in range(4000):
        question, seed = rng.normal(0, 0.05**0.5, (n, 1)), rng.normal(0, 0.002**0.5, (1, k))
        means.append((question + seed + rng.normal(0, 0.17**0.5, (n, k))).mean())
    sd = CrossedDesign(VARIANCES, others=("seed",)).run(n, {"seed": k}).sd
    assert np.std(means) == pytest.approx(sd, rel=4 / np.sqrt(2 * 4000))


def test_one_source_of_variation_gives_students_interval() -> None:
    found = CrossedDesign({("question",): 0.25}).run(20, {})
    assert found.half_width == pytest.approx(scipy_stats.t.ppf(0.975, 19) * np.sqrt(0.25 / 20))


def test_what_stays_adds_nothing_of_its_own_and_divides_what_it_shares() -> None:
    variances = {("question",): 0.05, ("prompt",): 9.0, ("question", "prompt"): 0.02}
    found = CrossedDesign(variances, fixed_levels={"prompt": 4}).run(100, {})
    assert found.sd**2 == pytest.approx(0.05 / 100 + 0.02 / 400)
    assert found.cost == 400


def test_passages_come_with_their_questions() -> None:
    variances = {("passage",): 0.03, ("question",): 0.1}
    found = CrossedDesign(variances, per_unit={"passage": 0.2}, prices={(): 1.0, ("passage",): 7.0}).run(100, {})
    assert found.sd**2 == pytest.approx(0.03 / 20 + 0.1 / 100)
    assert found.cost == 100 + 20 * 7


@pytest.mark.parametrize("price", [0.0, 5.0, 200.0])
@pytest.mark.parametrize("budget", [500, 5000])
def test_no_other_run_of_the_same_price_tells_more(price: float, budget: float) -> None:
    design = CrossedDesign(
        VARIANCES, others=("seed",), prices={(): 1.0, ("question",): 2.0, ("seed",): price}, can_repeat=True
    )
    best = best_allocation(design, budget=budget)
    assert best is not None
    assert best.cost <= budget
    for seeds, trials in itertools.product(range(2, 41), range(1, 9)):
        units = int((budget - seeds * price) // (2 + seeds * trials))
        if units >= 2:
            # 2 %: numbers of levels are offered in steps
            assert best.half_width <= design.run(units, {"seed": seeds}, trials).half_width * 1.02


def test_the_cheapest_run_for_a_width_reaches_it_and_one_question_less_does_not() -> None:
    design = CrossedDesign(VARIANCES, others=("seed",), prices={(): 1.0, ("seed",): 20.0})
    best = best_allocation(design, half_width=0.04)
    assert best is not None
    assert best.half_width <= 0.04 < design.run(best.units - 1, best.levels).half_width


def test_a_width_that_fixed_seeds_never_reach_is_none() -> None:
    design = CrossedDesign(VARIANCES, others=("seed",))
    assert best_allocation(design, half_width=0.01, fixed={"seed": 2}) is None
    assert best_allocation(design, budget=3, fixed={"seed": 2}) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"variances": {("judge",): 1.0}}, "unknown factor 'judge'"),
        ({"variances": {(): -1.0}}, "non-negative"),
        ({"prices": {(): float("nan")}}, "non-negative"),
        ({"prices": {}}, "must be positive"),
    ],
)
def test_designs_that_say_nothing_are_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        CrossedDesign(**{"variances": VARIANCES, "others": ("seed",), **change})


@pytest.mark.parametrize("asked", [{}, {"budget": 1.0, "half_width": 1.0}, {"budget": -1.0}, {"half_width": 0.0}])
def test_one_positive_target_is_needed(asked: dict[str, float]) -> None:
    with pytest.raises(DataError, match=r"either a budget|must be positive"):
        best_allocation(CrossedDesign(VARIANCES, others=("seed",)), **asked)


def test_what_cannot_be_fixed_is_named() -> None:
    with pytest.raises(DataError, match="got 'judge'"):
        best_allocation(CrossedDesign(VARIANCES, others=("seed",)), budget=100, fixed={"judge": 3})
