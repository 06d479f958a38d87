"""Reduced scores that are pass@k: estimated from the trials where the log holds them."""

import numpy as np
import pytest

from harness_uq import Options, Questions, Scores, Source, TaskLog, estimate
from harness_uq.stats import unbiased_pass_k_posterior

RIGHT, TRIALS = np.array([0, 1, 4, 4, 2, 3, 0, 4, 1, 2]), 4
MATRIX = (np.arange(TRIALS) < RIGHT[:, None]).astype(float)
PASS_2 = 1 - (TRIALS - RIGHT) * (TRIALS - RIGHT - 1) / (TRIALS * (TRIALS - 1))  # 1 - C(n - c, 2) / C(n, 2)


def log_of(*data: Scores) -> TaskLog:
    return TaskLog("m", "t", Source("p", "inspect"), Questions(tuple("abcdefghij")), data)


REDUCED = Scores("right", "pass_at_2", PASS_2[:, None], logged_trials=4, reduction="pass_at_2")


def test_pass_at_k_of_a_log_with_trials_has_the_posterior_of_the_trials() -> None:
    _, row = estimate(log_of(Scores("right", "mean", MATRIX, reduction="mean"), REDUCED))
    low, high = unbiased_pass_k_posterior(RIGHT, np.full(10, TRIALS), 2).interval(0.95, "hdi")
    assert (row.method, row.filter, row.estimand) == ("pass-k-unbiased", "pass_at_2", "pass@2")
    assert (row.interval.low, row.interval.high) == pytest.approx((low, high))
    assert row.value == pytest.approx(PASS_2.mean())


def test_without_trials_the_reduced_scores_are_all_there_is() -> None:
    (row,) = estimate(log_of(REDUCED))
    assert not row.method.startswith("pass-k")
    assert row.value == pytest.approx(PASS_2.mean())


def test_another_method_is_taken_at_its_word() -> None:
    rows = estimate(log_of(Scores("right", "mean", MATRIX, reduction="mean"), REDUCED), Options(method="t"))
    assert [row.method for row in rows] == ["clustered-t", "t"]
