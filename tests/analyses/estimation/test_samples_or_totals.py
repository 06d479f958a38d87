"""Samples represent a score unless the totals of the log cover more questions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from harness_uq import Options, Questions, Source, TaskLog, compare, estimate, gate, rank
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import AggregateScore, HarnessResult
from harness_uq.stats.proportion.binomial import beta_posterior
from tests.data.toy import task_log
from tests.message_checks import has


def results_only(metric: str, value: float, std_error: float | None, n: int | None = None) -> TaskLog:
    totals = AggregateScore(metric, "none", value, n, "only results are logged")
    reported = {(metric, "none"): HarnessResult(value, std_error, n)}
    return TaskLog("m", "t", Source("results.json", "lm-eval"), Questions(()), (totals,), reported)


@pytest.mark.parametrize("n", [7, 100, 541, 1319])
def test_the_number_of_questions_follows_from_value_and_standard_error_of_a_share(n: int) -> None:
    right = n // 3
    scores = np.r_[np.ones(right), np.zeros(n - right)]
    (row,) = estimate(results_only("acc", scores.mean(), scores.std(ddof=1) / np.sqrt(n)))
    low, high = beta_posterior(right, n).interval(0.95, "hdi")
    assert (row.n_questions, row.interval.low, row.interval.high) == (n, pytest.approx(low), pytest.approx(high))


def test_graded_totals_have_the_interval_of_the_reported_standard_error() -> None:
    """A value of 0.7123 with standard error 0.0121 on 1,000 questions: Student's t with 999 degrees of freedom."""
    (row,) = estimate(results_only("bleu", 0.7123, 0.0121, 1000))
    half = stats.t.ppf(0.975, 999) * 0.0121
    assert (row.method, row.std_error, row.n_questions) == ("reported-error", 0.0121, 1000)
    assert (row.interval.low, row.interval.high) == (pytest.approx(0.7123 - half), pytest.approx(0.7123 + half))
    assert has(row, "reported-error-used")


def test_an_unknown_number_of_questions_leaves_the_normal_interval() -> None:
    (row,) = estimate(results_only("acc", 1 / 3, 0.051))
    assert row.interval.high == pytest.approx(1 / 3 + stats.norm.ppf(0.975) * 0.051)


def test_the_interval_of_a_proportion_ends_at_one() -> None:
    (row,) = estimate(results_only("acc", 0.98, 0.05))
    assert row.interval.high == 1


@pytest.mark.parametrize(
    ("std_error", "missing"), [(None, "a standard error"), (0.0, "a standard error greater than 0")]
)
def test_graded_totals_without_a_standard_error_are_not_estimable(std_error: float | None, missing: str) -> None:
    (row,) = estimate(results_only("bleu", 0.5, std_error, 1000))
    assert row.status == "not_estimable"
    assert has(row, "incomplete-totals", missing=missing)


def test_prompts_that_follow_their_instructions_are_a_share() -> None:
    (row,) = estimate(results_only("prompt_level_strict_acc", 270 / 541, None, 541))
    assert (row.method, row.n_questions) == ("totals", 541)


def truncated(n_samples: int, n: int, *, right: float = 0.5, total: float = 0.75) -> TaskLog:
    scores = (np.arange(n_samples) < right * n_samples).astype(int).tolist()
    return replace(task_log(scores), reported={("acc", "none"): HarnessResult(total, 0.04, n)})


@pytest.mark.parametrize("n_samples", [4, 50, 94])
def test_totals_represent_the_score_if_samples_are_missing(n_samples: int) -> None:
    (row,) = estimate(truncated(n_samples, 100))
    assert (row.value, row.n_questions, row.method) == (0.75, 100, "totals")
    assert has(row, "totals-only")


def test_samples_represent_the_score_if_nearly_all_are_present_and_their_mean_is_near_the_total() -> None:
    (near,) = estimate(truncated(96, 100, right=0.75))
    assert (near.value, near.n_questions) == (0.75, 96)
    (far,) = estimate(truncated(96, 100, right=0.70))
    assert (far.value, far.n_questions) == (0.75, 100)


def test_use_samples_forces_a_few_samples() -> None:
    options = Options(structure=StructureOptions(use_samples=True))
    (row,) = estimate(truncated(4, 100), options)
    assert (row.value, row.n_questions) == (0.5, 4)


def nine_of_1400(right: int, total: float, system: str) -> TaskLog:
    return replace(truncated(9, 1400, right=right / 9, total=total), system=system)


def test_nine_of_1400_samples_decide_nothing() -> None:
    """The nine samples differ, the totals do not: 868 and 875 of 1,400."""
    a, b = nine_of_1400(9, 868 / 1400, "a"), nine_of_1400(0, 875 / 1400, "b")
    (row,) = compare(a, b)
    assert (row.verdict, row.value_a, row.value_b) == ("undecided", 868 / 1400, 875 / 1400)
    assert has(row, "totals-used", system="a", n_samples=9, n_questions=1400)
    for new, old in ((a, b), (b, a)):
        assert gate(new, old, Options(margin=0.02)).decision == "undecided"
    (ranking,) = rank([a, b])
    assert max(system.prob_best for system in ranking.systems) < 0.75
    assert has(ranking, "totals-used", system="b", n_samples=9, n_questions=1400)
    assert compare(a, b, Options(structure=StructureOptions(use_samples=True)))[0].verdict == "better"
