"""Where a file's totals tell more than its samples, they count, and the row says so."""

from dataclasses import replace

import numpy as np
import pytest

from harness_uq import AggregateScore, HarnessResult, Questions, Source, TaskLog, estimate
from harness_uq.stats import beta_posterior
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


def test_a_standard_error_that_is_of_no_plain_share_gives_no_number() -> None:
    (row,) = estimate(results_only("acc", 1 / 3, 0.051))
    assert row.interval is None
    assert has(row, "incomplete-totals", missing="number of questions")


def test_a_metric_that_is_no_share_gives_no_number() -> None:
    (row,) = estimate(results_only("bleu", 0.5, 0.05))
    assert row.interval is None


def test_prompts_that_follow_their_instructions_are_a_share() -> None:
    (row,) = estimate(results_only("prompt_level_strict_acc", 270 / 541, None, 541))
    assert (row.method, row.n_questions) == ("totals", 541)


def truncated(held: int, n: int) -> TaskLog:
    return replace(task_log([1, 0] * (held // 2)), reported={("acc", "none"): HarnessResult(0.75, 0.04, n)})


def test_totals_of_all_count_before_the_samples_of_a_few() -> None:
    (row,) = estimate(truncated(4, 100))
    assert (row.value, row.n_questions, row.method) == (0.75, 100, "totals")
    assert has(row, "totals-only")


def test_samples_of_half_of_the_questions_count_before_totals() -> None:
    (row,) = estimate(truncated(50, 100))
    assert (row.value, row.n_questions) == (0.5, 50)
