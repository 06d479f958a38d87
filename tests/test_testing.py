"""Assertions about scores."""

import unittest

import pytest

from harness_uq import DataError, TaskLog
from harness_uq.testing import assert_at_least, assert_at_most, assert_not_worse
from tests.data.toy import task_log

IDS = [str(i) for i in range(400)]


def log(n_right: int, system: str = "model") -> TaskLog:
    return task_log([1] * n_right + [0] * (400 - n_right), ids=IDS, system=system)


def test_assertions_hold_if_the_data_show_it() -> None:
    assert_at_least(log(360), "toy", 0.8)
    assert_at_most(log(20), "toy:acc", 0.1)
    assert_not_worse(log(300, "new"), log(300, "old"), margin=0.05)


def test_the_error_is_the_sentence_of_the_gate() -> None:
    with pytest.raises(AssertionError, match=r"^FAIL: The data show that the score on toy .* is below 0\.8\.$"):
        assert_at_least(log(280), "toy", 0.8)
    with pytest.raises(AssertionError, match=r"^FAIL: .* is above 0"):
        assert_at_most(log(360), "toy", 0.8)
    with pytest.raises(AssertionError, match=r"^FAIL: new is worse than old"):
        assert_not_worse(log(200, "new"), log(300, "old"), margin=0.05)


def test_undecided_fails_unless_it_is_to_skip() -> None:
    with pytest.raises(AssertionError, match=r"^UNDECIDED: "):
        assert_at_least(log(325), "toy", 0.8)
    with pytest.raises(unittest.SkipTest, match=r"^UNDECIDED: "):
        assert_at_least(log(325), "toy", 0.8, on_undecided="skip")
    with pytest.raises(AssertionError, match=r"^FAIL: "):
        assert_at_least(log(280), "toy", 0.8, on_undecided="skip")


def test_a_task_that_does_not_exist_is_an_error_and_not_a_failure() -> None:
    with pytest.raises(DataError, match="nosuch"):
        assert_at_least(log(360), "nosuch", 0.8)


def test_options_of_the_gate_apply() -> None:
    with pytest.raises(AssertionError):
        assert_at_least(log(332), "toy", 0.8)
    assert_at_least(log(332), "toy", 0.8, level=0.9)
