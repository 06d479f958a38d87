"""Equal data in other forms give equal numbers."""

import numpy as np
import pytest

from harness_uq import compare_scores, estimate_scores, rank_scores
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate

RNG = np.random.default_rng(7)
ANSWERS = (RNG.random((2, 40)) < 0.7).astype(float)
TRIALS = RNG.binomial(1, RNG.beta(2, 1, (2, 30))[..., None], (2, 30, 4)).astype(float)
GRADES = np.clip(RNG.normal(0.7, 0.05, (2, 40)), 0, 1)
CLUSTERS = np.repeat(np.arange(10), 4)
FORMS = {"answers": (ANSWERS, None), "trials": (TRIALS, None), "grades": (GRADES, None)}
PAIRS = {**FORMS, "clusters": (ANSWERS, CLUSTERS), "clusters of grades": (GRADES, CLUSTERS)}


def numbers(row: Comparison, scale: float = 1.0) -> list[float | None]:
    assert row.difference is not None
    interval = row.difference.interval
    return [row.difference.value / scale, interval.low / scale, interval.high / scale, row.prob_positive, row.p_value]


def limits(row: Estimate, scale: float = 1.0) -> tuple[float, float]:
    assert row.interval is not None
    return row.interval.low / scale, row.interval.high / scale


@pytest.mark.parametrize("form", PAIRS)
def test_differences_of_0_to_1_and_of_0_to_100_are_equal(form: str) -> None:
    (a, b), clusters = PAIRS[form]
    plain = compare_scores(a, b, clusters=clusters, range=(0, 1))
    hundred = compare_scores(100 * a, 100 * b, clusters=clusters, range=(0, 100))
    assert numbers(hundred, 100) == pytest.approx(numbers(plain), rel=1e-6, abs=1e-9)
    assert hundred.verdict == plain.verdict


@pytest.mark.parametrize("form", ["answers", "grades"])
def test_scores_of_0_to_1_and_of_0_to_100_have_equal_intervals(form: str) -> None:
    scores = FORMS[form][0][0]
    hundred = estimate_scores(100 * scores, range=(0, 100))
    assert limits(hundred, 100) == pytest.approx(limits(estimate_scores(scores, range=(0, 1))), rel=1e-6)


@pytest.mark.parametrize("form", ["answers", "grades"])
def test_copies_of_a_trial_count_once(form: str) -> None:
    a, b = FORMS[form][0]
    copies = [np.repeat(x[:, None], 5, axis=1) for x in (a, b)]
    assert limits(estimate_scores(copies[0], range=(0, 1))) == limits(estimate_scores(a, range=(0, 1)))
    assert numbers(compare_scores(*copies, range=(0, 1))) == numbers(compare_scores(a, b, range=(0, 1)))


@pytest.mark.parametrize("estimand", ["pass@1", "pass^1", "maj@1", "G-pass@1:0.5"])
@pytest.mark.parametrize("scope", ["population", "benchmark"])
def test_an_event_in_one_trial_has_the_interval_of_the_mean(estimand: str, scope: str) -> None:
    for values in (ANSWERS[0], TRIALS[0]):
        mean, event = (estimate_scores(values, estimand=name, scope=scope) for name in ("mean", estimand))
        assert (event.estimand, event.method, event.interval) == (estimand, mean.method, mean.interval)


@pytest.mark.parametrize("form", PAIRS)
def test_with_two_systems_rank_sets_and_p_best_are_those_of_the_comparison(form: str) -> None:
    for shift in (0.0, 0.1):
        (a, b), clusters = PAIRS[form]
        b = np.clip(b - shift, 0, 1) if "grades" in form else np.where(RNG.random(b.shape) < shift, 0.0, b)
        row = compare_scores(a, b, clusters=clusters, range=(0, 1))
        ranking = rank_scores({"a": a, "b": b}, clusters=clusters, range=(0, 1))
        of = {system.system: system for system in ranking.systems}
        assert of["a"].prob_best == pytest.approx(row.prob_positive, abs=1e-9)
        sets = {"better": ((1, 1), (2, 2)), "worse": ((2, 2), (1, 1))}.get(row.verdict, ((1, 2), (1, 2)))
        assert (of["a"].rank_set, of["b"].rank_set) == sets
