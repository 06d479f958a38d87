"""Gates of systems of which some trials have no score."""

import numpy as np
import pytest

from harness_uq import gate
from harness_uq.data.task_log import log_of_array
from harness_uq.messages.catalogue.comparison import VERDICT_DEPENDS_ON_MISSING


def log(values: np.ndarray, name: str):
    return log_of_array(values, name, clusters=None, metric="score")


@pytest.fixture
def sides():
    """The new system is as good as the baseline on the questions that it completed; 30 of 300 have no score."""
    baseline = np.r_[np.ones(200), np.zeros(100)]
    new = baseline.copy()
    new[:5], new[200:205] = 0.0, 1.0
    new[170:200] = np.nan
    return log(new, "new"), log(baseline, "old")


def test_decision_by_policy(sides) -> None:
    decisions = {policy: gate(*sides, margin=0.05, missing=policy).decision for policy in ("drop", "zero", "bounds")}
    assert decisions == {"drop": "pass", "zero": "fail", "bounds": "undecided"}


def test_a_decision_that_depends_on_missing_scores_is_reported(sides) -> None:
    decided = gate(*sides, margin=0.05)
    assert decided.decision == "pass"
    (warning,) = (message for message in decided.messages if message.code == VERDICT_DEPENDS_ON_MISSING.code)
    assert (warning.params["dropped"], warning.params["worst"], warning.params["open"]) == ("pass", "fail", "undecided")


def test_no_warning_if_all_policies_agree(sides) -> None:
    decided = gate(*sides, margin=0.25)
    assert decided.decision == "pass"
    assert [message.name for message in decided.messages] == ["one-baseline-run"]


def test_bounds_pass_only_if_both_extremes_pass(sides) -> None:
    assert gate(*sides, margin=0.25, missing="bounds").decision == "pass"
    (row,) = gate(*sides, margin=0.25, missing="bounds").rows
    assert row.comparison.identified_range is not None


def test_requirements(sides) -> None:
    new = sides[0]
    low, high = 170 / 300, 200 / 300
    assert gate(new, at_least=low - 0.1, missing="bounds").decision == "pass"
    assert gate(new, at_least=high + 0.1, missing="bounds").decision == "fail"
    undecided = gate(new, at_least=(low + high) / 2, missing="bounds")
    assert undecided.decision == "undecided"
    (row,) = undecided.requirements
    assert row.estimate.identified_range == pytest.approx((low, high))
    assert gate(new, at_most=high + 0.1, missing="bounds").decision == "pass"
