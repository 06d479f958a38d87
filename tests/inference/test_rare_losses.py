"""Rare losses that a sample of scores with a known range cannot show: messages, and a method that allows for them."""

import numpy as np
import pytest

from harness_uq import compare_scores, estimate_scores
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from tests.message_checks import find, params_of

RNG = np.random.default_rng(7)
ANSWERS = (RNG.random((2, 40)) < 0.7).astype(float)
GRADES = np.clip(RNG.normal(0.7, 0.05, (2, 40)), 0, 1)


def limits(row: Comparison | Estimate) -> tuple[float, float]:
    result = row.difference if isinstance(row, Comparison) else row
    assert result is not None
    assert result.interval is not None
    return result.interval.low, result.interval.high


def about_losses(row: Comparison | Estimate) -> list[str]:
    return [message.severity for name in ("rare-losses", "possible-rare-losses") for message in find(row, name)]


def test_rare_losses_are_a_warning_if_they_would_leave_the_interval_and_otherwise_a_note() -> None:
    """Half of the width is 0.01, 0.014 and 0.08; a share of 0.69/n moves the mean by 0.034, 0.0086 and 0.012."""
    rng, severities = np.random.default_rng(8), []
    for sd, n in ((0.02, 20), (0.05, 80), (0.3, 60)):
        a = np.full(n, 0.5)
        row = compare_scores(np.clip(a + rng.normal(0, sd, n), 0, 1), a, range=(0, 1))
        severities.append(about_losses(row))
    assert severities == [["warning"], ["note"], []]


def test_robust_reports_no_rare_losses_because_it_allows_for_them() -> None:
    plain, robust = (compare_scores(*GRADES, range=(0, 1), method=name) for name in ("bayes", "robust"))
    assert about_losses(plain)
    assert not about_losses(robust)
    assert robust.method == "robust"
    (low, high), (robust_low, robust_high) = limits(plain), limits(robust)
    assert robust_low < low < high < robust_high
    one, other = (estimate_scores(GRADES[0], range=(0, 1), method=name) for name in ("bayes", "robust"))
    assert limits(other)[0] < limits(one)[0]
    assert params_of(one, "possible-rare-losses")["end"] == 0.0


def test_robust_equals_the_default_for_single_right_or_wrong_answers() -> None:
    plain, robust = (estimate_scores(ANSWERS[0], method=name) for name in ("bayes", "robust"))
    assert limits(robust) == pytest.approx(limits(plain), abs=1e-9)
    plain, robust = (compare_scores(*ANSWERS, method=name) for name in ("bayes", "robust"))
    assert limits(robust) == pytest.approx(limits(plain), abs=1e-9)
    assert robust.prob_positive == pytest.approx(plain.prob_positive, abs=1e-9)
